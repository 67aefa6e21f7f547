import CWebKit
import Configuration

/// The menus of the page and of the views beside it.
extension Kiosk {
    private typealias Menu = UnsafeMutablePointer<WebKitContextMenu>
    private typealias MenuSignal =
        @convention(c) (
            UnsafeMutableRawPointer, Menu, UnsafeMutableRawPointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer
        ) -> gboolean

    func connectMenu() {
        let function: MenuSignal = { _, menu, _, _, data in
            let kiosk: Kiosk = owner(data)
            return kiosk.fill(menu)
        }
        connect(page.view, "context-menu", unsafeBitCast(function, to: GCallback.self), self)
    }

    /// A view of the window itself has the entries for editing, and none that would reload it.
    func connectMenu(of view: PageView) {
        let function: MenuSignal = { _, menu, _, _, data in
            let kiosk: Kiosk = owner(data)
            return kiosk.keepEditing(menu)
        }
        connect(view.view, "context-menu", unsafeBitCast(function, to: GCallback.self), self)
    }

    /// The engine's own entries if the owner wants them, then the added ones.
    private func fill(_ menu: Menu) -> gboolean {
        if !options.settings.hasContextMenu { webkit_context_menu_remove_all(menu) }
        let entries = menuEntries()
        for (number, entry) in entries.enumerated() { append(entry, "entry\(number)", to: menu) }
        return options.settings.hasContextMenu || !entries.isEmpty ? 0 : 1
    }

    private func append(_ entry: MenuEntry, _ name: String, to menu: Menu) {
        guard let action = g_simple_action_new(name, nil) else { return }
        let chosen: @convention(c) (UnsafeMutableRawPointer, OpaquePointer?, UnsafeMutableRawPointer) -> Void = {
            _,
            _,
            data in
            let choice: MenuChoice = owner(data)
            choice.entry.choose()
        }
        let choice = MenuChoice(entry)
        // Lives as long as its action.
        g_object_set_data_full(
            cast(UnsafeMutableRawPointer(action)),
            "choice",
            Unmanaged.passRetained(choice).toOpaque(),
            { data in if let data { Unmanaged<MenuChoice>.fromOpaque(data).release() } }
        )
        connect(UnsafeMutableRawPointer(action), "activate", unsafeBitCast(chosen, to: GCallback.self), choice)
        webkit_context_menu_append(menu, webkit_context_menu_item_new_from_gaction(action, entry.title, nil))
        g_object_unref(UnsafeMutableRawPointer(action))
    }

    private static let editing: [WebKitContextMenuAction] = [
        WEBKIT_CONTEXT_MENU_ACTION_CUT, WEBKIT_CONTEXT_MENU_ACTION_COPY, WEBKIT_CONTEXT_MENU_ACTION_PASTE,
        WEBKIT_CONTEXT_MENU_ACTION_DELETE, WEBKIT_CONTEXT_MENU_ACTION_SELECT_ALL,
    ]

    private func keepEditing(_ menu: Menu) -> gboolean {
        var others: [UnsafeMutablePointer<WebKitContextMenuItem>] = []
        var each = webkit_context_menu_get_items(menu)
        while let link = each {
            if let data = link.pointee.data {
                let item: UnsafeMutablePointer<WebKitContextMenuItem> = cast(data)
                if !Self.editing.contains(webkit_context_menu_item_get_stock_action(item)) { others.append(item) }
            }
            each = link.pointee.next
        }
        for item in others { webkit_context_menu_remove(menu, item) }
        return webkit_context_menu_get_n_items(menu) == 0 ? 1 : 0
    }
}

private final class MenuChoice {
    let entry: Kiosk.MenuEntry

    init(_ entry: Kiosk.MenuEntry) { self.entry = entry }
}
