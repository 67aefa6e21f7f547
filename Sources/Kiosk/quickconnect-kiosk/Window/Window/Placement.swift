import CWebKit
import JSON
import KioskRules

/// Keeps the window on its monitor, and a full-screen one on the whole of it, while monitors come, go, turn and change
/// their size.
///
/// A window manager or a Wayland compositor does this for a full-screen window. On a bare X server, which a kiosk may
/// have, nobody does: there the window takes the monitor's place and size itself.
final class Placement {
    private static let usualSize: (width: Int32, height: Int32) = (1024, 768)

    private let window: UnsafeMutablePointer<GtkWindow>
    private let choice: MonitorChoice?
    private let isFullScreen: Bool
    private let log: (_ text: String, _ isProblem: Bool) -> Void
    private var monitors: [DisplayMonitor] = []
    /// Where the window is; nil while no monitor is connected.
    private var current: DisplayMonitor?
    private var later: LoopSource?

    /// - Parameters:
    ///   - choice: nil: the primary monitor, or the first.
    ///   - log: gets a line when the window gets a monitor or another size of it.
    init(
        _ window: UnsafeMutablePointer<GtkWidget>,
        on choice: MonitorChoice?,
        isFullScreen: Bool,
        log: @escaping (_ text: String, _ isProblem: Bool) -> Void
    ) {
        (self.window, self.choice) = (cast(window), choice)
        (self.isFullScreen, self.log) = (isFullScreen, log)
    }

    /// Places the window, which is not shown yet, and follows changes from now on.
    func begin() {
        place()
        guard isFullScreen, let screen = gtk_window_get_screen(window) else { return }
        var signals = ["monitors-changed", "size-changed"]
        if isOnX { signals.append("window-manager-changed") }
        for signal in signals {
            connect(UnsafeMutableRawPointer(screen), signal) { [unowned self] _ in placeSoon() }
        }
    }

    /// For `state`: the name, number and size of the monitor that the window fills, and the one that was chosen but is
    /// not there. Null for a window that people move.
    var state: JSONValue {
        guard isFullScreen, let current, let number = monitors.firstIndex(of: current) else { return .null }
        let missing = choice.flatMap { $0.index(among: monitors.map(\.name)) == nil ? $0.description : nil }
        return JSONValue(present: [
            "name": .string(current.name), "number": .integer(Int64(number + 1)),
            "width": .integer(Int64(current.width)), "height": .integer(Int64(current.height)),
            "missing": missing.map(JSONValue.string),
        ])
    }

    // MARK: Placing

    /// One change of monitors sends many signals, and a window manager reacts to them, too.
    private func placeSoon() {
        later?.cancel()
        later = LoopSource.after(.milliseconds(100)) { [weak self] in self?.place() }
    }

    private func place() {
        guard let display = gtk_widget_get_display(cast(window)) else { return }
        monitors = DisplayMonitor.all(of: display)
        let chosen = choice.flatMap { $0.index(among: monitors.map(\.name)) }.map { monitors[$0] }
        guard let monitor = chosen ?? monitors.first(where: \.isPrimary) ?? monitors.first else {
            if current != nil { log("no monitor is connected", true) }
            current = nil
            return
        }
        if monitor != current { report(monitor, isChosen: chosen != nil) }
        current = monitor
        if isFullScreen { fill(monitor) } else { center(on: monitor, display) }
    }

    private func report(_ monitor: DisplayMonitor, isChosen: Bool) {
        let place = "the window is on \(monitor.name), \(monitor.width)×\(monitor.height)"
        guard let choice, !isChosen else { return log(place, false) }
        let all = monitors.enumerated().map { "\($0.offset + 1) \($0.element.name)" }.joined(separator: ", ")
        log("\(place): 'monitor' of the kiosk's settings, \(choice), is not connected; connected: \(all)", true)
    }

    private func fill(_ monitor: DisplayMonitor) {
        guard isManaged else {
            gtk_window_move(window, monitor.x, monitor.y)
            return gtk_window_resize(window, monitor.width, monitor.height)
        }
        guard let screen = gtk_window_get_screen(window), !covers(monitor) else { return }
        // Window managers do not move a full-screen window.
        gtk_window_unfullscreen(window)
        gtk_window_move(window, monitor.x, monitor.y)
        gtk_window_fullscreen_on_monitor(window, screen, monitor.index)
    }

    private func covers(_ monitor: DisplayMonitor) -> Bool {
        guard let surface = gtk_widget_get_window(cast(window)) else { return false }
        let isFull = gdk_window_get_state(surface).rawValue & GDK_WINDOW_STATE_FULLSCREEN.rawValue != 0
        var (x, y): (Int32, Int32) = (0, 0)
        gdk_window_get_origin(surface, &x, &y)
        let size = (gdk_window_get_width(surface), gdk_window_get_height(surface))
        return isFull && size == (monitor.width, monitor.height) && (!isOnX || (x, y) == (monitor.x, monitor.y))
    }

    /// A window among others is no larger than its monitor, and in its middle if one was chosen.
    private func center(on monitor: DisplayMonitor, _ display: OpaquePointer) {
        let area = monitor.workArea(of: display)
        let size = (width: min(Self.usualSize.width, area.width), height: min(Self.usualSize.height, area.height))
        gtk_window_set_default_size(window, size.width, size.height)
        guard choice != nil else { return }
        gtk_window_move(window, area.x + (area.width - size.width) / 2, area.y + (area.height - size.height) / 2)
    }

    // MARK: Who places windows here

    /// Whether a window manager or a compositor makes windows full-screen.
    private var isManaged: Bool {
        guard isOnX, let screen = gtk_window_get_screen(window) else { return true }
        let hint = gdk_atom_intern("_NET_WM_STATE_FULLSCREEN", 0)
        return gdk_x11_screen_supports_net_wm_hint(screen, hint) != 0
    }

    private var isOnX: Bool { XServer.display != nil }
}

/// A monitor of the display, as it is now.
struct DisplayMonitor: Hashable {
    /// The name of its connector, such as `HDMI-1`.
    var name: String
    /// GDK's own number.
    var index: Int32
    /// In the application's pixels, of which one may be several of the monitor's.
    var x: Int32, y: Int32, width: Int32, height: Int32
    var isPrimary: Bool

    /// From left to right, then from top to bottom. Empty while no monitor is connected.
    static func all(of display: OpaquePointer) -> [DisplayMonitor] {
        guard let screen = gdk_display_get_default_screen(display) else { return [] }
        let primary = gdk_display_get_primary_monitor(display)
        return (0..<gdk_display_get_n_monitors(display))
            .compactMap { index in
                guard let monitor = gdk_display_get_monitor(display, index) else { return nil }
                var area = GdkRectangle()
                gdk_monitor_get_geometry(monitor, &area)
                let name = qc_monitor_name(screen, index)
                defer { g_free(name) }
                return DisplayMonitor(
                    name: name.map { String(cString: $0) } ?? "",
                    index: index,
                    x: area.x,
                    y: area.y,
                    width: area.width,
                    height: area.height,
                    isPrimary: monitor == primary
                )
            }
            .sorted { ($0.x, $0.y) < ($1.x, $1.y) }
    }

    /// The part without the panels of a desktop.
    func workArea(of display: OpaquePointer) -> GdkRectangle {
        var area = GdkRectangle(x: x, y: y, width: width, height: height)
        if let monitor = gdk_display_get_monitor(display, index) { gdk_monitor_get_workarea(monitor, &area) }
        return area
    }
}
