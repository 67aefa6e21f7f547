import CWebKit
import Configuration

/// Permissions for which a browser would ask a person: the settings decide.
final class PagePermissions {
    private let settings: KioskSettings
    private let isOurs: () -> Bool
    private let log: (String) -> Void
    /// Whether nobody sees the page: what it asks for is decided when it is shown.
    var isUnseen = false { didSet { if !isUnseen { decideWaiting() } } }
    private var waiting: [UnsafeMutableRawPointer] = []
    /// What a page asks for beyond this is refused.
    private static let maxWaiting = 16

    /// - Parameter isOurs: whether the page is of an allowed origin.
    init(_ view: PageView, _ settings: KioskSettings, isOurs: @escaping () -> Bool, log: @escaping (String) -> Void) {
        self.settings = settings
        self.isOurs = isOurs
        self.log = log
        connect(view.view, asking: "permission-request") { [unowned self] parameters in
            if let request = parameters.raw(1) { take(request) }
            return true
        }
    }

    // The engine refuses what is let go without an answer.
    isolated deinit { for request in waiting { g_object_unref(request) } }

    private func take(_ request: UnsafeMutableRawPointer) {
        guard isUnseen else { return decide(request) }
        guard waiting.count < Self.maxWaiting else { return webkit_permission_request_deny(OpaquePointer(request)) }
        g_object_ref(request)
        waiting.append(request)
    }

    private func decideWaiting() {
        let requests = waiting
        waiting = []
        for request in requests {
            decide(request)
            g_object_unref(request)
        }
    }

    private func decide(_ request: UnsafeMutableRawPointer) {
        let (what, isAllowed) = rule(request)
        if isAllowed, isOurs() { return webkit_permission_request_allow(OpaquePointer(request)) }
        log("the page may not have \(what)")
        webkit_permission_request_deny(OpaquePointer(request))
    }

    private func rule(_ request: UnsafeMutableRawPointer) -> (what: String, isAllowed: Bool) {
        func isA(_ type: GType) -> Bool { g_type_check_instance_is_a(cast(request), type) != 0 }
        if isA(webkit_geolocation_permission_request_get_type()) { return ("the position", settings.allowsLocation) }
        guard isA(webkit_user_media_permission_request_get_type()) else { return ("what it asks for", false) }
        let media: UnsafeMutablePointer<WebKitUserMediaPermissionRequest> = cast(request)
        let wantsSound = webkit_user_media_permission_is_for_audio_device(media) != 0
        let wantsPictures = webkit_user_media_permission_is_for_video_device(media) != 0
        let isAllowed = (!wantsSound || settings.allowsMicrophone) && (!wantsPictures || settings.allowsCamera)
        return (wantsPictures ? wantsSound ? "microphone and camera" : "the camera" : "the microphone", isAllowed)
    }
}
