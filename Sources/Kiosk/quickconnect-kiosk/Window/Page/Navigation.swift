import CWebKit

/// What the page, one of its frames, a person or a program wants to load.
struct Navigation {
    /// Why, with the names of the original's delegates.
    enum Kind: String {
        case linkClicked, formSubmitted, backForward, reload, formResubmitted, other

        init(_ type: WebKitNavigationType) {
            switch type {
            case WEBKIT_NAVIGATION_TYPE_LINK_CLICKED: self = .linkClicked
            case WEBKIT_NAVIGATION_TYPE_FORM_SUBMITTED: self = .formSubmitted
            case WEBKIT_NAVIGATION_TYPE_BACK_FORWARD: self = .backForward
            case WEBKIT_NAVIGATION_TYPE_RELOAD: self = .reload
            case WEBKIT_NAVIGATION_TYPE_FORM_RESUBMITTED: self = .formResubmitted
            default: self = .other
            }
        }
    }

    var address: String
    var kind: Kind
    /// Whether it should be a window of its own.
    var isNewWindow: Bool

    /// Nil if it has no address.
    init?(_ decision: UnsafeMutablePointer<WebKitPolicyDecision>, isNewWindow: Bool) {
        let navigation: UnsafeMutablePointer<WebKitNavigationPolicyDecision> = cast(decision)
        let action = webkit_navigation_policy_decision_get_navigation_action(navigation)
        guard let request = webkit_navigation_action_get_request(action),
            let address = webkit_uri_request_get_uri(request)
        else { return nil }
        self.address = String(cString: address)
        kind = Kind(webkit_navigation_action_get_navigation_type(action))
        self.isNewWindow = isNewWindow
    }
}
