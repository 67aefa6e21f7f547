import CWebKit

/// Passes on the engine's signals.
extension PageView {
    func connectSignals() {
        connectLoading()
        connectPolicy()
        connectRefusals()
        connect(view, "web-process-terminated") { [unowned self] parameters in
            processDidEnd(Self.words(WebKitWebProcessTerminationReason(parameters.choice(1))))
        }
    }

    private static func words(_ reason: WebKitWebProcessTerminationReason) -> String {
        switch reason {
        case WEBKIT_WEB_PROCESS_CRASHED: "the process that runs it has crashed"
        case WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT: "it needs more memory than it may have"
        default: "it did not answer, and was ended"
        }
    }

    private func connectLoading() {
        connect(view, "load-changed") { [unowned self] parameters in
            switch WebKitLoadEvent(parameters.choice(1)) {
            case WEBKIT_LOAD_STARTED: didStart()
            case WEBKIT_LOAD_COMMITTED:
                generation += 1
                didCommit()
            case WEBKIT_LOAD_FINISHED: didFinish()
            default: break
            }
        }
        connect(view, asking: "load-failed") { [unowned self] parameters in
            guard let error: UnsafeMutablePointer<GError> = parameters.pointer(3) else { return true }
            // A load that was refused, became a download, or was replaced by the next one did not fail.
            let isRefused =
                error.pointee.domain == webkit_policy_error_quark()
                || error.pointee.domain == webkit_network_error_quark()
                    && error.pointee.code == Int32(WEBKIT_NETWORK_ERROR_CANCELLED.rawValue)
            if !isRefused { didFail(parameters.text(2), String(cString: error.pointee.message)) }
            return true
        }
    }

    private func connectPolicy() {
        connect(view, asking: "decide-policy") { [unowned self] parameters in
            if let decision: UnsafeMutablePointer<WebKitPolicyDecision> = parameters.pointer(1) {
                decide(decision, WebKitPolicyDecisionType(parameters.choice(2)))
            }
            return true
        }
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

/// Refuses what the engine would show by itself and what leads out of a kiosk: a print dialog, which can write files,
/// and a file dialog, which shows the folders of this device.
extension PageView {
    func connectRefusals() {
        connect(view, asking: "print") { [unowned self] _ in
            didRefuse("print")
            return true
        }
        connect(view, asking: "run-file-chooser") { [unowned self] parameters in
            didRefuse("choose a file")
            webkit_file_chooser_request_cancel(parameters.pointer(1))
            return true
        }
    }
}
