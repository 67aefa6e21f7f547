import CWebKit
import KioskRules

/// A web view: its page, the scripts in it, and its messages.
///
/// For the main thread, like everything of the window. It lives as long as its widget, which the window owns.
///
///     view.evaluate("document.title", in: .page) { result in … }           // the value as JSON
///     let before = view.document
///     view.call("return finalize(JSON.parse(input))", ["input": json], in: .named("actions")) { result in
///         guard view.document.generation == before.generation else { … }    // another page is there now
///     }
///     view.addMessageHandler("run", in: .named("actions")) { text, reply in reply.give("…") }
final class PageView {
    /// A JavaScript world: a set of variables and functions. All worlds share the document.
    enum World: Hashable {
        /// The page's own world. Its Content-Security-Policy forbids `eval` there, but not the window's scripts.
        case page
        /// Another world, without the page's variables, and inaccessible to the page.
        case named(String)

        var name: String? {
            switch self {
            case .page: nil
            case .named(let name): name
            }
        }
    }

    /// Which document is shown.
    struct Document: Equatable {
        /// The page's title, cut if it is longer than usual titles.
        var title: String
        var address: String
        /// Increases with each new document, so that two with the same address differ. It does not change if a page
        /// only changes its own address.
        var generation: Int
    }

    let view: UnsafeMutablePointer<WebKitWebView>
    let content: OpaqueManager
    var messageHandlers: [HandlerName: (String, ScriptReply) -> Void] = [:]
    var generation = 0
    /// Whether the load that ends now has failed: the engine says that it has finished, too.
    var hasFailed = false
    /// Whether nobody sees it, so that it downloads nothing: what is no page has failed.
    var isUnseen = false
    /// The page that a program's load leaves, until that is decided: the engine has only the new address by then.
    private(set) var leaving: String?

    // Callbacks. Each is set once, before the first page.
    /// Decides on an address, at once or later: true lets it load.
    var decideNavigation: (Navigation, _ decide: @escaping (Bool) -> Void) -> Void = { _, decide in decide(true) }
    /// Another document begins to load.
    var didStart: () -> Void = {}
    /// Another document is shown.
    var didCommit: () -> Void = {}
    var didFinish: () -> Void = {}
    /// A page could not be loaded: its address, and the engine's reason.
    var didFail: (_ address: String, _ reason: String) -> Void = { _, _ in }
    /// The page tried something that is not allowed; the text says what.
    var didRefuse: (_ what: String) -> Void = { _ in }
    /// The process that runs the page has ended; the text says why.
    var processDidEnd: (_ reason: String) -> Void = { _ in }

    typealias OpaqueManager = UnsafeMutablePointer<WebKitUserContentManager>

    /// - Parameter context: what the views of a window share.
    init?(
        _ context: UnsafeMutablePointer<WebKitWebContext>,
        _ settings: UnsafeMutablePointer<WebKitSettings>,
        isAutomated: Bool
    ) {
        guard let manager = webkit_user_content_manager_new() else { return nil }
        content = manager
        // The setting for gestures does not cover sound: without this, a page may only play what is muted.
        let autoplay = [
            ("autoplay", Property.enumeration(webkit_autoplay_policy_get_type(), WEBKIT_AUTOPLAY_ALLOW.rawValue))
        ]
        guard let policies = Property.make(webkit_website_policies_get_type(), autoplay) else { return nil }
        defer { g_object_unref(policies) }
        let made = Property.make(
            webkit_web_view_get_type(),
            [
                ("website-policies", .object(policies)),
                ("web-context", .object(context)), ("settings", .object(settings)),
                ("user-content-manager", .object(manager)), ("is-controlled-by-automation", .flag(isAutomated)),
            ]
        )
        guard let made else { return nil }
        view = cast(made)
        g_object_ref_sink(made)
        connectSignals()
    }

    isolated deinit {
        g_object_unref(view)
        g_object_unref(content)
    }

    /// Ends the page, its process and its signals. The view can show nothing any more.
    func close() {
        (didFail, processDidEnd) = ({ _, _ in }, { _ in })
        // Of a process that only loses its page, the engine sometimes keeps a thread for ever.
        terminate()
        gtk_widget_destroy(widget)
    }

    /// The widget, to be shown.
    var widget: UnsafeMutablePointer<GtkWidget> { cast(UnsafeMutableRawPointer(view)) }

    /// Which document is shown now.
    var document: Document {
        Document(
            title: ShortText.of(webkit_web_view_get_title(view).map { String(cString: $0) } ?? "", length: 500),
            address: address ?? "about:blank",
            generation: generation
        )
    }

    /// The address of the page; nil before the first.
    var address: String? { webkit_web_view_get_uri(view).map { String(cString: $0) } }

    func load(_ address: String) {
        leaving = leaving ?? self.address
        asked = address
        webkit_web_view_load_uri(view, address)
    }

    /// What a program has loaded last, until a page is shown.
    private(set) var asked: String?

    /// A document is shown.
    /// - Returns: what was asked for, if the engine shows an empty page instead, as it does for ports of other protocols.
    func takeCommitted() -> String? {
        defer { asked = nil }
        return address == "about:blank" && asked != address ? asked : nil
    }

    func isDecided() { leaving = nil }

    /// What is seen where a page has no background of its own; nil: white.
    func setBackground(to color: GdkRGBA?) {
        var color = color ?? GdkRGBA(red: 1, green: 1, blue: 1, alpha: 1)
        webkit_web_view_set_background_color(view, &color)
    }

    func stop() { webkit_web_view_stop_loading(view) }

    func reload() { webkit_web_view_reload(view) }

    /// Ends the process that runs the page, for example because it hangs.
    func terminate() { webkit_web_view_terminate_web_process(view) }

    /// Adds a script to run at the start of each document, in its top frame only.
    func addScript(_ text: String, in world: World) {
        let script: OpaquePointer?
        let (frames, time) = (WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START)
        switch world {
        case .page: script = webkit_user_script_new(text, frames, time, nil, nil)
        case .named(let name): script = webkit_user_script_new_for_world(text, frames, time, name, nil, nil)
        }
        webkit_user_content_manager_add_script(content, script)
        webkit_user_script_unref(script)
    }

    func addStyle(_ text: String) {
        let sheet = webkit_user_style_sheet_new(
            text,
            WEBKIT_USER_CONTENT_INJECT_ALL_FRAMES,
            WEBKIT_USER_STYLE_LEVEL_USER,
            nil,
            nil
        )
        webkit_user_content_manager_add_style_sheet(content, sheet)
        webkit_user_style_sheet_unref(sheet)
    }
}
