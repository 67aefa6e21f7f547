import CWebKit

/// The X server, if the window is shown by one.
enum XServer {
    /// Nil on Wayland.
    static var display: OpaquePointer? {
        let type = g_type_from_name("GdkX11Display")
        guard type != 0, let display = gdk_display_get_default(),
            g_type_check_instance_is_a(cast(UnsafeMutableRawPointer(display)), type) != 0
        else { return nil }
        return gdk_x11_display_get_xdisplay(display)
    }
}
