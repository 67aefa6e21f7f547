internal import JSON
internal import Linux
internal import NIOCore
internal import QuickConnect
internal import QuickConnectClient
internal import QuickConnectClientNIO

/// Answers the command `web`, as the handler `web` on the daemon's ordinary socket. For use on its event loop only.
final class WebControl {
    private let doorkeeper: Authenticator
    private let bridges: Bridges
    private let address: () -> String
    /// The pages that there are, if none has an address relative to the first one; else nil.
    private let pagesInstead: (String) -> EventLoopFuture<[String]?>
    /// Who holds how much, and what is wrong.
    private let state: () -> JSONValue
    private let log: @Sendable (String) -> Void
    private var channel: DaemonChannel?
    /// Whether the daemon passes the command to this gateway, or has said why not.
    private var isHeard = false

    /// The handler's name, mapped as `script:web`.
    static let handler = "web"
    private static let retryTime = TimeAmount.seconds(5)
    /// After this time, a daemon that does not answer is logged.
    private static let timeout = TimeAmount.seconds(5)

    init(
        _ doorkeeper: Authenticator,
        _ bridges: Bridges,
        address: @escaping () -> String,
        pagesInstead: @escaping (String) -> EventLoopFuture<[String]?>,
        state: @escaping () -> JSONValue,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.doorkeeper = doorkeeper
        self.bridges = bridges
        self.address = address
        self.pagesInstead = pagesInstead
        self.state = state
        self.log = log
    }

    func start(_ paths: [String], on loop: any EventLoop) {
        var conversation = ClientConversation()
        conversation.register(handler: Self.handler)
        let bound = NIOLoopBound(self, eventLoop: loop)
        DaemonChannel.make(on: loop, paths: paths, conversation) { event, channel in
            bound.value.take(event, channel)
        }.whenSuccess { bound.value.channel = $0 }
        loop.scheduleTask(in: Self.timeout) {
            let control = bound.value
            guard !control.isHeard else { return }
            let places = paths.joined(separator: ", ")
            control.log("no daemon lets this gateway in at \(places): «quickconnect web» does not work until one does")
        }
    }

    func stop() { _ = channel?.close() }

    private func take(_ event: ClientConversation.Event, _ channel: DaemonChannel) {
        switch event {
        case .called(let call): answer(call, channel)
        case .stands: isHeard = true
        case .refused(.handler(_), let failure):
            isHeard = true
            log("the daemon does not let this gateway answer the command web, and is asked again: \(failure.message)")
            channel.eventLoop.scheduleTask(in: Self.retryTime) {
                channel.perform { $0.register(handler: Self.handler) }
            }
        default: break
        }
    }

    private func answer(_ call: HandlerCall, _ channel: DaemonChannel) {
        result(call, channel.eventLoop).whenComplete { result in
            let answer = result.map { HandlerCall.Answer($0) }.mapError { error in
                error as? HandlerCall.Failure ?? HandlerCall.Failure(.unavailable, Self.words(error))
            }
            channel.perform { $0.answer(call, with: answer) }
        }
    }

    private static func words(_ error: any Error) -> String {
        error is SystemCallError ? "it cannot be kept: \(error)" : "\(error)"
    }

    // MARK: The verbs

    private func result(_ call: HandlerCall, _ loop: any EventLoop) -> EventLoopFuture<JSONValue> {
        let parameters = call.parameters
        do throws(HandlerCall.Failure) {
            switch parameters.first?.stringValue {
            case "open":
                guard parameters.count > 1, let page = parameters[1].stringValue else {
                    return loop.makeSucceededFuture(try open(call))
                }
                return pagesInstead(page).assumeIsolated().flatMapThrowing { others in
                    if let others { throw Self.missing(page, others) }
                    return try self.open(call)
                }.nonisolated()
            case "link": return loop.makeSucceededFuture(try link(try name(parameters)))
            case "add":
                let identity = try identity(parameters)
                // Rules compare bytes: the one of the old name would not hold for the new one.
                if let twin = doorkeeper.users[identity.name]?.identity.name, ByteName(twin) != ByteName(identity.name)
                {
                    let sentence =
                        "there is a user '\(twin)' already, whose letters have other bytes (Unicode's normal forms)"
                    throw HandlerCall.Failure(.invalid, "\(sentence); choose another name, or remove that one first")
                }
                return doorkeeper.add(identity).map { token, replaced in
                    var answer: JSONObject = ["token": .string(token)]
                    answer["replaced"] = replaced.map { ["groups": .array($0.groups.map { .string($0) })] }
                    return .object(answer)
                }
            case "remove":
                let name = try name(parameters)
                return doorkeeper.remove(name).flatMapThrowing { wasThere in
                    guard wasThere else { throw Self.unknown(name) }
                    return .null
                }
            case "list": return loop.makeSucceededFuture(users)
            case "sessions": return loop.makeSucceededFuture(sessions)
            case "end":
                let count = doorkeeper.endSessions(of: parameters.count > 1 ? try name(parameters) : nil)
                return doorkeeper.keepEnded().map { ["ended": .integer(Int64(count))] }
            case "state": return loop.makeSucceededFuture(state())
            default:
                let verbs = "verb, one of open, link, add, list, remove, sessions, end, state"
                throw HandlerCall.Failure.expected(verbs, at: "/0", got: parameters.first)
            }
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    /// An address that lets one browser in once, as the caller.
    private func open(_ call: HandlerCall) throws(HandlerCall.Failure) -> JSONValue {
        guard let user = call.caller["user"]?.stringValue, GatewayName.isValid(user) else {
            throw HandlerCall.Failure(.denied, "a caller without a user name cannot log in")
        }
        guard doorkeeper.users[user] == nil else {
            let message = """
                web:\(user) is a user with a token, who may be somebody else: log in with the token or with what \
                «quickconnect web user link \(user)» prints, or remove that user («quickconnect web user remove \(user)»)
                """
            throw HandlerCall.Failure(.denied, message)
        }
        return try code(for: user)
    }

    /// An address that lets one browser in once, as a user that the owner has added.
    private func link(_ name: String) throws(HandlerCall.Failure) -> JSONValue {
        guard doorkeeper.users[name] != nil else { throw Self.unknown(name) }
        return try code(for: name)
    }

    private func code(for name: String) throws(HandlerCall.Failure) -> JSONValue {
        guard let code = doorkeeper.makeCode(for: name) else {
            throw HandlerCall.Failure(.overloaded, "too many codes wait to be used; try again in two minutes")
        }
        return [
            "address": .string("\(address())/login.html#code=\(code)"), "user": .string(name),
            "seconds": .integer(OneTimeCodes.lifetime.components.seconds),
        ]
    }

    private static func unknown(_ name: String) -> HandlerCall.Failure {
        let message = "there is no user \(name); «quickconnect web user list» lists them"
        return HandlerCall.Failure(.notFound, message, field: "/1")
    }

    private static func missing(_ page: String, _ others: [String]) -> HandlerCall.Failure {
        let near = NearestNames.question(page, among: others)
        let list = "; there are \(others.prefix(20).joined(separator: ", "))\(others.count > 20 ? ", …" : "")"
        let message = "there is no page '\(page)'\(near.isEmpty && !others.isEmpty ? list : near)"
        return HandlerCall.Failure(.notFound, message, field: "/1")
    }

    private func identity(_ parameters: [JSONValue]) throws(HandlerCall.Failure) -> WebIdentity {
        let name = try name(parameters)
        let options = parameters.count > 2 ? parameters[2].objectValue : [:]
        let groups = options?["groups"].map { $0.arrayValue } ?? []
        guard let names = groups?.map(\.stringValue), let options, options.names.allSatisfy({ $0 == "groups" }),
            names.count <= 64, names.allSatisfy({ $0.map(GatewayName.isValid) ?? false })
        else {
            let what = "{groups}, up to 64 names, each of \(GatewayName.expectation)"
            throw HandlerCall.Failure.expected(what, at: "/2", got: parameters.count > 2 ? parameters[2] : nil)
        }
        return WebIdentity(name, groups: names.compactMap(\.self))
    }

    private func name(_ parameters: [JSONValue]) throws(HandlerCall.Failure) -> String {
        guard parameters.count > 1, let name = parameters[1].stringValue, GatewayName.isValid(name) else {
            let value = parameters.count > 1 ? parameters[1] : nil
            throw HandlerCall.Failure.expected("name, \(GatewayName.expectation)", at: "/1", got: value)
        }
        return name
    }

    private var users: JSONValue {
        .array(
            doorkeeper.users.all.map { user in
                [
                    "name": .string(user.identity.name),
                    "groups": .array(user.identity.groups.map { .string($0) }), "created": .integer(user.created),
                ]
            }
        )
    }

    private var sessions: JSONValue {
        .array(
            doorkeeper.sessions.all.map { key, session in
                [
                    "user": .string(session.user), "created": .integer(session.created),
                    "expires": .integer(session.expires), "pages": .integer(Int64(bridges.count(ofSession: key))),
                ]
            }
        )
    }
}
