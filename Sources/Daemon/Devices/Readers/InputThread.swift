internal import CLinux
internal import Concurrency
internal import Glibc
internal import Logging
internal import QuickConnect

/// What the thread of input devices has. Nobody else uses it.
final class InputThread: TurnTaker {
    private let folders: InputFolders
    private let store: ValueStore
    private let hub: EventHub
    private let logger: Logger
    private var events: [String: InputSource] = [:]
    /// Where devices come; negative: it is not watched.
    private let folderWatch: Int32
    private var isWatching = false
    private var retries: [ContinuousClock.Instant] = []

    init(_ folders: InputFolders, _ store: ValueStore, _ hub: EventHub, logger: Logger) {
        (self.folders, self.store, self.hub, self.logger) = (folders, store, hub, logger)
        folderWatch = qc_watch_start()
        watchFolder()
    }

    /// It is there once there has been an input device.
    private func watchFolder() {
        isWatching = folderWatch >= 0 && qc_watch_devices(folderWatch, folders.devices) >= 0
    }

    deinit { if folderWatch >= 0 { close(folderWatch) } }

    /// Takes up what is declared now. What has not changed goes on.
    func adopt(_ declared: [String: EventDeclaration]) {
        events = events.filter { declared[$0.key] == $0.value.declaration }
        for (name, declaration) in declared where events[name] == nil {
            guard let binding = declaration.binding else { continue }
            let event = InputSource(name, declaration, binding, folders)
            events[name] = event
            open(event)
            report(event)
        }
        retry()
        awaitChange()
    }

    private func open(_ event: InputSource) {
        event.open { number in events.values.first { $0.number == number }?.name }
    }

    /// What nothing tells, it looks for itself: another program lets go of a reader, the first device makes the folder.
    private func awaitChange() {
        let isHeld = events.values.contains { $0.lack?.code == .busy }
        if retries.isEmpty, isHeld || (!isWatching && !lacks.isEmpty) { retries = [.now + .seconds(10)] }
    }

    private func report(_ event: InputSource) {
        if let lack = event.lack { logger.warning("'\(event.name)': \(lack.message)") }
    }

    /// Why events are missing, by their names.
    var lacks: [String: CommandError] { events.compactMapValues(\.lack) }

    /// Does what is due, and sleeps until something is.
    func turn(_ waker: Waker) {
        let now = ContinuousClock.now
        if retries.first.map({ $0 <= now }) ?? false {
            retries.removeFirst()
            retry()
            awaitChange()
        }
        let open = events.values.filter { $0.descriptor >= 0 }
        var entries = open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        entries.append(pollfd(fd: lacks.isEmpty ? -1 : folderWatch, events: Int16(POLLIN), revents: 0))
        _ = waker.sleep(watching: &entries, until: (events.values.compactMap(\.due) + retries).min())
        for (event, entry) in zip(open, entries) {
            guard entry.revents != 0 else {
                // Not before what has come is read: this thread may have slept longer than it wanted.
                event.proceed(.now).map { tell($0, event) }
                continue
            }
            for news in event.read() { tell(news, event) }
            report(event)
        }
        if entries.last?.revents ?? 0 != 0 { devicesChanged() }
    }

    private func tell(_ news: InputSource.News, _ event: InputSource) {
        switch news {
        case .data(let data): store.note(event.name, data)
        case .lost(let count):
            logger.warning("'\(event.name)' has lost what its device typed")
            hub.reportLoss(of: event.name, count: count)
        case .noEnd:
            logger.warning(
                "'\(event.name)': its device has typed something without the key at its end, and nothing for 10 s; it is left out"
            )
        }
    }

    private func devicesChanged() {
        _ = qc_watch_drain(folderWatch)
        // Its name and its rights come a moment after the device.
        retries = [.now + .milliseconds(200), .now + .seconds(2)]
        retry()
    }

    /// Looks again for what was missing.
    func retry() {
        if !isWatching { watchFolder() }
        for event in events.values where event.lack != nil {
            open(event)
            if event.lack == nil { logger.notice("'\(event.name)' is there") }
        }
    }
}
