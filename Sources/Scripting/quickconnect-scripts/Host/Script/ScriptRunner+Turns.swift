internal import CommandLineText
internal import JavaScriptCore
internal import QuickConnectClient

/// Turns: entering the script, and handling its results.
extension ScriptRunner {
    /// Runs the script, and handles the errors that it leaves unhandled.
    func turn(_ body: (ScriptRuntime) throws(JSError) -> Void) {
        guard let runtime, status == nil else { return }
        watcher.begin()
        turnBegan = .now
        isInTurn = true
        defer {
            isInTurn = false
            watcher.end()
        }
        attempt { () throws(JSError) in try body(runtime) }
        repeat {
            attempt { () throws(JSError) in try runtime.turnEnded() }
            settleRejections(runtime)
            collect(runtime)
        } while status == nil && (state.contains(.isUnsettled) || !rejections.isEmpty)
        isChanged = true
    }

    func settleRejections(_ runtime: ScriptRuntime) {
        while !rejections.isEmpty, status == nil {
            let (promise, reason) = rejections.removeFirst()
            if !runtime.mayIgnore(promise, reason) { unhandled(JSError(reason), hint: Self.uncaught) }
        }
    }

    /// What the script sends goes out in one piece when it returns.
    func collect(_ runtime: ScriptRuntime) {
        let (state, lines) = runtime.collect()
        self.state = state
        if !lines.isEmpty { send(lines) }
        if !state.isDisjoint(with: [.hasCalls, .hasHandlers]) { link.isNeeded = true }
    }

    /// Runs a function of the script, and handles an error that the script does not catch.
    func attempt(_ body: () throws(JSError) -> Void) {
        guard status == nil else { return }
        do throws(JSError) {
            try body()
        } catch {
            unhandled(error)
        }
    }

    /// What to do about a promise that nobody caught.
    private static let uncaught = "; nobody caught this promise, which ends the script: catch it with try or .catch()"

    /// - Parameter hint: what the log says behind the error.
    func unhandled(_ error: JSError, hint: String = "") {
        guard let runtime, status == nil else { return }
        report { $0.error = "\(error)" }
        do throws(JSError) {
            if let thrown = error.value, try runtime.handles(thrown) { return }
            end(1, error, hint)
        } catch let second {
            end(1, error, hint)
            console.write("error", "and in handling that: \(second)")
        }
    }

    func end(_ status: Int32, _ error: JSError, _ hint: String = "") {
        // A thrown value that is not an error has no message of its own.
        if let thrown = error.value, thrown.isObject, error.name == nil, let text = runtime?.description(of: thrown) {
            return end(status, "\(source.path): \(text)", hint)
        }
        let stack = runtime?.stack(of: error.value) ?? []
        let place = error.place == nil ? "\(source.path): " : ""
        end(
            status,
            "\(place)\(error)\(remark(on: error))",
            "\(hint)\(stack.map { "\n    at \(Self.frame($0))" }.joined())"
        )
    }

    /// What a script wants that there is in Node and in pages, and not here, or only in async functions; empty if it is
    /// something else.
    private func remark(on error: JSError) -> String {
        let prefix = "Can't find variable: "
        if error.name == "ReferenceError", error.message.hasPrefix(prefix) {
            return switch error.message.dropFirst(prefix.count) {
            case "require", "module", "exports": Self.noModules
            case "fetch", "XMLHttpRequest", "WebSocket", "EventSource":
                "; scripts reach the device's commands, and no network"
            case "process", "Buffer", "global": "; scripts have JavaScript and the device's commands, not Node"
            case "document", "localStorage", "navigator", "alert": "; a script has no page"
            default: ""
            }
        }
        guard error.name == "SyntaxError" else { return "" }
        let words = Self.words(error.message)
        if words.contains("import") || words.contains("export") { return Self.noModules }
        // The engine says only which word behind it is none that it expects.
        guard error.message.hasPrefix("Unexpected identifier"), error.file == source.path, let number = error.line,
            let line = (try? source.text()).flatMap({ ScriptLines.line(number, of: $0) }),
            Self.words(line).contains("await")
        else { return "" }
        return " (await stands only in async functions: put async before the function)"
    }

    private static func words(_ text: String) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "$" }
    }

    private static let noModules = "; a script is one file, without modules"

    /// The engine's `name@place`, in a form for people.
    private static func frame(_ line: String) -> String {
        guard let at = line.lastIndex(of: "@") else { return line }
        return at == line.startIndex ? String(line.dropFirst()) : "\(line[..<at]) (\(line[line.index(after: at)...]))"
    }

    func ended(_ status: Int32, _ message: String) -> Int32 {
        end(status, message)
        return status
    }

    /// The script waits for an absent daemon. It is ended where it is, so that it cannot continue.
    func end(withoutDaemon reason: SocketPaths.NoDaemon) {
        end(3, ExitError(reason).message)
        runtime?.machine.setExecutionTimeLimit(0) { _ in true }
    }

    /// - Parameter more: what only the log has behind it.
    func end(_ status: Int32, _ message: String, _ more: String = "") {
        self.status = status
        console.write("error", message + more)
        report { $0.error = String(message.prefix { $0 != "\n" }) }
    }
}
