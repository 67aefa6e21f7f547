import CWebKit
import Configuration
import KioskRules
import Linux

/// The window's services apart from showing the page.
extension Kiosk {
    func startServices() {
        let settings = options.settings
        equip(sheet)
        if settings.allowsLocation, let position = PagePosition(engine.context, daemon) { services.append(position) }
        let downloads = Downloads(
            engine.context,
            folder: "\(options.cacheFolder)/downloads",
            daemon,
            isAllowed: settings.allowsDownloads,
            isUnseen: { [unowned self] view in view == fallback?.view || turns?.isHidden(view) ?? false }
        ) { [unowned self] sentence in
            note(sentence)
            message?.show(sentence)
        }
        services.append(downloads)
        feedWatchdog(of: ServiceManager(environment: OwnProcess.environment))
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

    /// Gives a page its dialogs and permissions, and watches whether it responds.
    func equip(_ sheet: PageSheet) {
        let settings = options.settings
        let view = sheet.view
        let dialogs = Dialogs(view, parent: window, isAutomated: options.isAutomated) { [unowned self] in takes($0) }
        sheet.dialogs = dialogs
        let isOurs = { [origins = sheet.bridge.rule.origins, unowned view] in
            PageAddress(view.address ?? "")?.origin.map(origins.contains) ?? false
        }
        sheet.permissions = PagePermissions(view, settings, isOurs: isOurs) { [unowned self] in note($0) }
        guard let seconds = settings.hangSeconds else { return }
        let watchdog = Watchdog(view, .seconds(seconds)) { [isAutomated = options.isAutomated] since in
            // The engine does not report when its own dialog is closed.
            dialogs.isOpen || isAutomated && dialogs.lastAsked.map { $0 >= since } ?? false
        }
        watchdog.start()
        sheet.watchdog = watchdog
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
            self.filter = filter
            body()
        }
        webkit_user_content_filter_store_save(store, "allowed", bytes, nil, AsyncEnd.run, end.retained)
        g_bytes_unref(bytes)
    }
}
