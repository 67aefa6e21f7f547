import CWebKit
import Configuration

/// The menus of the page and of the views beside it.
extension Kiosk {
    private typealias Menu = UnsafeMutablePointer<WebKitContextMenu>

    func connectMenu(ofPage view: PageView) {
        connect(view.view, asking: "context-menu") { [unowned self] parameters in
            parameters.pointer(1).map { fill($0) } ?? false
        }
    }

    /// A view of the window itself has the entries for editing, and none that would reload it.
    func connectMenu(of view: PageView) {
        connect(view.view, asking: "context-menu") { parameters in
            parameters.pointer(1).map { Self.keepEditing($0) } ?? false
        }
    }

    /// The engine's own entries if the owner wants them, then the added ones.
    private func fill(_ menu: Menu) -> Bool {
        if !options.settings.hasContextMenu { webkit_context_menu_remove_all(menu) }
        let entries = menuEntries()
        for (number, entry) in entries.enumerated() { append(entry, "entry\(number)", to: menu) }
        return !options.settings.hasContextMenu && entries.isEmpty
    }

    private func append(_ entry: MenuEntry, _ name: String, to menu: Menu) {
        guard let action = g_simple_action_new(name, nil) else { return }
        connect(UnsafeMutableRawPointer(action), "activate") { _ in entry.choose() }
        webkit_context_menu_append(menu, webkit_context_menu_item_new_from_gaction(action, entry.title, nil))
        g_object_unref(UnsafeMutableRawPointer(action))
    }

    private static let editing: [WebKitContextMenuAction] = [
        WEBKIT_CONTEXT_MENU_ACTION_CUT, WEBKIT_CONTEXT_MENU_ACTION_COPY, WEBKIT_CONTEXT_MENU_ACTION_PASTE,
        WEBKIT_CONTEXT_MENU_ACTION_DELETE, WEBKIT_CONTEXT_MENU_ACTION_SELECT_ALL,
    ]

    private static func keepEditing(_ menu: Menu) -> Bool {
        var others: [UnsafeMutablePointer<WebKitContextMenuItem>] = []
        var each = webkit_context_menu_get_items(menu)
        while let link = each {
            if let data = link.pointee.data {
                let item: UnsafeMutablePointer<WebKitContextMenuItem> = cast(data)
                if !editing.contains(webkit_context_menu_item_get_stock_action(item)) { others.append(item) }
            }
            each = link.pointee.next
        }
        for item in others { webkit_context_menu_remove(menu, item) }
        return webkit_context_menu_get_n_items(menu) == 0
    }
}
