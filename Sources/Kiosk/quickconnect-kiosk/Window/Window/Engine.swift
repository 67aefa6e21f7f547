import CWebKit
import Configuration
import Linux

/// What all views of a window share: cookies and storage, the process rules, the schemes.
final class Engine {
    let context: UnsafeMutablePointer<WebKitWebContext>
    let folders: FolderScheme
    private let options: KioskOptions

    init?(_ options: KioskOptions) {
        self.options = options
        let data = Self.dataManager(options)
        var properties: [(name: String, value: Property)] = []
        if let data { properties.append(("website-data-manager", .object(data))) }
        if let limit = options.settings.memoryBytes {
            let settings = webkit_memory_pressure_settings_new()
            webkit_memory_pressure_settings_set_memory_limit(settings, guint(max(1, limit >> 20)))
            webkit_memory_pressure_settings_set_kill_threshold(settings, 1)
            webkit_memory_pressure_settings_set_strict_threshold(settings, 0.8)
            webkit_memory_pressure_settings_set_conservative_threshold(settings, 0.5)
            webkit_memory_pressure_settings_set_poll_interval(settings, 1)
            if let settings {
                let type = webkit_memory_pressure_settings_get_type()
                properties.append(("memory-pressure-settings", .boxed(type, UnsafeMutableRawPointer(settings))))
            }
        }
        guard let made = Property.make(webkit_web_context_get_type(), properties) else { return nil }
        context = cast(made)
        if options.settings.isSandboxed { webkit_web_context_set_sandbox_enabled(context, 1) }
        webkit_web_context_set_automation_allowed(context, options.isAutomated ? 1 : 0)
        webkit_web_context_set_cache_model(context, Self.cacheModel(options.settings.cache))
        folders = FolderScheme(context)
        setCookies()
    }

    private static func dataManager(_ options: KioskOptions) -> UnsafeMutableRawPointer? {
        guard options.settings.keepsData else {
            return webkit_website_data_manager_new_ephemeral().map { UnsafeMutableRawPointer($0) }
        }
        return Property.make(
            webkit_website_data_manager_get_type(),
            [
                ("base-data-directory", .string(options.dataFolder)),
                ("base-cache-directory", .string(options.cacheFolder)),
            ]
        )
    }

    private static func cacheModel(_ cache: KioskSettings.Cache) -> WebKitCacheModel {
        switch cache {
        case .none: WEBKIT_CACHE_MODEL_DOCUMENT_VIEWER
        case .small: WEBKIT_CACHE_MODEL_DOCUMENT_BROWSER
        case .full: WEBKIT_CACHE_MODEL_WEB_BROWSER
        }
    }

    private func setCookies() {
        let manager = webkit_web_context_get_cookie_manager(context)
        switch options.settings.cookies {
        case .always: webkit_cookie_manager_set_accept_policy(manager, WEBKIT_COOKIE_POLICY_ACCEPT_ALWAYS)
        case .noThirdParty:
            webkit_cookie_manager_set_accept_policy(manager, WEBKIT_COOKIE_POLICY_ACCEPT_NO_THIRD_PARTY)
        case .never: webkit_cookie_manager_set_accept_policy(manager, WEBKIT_COOKIE_POLICY_ACCEPT_NEVER)
        }
        guard options.settings.keepsData else { return }
        _ = try? Folders.make(options.dataFolder)
        webkit_cookie_manager_set_persistent_storage(
            manager,
            "\(options.dataFolder)/cookies.sqlite",
            WEBKIT_COOKIE_PERSISTENT_STORAGE_SQLITE
        )
    }

    /// What the engine allows pages of this window.
    func makeSettings() -> UnsafeMutablePointer<WebKitSettings>? {
        guard let settings = webkit_settings_new() else { return nil }
        // Without a version the engine adds its own; it does not accept a name with two versions.
        let product = options.settings.userAgent.split(separator: "/", maxSplits: 1).map(String.init)
        let version = product.count > 1 ? product[1] : nil
        webkit_settings_set_user_agent_with_application_details(settings, product.first, version)
        webkit_settings_set_javascript_can_open_windows_automatically(settings, 0)
        webkit_settings_set_enable_back_forward_navigation_gestures(settings, 0)
        webkit_settings_set_enable_media_stream(
            settings,
            options.settings.allowsMicrophone || options.settings.allowsCamera ? 1 : 0
        )
        switchOff(Self.forerunners, in: settings)
        // A kiosk plays media without a gesture by the person.
        webkit_settings_set_media_playback_requires_user_gesture(settings, 0)
        return settings
    }

    /// The engine connects to a link's target and looks up names before anybody decides whether it may load them.
    private static let forerunners = ["LinkPreconnect", "LinkPreconnectEarlyHints", "LinkDNSPrefetch", "LinkPrefetch"]

    private func switchOff(_ names: [String], in settings: UnsafeMutablePointer<WebKitSettings>) {
        guard let features = webkit_settings_get_all_features() else { return }
        defer { webkit_feature_list_unref(features) }
        for index in 0..<webkit_feature_list_get_length(features) {
            guard let feature = webkit_feature_list_get(features, index),
                let name = webkit_feature_get_identifier(feature), names.contains(String(cString: name))
            else { continue }
            webkit_settings_set_feature_enabled(settings, feature, 0)
        }
    }

    /// A new view.
    func makeView() -> PageView? {
        guard let settings = makeSettings() else { return nil }
        defer { g_object_unref(settings) }
        guard let view = PageView(context, settings, isAutomated: options.isAutomated) else { return nil }
        webkit_web_view_set_zoom_level(view.view, options.settings.zoom)
        return view
    }
}
