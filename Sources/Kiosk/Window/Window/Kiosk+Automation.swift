import CWebKit

/// Lets a WebDriver control the page of this window; it gets no view of its own.
extension Kiosk {
    func connectAutomation() {
        let started: @convention(c) (UnsafeMutableRawPointer, OpaquePointer, UnsafeMutableRawPointer) -> Void = {
            _,
            session,
            data in
            let kiosk: Kiosk = owner(data)
            kiosk.begin(session)
        }
        connect(engine.context, "automation-started", unsafeBitCast(started, to: GCallback.self), self)
    }

    private func begin(_ session: OpaquePointer) {
        let information = webkit_application_info_new()
        webkit_application_info_set_name(information, "QuickConnectKiosk")
        webkit_application_info_set_version(information, 0, 1, 0)
        webkit_automation_session_set_application_info(cast(UnsafeMutableRawPointer(session)), information)
        webkit_application_info_unref(information)
        let create: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> UnsafeMutablePointer<WebKitWebView> = {
            _,
            data in
            let kiosk: Kiosk = owner(data)
            return kiosk.page.view
        }
        connect(UnsafeMutableRawPointer(session), "create-web-view", unsafeBitCast(create, to: GCallback.self), self)
    }
}
