internal import JSON
internal import QuickConnect

/// An event that comes from an input device, on its thread.
final class InputSource {
    let name: String
    let declaration: EventDeclaration
    /// Why nothing comes; nil: it does.
    private(set) var lack: CommandError?
    private let binding: InputBinding
    private let folders: InputFolders
    private var device: InputDevice?
    private var text: TypedText?
    private var keys: PressedKeys?
    /// When a text that nobody ends is given up; nil: none has begun.
    private(set) var due: ContinuousClock.Instant?

    /// A person who types a number by hand needs time.
    private static let patience = Duration.seconds(10)

    /// What it gives.
    enum News {
        case data(JSONValue)
        /// So many that could not be told.
        case lost(Int)
        /// It has begun to type, and does not go on.
        case noEnd
    }

    init(_ name: String, _ declaration: EventDeclaration, _ binding: InputBinding, _ folders: InputFolders) {
        (self.name, self.declaration, self.binding, self.folders) = (name, declaration, binding, folders)
    }

    /// The number of its device; nil where it is missing.
    var number: UInt64? { device?.number }

    /// What poll(2) watches; negative: nothing.
    var descriptor: Int32 { device?.descriptor ?? -1 }

    /// Looks for it, where it is missing.
    /// - Parameter owner: the name of the event that has the device with a number already.
    func open(_ owner: (UInt64) -> String?) {
        guard device == nil else { return }
        do throws(CommandError) { device = try InputDevice(binding.device, in: folders, owner) } catch {
            lack = error
            return
        }
        (lack, due) = (nil, nil)
        switch binding.kind {
        case .reader(let end):
            text = TypedText(end: end, maxLength: declaration.parameter.maxLength ?? InputBinding.maxLength)
        case .keys(let names): keys = PressedKeys(names: names)
        }
        guard let device, text != nil, !device.pressedKeys().isEmpty else { return }
        // It types already: its first keys went elsewhere.
        text?.breakOff()
        due = .now + Self.patience
    }

    /// What has come. A device that has gone is missing from then on.
    func read() -> [News] {
        guard let device else { return [] }
        do throws(CommandError) {
            var events = try device.read()
            // The keys that are down now are those behind the rest of what was read.
            if keys != nil, let last = events.lastIndex(of: .loss) { events = Array(events[...last]) }
            defer { due = text?.isBegun ?? false ? .now + Self.patience : nil }
            return events.flatMap { take($0, device) }
        } catch {
            lack = CommandError(error.code, "\(binding.device): \(error.message)", details: error.details)
            return leave()
        }
    }

    /// Half a text, and keys that nobody can release any more.
    private func leave() -> [News] {
        let isLost = text?.isBegun ?? false
        let released = keys?.settle([]).map(News.data) ?? []
        (device, text, keys, due) = (nil, nil, nil, nil)
        return released + (isLost ? [.lost(1)] : [])
    }

    private func take(_ event: InputDevice.Event, _ device: InputDevice) -> [News] {
        switch event {
        case .key(let code, let isPressed):
            if let data = keys?.take(code, isPressed: isPressed) { return [.data(data)] }
            switch text?.take(code, isPressed: isPressed) {
            case .text(let text)?: return [.data(.string(text))]
            case .lost?: return [.lost(1)]
            case nil: return []
            }
        case .loss:
            text?.breakOff()
            guard keys != nil else { return [] }
            return [.lost(1)] + (keys?.settle(device.pressedKeys()).map(News.data) ?? [])
        }
    }

    /// Gives up what was begun long ago.
    func proceed(_ now: ContinuousClock.Instant) -> News? {
        guard let due, due <= now else { return nil }
        self.due = nil
        defer { text?.forget() }
        return text?.isBroken ?? false ? .lost(1) : .noEnd
    }
}
