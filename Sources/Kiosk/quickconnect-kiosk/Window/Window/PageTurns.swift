import CWebKit
import Calendar
import JSON
import KioskRules

/// Shows the pages of the settings in turn. The next one is loaded unseen, and is shown when it is there; then the one
/// before ends with its process, so that nothing of it can go on, or grow.
final class PageTurns {
    private unowned let kiosk: Kiosk
    private let pages: [KioskOptions.Page]
    private var order: PageOrder
    /// The page that nobody sees yet.
    private var hidden: PageSheet?
    /// Whether the hidden page is about to be shown.
    private var isRevealing = false
    /// Whether a program has opened another page, which stays until it lets the pages go on.
    private(set) var isHeld = false
    private var timer: LoopSource?

    /// How long until it looks again whether somebody still uses the page.
    private static let patience = Duration.seconds(1)
    /// How long until it asks again where the device is.
    private static let pause = Duration.seconds(3600)

    init(_ kiosk: Kiosk, _ turns: KioskOptions.Turns) {
        self.kiosk = kiosk
        pages = turns.pages
        order = PageOrder(turns.order, at: turns.place)
    }

    func begin() {
        if order.lacksPlace { searchPlace() }
        advance()
    }

    /// Does what is due.
    private func advance() {
        timer?.cancel()
        guard !isHeld, !isRevealing else { return }
        guard order.shown == nil || !kiosk.isUsed else { return wait(Self.patience) }
        while true {
            switch order.step(at: .now) {
            case .load(let number): load(pages[number])
            case .show: return show()
            case .forget: drop()
            case .showNone: kiosk.showNone()
            case .wait(let time): return wait(.milliseconds(time))
            }
        }
    }

    private func wait(_ time: Duration) {
        timer = LoopSource.after(time) { [weak self] in self?.advance() }
    }

    private func load(_ page: KioskOptions.Page) {
        guard let sheet = kiosk.makeSheet(page) else {
            _ = order.hiddenFails(at: .now)
            return
        }
        hidden = sheet
        sheet.view.load(sheet.home)
        kiosk.awaitPage(of: sheet)
    }

    private func show() {
        guard let sheet = hidden else { return }
        isRevealing = true
        kiosk.reveal(sheet) { [weak self] in
            guard let self, hidden === sheet else { return }
            (hidden, isRevealing) = (nil, false)
            if let loss = sheet.loss {
                passOver(sheet, isNews: order.showFails(at: .now) != nil, loss)
            } else {
                kiosk.change(to: sheet)
            }
            advance()
        }
    }

    private func drop() {
        let sheet = hidden
        if isRevealing { order.isNotShown() }
        // Before it ends, which breaks off what draws it.
        (hidden, isRevealing) = (nil, false)
        sheet?.end()
    }

    // MARK: What became of a page

    /// A page that nobody sees yet is there.
    func isLoaded(_ sheet: PageSheet) {
        guard sheet === hidden else { return }
        order.isLoaded()
        advance()
    }

    /// A page that nobody sees yet is lost: it is passed over, which is told once.
    func isLost(_ sheet: PageSheet, _ reason: String) {
        guard sheet === hidden else { return }
        guard !isRevealing else { return sheet.loss = sheet.loss ?? reason }
        hidden = nil
        passOver(sheet, isNews: order.hiddenFails(at: .now) != nil, reason)
        advance()
    }

    private func passOver(_ sheet: PageSheet, isNews: Bool, _ reason: String) {
        // Not while its own signal is under way.
        LoopSource.after(.zero) { sheet.end() }
        if isNews { kiosk.tell("A page is passed over until it can be shown.", reason) }
        if order.shown == nil { kiosk.showWait("The page cannot be shown.", reason) }
    }

    /// The page that is shown is lost: the next one comes.
    func isShownLost() {
        // It is about to be replaced.
        guard !isRevealing else { return }
        // A process that cannot even show nothing is not started again and again.
        let time = order.shown == nil ? Self.patience : .zero
        order.shownFails(at: .now)
        LoopSource.after(time) { [weak self] in self?.advance() }
    }

    /// Whether a view has the page that nobody sees yet.
    func isHidden(_ view: UnsafeMutablePointer<WebKitWebView>) -> Bool { view == hidden?.view.view }

    /// Somebody does not want to wait until pages that failed are tried again.
    func tryAgain() {
        order.tryAgain()
        advance()
    }

    // MARK: What programs want

    /// Leaves what is opened now, until ``goOn()``.
    func hold() {
        isHeld = true
        timer?.cancel()
        drop()
        // Of a window that showed none.
        kiosk.page.setBackground(to: nil)
        order.beginTurn(at: .now)
    }

    /// What was to be opened is not, so that the pages go on.
    func letGo() {
        isHeld = false
        advance()
    }

    /// Shows the page whose turn it was, and the others behind it.
    func goOn() {
        hold()
        isHeld = false
        if order.shown != nil { kiosk.page.load(kiosk.home) } else { kiosk.showNone() }
        advance()
    }

    // MARK: The sun

    private func searchPlace() {
        kiosk.daemon.call("location") { [weak self] result in
            guard let self, case .success(let answer) = result, let position = answer.objectValue,
                let latitude = position["latitude"]?.numberValue, let longitude = position["longitude"]?.numberValue
            else { return }
            order.place = (latitude, longitude)
            advance()
        }
        LoopSource.after(Self.pause) { [weak self] in
            if let self, order.lacksPlace { searchPlace() }
        }
    }
}
