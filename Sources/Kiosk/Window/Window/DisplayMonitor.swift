import CWebKit
import JSON

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
