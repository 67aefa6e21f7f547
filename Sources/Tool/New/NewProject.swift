import JSON
import Linux

/// What `quickconnect new` makes, as a value that does nothing by itself: the shipped templates that it consists of, and their
/// texts for a name.
struct NewProject {
    /// A language that has a client.
    enum Language: String, CaseIterable { case python, node, swift }

    enum Kind: Equatable {
        case script, page, kiosk
        case program(Language)
    }

    let kind: Kind
    let name: String
    /// The user who makes it, and may post its events.
    let user: String
    /// The folder of the shipped files, whose client a program gets; in a checkout that of the sources.
    let shared: String

    /// The folders of templates whose files it consists of.
    var templates: [String] {
        switch kind {
        case .script: ["command", "script"]
        case .page: ["page", "browser"]
        case .kiosk: ["page", "kiosk"]
        case .program(let language): ["command", language.rawValue]
        }
    }

    /// The client for its language, which is one file: its name in the folder, and where it may lie.
    var client: (name: String, paths: [String], package: String)? {
        let clients = "\(shared)/clients"
        switch kind {
        case .program(.python):
            let name = "quickconnect.py"
            let paths = ["\(clients)/\(name)", "\(clients)/python/\(name)", "/usr/lib/python3/dist-packages/\(name)"]
            return (name, paths, "python3-quickconnect")
        case .program(.node):
            // Under this name it works in a package of "type": "module", too.
            let paths = ["\(clients)/quickconnect.js", "\(clients)/javascript/quickconnect.js"]
            return ("quickconnect.cjs", paths, "quickconnect")
        default: return nil
        }
    }

    /// A text or path of a template: each word that stands for something is replaced by it, once.
    func filled(_ text: String) -> String {
        let words = [
            "NAME": name, "USER": JSONValue.string(user).text, "RUN": start(), "SOURCES": JSONValue.string(shared).text,
            "PACKAGE": JSONValue.string(LocalFile.last(of: shared)).text,
        ]
        var (result, rest) = ("", text[...])
        while let first = rest.first {
            let word = words.first { rest.hasPrefix($0.key) }
            result += word?.value ?? String(first)
            rest = rest.dropFirst(word?.key.count ?? 1)
        }
        return result
    }

    /// The first line of a file that can be run; nil for any other. The templates are without it, because they are no programs of
    /// the package that has them.
    func interpreter(of path: String) -> String? {
        switch path {
        case "test", "show": "#!/bin/sh"
        case "\(name).js": "#!/usr/bin/env -S quickconnect run"
        case "main.py": "#!/usr/bin/env python3"
        case "main.mjs": "#!/usr/bin/env node"
        default: nil
        }
    }

    /// What starts it.
    /// - Parameter folder: its folder, with a slash; empty: the current one.
    private func start(in folder: String = "") -> String {
        switch kind {
        case .script: "quickconnect run \(folder)\(name).js"
        case .program(.python): "python3 \(folder)main.py"
        case .program(.node): "node \(folder)main.mjs"
        case .program(.swift): "swift build >&2\n.build/debug/\(name)"
        case .page, .kiosk: ""
        }
    }
}

// MARK: What is said of it

extension NewProject {
    /// The line that shows that it works.
    var firstStep: String {
        switch kind {
        case .script, .program: "\(name)/test"
        case .page, .kiosk: "\(name)/show"
        }
    }

    /// The line that puts it on this device.
    /// - Parameters:
    ///   - folder: of the owner's settings, mappings, scripts and pages.
    ///   - sudo: what begins a command that changes something there, with a space behind it; empty where none is needed.
    func installing(in folder: String, sudo: String) -> String {
        func install(_ files: String, _ target: String) -> String {
            "\(sudo)install -Dm644 -t \("\(folder)/\(target)".shellWord) \(name)/\(files)"
        }
        let mapping = [install("\(name).yaml", "mappings")]
        let reload = ["\(sudo)quickconnect call reload"]
        let steps =
            switch kind {
            case .script: mapping + reload + [install("\(name).js", "scripts")]
            case .program(.swift): mapping + reload + ["(cd \(name) && swift run)"]
            case .program: mapping + reload + [start(in: "\(name)/")]
            case .page: mapping + [install("page/*", "pages/\(name)")] + reload
            case .kiosk:
                // Where the window's user can read it, too.
                mapping + [
                    install("page/*", "kiosk/\(name)"),
                    "\(sudo)install -Dm644 \(name)/kiosk.yaml \("\(folder)/settings.d/\(name).yaml".shellWord)",
                ] + reload + ["\(sudo)quickconnect setup kiosk \("\(folder)/kiosk/\(name)".shellWord)"]
            }
        return steps.joined(separator: " && ")
    }
}

// MARK: Names

extension NewProject {
    static let rule = "a letter, and then at most 49 letters, digits and _"

    /// What mappings, and the gateway for pages, have for something else.
    private static let reserved = ["default", "error", "bridge", "call", "login", "logout"]

    /// Why a text is no name, as a sentence; nil if it is one.
    /// - Parameter isTaken: whether the device has a command or a file of mappings of that name.
    static func problem(of name: String, isTaken: (String) -> Bool) -> String? {
        guard isValid(name) else {
            let near = legal(name).map { "; how about '\($0)'?" } ?? ""
            return "'\(name)' cannot be the name, which is also a command's: \(rule)\(near)"
        }
        guard !isTaken(name), !reserved.contains(name) else {
            return "'\(name)' is taken on this device: a command, a file of mappings or an address of pages has it"
        }
        return nil
    }

    private static func isValid(_ name: String) -> Bool {
        PlainName.isValid(name) && name.utf8.count <= 50 && !name.contains("-") && name.first?.isLetter == true
    }

    /// The nearest name: `doorBell` of `door-bell`; nil if there is none.
    private static func legal(_ text: String) -> String? {
        let words = text.split { "- .".contains($0) }
        let others = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = (words.prefix(1).map(String.init) + others).joined()
        return isValid(name) ? name : nil
    }
}
