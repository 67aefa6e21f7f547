import CWebKit
import Configuration
import KioskRules
internal import Linux
import QuickConnect

/// The window of a kiosk: a page, full-screen or not, and a notice if it cannot be shown.
///
/// Other modules extend it before ``run()``: with menu entries (``menuEntries``), further views
/// (``makeView(lost:)``, ``show(_:)``, ``showPage()``), and handlers and calls of the daemon (``daemon``).
final class Kiosk {
    /// An entry of the window's menu.
    struct MenuEntry {
        var title: String
        var choose: () -> Void
    }

    /// Why there is no window.
    nonisolated struct Failure: Error, CustomStringConvertible {
        var description: String
        /// Whether the settings are wrong.
        var isMistake = false
    }

    let options: KioskOptions
    let log: ServiceLog
    let engine: Engine
    let window: UnsafeMutablePointer<GtkWidget>
    let stack: UnsafeMutablePointer<GtkStack>
    let notice: Notice
    /// What of the stack has the page, and above and below it other pages.
    let pages: UnsafeMutablePointer<GtkOverlay>
    /// The page that is shown, with what belongs to it.
    var sheet: PageSheet
    /// Shows pages in turn; nil: there is one.
    private(set) var turns: PageTurns?
    /// The owner's page, while it is shown because the page cannot be.
    var fallback: PageView?
    var isFallbackLost = false
    /// What pages may load.
    var filter: OpaquePointer?
    /// The window's own connection to the daemon.
    let daemon: DaemonHost
    var keyboard: ScreenKeyboard?
    let question: NavigationQuestion
    /// The current menu entries. Called each time the menu opens; without entries there is no menu.
    var menuEntries: () -> [MenuEntry] = { [] }
    /// Called when the document is no longer shown: another one is, or its process has ended.
    var pageIsLeft: () -> Void = {}
    /// Called for each further view of pages, before it loads one.
    var pageIsMade: (PageView) -> Void = { _ in }
    var recovery = Recovery()
    /// What a program has asked to load, until that is decided.
    var opening: (address: String, decided: (String?) -> Void)?
    /// The most log lines per minute that a page can cause.
    static let maxNotes = 40
    var noted = (since: ContinuousClock.now, count: 0)
    var others: [PageView] = []
    var services: [AnyObject] = []
    var status: Int32 = 0
    var handover: Handover?
    let message: MessageBar?
    let placement: Placement

    /// Makes the window, which ``run()`` shows. For the main thread, once in a process.
    init(_ options: KioskOptions, log: ServiceLog) throws(Failure) {
        self.options = options
        self.log = log
        guard gtk_init_check(nil, nil) != 0 else {
            throw Failure(description: "there is no display: start it in a graphical session, or set DISPLAY")
        }
        try Self.check(options)
        guard let engine = Engine(options), let page = engine.makeView() else {
            throw Failure(description: "WebKit cannot be started")
        }
        guard let window = gtk_window_new(GTK_WINDOW_TOPLEVEL), let box = gtk_stack_new(),
            let pages = gtk_overlay_new()
        else {
            throw Failure(description: "the window cannot be made")
        }
        self.engine = engine
        self.window = window
        self.pages = cast(pages)
        stack = cast(box)
        notice = Notice()
        message = MessageBar()
        let settings = options.settings
        placement = Placement(window, on: settings.monitor, isFullScreen: settings.isFullScreen) { text, isProblem in
            log.write(text, isProblem ? .warning : .info)
        }
        daemon = DaemonHost(paths: options.daemonPaths)
        question = NavigationQuestion(daemon)
        let home = options.address(of: options.page)
        sheet = PageSheet(page, home, options.rule(for: options.page), options, daemon)
        build()
        connectPage(sheet)
        connectWindow()
        if options.isAutomated { connectAutomation() }
    }

    /// Checks what only GTK knows: the names of keys.
    private static func check(_ options: KioskOptions) throws(Failure) {
        guard let key = options.settings.leaveKey, Accelerator(key.value) == nil else { return }
        let what = "'\(key.value)' is not a key; write it as GTK does, such as <Control><Alt>q, or none"
        throw Failure(description: "\(key.location): \(what)", isMistake: true)
    }

    private func build() {
        let window: UnsafeMutablePointer<GtkWindow> = cast(self.window)
        gtk_window_set_title(window, "QuickConnect")
        if let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0) {
            gtk_container_add(cast(self.window), box)
            keyboard = ScreenKeyboard(over: self.window) { [unowned self] in leaveRoom($0, in: box) }
            gtk_box_pack_start(cast(box), cast(stack), 1, 1, 0)
            if let message { gtk_box_pack_end(cast(box), message.widget, 0, 0, 0) }
        }
        gtk_overlay_add_overlay(pages, page.widget)
        gtk_container_add(cast(stack), cast(pages))
        gtk_container_add(cast(stack), notice.widget)
        for (path, host) in options.folders {
            engine.folders.serve([path, options.shippedPages], as: host, withMedia: true)
            engine.folders.media = MediaScheme(daemon)
        }
        if case .folder(let path, _) = options.fallback {
            engine.folders.serve([path, options.shippedPages], as: KioskOptions.fallbackHost)
        }
    }

    // MARK: The page

    var page: PageView { sheet.view }
    var bridge: Bridge { sheet.bridge }
    /// The address with which the page begins, and to which it returns.
    var home: String { sheet.home }

    /// Shows the page with which the window begins, or lets pages go on that are shown in turn.
    func goHome() {
        if let turns { turns.goOn() } else { page.load(home) }
    }

    // MARK: Views beside the page

    /// Another view, not shown yet. It shares cookies and storage with the page, but has no bridge.
    /// - Parameter lost: called if its page cannot be loaded or its process has ended; the text says why.
    func makeView(lost: @escaping (_ reason: String) -> Void) -> PageView? {
        guard let view = engine.makeView() else { return nil }
        view.processDidEnd = lost
        view.didFail = { _, reason in lost(reason) }
        gtk_container_add(cast(stack), view.widget)
        connectMenu(of: view)
        others.append(view)
        return view
    }

    /// Shows a view instead of the page, which keeps running.
    func show(_ view: PageView) {
        if view === page { return show(page: view) }
        gtk_widget_show_all(view.widget)
        gtk_stack_set_visible_child(stack, view.widget)
        gtk_widget_grab_focus(view.widget)
    }

    /// The fallback keeps the focus from the page below it.
    func show(page view: PageView) {
        gtk_widget_show_all(view.widget)
        gtk_stack_set_visible_child(stack, cast(pages))
        gtk_widget_grab_focus((fallback ?? view).widget)
    }

    /// Shows the page again, with its title, or the notice if it is lost.
    func showPage() {
        setTitle(page.document.title)
        if notice.text == nil { show(page) } else { showNotice() }
    }

    /// Shows that the page is lost: the owner's fallback, else the notice.
    func showNotice() {
        if coverWithFallback() { return }
        gtk_stack_set_visible_child(stack, notice.widget)
        notice.takeFocus()
    }

    /// Whether another view is shown instead of the page.
    var isCovered: Bool {
        let visible = gtk_stack_get_visible_child(stack)
        return others.contains { $0.widget == visible }
    }

    /// Sets the window's title, until the next page with a title.
    func setTitle(_ title: String) { gtk_window_set_title(cast(window), title) }

    // MARK: Running

    /// Shows the window, and returns the exit status when it is closed.
    func run() -> Int32 {
        placement.begin()
        gtk_widget_show_all(window)
        gtk_stack_set_visible_child(stack, cast(pages))
        keyboard?.begin()
        daemon.start()
        startServices()
        afterFilter { [self] in
            // A driver keeps the one view that it has.
            if let turns = options.turns, !options.isAutomated {
                self.turns = PageTurns(self, turns)
                self.turns?.begin()
            } else {
                page.load(home)
            }
            // Not before, because what a program opens must come after this page, and pass the filter.
            services.append(KioskCommand(self))
            // It waits until the page's script has begun.
            if let address = options.handedOver, let why = takeFromOutside(address) { log.write(why, .error) }
        }
        gtk_main()
        daemon.close()
        handover?.stop()
        return status
    }

    /// Whether ``run()`` has returned because the settings have changed.
    private(set) var isOutdated = false

    /// Closes the window if, after a reload of the daemon, the settings are others.
    /// - Parameter hasChanged: reads them again.
    func closeIfSettingsChange(_ hasChanged: @escaping () -> Bool) {
        daemon.subscribe(to: DaemonEvents.commands) { [unowned self] _ in
            guard !isOutdated, hasChanged() else { return }
            log.write("the settings of the kiosk have changed: the window is opened anew", .notice)
            isOutdated = true
            quit()
        }
    }

    /// Closes the window: ``run()`` returns.
    func quit(_ status: Int32 = 0) {
        self.status = status
        gtk_main_quit()
    }
}
