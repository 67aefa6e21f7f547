import Configuration
import Foundation
import ProcedureSets
import TestRig
import Testing

@testable import Procedures

/// A fetched set that meets a device in trouble.
@Suite("Taking a fetched set")
struct SetTakerTests {
    private let folder: TestFolder
    private let record: SetRecord

    init() throws {
        folder = try TestFolder()
        let text = "function execute() { return 1 }\n"
        var record = SetRecord(server: "https://server.example/sets")
        record.files = ["one.js": SetRecord.File(text, SetRecord.Mark())]
        let staging = SetStore(root: folder("staging"), link: "staged")
        let new = try staging.begin()
        try new.add("one.js", text)
        try staging.commit(new, record)
        self.record = record
    }

    private func taker(_ parser: String...) -> SetTaker {
        var settings = ProcedureSettings()
        settings.sync = record.server
        return SetTaker(
            settings: settings,
            staging: folder("staging"),
            store: SetStore(root: folder("store"), link: "procedures"),
            command: parser,
            environment: [:]
        )
    }

    @Test func `what is the device's fault is tried again`() throws {
        var state = SetTaker.State()
        for parser in ["/no/such/parser", folder("killed")] {
            try folder.write("#!/bin/sh\nkill -KILL $$\n", to: "killed")
            chmod(folder("killed"), 0o755)
            state = taker(parser).take(after: state)
            #expect(state.refused == nil && state.installed == nil && state.problem != nil, "\(parser): \(state)")
        }
        // A file where the folder of the sets is to be, as on a disk in trouble.
        try FileManager.default.removeItem(atPath: folder("store/sets"))
        try folder.write("", to: "store/sets")
        state = taker("/bin/true").take(after: state)
        #expect(state.refused == nil && state.problem?.contains("it cannot be kept") == true, "\(state)")
        unlink(folder("store/sets"))
        state = taker("/bin/true").take(after: state)
        #expect(state.problem == nil && state.installed == record, "\(state)")
    }

    @Test func `what is the set's is not, until it changes`() throws {
        var state = taker("/bin/false").take(after: SetTaker.State())
        #expect(state.refused?.reason == "its parser ended with status 1" && state.problem == nil)
        state = taker("/bin/true").take(after: state)
        #expect(state.refused != nil && state.installed == nil)
    }
}
