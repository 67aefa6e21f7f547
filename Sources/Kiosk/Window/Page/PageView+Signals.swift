import CWebKit
import KioskRules

/// Passes on the engine's signals.
extension PageView {
    func connectSignals() {
        connectLoading()
        connectPolicy()
        connectRefusals()
        let ended:
            @convention(c) (UnsafeMutableRawPointer, WebKitWebProcessTerminationReason, UnsafeMutableRawPointer) -> Void =
                {
                    _,
                    reason,
                    data in
                    let view: PageView = owner(data)
                    view.processDidEnd(PageView.words(reason))
                }
        connect(view, "web-process-terminated", unsafeBitCast(ended, to: GCallback.self), self)
    }

    private static func words(_ reason: WebKitWebProcessTerminationReason) -> String {
        switch reason {
        case WEBKIT_WEB_PROCESS_CRASHED: "the process that runs it has crashed"
        case WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT: "it needs more memory than it may have"
        default: "it did not answer, and was ended"
        }
    }

    private func connectLoading() {
        let changed: @convention(c) (UnsafeMutableRawPointer, WebKitLoadEvent, UnsafeMutableRawPointer) -> Void = {
            _,
            event,
            data in
            let view: PageView = owner(data)
            if event == WEBKIT_LOAD_STARTED { view.didStart() }
            if event == WEBKIT_LOAD_COMMITTED {
                view.generation += 1
                view.didCommit()
            }
            if event == WEBKIT_LOAD_FINISHED { view.didFinish() }
        }
        connect(view, "load-changed", unsafeBitCast(changed, to: GCallback.self), self)
        let failed:
            @convention(c) (
                UnsafeMutableRawPointer, WebKitLoadEvent, UnsafePointer<CChar>, UnsafeMutablePointer<GError>,
                UnsafeMutableRawPointer
            ) -> gboolean = { _, _, address, error, data in
                let view: PageView = owner(data)
                // A load that was refused, became a download, or was replaced by the next one did not fail.
                let isRefused =
                    error.pointee.domain == webkit_policy_error_quark()
                    || error.pointee.domain == webkit_network_error_quark()
                        && error.pointee.code == Int32(WEBKIT_NETWORK_ERROR_CANCELLED.rawValue)
                if !isRefused {
                    view.didFail(String(cString: address), String(cString: error.pointee.message))
                }
                return 1
            }
        connect(view, "load-failed", unsafeBitCast(failed, to: GCallback.self), self)
    }

    private func connectPolicy() {
        let decide:
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<WebKitPolicyDecision>, WebKitPolicyDecisionType,
                UnsafeMutableRawPointer
            ) -> gboolean = { _, decision, type, data in
                let view: PageView = owner(data)
                view.decide(decision, type)
                return 1
            }
        connect(view, "decide-policy", unsafeBitCast(decide, to: GCallback.self), self)
    }

    /// Handles each decision once: it is used, ignored or becomes a download.
    private func decide(_ decision: UnsafeMutablePointer<WebKitPolicyDecision>, _ type: WebKitPolicyDecisionType) {
        if type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE { return decideResponse(decision) }
        let isNewWindow = type == WEBKIT_POLICY_DECISION_TYPE_NEW_WINDOW_ACTION
        guard let navigation = Navigation(decision, isNewWindow: isNewWindow) else {
            return webkit_policy_decision_ignore(decision)
        }
        g_object_ref(decision)
        decideNavigation(navigation) { [weak self] mayLoad in
            defer { g_object_unref(decision) }
            // A kiosk has one window, so an allowed new window is shown in it.
            if mayLoad, isNewWindow { self?.load(navigation.address) }
            if mayLoad, !isNewWindow {
                webkit_policy_decision_use(decision)
            } else {
                webkit_policy_decision_ignore(decision)
            }
        }
    }

    private func decideResponse(_ decision: UnsafeMutablePointer<WebKitPolicyDecision>) {
        let response: UnsafeMutablePointer<WebKitResponsePolicyDecision> = cast(decision)
        if webkit_response_policy_decision_is_mime_type_supported(response) != 0 {
            webkit_policy_decision_use(decision)
        } else {
            webkit_policy_decision_download(decision)
        }
    }
}
