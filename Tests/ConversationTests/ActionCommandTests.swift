import Foundation
import JSON
import TestRig
import Testing

/// `quickconnect action`, whose files are in folders of a test's own. No daemon and no window is needed but for `run`.
@Suite("The commands of actions")
struct ActionCommandTests {
    private struct Ended {
        var status: ChildProcess.Exit
        var output: String
        var errors: String
    }

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        for name in ["own", "kept", "tmp"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        chmod(folder("tmp"), 0o1777)
    }

    /// - Parameters:
    ///   - state: the folder of what is kept.
    ///   - user: another user than this one.
    private func action(
        _ words: String...,
        editor: String = "true",
        state: String = "kept",
        as user: UInt32? = nil
    ) async throws -> Ended {
        try await action(words, editor: editor, state: state, as: user)
    }

    private func action(
        _ words: [String],
        editor: String = "true",
        state: String = "kept",
        as user: UInt32? = nil
    ) async throws -> Ended {
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder("tmp"), "EDITOR": editor, "DIR": folder.path,
            "CONFIGURATION_DIRECTORY": folder("own"), "STATE_DIRECTORY": folder(state),
            "QUICKCONNECT_SOCKET": folder("nobody.sock"),
        ]
        let program = [Products.path("quickconnect"), "action"] + words
        let other = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        let all = other + program
        let child = try ChildProcess(all[0], Array(all.dropFirst()), environment: environment)
        let status = try await child.wait()
        return Ended(
            status: status,
            output: String(decoding: child.standardOutput, as: UTF8.self),
            errors: String(decoding: child.standardError, as: UTF8.self)
        )
    }

    private func sites(of name: String, state: String = "kept", as user: UInt32? = nil) async throws -> [JSONValue]? {
        let list = try await JSONParser.parse(action("list", "--json", state: state, as: user).output)
        let actions = try #require(list.objectValue?["actions"]?.arrayValue)
        return actions.compactMap(\.objectValue).first { $0["name"]?.stringValue == name }?["sites"]?.arrayValue
    }

    private func write(_ text: String, _ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder("own/actions/\(name)"),
            withIntermediateDirectories: true
        )
        try folder.write(text, to: "own/actions/\(name)/Action.js")
    }

    private static let shipped = ["address-to-log", "page-title", "readable-text", "view-source"]

    @Test func `list shows what is shipped, all of it off`() async throws {
        let list = try await action("list")
        #expect(list.status == .status(0))
        for name in Self.shipped {
            let line = try #require(list.output.split(separator: "\n").first { $0.contains(name) })
            #expect(line.contains("shipped; off"), "\(line)")
        }
        let json = try await JSONParser.parse(action("list", "--json").output).objectValue
        let names = json?["actions"]?.arrayValue?.compactMap { $0.objectValue?["name"]?.stringValue }
        #expect(names == Self.shipped && json?["problems"] == [])
    }

    @Test func `enable and disable change one site or all, and say what they did`() async throws {
        let first = try await action("enable", "page-title", "https://example.org")
        #expect(first.status == .status(0) && first.output == "page-title may run on https://example.org now.\n")
        #expect(try await action("enable", "page-title", "example.org").output.contains("already"))
        #expect(try await action("enable", "page-title", "qc://app").status == .status(0))
        #expect(try await action("enable", "page-title", "*").status == .status(0))
        #expect(try await sites(of: "page-title") == ["https://example.org", "qc://app", "*"])
        #expect(try await action("list").output.contains("on: https://example.org, qc://app, *"))
        let one = try await action("disable", "page-title", "qc://app")
        #expect(one.status == .status(0) && one.output == "page-title may not run on qc://app any more.\n")
        #expect(try await action("disable", "page-title", "qc://app").output == "page-title was not allowed there.\n")
        #expect(try await action("disable", "page-title").output.contains("https://example.org, *"))
        #expect(try await sites(of: "page-title") == [])
    }

    @Test func `wrong words change nothing, and say what was meant`() async throws {
        let cases: [(words: [String], status: Int32, part: String)] = [
            (["enable", "page-titel", "https://example.org"], 1, "did you mean 'page-title'"),
            (["enable", "../page-title", "https://example.org"], 1, "there is no action"),
            (["enable", "page-title", "https://example.org/path"], 2, "is not a site"),
            (["enable", "page-title", "ht tp://x"], 2, "is not a site"),
            (["enable", "page-title"], 2, "SITE"),
            (["disable", "page-title", "https://*"], 2, "is not a site"),
            (["edit", "a/b"], 2, "an action's name has"), (["edit", ""], 2, "an action's name has"),
            (["run", "page-title"], 3, "nobody.sock"), (["fly"], 2, "fly"),
        ]
        for (words, status, part) in cases {
            let ended = try await action(words)
            #expect(ended.status == .status(status), "\(words): \(ended)")
            #expect(ended.errors.contains(part), "\(words): \(ended.errors)")
        }
        #expect(!folder.exists("kept/actions/allowed.json"))
    }

    @Test func `a file of rules that cannot be read is not written over, and list says so`() async throws {
        try FileManager.default.createDirectory(atPath: folder("kept/actions"), withIntermediateDirectories: true)
        for text in ["{", #"{"allowed": [{"action": "page-title", "site": "nonsense of mine"}]}"#, "[]"] {
            try folder.write(text, to: "kept/actions/allowed.json")
            #expect(try await action("enable", "page-title", "https://example.org").status == .status(1))
            #expect(try String(decoding: folder.data("kept/actions/allowed.json"), as: UTF8.self) == text)
            #expect(try await action("list").output.contains("warning: \(folder.path)/kept/actions/allowed.json"))
        }
    }

    @Test func `an action that others may write to is neither allowed nor run`() async throws {
        try write("var ExtensionPreprocessingJS = { run() {} }\n", "open")
        chmod(folder("own/actions/open/Action.js"), 0o666)
        let refused = try await action("enable", "open", "https://example.org")
        #expect(refused.status == .status(1) && refused.errors.contains("can be changed by others"), "\(refused)")
        #expect(try await action("list").output.contains("it does not run"))
    }

    // MARK: edit

    @Test func `edit makes a new action and changes one; what is shipped is copied`() async throws {
        try folder.write("sed -i 's/document.title/document.title.toUpperCase()/' \"$1\"", to: "editor")
        let made = try await action("edit", "shout", editor: "sh \(folder("editor"))")
        #expect(made.status == .status(0) && made.output.contains("quickconnect action enable shout SITE"), "\(made)")
        let text = try String(decoding: folder.data("own/actions/shout/Action.js"), as: UTF8.self)
        #expect(text.contains("document.title.toUpperCase()") && text.contains("ExtensionPreprocessingJS = new Action"))
        #expect(try await sites(of: "shout") == [])

        let copied = try await action("edit", "page-title", editor: "sh \(folder("editor"))")
        #expect(copied.output == "\(folder.path)/own/actions/page-title/Action.js is saved.\n", "\(copied)")
        #expect(
            try await action("list").output.split(separator: "\n").contains {
                $0.contains("page-title") && $0.contains("the owner's")
            }
        )

        let unchanged = try await action("edit", "shout", editor: "true")
        #expect(unchanged.status == .status(0) && unchanged.output == "Nothing was changed.\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("tmp")) == [], "no text is left behind")
    }

    @Test func `a mistake brings the editor back with its line, and who gives up keeps the text`() async throws {
        // The first time it writes a mistake; the second time it mends what it is told of.
        let editor = """
            [ -e "$DIR/twice" ] && { cp "$1" "$DIR/shown"; printf 'var ExtensionPreprocessingJS = {}\\n' >"$1"; exit; }
            touch "$DIR/twice"; printf 'var a\\nvar = 2\\n' >"$1"
            """
        try folder.write(editor, to: "editor")
        let mended = try await action("edit", "m", editor: "sh \(folder("editor"))")
        #expect(mended.status == .status(0), "\(mended)")
        let shown = try String(decoding: folder.data("shown"), as: UTF8.self)
        #expect(shown.hasPrefix("//! line 2 below these: ") && shown.hasSuffix("var a\nvar = 2\n"), "\(shown)")
        #expect(
            try String(decoding: folder.data("own/actions/m/Action.js"), as: UTF8.self)
                == "var ExtensionPreprocessingJS = {}\n"
        )

        try folder.write("printf 'var a\\nvar = 2\\n' >\"$1\"", to: "stubborn")
        let kept = try await action("edit", "n", editor: "sh \(folder("stubborn"))")
        #expect(
            kept.status == .status(1) && kept.errors.contains("Your text is kept in \(folder("tmp"))/action-"),
            "\(kept)"
        )
        #expect(!folder.exists("own/actions/n/Action.js"))

        let failed = try await action("edit", "n", editor: "false")
        #expect(failed.status == .status(1) && failed.errors.contains("nothing was changed"), "\(failed)")
    }

    // MARK: Another user

    @Test(
        .enabled(if: OtherUser.isPossible, "only root can act as another user"),
        .enabled(if: Products.areForOthers, Products.othersNote)
    )
    func `another user allows nothing for root, and root's files are not written to`() async throws {
        let stranger = OtherUser.stranger
        #expect(try await action("enable", "page-title", "https://example.org").status == .status(0))
        let before = try folder.data("kept/actions/allowed.json")
        for words in [["enable", "view-source", "*"], ["disable", "page-title", "https://example.org"]] {
            let refused = try await action(words, as: stranger)
            #expect(
                refused.status == .status(1) && refused.errors.contains("unavailable: \(folder.path)/kept/actions"),
                "\(refused)"
            )
        }
        #expect(try folder.data("kept/actions/allowed.json") == before)
        // Nor may that user put an action where root's are.
        let edited = try await action("edit", "page-title", editor: "sed -i 1d", as: stranger)
        #expect(edited.status == .status(1) && edited.errors.contains("own/actions/page-title"), "\(edited)")

        // What such a user allows in a folder of his own is his.
        try FileManager.default.createDirectory(atPath: folder("theirs"), withIntermediateDirectories: true)
        chown(folder("theirs"), stranger, stranger)
        #expect(try await action("enable", "view-source", "*", state: "theirs", as: stranger).status == .status(0))
        #expect(try await sites(of: "view-source", state: "theirs", as: stranger) == ["*"])
        #expect(try await sites(of: "view-source") == [])
        // Root does not believe it, were it in the place of root's own.
        #expect(try await sites(of: "view-source", state: "theirs") == [])
        #expect(
            try await action("list", state: "theirs").output.contains(
                "warning: \(folder.path)/theirs/actions/allowed.json"
            )
        )
    }
}
