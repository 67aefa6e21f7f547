internal import Glibc
internal import JSON
internal import Linux
internal import NIOCore
internal import NIOPosix
internal import QuickConnect

/// Authentication: users, sessions and one-time codes, stored on the disk. For use on its event loop only.
final class Doorkeeper {
    /// Why somebody is not let in.
    enum Refusal: Error {
        /// It is not a valid token, code or session.
        case unknown
        /// There were too many attempts.
        case wait(Duration)
        case notKept(SystemCallError)
    }

    private let folder: StateFolder
    private let disk: NIOThreadPool
    private let loop: any EventLoop
    private let lifetime: Int64
    private(set) var users: Users
    private(set) var sessions: Sessions
    private var codes = OneTimeCodes()
    private var tries = Tries()
    /// Called with the sessions that ended, to close their pages.
    var ended: ([String]) -> Void = { _ in }

    private static let usersFile = "users.json"
    private static let sessionsFile = "sessions.json"

    init(_ folder: StateFolder, _ disk: NIOThreadPool, _ loop: any EventLoop, lifetime: Duration) throws {
        self.folder = folder
        self.disk = disk
        self.loop = loop
        self.lifetime = lifetime.components.seconds
        guard let users = try folder.read(Self.usersFile).map(Users.init) ?? Users() else {
            throw StateFolder.Problem(
                description: "\(Self.usersFile) is not what was written; put it in order or move it away"
            )
        }
        self.users = users
        // Losing these costs nobody more than a log-in.
        sessions = ((try? folder.read(Self.sessionsFile)) ?? nil).flatMap(Sessions.init) ?? Sessions()
    }

    private static var now: Int64 { Int64(time(nil)) }

    // MARK: Who is it?

    /// The user of a session's id, with current groups.
    func identity(session id: String) -> (key: String, identity: Identity, session: Sessions.Session)? {
        guard let (key, session) = sessions.find(id, at: Self.now) else { return nil }
        guard session.isUser else { return (key, Identity(session.user), session) }
        return users[session.user].map { (key, $0.identity, session) }
    }

    /// The user of a token.
    func identity(token: String, from address: String) throws(Refusal) -> Identity {
        if let pause = tries.pause(of: address, at: .now) { throw .wait(pause) }
        guard let user = users.user(token: token) else {
            tries.failed(address, at: .now)
            throw .unknown
        }
        return user.identity
    }

    private func user(code: String, from address: String) throws(Refusal) -> String {
        if let pause = tries.pause(of: address, at: .now) { throw .wait(pause) }
        guard let user = codes.use(code, at: .now) else {
            tries.failed(address, at: .now)
            throw .unknown
        }
        return user
    }

    // MARK: In and out

    /// Starts a session.
    /// - Returns: its id, once it is stored, and its user.
    func logIn(token: String, from address: String) -> EventLoopFuture<(id: String, identity: Identity)> {
        do throws(Refusal) {
            let identity = try identity(token: token, from: address)
            return begin(identity, isUser: true)
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func logIn(code: String, from address: String) -> EventLoopFuture<(id: String, identity: Identity)> {
        do throws(Refusal) {
            return begin(Identity(try user(code: code, from: address)), isUser: false)
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    private func begin(_ identity: Identity, isUser: Bool) -> EventLoopFuture<(id: String, identity: Identity)> {
        let id = sessions.begin(identity.name, isUser: isUser, at: Self.now, lasting: lifetime)
        return keep(sessions.json, in: Self.sessionsFile).map { (id, identity) }
    }

    var sessionSeconds: Int64 { lifetime }

    func logOut(_ key: String) -> EventLoopFuture<Void> {
        sessions.end(key)
        ended([key])
        return keep(sessions.json, in: Self.sessionsFile)
    }

    /// A code for the address that `quickconnect web open` prints.
    func makeCode(for user: String) -> String? { codes.make(for: user, at: .now) }

    // MARK: Users

    /// - Returns: the token.
    func add(_ identity: Identity) -> EventLoopFuture<String> {
        // Everybody who knew the old token is logged out.
        let keys = endAll(ofUser: identity.name)
        let token = users.add(identity, at: Self.now)
        ended(keys)
        return keepAll().map { token }
    }

    /// - Returns: whether there was one.
    func remove(_ name: String) -> EventLoopFuture<Bool> {
        guard users.remove(name) else { return loop.makeSucceededFuture(false) }
        ended(endAll(ofUser: name))
        return keepAll().map { true }
    }

    /// Ends sessions, and the connections of programs with the token.
    private func endAll(ofUser name: String) -> [String] {
        sessions.endAll(ofUser: name) + [Sessions.key(ofProgramsOf: name)]
    }

    private func keepAll() -> EventLoopFuture<Void> {
        let users = keep(users.json, in: Self.usersFile)
        return keep(sessions.json, in: Self.sessionsFile).and(users).map { _ in }
    }

    /// One thread writes, so that the newest version is written last.
    private func keep(_ value: JSONValue, in name: String) -> EventLoopFuture<Void> {
        let folder = folder
        return disk.runIfActive(eventLoop: loop) {
            do throws(SystemCallError) { try folder.write(value, to: name) } catch { throw Refusal.notKept(error) }
        }
    }
}
