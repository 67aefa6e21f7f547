internal import CLinux
internal import Concurrency
internal import Configuration
internal import Glibc
internal import JSON
internal import QuickConnectClient

/// The fetched set, for the host's loop: it watches the folder of the program that fetches, and has a thread take what
/// is there.
final class FetchedProcedures {
    /// Readable when something has changed there.
    let descriptor: Int32
    private(set) var state = SetTaker.State()
    private let taker: SetTaker
    private let waker: Waker
    /// Takes what is there, while there is one.
    private var thread: SideThread<SetTaker.State>?
    private var isAskedAgain = false
    /// Who waits for what is being done.
    private var asking: [HandlerCall] = []
    /// Who has asked since it began, and so waits for the next time.
    private var askingAgain: [HandlerCall] = []

    init(_ taker: SetTaker, _ waker: Waker) {
        self.taker = taker
        self.waker = waker
        descriptor = qc_watch_start()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var json: JSONValue { state.json(folder: taker.staging) }

    /// Whether fetched procedures are wanted at all.
    var isWanted: Bool { taker.settings.sync != nil }

    /// Checks what is there now.
    /// - Parameter call: answered when that is done.
    func look(for call: HandlerCall? = nil) {
        // The folder may exist by now.
        if descriptor >= 0, isWanted { _ = qc_watch_folder(descriptor, taker.staging) }
        guard thread == nil else {
            isAskedAgain = true
            if let call { askingAgain.append(call) }
            return
        }
        if let call { asking.append(call) }
        isAskedAgain = false
        let (taker, before, waker) = (taker, state, waker)
        thread = SideThread("sets") { waker.wake() }
        thread?.run(for: "") { taker.take(after: before) }
    }

    /// Takes new results.
    /// - Returns: the calls to be answered; nil if there is nothing new.
    func advance() -> [HandlerCall]? {
        if descriptor >= 0, qc_watch_drain(descriptor) != 0 { look() }
        guard let new = thread?.takeValues().first else { return nil }
        // A set comes seldom.
        thread = nil
        state = new
        let answered = asking
        asking = askingAgain
        askingAgain = []
        // Calls that came during the check may mean a newer set.
        if isAskedAgain { look() }
        return answered
    }
}
