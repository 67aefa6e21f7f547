import CWebKit
import KioskRules

/// Notices an on-screen keyboard that covers a part of the window, on an X server: a window that takes no keys itself and
/// lies above this one, along its edge. On Wayland a window does not learn of others.
final class ScreenKeyboard {
    private let window: UnsafeMutablePointer<GtkWidget>
    private let changed: (KeyboardOverlap) -> Void
    private var overlap = KeyboardOverlap()
    private var later: LoopSource?

    /// - Parameter changed: called when it comes, goes or changes its size, in the application's pixels.
    init(over window: UnsafeMutablePointer<GtkWidget>, changed: @escaping (KeyboardOverlap) -> Void) {
        (self.window, self.changed) = (window, changed)
    }

    /// Follows the windows of the screen from now on. The window is shown already.
    func begin() {
        guard XServer.display != nil, let screen = gtk_widget_get_screen(window),
            let root = gdk_screen_get_root_window(screen)
        else { return }
        let events = gdk_window_get_events(root).rawValue | GDK_SUBSTRUCTURE_MASK.rawValue
        gdk_window_set_events(root, GdkEventMask(rawValue: events))
        let filter: GdkFilterFunc = { event, _, data in
            let interesting = [MapNotify, UnmapNotify, DestroyNotify, ConfigureNotify, ReparentNotify]
            guard let event, let data else { return GDK_FILTER_CONTINUE }
            let type = event.assumingMemoryBound(to: XEvent.self).pointee.type
            if interesting.contains(type) { (owner(data) as ScreenKeyboard).lookSoon() }
            return GDK_FILTER_CONTINUE
        }
        gdk_window_add_filter(root, filter, Unmanaged.passUnretained(self).toOpaque())
        lookSoon()
    }

    /// A window that comes sends many events.
    private func lookSoon() {
        guard later?.isActive != true else { return }
        later = LoopSource.after(.milliseconds(100)) { [weak self] in self?.look() }
    }

    private func look() {
        guard let server = XServer.display, let display = gdk_display_get_default(),
            let surface = gtk_widget_get_window(window)
        else { return }
        // Windows may go while they are looked at.
        gdk_x11_display_error_trap_push(display)
        defer { gdk_x11_display_error_trap_pop_ignored(display) }
        let stack = XWindows(server)
        guard let own = stack.frame(of: gdk_x11_window_get_xid(surface)), let area = stack.area(of: own) else { return }
        let above = stack.top.drop { $0 != own }.dropFirst()
        // The window's own menus and lists take no keys, either.
        let others = above.filter { gdk_x11_window_lookup_for_display(display, $0) == nil }
        var found = KeyboardOverlap(of: area, by: others.filter(stack.isKeyboard).compactMap(stack.area))
        let scale = Int(gtk_widget_get_scale_factor(window))
        (found.top, found.bottom) = (found.top / scale, found.bottom / scale)
        guard found != overlap else { return }
        overlap = found
        changed(found)
    }
}

/// The windows of an X server, as they are now. Xlib's errors must be trapped.
private struct XWindows {
    private let server: OpaquePointer
    private let root: Window
    /// Those of the screen itself, from the lowest to the highest.
    let top: [Window]

    init(_ server: OpaquePointer) {
        self.server = server
        root = XDefaultRootWindow(server)
        top = Self.tree(server, root).children
    }

    private static func tree(_ server: OpaquePointer, _ window: Window) -> (parent: Window, children: [Window]) {
        var (root, parent): (Window, Window) = (0, 0)
        var list: UnsafeMutablePointer<Window>?
        var count: UInt32 = 0
        guard XQueryTree(server, window, &root, &parent, &list, &count) != 0 else { return (0, []) }
        defer { if let list { XFree(list) } }
        return (parent, Array(UnsafeBufferPointer(start: list, count: Int(count))))
    }

    /// The window of the screen that contains it: itself, or the frame of a window manager.
    func frame(of window: Window) -> Window? {
        var window = window
        while !top.contains(window) {
            window = Self.tree(server, window).parent
            if window == 0 || window == root { return nil }
        }
        return window
    }

    /// Nil if it is not shown.
    func area(of window: Window) -> KeyboardOverlap.Area? {
        var attributes = XWindowAttributes()
        guard XGetWindowAttributes(server, window, &attributes) != 0, attributes.map_state == IsViewable
        else { return nil }
        return KeyboardOverlap.Area(
            left: Int(attributes.x),
            top: Int(attributes.y),
            width: Int(attributes.width),
            height: Int(attributes.height)
        )
    }

    /// Whether it, or what a window manager has put into this frame, refuses keys.
    func isKeyboard(_ window: Window) -> Bool {
        guard area(of: window) != nil else { return false }
        if refusesKeys(window) { return true }
        return Self.tree(server, window).children.contains { child in
            refusesKeys(child) || Self.tree(server, child).children.contains(where: refusesKeys)
        }
    }

    private func refusesKeys(_ window: Window) -> Bool {
        guard let hints = XGetWMHints(server, window) else { return false }
        defer { XFree(hints) }
        return hints.pointee.flags & InputHint != 0 && hints.pointee.input == 0
    }
}
