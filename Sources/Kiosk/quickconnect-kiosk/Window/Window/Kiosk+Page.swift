import Configuration
import JSON
import KioskRules
import Linux

/// The reactions to events of the page.
extension Kiosk {
    func connectPage() {
        page.decideNavigation = { [unowned self] navigation, answer in decide(navigation, answer) }
        page.didStart = { [unowned self] in
            isOpened(nil)
            bridge.channel.loadBegins()
            awaitPage()
        }
        page.didCommit = { [unowned self] in
            bridge.channel.loadIsCommitted()
            if let address = page.address, address != "about:blank" { shown = OwnGateway.withoutCode(address) }
            loading?.cancel()
            if notice.text != nil {
                notice.end()
                if !isCovered { show(page) }
            }
            dialogs?.close()
            takeTitle()
            pageIsLeft()
        }
        page.didFinish = { [unowned self] in
            recovery.pageIsThere()
            takeTitle()
            login.pageIsThere()
        }
        page.didRefuse = { [unowned self] what in note("the page may not \(what)") }
        page.didFail = { [unowned self] address, reason in
            loading?.cancel()
            guard PageAddress(address)?.scheme != "about" else { return }
            shown = OwnGateway.withoutCode(address)
            showProblem("The page cannot be reached.", "\(shown): \(reason)")
        }
        page.processDidEnd = { [unowned self] reason in
            bridge.channel.processIsGone()
            dialogs?.close()
            pageIsLeft()
            showProblem("The page has stopped.", "\(shown): \(reason)")
        }
        bridge.channel.warn = { [unowned self] in note($0) }
        if options.logsMessages {
            bridge.channel.log = { [log, options] direction, message in
                for line in message.split(separator: "\n") {
                    log.write(
                        MessageLog.line(direction, String(line), maximumLength: options.settings.logMaxLength),
                        .notice
                    )
                }
            }
        }
        connectMenu()
    }

    /// A server that takes the request and says nothing is like one that is not there.
    private func awaitPage() {
        loading?.cancel()
        guard let hang = options.settings.hangSeconds else { return }
        loading = LoopSource.after(.seconds(hang * 3)) { [unowned self] in
            let address = page.address ?? shown
            page.stop()
            page.didFail(address, "nothing came for \(Int(hang * 3)) s")
        }
    }

    /// The settings decide first, then the owner's code.
    private func decide(_ navigation: Navigation, _ answer: @escaping (Bool) -> Void) {
        let isOpening = opening.map { $0.address == navigation.address } ?? false
        guard bridge.decide(navigation.address, log: { note($0) }) else { return answer(false) }
        // A new window is asked for when it is loaded, and an empty page has nothing to ask for.
        if navigation.isNewWindow || navigation.address.hasPrefix("about:") { return answer(true) }
        if login.takes(navigation.address) { return answer(true) }
        let isHome = navigation.address == home
        let left = (page.leaving ?? page.address).map(OwnGateway.withoutCode)
        question.ask(navigation, from: left, isHome: isHome) { [unowned self] refusal in
            guard let refusal else { return answer(true) }
            answer(false)
            if isOpening { isOpened(refusal) }
            note("«\(navigation.address.prefix(200))» is not loaded: \(refusal)")
            // Without any page there would be nothing to see, and nothing to try again.
            if page.generation == 0 { showProblem("The page may not be shown.", "\(navigation.address): \(refusal)") }
        }
    }

    /// Loads an address for a program, and tells it when that is decided.
    /// - Parameter decided: called once, with why it is refused.
    func open(_ address: String, _ decided: @escaping (_ refusal: String?) -> Void) {
        isOpened(nil)
        page.load(address)
        // As the engine writes it.
        opening = (page.address ?? address, decided)
    }

    private func isOpened(_ refusal: String?) {
        let decided = opening?.decided
        opening = nil
        decided?(refusal)
    }

    /// The window has the page's title, as long as the page is shown and has one.
    private func takeTitle() {
        let title = page.document.title
        if !title.isEmpty, !isCovered { setTitle(title) }
    }

    /// Shows a plain page of the window instead of the lost one, with a button, until the page is loaded again
    /// automatically. If another view is shown, such as an editor with somebody's text, it stays.
    func showProblem(_ title: String, _ details: String) {
        let details = ShortText.of(details, length: 500)
        let time = recovery.failed()
        log.write("\(title) \(details); it is loaded again in \(Int(time.components.seconds)) s", .error)
        audit("\(title) \(details)")
        notice.show(title, details, again: time) { [unowned self] in
            if !isCovered { showPage() }
            // The engine forgets the address when the process ends.
            page.load(recovery.isHopeless ? home : shown)
        }
        if !isCovered { showNotice() }
    }

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
