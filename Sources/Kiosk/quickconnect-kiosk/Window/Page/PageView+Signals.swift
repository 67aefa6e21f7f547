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
            case WEBKIT_LOAD_STARTED:
                hasFailed = false
                didStart()
            case WEBKIT_LOAD_COMMITTED:
                generation += 1
                let refused = takeCommitted()
                didCommit()
                if let refused { didFail(refused, "the engine does not load it; is its port one of another protocol?") }
            case WEBKIT_LOAD_FINISHED where !hasFailed: didFinish()
            default: break
            }
        }
        connect(view, asking: "load-failed") { [unowned self] parameters in
            guard let error: UnsafeMutablePointer<GError> = parameters.pointer(3) else { return true }
            // Sound and films are loaded by the player.
            if Self.is(error, webkit_plugin_error_quark(), WEBKIT_PLUGIN_ERROR_WILL_HANDLE_LOAD.rawValue) {
                return true
            }
            hasFailed = true
            // A load that was refused, became a download, or was replaced by the next one did not fail.
            let interrupted = WEBKIT_POLICY_ERROR_FRAME_LOAD_INTERRUPTED_BY_POLICY_CHANGE.rawValue
            let isRefused =
                Self.is(error, webkit_policy_error_quark(), interrupted)
                || Self.is(error, webkit_network_error_quark(), WEBKIT_NETWORK_ERROR_CANCELLED.rawValue)
            if !isRefused { didFail(parameters.text(2), String(cString: error.pointee.message)) }
            return true
        }
    }

    private static func `is`(_ error: UnsafeMutablePointer<GError>, _ domain: GQuark, _ code: UInt32) -> Bool {
        error.pointee.domain == domain && error.pointee.code == Int32(code)
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
            self?.isDecided()
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
        let answer = webkit_response_policy_decision_get_response(response)
        let status = answer.map { webkit_uri_response_get_status_code($0) } ?? 200
        if (500...599).contains(status), webkit_response_policy_decision_is_main_frame_main_resource(response) != 0 {
            // A server that is being restarted, or its proxy, answers, too.
            webkit_policy_decision_ignore(decision)
            let address = webkit_uri_response_get_uri(answer).map { String(cString: $0) } ?? ""
            return didFail(address, "the server answers \(status)")
        }
        if webkit_response_policy_decision_is_mime_type_supported(response) != 0, !Self.isAttachment(answer) {
            webkit_policy_decision_use(decision)
        } else if isUnseen {
            webkit_policy_decision_ignore(decision)
            if webkit_response_policy_decision_is_main_frame_main_resource(response) != 0 {
                didFail(
                    answer.flatMap { webkit_uri_response_get_uri($0) }.map { String(cString: $0) } ?? "",
                    "it is no page"
                )
            }
        } else {
            webkit_policy_decision_download(decision)
        }
    }

    private static func isAttachment(_ response: UnsafeMutablePointer<WebKitURIResponse>?) -> Bool {
        guard let response, let headers = webkit_uri_response_get_http_headers(response),
            let value = soup_message_headers_get_one(headers, "Content-Disposition")
        else { return false }
        let kind = String(cString: value).prefix { $0 != ";" }.filter { $0 != " " }
        return kind.lowercased() == "attachment"
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
