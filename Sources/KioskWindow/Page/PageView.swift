import CWebKit
import KioskRules

/// A web view: the page in it, what runs in it, and what it says.
///
/// On the main thread, as everything of the window. It lives as long as its widget, which the window has.
///
///     view.evaluate("document.title", in: .page) { result in … }           // the value as JSON
///     let before = view.document
///     view.call("return finalize(JSON.parse(input))", ["input": json], in: .named("actions")) { result in
///         guard view.document.generation == before.generation else { … }    // another page is there now
///     }
///     view.addMessageHandler("run", in: .named("actions")) { text, reply in reply.give("…") }
public final class PageView {
    /// Whose variables and functions a text sees. All share the document.
    public enum World: Hashable {
        /// The page's own. Its Content-Security-Policy forbids `eval` there, not what the window runs.
        case page
        /// Another one, without the page's variables, and out of its reach.
        case named(String)

        var name: String? {
            switch self {
            case .page: nil
            case .named(let name): name
            }
        }
    }

    /// Which document is shown.
    public struct Document: Equatable {
        /// As the page tells it, cut where it is longer than any title.
        public var title: String
        public var address: String
        /// Grows with each document that is shown, so that two of the same address differ. It stays where a page only
        /// changes its own address.
        public var generation: Int
    }

    let view: UnsafeMutablePointer<WebKitWebView>
    let content: OpaqueManager
    var boxes: [HandlerName: HandlerBox] = [:]
    var messageHandlers: [HandlerName: (String, ScriptReply) -> Void] = [:]
    public internal(set) var generation = 0

    // Who is told. Each is set once, before the first page.
    /// Decides on an address: true lets it load.
    var decideNavigation: (_ address: String, _ isNewWindow: Bool) -> Bool = { _, _ in true }
    /// Another document begins to load.
    var didStart: () -> Void = {}
    /// Another document is shown.
    var didCommit: () -> Void = {}
    var didFinish: () -> Void = {}
    /// A page could not be loaded: its address, and the engine's words.
    var didFail: (_ address: String, _ reason: String) -> Void = { _, _ in }
    /// The page wanted what it may not; the words say what.
    var didRefuse: (_ what: String) -> Void = { _ in }
    /// The process that runs the page has ended; the words say why.
    var processDidEnd: (_ reason: String) -> Void = { _ in }

    typealias OpaqueManager = UnsafeMutablePointer<WebKitUserContentManager>

    /// - Parameter context: what views of one window share.
    init?(
        _ context: UnsafeMutablePointer<WebKitWebContext>,
        _ settings: UnsafeMutablePointer<WebKitSettings>,
        isAutomated: Bool
    ) {
        guard let manager = webkit_user_content_manager_new() else { return nil }
        content = manager
        let made = Property.make(
            webkit_web_view_get_type(),
            [
                ("web-context", .object(context)), ("settings", .object(settings)),
                ("user-content-manager", .object(manager)), ("is-controlled-by-automation", .flag(isAutomated)),
            ]
        )
        guard let made else { return nil }
        view = cast(made)
        g_object_ref_sink(made)
        connectSignals()
    }

    /// The widget, to be shown.
    var widget: UnsafeMutablePointer<GtkWidget> { cast(UnsafeMutableRawPointer(view)) }

    /// Which document is shown now.
    public var document: Document {
        Document(
            title: ShortText.of(webkit_web_view_get_title(view).map { String(cString: $0) } ?? "", length: 500),
            address: address ?? "about:blank",
            generation: generation
        )
    }

    /// The address of the page; nil before the first.
    public var address: String? { webkit_web_view_get_uri(view).map { String(cString: $0) } }

    public func load(_ address: String) { webkit_web_view_load_uri(view, address) }

    public func reload() { webkit_web_view_reload(view) }

    /// Ends the process that runs the page, as where it hangs.
    func terminate() { webkit_web_view_terminate_web_process(view) }

    /// Text to run at the start of each document, in its top frame only.
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
