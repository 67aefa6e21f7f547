import CWebKit
import Configuration
import KioskRules

/// Pages beside the one that is shown: the next one, which nobody sees, and the owner's page where none can be shown.
extension Kiosk {
    /// The longest that a page may take to draw itself before it is shown.
    private static let drawingTime = Duration.seconds(2)

    /// Makes room for a page that nobody sees yet.
    func makeSheet(_ page: KioskOptions.Page) -> PageSheet? {
        guard let view = engine.makeView() else { return nil }
        let sheet = PageSheet(view, options.address(of: page), options.rule(for: page), options, daemon)
        sheet.isUnseen = true
        webkit_web_view_set_zoom_level(view.view, webkit_web_view_get_zoom_level(self.page.view))
        if let filter { webkit_user_content_manager_add_filter(view.content, filter) }
        gtk_overlay_add_overlay(pages, view.widget)
        connectPage(sheet)
        equip(sheet)
        pageIsMade(view)
        return sheet
    }

    /// Lets a page draw itself behind the one that is shown, so that nobody sees an empty one.
    func reveal(_ sheet: PageSheet, _ then: @escaping () -> Void) {
        let widget = sheet.view.widget
        gtk_overlay_reorder_overlay(pages, widget, 0)
        gtk_widget_show_all(widget)
        var isDone = false
        let finish = {
            if !isDone {
                isDone = true
                then()
            }
        }
        // Behind the notice, nothing is drawn.
        guard gtk_widget_get_mapped(widget) != 0 else { return finish() }
        let frames = "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        sheet.view.call(frames, in: .named("frames")) { _ in finish() }
        LoopSource.after(Self.drawingTime, finish)
    }

    /// Shows a page instead of the one before, which ends.
    func change(to sheet: PageSheet) {
        let old = self.sheet
        self.sheet = sheet
        notice.end()
        leaveFallback()
        gtk_overlay_reorder_overlay(pages, sheet.view.widget, -1)
        if !isCovered { show(sheet.view) }
        // What waits for a page is for this one.
        old.bridge.channel.end(for: sheet.bridge.channel)
        sheet.isUnseen = false
        recovery.pageIsThere()
        takeTitle()
        pageIsLeft()
        old.end()
    }

    /// Shows nothing: it is no page's time.
    func showNone() {
        guard let first = options.turns?.pages.first, let sheet = makeSheet(first) else { return }
        sheet.view.setBackground(to: GdkRGBA(red: 0, green: 0, blue: 0, alpha: 1))
        gtk_widget_show_all(sheet.view.widget)
        change(to: sheet)
        sheet.view.load("about:blank")
        isFallbackLost = false
        _ = coverWithFallback()
    }

    // MARK: The fallback

    /// Shows the owner's page over the one that cannot be shown.
    /// - Returns: false if there is none, or it cannot be shown either.
    func coverWithFallback() -> Bool {
        guard let address = options.fallbackAddress, !isFallbackLost else { return false }
        if fallback == nil { fallback = makeFallback(address) }
        guard let fallback else { return false }
        gtk_overlay_reorder_overlay(pages, fallback.widget, -1)
        if !isCovered { show(page: fallback) }
        return true
    }

    /// The page is there again.
    func leaveFallback() {
        isFallbackLost = false
        guard let view = fallback else { return }
        fallback = nil
        let hadFocus = gtk_widget_has_focus(view.widget) != 0
        view.close()
        if hadFocus { gtk_widget_grab_focus(page.widget) }
    }

    /// It has no bridge, and shows nothing but its folder.
    private func makeFallback(_ address: String) -> PageView? {
        guard let view = engine.makeView() else { return nil }
        let origin = PageAddress(address)?.origin
        view.isUnseen = true
        view.decideNavigation = { navigation, decide in
            decide(!navigation.isNewWindow && PageAddress(navigation.address)?.origin == origin)
        }
        let lost = { [unowned self] (reason: String) in
            isFallbackLost = true
            note("the fallback cannot be shown: \(reason)")
            LoopSource.after(.zero) { [weak self] in self?.dropFallback(view) }
        }
        view.didFail = { _, reason in lost(reason) }
        view.processDidEnd = lost
        connect(view.view, asking: "script-dialog") { _ in true }
        connectMenu(of: view)
        if let filter { webkit_user_content_manager_add_filter(view.content, filter) }
        gtk_overlay_add_overlay(pages, view.widget)
        view.load(address)
        return view
    }

    private func dropFallback(_ view: PageView) {
        guard view === fallback else { return }
        fallback = nil
        view.close()
        if notice.text != nil, !isCovered { showNotice() }
    }
}
