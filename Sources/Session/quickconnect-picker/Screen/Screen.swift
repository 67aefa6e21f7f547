import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// One way to the screen.
protocol ScreenWay: Sendable {
    /// As people are told of it.
    var name: String { get }
    /// What it may be able to change.
    var parts: Set<ScreenPart> { get }

    /// How a part is now.
    func read(_ part: ScreenPart) async throws(PlainError) -> Double
    func set(_ part: ScreenPart, _ value: Double) async throws(PlainError)
}

/// The screen of this session. Each change goes the first way that does it, which is seen by reading it back.
struct Screen: Sendable {
    /// The best first.
    let ways: [any ScreenWay]

    /// What the ways tell: of each part the first that knows it.
    /// - Throws: `unavailable` with the reasons, if none knows anything.
    func look() async throws(HandlerCall.Failure) -> JSONValue {
        var (state, reasons): (ScreenState, [String]) = ([:], [])
        for part in ScreenPart.allCases {
            for way in ways where way.parts.contains(part) && state[part] == nil {
                do throws(PlainError) {
                    state[part] = try await known(part, by: way)
                } catch {
                    reasons.append("\(way.name): \(error)")
                }
            }
        }
        guard !state.isEmpty else { throw Self.unavailable("no way to the screen is known", reasons) }
        return state.json
    }

    /// Each way to each part, in the order in which they are tried, and why it would not be taken: `[{part, way, problem}]`.
    func examine() async -> JSONValue {
        var all: [JSONValue] = []
        for part in ScreenPart.allCases {
            for way in ways where way.parts.contains(part) {
                var members: JSONObject = ["part": .string(part.rawValue), "way": .string(way.name)]
                do throws(PlainError) { _ = try await known(part, by: way) } catch {
                    members["problem"] = .string("\(error)")
                }
                all.append(.object(members))
            }
        }
        return .array(all)
    }

    /// - Throws: `unavailable` with the reason of each way, if there is none for a change. Changes before it stay.
    func change(_ changes: ScreenState) async throws(HandlerCall.Failure) {
        // Turned on first: a screen that is off may tell nothing else. Turned off last, for the same reason.
        let others: [ScreenPart] = [.brightness, .rotation]
        for part in changes[.on] == 1 ? [.on] + others : others + [.on] {
            guard let value = changes[part] else { continue }
            try await make(part, value)
        }
    }

    private func make(_ part: ScreenPart, _ value: Double) async throws(HandlerCall.Failure) {
        var reasons: [String] = []
        for way in ways where way.parts.contains(part) {
            do throws(PlainError) {
                // What cannot be read could not be proven.
                _ = try await known(part, by: way)
                try await way.set(part, value)
                let now = try await known(part, by: way)
                if part.fits(now, value) { return }
                reasons.append("\(way.name): it has been asked, and \(part) is still \(part.json(now).text)")
            } catch {
                reasons.append("\(way.name): \(error)")
            }
        }
        throw Self.unavailable("the screen cannot be \(part.verb(value))", reasons)
    }

    private func known(_ part: ScreenPart, by way: any ScreenWay) async throws(PlainError) -> Double {
        let value = try await way.read(part)
        guard part.allows(value) else { throw PlainError("it says that \(part) is \(value)") }
        return value
    }

    private static func unavailable(_ what: String, _ reasons: [String]) -> HandlerCall.Failure {
        let all = reasons.reduce(into: [String]()) { all, reason in if !all.contains(reason) { all.append(reason) } }
        return HandlerCall.Failure(.unavailable, "\(what): \(all.joined(separator: "; "))")
    }
}
