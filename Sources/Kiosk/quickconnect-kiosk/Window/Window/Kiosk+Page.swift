import Configuration
import JSON
import KioskRules
import Linux

/// The reactions to events of the page.
extension Kiosk {
    /// - Parameter sheet: the page that is shown, or one that nobody sees yet.
    func connectPage(_ sheet: PageSheet) {
        let (view, channel) = (sheet.view, sheet.bridge.channel)
        view.decideNavigation = { [unowned self, unowned sheet] in decide($0, for: sheet, $1) }
        view.didStart = { [unowned self, unowned sheet] in
            if isShown(sheet) { isOpened(nil) }
            channel.loadBegins()
            awaitPage(of: sheet)
        }
        view.didCommit = { [unowned self, unowned sheet, unowned view] in
            channel.loadIsCommitted()
            if let address = view.address, address != "about:blank" { sheet.shown = OwnGateway.withoutCode(address) }
            sheet.loading?.cancel()
            sheet.dialogs?.close()
            if isShown(sheet) { isCommitted() }
            settle(sheet)
        }
        view.didFinish = { [unowned self, unowned sheet, unowned view] in
            if isShown(sheet) {
                recovery.pageIsThere()
                takeTitle()
            }
            sheet.login.pageIsThere()
            if !OwnGateway.isLogIn(view.address ?? "") { isThere(sheet) }
        }
        view.didRefuse = { [unowned self] what in note("the page may not \(what)") }
        view.didFail = { [unowned self, unowned sheet] address, reason in
            sheet.loading?.cancel()
            sheet.settling?.cancel()
            guard PageAddress(address)?.scheme != "about" else { return }
            sheet.shown = OwnGateway.withoutCode(address)
            isLost(sheet, "The page cannot be reached.", "\(sheet.shown): \(reason)")
        }
        view.processDidEnd = { [unowned self, unowned sheet] reason in
            sheet.settling?.cancel()
            channel.processIsGone()
            sheet.dialogs?.close()
            if isShown(sheet) { pageIsLeft() }
            isLost(sheet, "The page has stopped.", "\(sheet.shown): \(reason)")
        }
        channel.warn = { [unowned self] in note($0) }
        if options.logsMessages { channel.log = { [unowned self] in log($0, $1) } }
        sheet.login.log = { [unowned self] in note($0) }
        connectMenu(ofPage: view)
    }

    private func isShown(_ sheet: PageSheet) -> Bool { sheet === self.sheet }

    private func isLost(_ sheet: PageSheet, _ title: String, _ details: String) {
        if isShown(sheet) { showProblem(title, details) } else { turns?.isLost(sheet, details) }
    }

    /// Another document is shown in the window.
    private func isCommitted() {
        if notice.text != nil {
            notice.end()
            if !isCovered { show(page) }
        }
        takeTitle()
        pageIsLeft()
    }

    private func log(_ direction: MessageLog.Direction, _ message: String) {
        for line in message.split(separator: "\n") {
            let length = options.settings.logMaxLength
            log.write(MessageLog.line(direction, String(line), maximumLength: length), .notice)
        }
    }

    /// A server that takes the request and says nothing is like one that is not there.
    func awaitPage(of sheet: PageSheet) {
        sheet.loading?.cancel()
        // The pages behind one that nobody sees wait for it.
        guard let time = options.settings.hangSeconds.map({ $0 * 3 }) ?? (sheet.isUnseen ? 60 : nil) else { return }
        sheet.loading = LoopSource.after(.seconds(time)) { [weak sheet] in
            guard let sheet else { return }
            let address = sheet.view.address.flatMap { $0.isEmpty ? nil : $0 } ?? sheet.shown
            sheet.view.stop()
            sheet.view.didFail(address, "nothing came for \(Int(time)) s")
        }
    }

    /// A page that goes on loading is shown as it is after a while.
    private func settle(_ sheet: PageSheet) {
        // One that loads itself again and again holds up no other.
        if sheet.isUnseen, sheet.settling != nil { return }
        sheet.settling?.cancel()
        sheet.settling = LoopSource.after(Self.settlingTime) { [weak self, weak sheet] in
            if let sheet { self?.isThere(sheet) }
        }
    }

    private static let settlingTime = Duration.seconds(5)

    /// A page is complete, or as good as that.
    private func isThere(_ sheet: PageSheet) {
        sheet.settling?.cancel()
        guard isShown(sheet) else { turns?.isLoaded(sheet); return }
        if fallback != nil, notice.text == nil, sheet.view.address != "about:blank" { leaveFallback() }
    }

    /// The settings decide first, then the owner's code.
    private func decide(_ navigation: Navigation, for sheet: PageSheet, _ answer: @escaping (Bool) -> Void) {
        let isOpening = isShown(sheet) && opening.map { $0.address == navigation.address } ?? false
        guard sheet.bridge.decide(navigation.address, log: { note($0) }) else {
            answer(false)
            if !isShown(sheet), sheet.view.generation == 0 {
                isLost(sheet, "The page may not be shown.", "\(navigation.address) may not be loaded")
            }
            return
        }
        // A new window is asked for when it is loaded, and an empty page has nothing to ask for.
        if navigation.isNewWindow || navigation.address.hasPrefix("about:") { return answer(true) }
        if sheet.login.takes(navigation.address) { return answer(true) }
        let isHome = navigation.address == sheet.home
        let left = (sheet.view.leaving ?? sheet.view.address).map(OwnGateway.withoutCode)
        question.ask(navigation, from: left, isHome: isHome) { [unowned self, weak sheet] refusal in
            guard let refusal else { return answer(true) }
            answer(false)
            if isOpening { isOpened(refusal) }
            note("«\(navigation.address.prefix(200))» is not loaded: \(refusal)")
            // Without any page there would be nothing to see, and nothing to try again.
            guard let sheet, sheet.view.generation == 0 else { return }
            isLost(sheet, "The page may not be shown.", "\(navigation.address): \(refusal)")
        }
    }

    /// Loads an address for a program, and tells it when that is decided.
    /// - Parameter decided: called once, with why it is refused.
    func open(_ address: String, _ decided: @escaping (_ refusal: String?) -> Void) {
        isOpened(nil)
        let isNews = turns?.isHeld == false
        turns?.hold()
        page.load(address)
        // As the engine writes it.
        opening = (
            page.address ?? address,
            { [unowned self] refusal in
                if isNews, refusal != nil { turns?.letGo() }
                decided(refusal)
            }
        )
    }

    private func isOpened(_ refusal: String?) {
        let decided = opening?.decided
        opening = nil
        decided?(refusal)
    }

    /// The window has the page's title, as long as the page is shown and has one.
    func takeTitle() {
        let title = page.document.title
        if !title.isEmpty, !isCovered { setTitle(title) }
    }

    /// Shows a plain page of the window instead of the lost one, with a button, or the owner's fallback, until the page is
    /// loaded again automatically, or the next one is there. If another view is shown, such as an editor with somebody's
    /// text, it stays.
    func showProblem(_ title: String, _ details: String) {
        let details = ShortText.of(details, length: 500)
        if let turns, !turns.isHeld {
            tell(title, details)
            showWait(title, details)
            return turns.isShownLost()
        }
        let time = recovery.failed()
        tell(title, details, "; it is loaded again in \(Int(time.components.seconds)) s")
        notice.show(title, details, again: time) { [unowned self] in
            if !isCovered, fallback == nil { showPage() }
            // The engine forgets the address when the process ends.
            if recovery.isHopeless { goHome() } else { page.load(sheet.shown) }
        }
        if !isCovered { showNotice() }
    }

    /// Shows that none of several pages can be shown, until one is there; the button tries them at once.
    func showWait(_ title: String, _ details: String) {
        guard notice.text == nil else { return }
        notice.show(title, ShortText.of(details, length: 500), again: recovery.failed()) { [unowned self] in
            turns?.tryAgain()
        }
        if !isCovered { showNotice() }
    }

    /// Tells that a page is lost, in the log and in the daemon's journal.
    /// - Parameter more: for the log.
    func tell(_ title: String, _ details: String, _ more: String = "") {
        log.write("\(title) \(details)\(more)", .error)
        audit("\(title) \(details)")
    }

    /// Whether somebody uses the page now, answers its dialog, or edits an action.
    var isUsed: Bool { isCovered || sheet.isUsed || sheet.dialogs?.isOpen ?? false }

    /// Logs a line about what a page has done; there may be very many.
    func note(_ text: String) {
        let now = ContinuousClock.now
        if noted.since.duration(to: now) > .seconds(60) { noted = (now, 0) }
        noted.count += 1
        if noted.count <= Self.maxNotes { log.write(text, .notice) }
        if noted.count == Self.maxNotes { log.write("this page's messages are left out for a minute", .notice) }
    }

    /// Writes a line to the daemon's journal, where calls are logged, too.
    private func audit(_ text: String) {
        daemon.call("logMessage", .array([.string("quickconnect-kiosk: \(text)")]), timeout: .seconds(10))
    }
}
