import Foundation
import JSON
import Synchronization

@testable import Configuration
@testable import QuickConnect

/// What the commands of a folder of mappings return, as it declares.
struct DeclaredResults: Sendable {
    static let shipped = DeclaredResults(Products.root + "/mappings")

    private var results: [String: Parameter] = [:]

    init(_ folder: String) {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files.sorted() where file.hasSuffix(".yaml") {
            var reader = MappingReader(path: "\(folder)/\(file)")
            for declaration in reader.read() {
                let command = declaration.command.value
                results[command] = declaration.value?.result ?? declaration.result ?? results[command]
            }
        }
    }

    var commands: [String] { results.keys.sorted() }

    /// What does not fit into what the command declares; nil if all does, or if it declares nothing.
    func problem(_ value: JSONValue, of command: String) -> String? {
        guard let declared = results[command], !(value == .null && declared.isOptional) else { return nil }
        var (problems, text) = (FieldProblems(), value.text)
        text.withUTF8 { bytes in
            if declared.fits(bytes) {
                MemberCheck.check(bytes, declared, at: "", &problems)
            } else {
                problems.add("the answer", expected: declared.expectation, got: value.gist)
            }
        }
        return problems.isEmpty ? nil : "\(command) answered \(text.prefix(300)): \(problems.error.message)"
    }
}

/// Compares the answers that one connection gets with what the mappings declare.
final class AnswerCheck: Sendable {
    private let results: DeclaredResults
    /// The commands of calls without an answer, by id; empty where several calls have it.
    private let calls = Mutex<[String: String]>([:])

    init(_ results: DeclaredResults) { self.results = results }

    func note(sent bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let (command, id) = Self.call(String(decoding: line, as: UTF8.self)) else { continue }
            calls.withLock { $0[id] = $0[id] ?? command == command ? command : "" }
        }
    }

    func problem(of line: String) -> String? {
        guard let (id, value) = Self.answer(line), let command = calls.withLock({ $0.removeValue(forKey: id) }) else {
            return nil
        }
        return value.flatMap { results.problem($0, of: command) }
    }

    private static func call(_ line: String) -> (command: String, id: String)? {
        if line.hasPrefix("call?") {
            var parts: [Substring: String] = [:]
            for part in line.dropFirst(5).split(separator: "&") {
                guard let equals = part.firstIndex(of: "=") else { continue }
                parts[part[..<equals]] = String(part[part.index(after: equals)...]).removingPercentEncoding
            }
            guard let command = parts["cmd"], let id = parts["id"] else { return nil }
            return (command, id)
        }
        guard let message = try? JSONParser.parse(line).objectValue, let command = message["handlerName"]?.stringValue,
            let id = message["callbackId"]?.stringValue
        else { return nil }
        return (command, id)
    }

    /// The id of a reply, and its value unless it is an error.
    private static func answer(_ line: String) -> (id: String, value: JSONValue?)? {
        if line.hasPrefix("handleJSONRequest?") {
            guard let reply = URLReply(Array(line.utf8)), let id = reply.id else { return nil }
            return (id, reply.command == CommandError.replyCommand ? .none : reply.value)
        }
        guard let message = try? JSONParser.parse(line).objectValue, let id = message["responseId"]?.stringValue else {
            return nil
        }
        return (id, message["error"] == nil ? message["responseData"] : .none)
    }
}
