import CWebKit

/// Refuses what the engine would show by itself and what leads out of a kiosk: a print dialog, which can write files,
/// and a file dialog, which shows the folders of this device.
extension PageView {
    func connectRefusals() {
        let print:
            @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> gboolean = {
                _,
                _,
                data in
                let view: PageView = owner(data)
                view.didRefuse("print")
                return 1
            }
        connect(view, "print", unsafeBitCast(print, to: GCallback.self), self)
        let choose:
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<WebKitFileChooserRequest>, UnsafeMutableRawPointer
            ) -> gboolean = { _, request, data in
                let view: PageView = owner(data)
                view.didRefuse("choose a file")
                webkit_file_chooser_request_cancel(request)
                return 1
            }
        connect(view, "run-file-chooser", unsafeBitCast(choose, to: GCallback.self), self)
    }
}
