internal import JSON
internal import Linux
internal import NIOCore
internal import NIOPosix

/// Authentication: users, sessions and one-time codes, stored on the disk. For use on its event loop only.
final class Authenticator {
    /// Why somebody is not let in.
    enum Refusal: Error {
        /// It is not a valid token, code or session.
        case unknown
        /// Nor is it now, after too many attempts.
        case wait(Duration)
    }

    private let folder: StateFolder
    private let disk: NIOThreadPool
    private let loop: any EventLoop
    private let lifetime: Int64
    private(set) var users: Users
    private(set) var sessions: Sessions
    private var codes = OneTimeCodes()
    private var tries = Tries()
    private var keeper = SessionKeeper()
    private var damage: String?
    /// What the owner should know, for `web ["state"]`.
    var problems: [String] {
        [damage, keeper.isFailing ? "sessions cannot be kept; the log says why" : nil].compactMap(\.self)
    }
    /// Called with the sessions that ended, to close their pages.
    var ended: ([String]) -> Void = { _ in }
    private let warn: (String) -> Void
    /// Done when all changes of users before are.
    private var lastChange: EventLoopFuture<Void>

    private static let usersFile = "users.json"
    private static let sessionsFile = "sessions.json"

    init(
        _ folder: StateFolder,
        _ disk: NIOThreadPool,
        _ loop: any EventLoop,
        lifetime: Duration,
        warn: @escaping (String) -> Void
    ) throws {
        self.folder = folder
        self.disk = disk
        self.loop = loop
        lastChange = loop.makeSucceededVoidFuture()
        self.lifetime = lifetime.components.seconds
        self.warn = warn
        guard let users = try folder.read(Self.usersFile).map(Users.init) ?? Users() else {
            throw PlainError("\(Self.usersFile) is not what was written; put it in order or move it away")
        }
        self.users = users
        // Losing these costs nobody more than a log-in, so that the gateway starts without them.
        let kept: Sessions?
        do { kept = try folder.read(Self.sessionsFile).map(Sessions.init) ?? Sessions() } catch { kept = nil }
        sessions = kept ?? Sessions()
        if kept == nil { setSessionsAside() }
    }

    private func setSessionsAside() {
        let lost = "\(Self.sessionsFile) was damaged: everybody has to log in again"
        do throws(SystemCallError) {
            damage = "\(lost); it is kept as \(try folder.setAside(Self.sessionsFile))"
        } catch {
            damage = "\(lost); it cannot be kept: \(error)"
        }
        warn(damage ?? lost)
    }

    private static var now: Int64 { Int64(time(nil)) }

    // MARK: Who is it?

    /// The user of a session's id, with current groups.
    func identity(session id: String) -> (key: String, identity: WebIdentity, session: Sessions.Session)? {
        guard id.utf8.count <= Secret.maxBytes else { return nil }
        return identity(sessionKey: Secret.fingerprint(id))
    }

    func identity(sessionKey key: String) -> (key: String, identity: WebIdentity, session: Sessions.Session)? {
        guard let session = sessions.find(key: key, at: Self.now) else { return nil }
        // One name is one person: whoever has a token of that name is meant, not a user of the device.
        let user = users[session.user]
        guard session.isUser == (user != nil) else { return nil }
        return (key, user?.identity ?? WebIdentity(session.user), session)
    }

    /// The user of a token. A valid one always works; wrong ones have to wait after some of them.
    func user(token: String, from address: String) throws(Refusal) -> Users.User {
        if token.utf8.count <= Secret.maxBytes, let user = users.user(token: token) { return user }
        throw failure(of: address)
    }

    private func person(code: String, from address: String) throws(Refusal) -> OneTimeCodes.Person {
        if code.utf8.count <= Secret.maxBytes, let person = codes.use(code, at: .now),
            person.isUser == (users[person.name] != nil)
        {
            return person
        }
        throw failure(of: address)
    }

    private func failure(of address: String) -> Refusal {
        if let pause = tries.pause(of: address, at: .now) { return .wait(pause) }
        tries.failed(address, at: .now)
        return .unknown
    }

    // MARK: In and out

    /// Starts a session.
    /// - Returns: its id and its user.
    func logIn(token: String, from address: String) throws(Refusal) -> (id: String, identity: WebIdentity) {
        let identity = try user(token: token, from: address).identity
        return (begin(identity, isUser: true), identity)
    }

    func logIn(code: String, from address: String) throws(Refusal) -> (id: String, identity: WebIdentity) {
        let person = try person(code: code, from: address)
        let identity = users[person.name]?.identity ?? WebIdentity(person.name)
        return (begin(identity, isUser: person.isUser), identity)
    }

    private func begin(_ identity: WebIdentity, isUser: Bool) -> String {
        let (id, keys) = sessions.begin(identity.name, isUser: isUser, at: Self.now, lasting: lifetime)
        ended(keys)
        keepSessions()
        return id
    }

    var sessionSeconds: Int64 { lifetime }

    func logOut(_ key: String) {
        sessions.end(key)
        ended([key])
        // Whoever finds the cookie after a power failure must not get in with it.
        keepSessions(atOnce: true)
    }

    /// Ends the sessions and open pages of a user, or of everybody.
    /// - Returns: how many sessions ended.
    func endSessions(of name: String?) -> Int {
        let keys = name.map { sessions.endAll(ofUser: $0) } ?? sessions.endAll()
        if let name { codes.removeAll(of: name) } else { codes.removeAll() }
        let programs = (name.map { [$0] } ?? users.all.map(\.identity.name)).map(Sessions.key(ofProgramsOf:))
        ended(keys + programs)
        keepSessions()
        return keys.count
    }

    /// A code for the address that `quickconnect web open` and `web user link` print.
    func makeCode(for name: String) -> String? {
        codes.make(for: OneTimeCodes.Person(name: name, isUser: users[name] != nil), at: .now)
    }

    // MARK: Users

    /// - Returns: the token, and who had the name before.
    func add(_ identity: WebIdentity) -> EventLoopFuture<(token: String, replaced: WebIdentity?)> {
        changeUsers(of: identity.name) { users in
            let replaced = users[identity.name]?.identity
            return (users.add(identity, at: Self.now), replaced)
        }.map { answer, _ in answer }
    }

    /// Removes a user, and everything that was begun under the name, also by a user of the device.
    /// - Returns: whether there was anything.
    func remove(_ name: String) -> EventLoopFuture<Bool> {
        changeUsers(of: name) { $0.remove(name) }.map { wasThere, ended in wasThere || ended > 0 }
    }

    /// Changes the users once the change is on the disk, one change after the other: a full disk takes nobody's token.
    /// Then everybody who was somebody of that name is logged out.
    private func changeUsers<Answer: Sendable>(
        of name: String,
        _ change: @escaping (inout Users) -> Answer
    ) -> EventLoopFuture<(Answer, Int)> {
        let done = lastChange.assumeIsolated().flatMap {
            var users = self.users
            let answer = change(&users)
            return self.keep(users.json, in: Self.usersFile).assumeIsolated().flatMap {
                self.users = users
                let ended = self.endSessions(of: name)
                // If they cannot be kept now, that is said and tried again; the new token must be told all the same.
                return self.keepEnded().recover { _ in }.map { (answer, ended) }
            }.nonisolated()
        }.nonisolated()
        lastChange = done.map { _ in }.recover { _ in }
        return done
    }

    // MARK: On the disk

    /// Writes which sessions there are, now.
    func keepEnded() -> EventLoopFuture<Void> { keep(sessions.json, in: Self.sessionsFile) }

    /// One thread writes, so that the newest version is written last.
    private func keep(_ value: JSONValue, in name: String) -> EventLoopFuture<Void> {
        let folder = folder
        return disk.runIfActive(eventLoop: loop) { try folder.write(value, to: name) }
    }

    /// Writes the sessions soon: a crash until then costs a log-in.
    private func keepSessions(atOnce: Bool = false) { schedule(keeper.change(isUrgent: atOnce)) }

    private func schedule(_ time: TimeAmount?) {
        guard let time else { return }
        loop.assumeIsolated().scheduleTask(in: time) { self.writeSessions() }
    }

    private func writeSessions() {
        guard keeper.begin() else { return }
        keep(sessions.json, in: Self.sessionsFile).assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.schedule(self.keeper.end(hasFailed: false))
            case .failure(let error):
                if !self.keeper.isFailing { self.warn("sessions cannot be kept: \(error)") }
                self.schedule(self.keeper.end(hasFailed: true))
            }
        }
    }

    /// At the end: what is not written yet.
    func flush() -> EventLoopFuture<Void> {
        keeper.isDirty ? keep(sessions.json, in: Self.sessionsFile) : loop.makeSucceededVoidFuture()
    }
}
