import Foundation
import JSON
import TestRig
import Testing

@testable import SyntaxChecking

/// The queue before a process that parses, which others play here: it may have been taken over by a text.
@Suite("Checks by a process that is not trusted")
struct CheckQueueTests {
    /// What it says of a text depends on that; of `bad` the truth is a mistake.
    private static let checker = """
        #!/usr/bin/python3
        import json, os, select, signal
        channel = os.fdopen(3, 'r+b', 0)
        for line in os.fdopen(os.dup(3), 'rb'):
            job = json.loads(line)
            def say(**members): channel.write(json.dumps(members).encode() + b'\\n')
            text, number = job['text'], job['number']
            verdict = dict(number=number, seconds=0.0, bytes=len(text))
            if text == 'bad': say(number=number, seconds=0.0, mistake=dict(message='it is bad'))
            elif text == 'behind': channel.write(b'%s\\n{}\\n' % json.dumps(verdict).encode())
            elif text == 'later': say(**verdict); select.select([], [], [], 0.05); say(number=number + 1, seconds=0.0, bytes=0)
            elif text == 'negative': say(**dict(verdict, bytes=-5))
            elif text == 'longer': say(**dict(verdict, bytes=len(text) + 1))
            elif text == 'other': say(**dict(verdict, number=number + 1))
            elif text == 'none': say(seconds=0.0, bytes=1)
            elif text == 'closed': os._exit(0)
            elif text == 'shut': os.closerange(3, 64); signal.pause()
            elif text == 'last': say(**verdict); os._exit(0)
            else: say(**verdict)

        """

    private let folder: TestFolder
    private let queue: CheckQueue<String>

    init() throws {
        folder = try TestFolder()
        try folder.write(Self.checker, to: "checker")
        chmod(folder("checker"), 0o755)
        queue = CheckQueue(program: folder("checker"), environment: ["PATH": "/usr/bin:/bin"])
    }

    /// The verdicts on texts, each submitted by a caller of its own as soon as the one before is there.
    private func verdicts(_ texts: String...) async throws -> [CheckVerdict] {
        var found: [CheckVerdict] = []
        for text in texts {
            #expect(queue.submit(CheckedText(.script, text), by: "caller of \(text)", text))
            try await eventually("a verdict on \(text)") {
                queue.advance()
                found += queue.takeVerdicts().map(\.verdict)
                return queue.isIdle
            }
        }
        return found
    }

    private let bad = CheckVerdict.mistake(["message": "it is bad"])

    @Test func `what it says of a text counts`() async throws {
        let found = try await verdicts("good", "bad", "12345")
        #expect(found == [.valid(functionBytes: 4), bad, .valid(functionBytes: 5)])
    }

    @Test(arguments: ["behind", "negative", "longer", "other", "none"])
    func `what cannot be a verdict ends it, and another process checks the next text`(text: String) async throws {
        #expect(try await verdicts(text, "bad") == [.unchecked("its parser gave no valid answer"), bad])
    }

    @Test func `a process that closes its socket and goes on is ended, and its text is tried once more`() async throws {
        #expect(try await verdicts("shut", "bad") == [.unchecked("its parser has ended"), bad])
    }

    @Test func `an answer with its end counts, and another process checks the next text`() async throws {
        for _ in 0..<20 { #expect(try await verdicts("last", "bad") == [.valid(functionBytes: 4), bad]) }
    }

    @Test func `what it says while it has no text is not taken for a verdict on the next one`() async throws {
        #expect(try await verdicts("later") == [.valid(functionBytes: 5)])
        // It has said it when the next text comes.
        var entry = queue.poll
        #expect(poll(&entry, 1, 20_000) == 1)
        #expect(try await verdicts("bad") == [bad])
        #expect(try await verdicts("later", "bad") == [.valid(functionBytes: 5), bad])
    }

    @Test func `a process that ends is replaced once for a text`() async throws {
        #expect(try await verdicts("closed", "bad") == [.unchecked("its parser has ended"), bad])
    }

    @Test func `where no process can be started, the loop is to take the verdict at once`() throws {
        let queue = CheckQueue<String>(program: folder("none"), environment: [:])
        #expect(queue.submit(CheckedText(.script, "x"), by: "ann", "x"))
        #expect(try #require(queue.nextMoment) <= .now)
        #expect(queue.takeVerdicts().first?.verdict == .unchecked("no process can be started that checks it"))
        #expect(queue.nextMoment == nil)
    }
}
