import CWebKit
import Linux

/// Keeps the screen awake while the window is open, with a request to the desktop on the session bus and to the X
/// server.
enum ScreenSleep {
    static func prevent() {
        notifyServer()
        guard hasSessionBus else { return }
        let words = [g_variant_new_string("quickconnect-kiosk"), g_variant_new_string("a page is shown")]
        let parameters = g_variant_new_tuple(words, gsize(words.count))
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return }
        // The bus ends it with this program's connection, so it need not be undone.
        g_dbus_connection_call(
            bus,
            "org.freedesktop.ScreenSaver",
            "/org/freedesktop/ScreenSaver",
            "org.freedesktop.ScreenSaver",
            "Inhibit",
            parameters,
            nil,
            G_DBUS_CALL_FLAGS_NONE,
            5000,
            nil,
            { object, result, data in
                guard let object else { return }
                var error: UnsafeMutablePointer<GError>?
                let answer = g_dbus_connection_call_finish(OpaquePointer(object), result, &error)
                if let answer { g_variant_unref(answer) }
                if error != nil { g_error_free(error) }
            },
            nil
        )
    }

    /// A bare X server has a screen saver and puts its monitors to sleep, which nobody else switches off.
    private static func notifyServer() {
        guard let server = XServer.display else { return }
        XSetScreenSaver(server, 0, 0, DontPreferBlanking, DontAllowExposures)
        var (event, error): (Int32, Int32) = (0, 0)
        if DPMSQueryExtension(server, &event, &error) != 0 { DPMSDisable(server) }
    }

    private static var hasSessionBus: Bool {
        if getenv("DBUS_SESSION_BUS_ADDRESS") != nil { return true }
        guard let folder = getenv("XDG_RUNTIME_DIR") else { return false }
        return FileText.exists("\(String(cString: folder))/bus")
    }
}
