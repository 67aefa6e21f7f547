import CWebKit
import Configuration
import KioskRules
import Linux

/// The window's services apart from showing the page.
extension Kiosk {
    func startServices() {
        let settings = options.settings
        let dialogs = Dialogs(page, parent: window, isAutomated: options.isAutomated) { [unowned self] in takes($0) }
        self.dialogs = dialogs
        let isOurs = { [unowned self] in
            PageAddress(page.address ?? "")?.origin.map(bridge.rule.origins.contains) ?? false
        }
        services.append(PagePermissions(page, settings, isOurs: isOurs) { [unowned self] in note($0) })
        if settings.allowsLocation, let position = PagePosition(engine.context, daemon) { services.append(position) }
        let downloads = Downloads(
            engine.context,
            folder: "\(options.cacheFolder)/downloads",
            daemon,
            isAllowed: settings.allowsDownloads
        ) { [unowned self] sentence in
            note(sentence)
            message?.show(sentence)
        }
        services.append(downloads)
        feedWatchdog(of: ServiceManager(environment: OwnProcess.environment))
        if let seconds = settings.hangSeconds { watch(.seconds(seconds), dialogs) }
        if !settings.letsScreenSleep { ScreenSleep.prevent() }
        handover = options.handoverPath.flatMap { path in
            Handover(path) { [unowned self] address in takeFromOutside(address) }
        }
    }

    /// Shows systemd that the window's loop runs; a page that hangs is the other watchdog's.
    private func feedWatchdog(of manager: ServiceManager) {
        guard let time = manager.watchdogTime else { return }
        manager.feedWatchdog()
        LoopSource.every(time / 2) {
            manager.feedWatchdog()
            return true
        }
    }

    private func watch(_ time: Duration, _ dialogs: Dialogs) {
        let watchdog = Watchdog(page, time) { [isAutomated = options.isAutomated] since in
            // The engine does not report when its own dialog is closed.
            dialogs.isOpen || isAutomated && dialogs.lastAsked.map { $0 >= since } ?? false
        }
        watchdog.start()
        services.append(watchdog)
    }

    /// - Returns: why the address is refused; nil if it is taken.
    func takeFromOutside(_ address: String) -> String? {
        if case .refuse(let why) = bridge.rule.decideFromOutside(address) { return why }
        bridge.open(address) { log.write($0, .notice) }
        gtk_window_present(cast(window))
        return nil
    }

    /// Makes the engine load only what is listed, then continues.
    func afterFilter(_ body: @escaping () -> Void) {
        let folder = "\(options.cacheFolder)/filters"
        _ = try? Folders.make(folder)
        let rules = ContentFilter.json(bridge.rule.origins.union(bridge.rule.resources))
        let store = webkit_user_content_filter_store_new(folder)
        let bytes = g_bytes_new(rules, gsize(rules.utf8.count))
        let end = AsyncEnd { [self] object, result in
            var error: UnsafeMutablePointer<GError>?
            let filter = webkit_user_content_filter_store_save_finish(cast(object), result, &error)
            g_object_unref(object)
            guard let filter else {
                let reason = takeMessage(error).text
                log.write("the list of allowed origins cannot be made into a filter: \(reason)", .critical)
                return quit(1)
            }
            webkit_user_content_manager_add_filter(page.content, filter)
            webkit_user_content_filter_unref(filter)
            body()
        }
        webkit_user_content_filter_store_save(store, "allowed", bytes, nil, AsyncEnd.run, end.retained)
        g_bytes_unref(bytes)
    }
}
