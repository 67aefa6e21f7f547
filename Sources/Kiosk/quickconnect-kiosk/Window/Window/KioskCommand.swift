import CWebKit
import JSON
import KioskRules
import QuickConnect
import QuickConnectClient

/// Answers the command `kiosk`, as the handler `kiosk`: remote control of the window by its owner, and programs' calls
/// to the page.
final class KioskCommand {
    typealias Failure = HandlerCall.Failure

    /// The handler's name, mapped as `script:kiosk`.
    static let handler = "kiosk"
    private static let verbs = "state, reload, home, open, zoom, reset, call, evaluate, cookies, setCookie"

    private unowned let kiosk: Kiosk

    init(_ kiosk: Kiosk) {
        self.kiosk = kiosk
        kiosk.daemon.handle(Self.handler) { [unowned self] call, answer in
            obey(call) { result in answer(result.map { HandlerCall.Answer($0) }) }
        }
    }

    private func obey(_ call: HandlerCall, _ answer: @escaping (Result<JSONValue, Failure>) -> Void) {
        let parameters = call.data.arrayValue ?? [call.data]
        let second = parameters.count > 1 ? parameters[1] : nil
        switch parameters.first?.stringValue {
        case "state": answer(.success(state))
        case "reload":
            kiosk.page.reload()
            answer(.success(.null))
        case "home":
            kiosk.goHome()
            answer(.success(.null))
        case "open": open(second, answer)
        case "zoom": answer(zoom(second))
        case "reset":
            kiosk.bridge.channel.reset()
            answer(.success(.null))
        case "call": callHandler(call, second, parameters.count > 2 ? parameters[2] : .null, answer)
        case "evaluate": evaluate(second, parameters.count > 2 ? parameters[2] : .null, answer)
        case "cookies": cookies?.list(second, answer)
        case "setCookie": cookies?.set(second, answer)
        default: answer(.failure(.expected("verb, one of \(Self.verbs)", at: "/0", got: parameters.first)))
        }
    }

    private var cookies: CookieCommand? {
        let home = PageAddress(kiosk.home)
        return webkit_web_context_get_cookie_manager(kiosk.engine.context).map {
            CookieCommand(manager: $0, host: home?.scheme == "qc" ? nil : home?.host)
        }
    }

    private var state: JSONValue {
        let document = kiosk.page.document
        return [
            "title": .string(document.title), "address": .string(document.address),
            "generation": .integer(Int64(document.generation)),
            "zoom": .number(webkit_web_view_get_zoom_level(kiosk.page.view)),
            "isLoading": .bool(webkit_web_view_is_loading(kiosk.page.view) != 0),
            "problem": kiosk.notice.text.map { .string($0) } ?? .null, "monitor": kiosk.placement.state,
        ]
    }

    private func open(_ value: JSONValue?, _ answer: @escaping (Result<JSONValue, Failure>) -> Void) {
        guard let address = value?.stringValue else {
            return answer(.failure(.expected("address, a string", at: "/1", got: value)))
        }
        guard case .load = kiosk.bridge.rule.decide(address, from: nil) else {
            let what = "the kiosk's 'origins' do not allow \(address.prefix(200)); add its origin to them"
            return answer(.failure(Failure(.denied, what, field: "/1")))
        }
        kiosk.open(address) { refusal in
            answer(refusal.map { .failure(Failure(.denied, $0, field: "/1")) } ?? .success(.null))
        }
    }

    private func zoom(_ value: JSONValue?) -> Result<JSONValue, Failure> {
        guard let level = value?.numberValue, (0.25...8).contains(level) else {
            return .failure(.expected("level, a number from 0.25 to 8", at: "/1", got: value))
        }
        webkit_web_view_set_zoom_level(kiosk.page.view, level)
        return .success(.null)
    }

    private func callHandler(
        _ call: HandlerCall,
        _ value: JSONValue?,
        _ data: JSONValue,
        _ answer: @escaping (Result<JSONValue, Failure>) -> Void
    ) {
        guard let name = value?.stringValue else {
            return answer(.failure(.expected("name, the name of a handler", at: "/1", got: value)))
        }
        if name == Bridge.safetyTimeoutHandler {
            kiosk.bridge.disableJavascriptAlertBoxSafetyTimeout()
            return answer(.success(.null))
        }
        let number = kiosk.bridge.channel.callHandler(name, data) { result in
            answer(result.mapError { Failure(CommandError.Code(rawValue: $0.code), $0.message) })
        }
        guard let number else { return }
        kiosk.daemon.whenAbandoned(call) { [unowned self] in kiosk.bridge.channel.giveUp(number) }
    }

    /// Runs a text in the page. Its data is in the variable `data`, not in the text.
    private func evaluate(
        _ value: JSONValue?,
        _ data: JSONValue,
        _ answer: @escaping (Result<JSONValue, Failure>) -> Void
    ) {
        guard let text = value?.stringValue else {
            return answer(.failure(.expected("text, a string of JavaScript", at: "/1", got: value)))
        }
        kiosk.page.run(text, data: data.text) { result in
            switch result {
            case .success(let json): answer(.success(json.flatMap { try? JSONParser.parse($0) } ?? .null))
            case .failure(let mistake): answer(.failure(Failure(nil, "\(mistake)")))
            }
        }
    }
}
