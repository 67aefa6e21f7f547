import Actions
import Fuzzer
import JSON

@testable import Configuration
@testable import ProcedureSets

@main enum FuzzManifests {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: what a server of procedures says it has, what is kept of that, and what a page's
/// world tells of an action.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: bytes, count: count)
    guard let text = String(validating: bytes, as: UTF8.self) else { return 0 }
    readManifest(text)
    readRecord(text)
    readResults(text)
    return 0
}

private func readManifest(_ text: String) {
    guard let manifest = try? Manifest(text) else { return }
    check(manifest.version >= 0, "a version is not negative")
    check(manifest.files.count <= ProcedureSettings.fileCount, "a set has so many files at most")
    var record = SetRecord(server: "https://a.org")
    record.version = manifest.version
    for (name, hash) in manifest.files {
        checkName(name)
        check(
            hash.utf8.count == 64 && hash.lowercased() == hash && Manifest.isHash(hash),
            "a hash is one, in small letters"
        )
        record.files[name] = SetRecord.File(hash: hash, mark: .init(tag: hash, modified: name))
    }
    check((try? SetRecord(record.json.text)) == record, "what was fetched is kept as it was")
    checkOlder(record)
    var isSigned = true
    do throws(SetRefusal) {
        try Manifest.verify(text, signature: text, key: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    } catch { isSigned = false }
    check(!isSigned, "nobody has signed it")
}

/// What is written below the folder of a set, and nowhere else.
private func checkName(_ name: String) {
    check(ProcedureName.isFile(name), "a file has a name")
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    check(parts.count == 1 || parts.count == 2 && parts[0].elementsEqual("lib".utf8), "it lies in the folder or in lib")
    check(parts.allSatisfy { !$0.isEmpty && $0.first != UInt8(ascii: ".") }, "no part is hidden or leads out")
    check(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }, "it is plain")
    check(name.utf8.count <= 255, "a disk takes it")
}

private func readRecord(_ text: String) {
    guard let record = try? SetRecord(text) else { return }
    for name in record.files.keys { checkName(name) }
    check((try? SetRecord(record.json.text)) == record, "a record is read as it is written")
    check(record.identity == (try? SetRecord(record.json.text))?.identity, "it is known again")
    checkOlder(record)
}

private func checkOlder(_ record: SetRecord) {
    var signed = record
    signed.key = "k"
    guard let version = signed.version else { return }
    func takes(_ version: Int64?) -> Bool {
        do throws(SetRefusal) { try signed.refuseOlder(version, key: "k") } catch { return false }
        return true
    }
    check(takes(version), "the same version may come again")
    check(version == .min || !takes(version - 1), "an older version never follows a signed one")
    check(version < 0 || !takes(nil), "nor does one without a version")
}

private func readResults(_ text: String) {
    guard let results = try? ActionResults(text) else { return }
    check(results.view != .text || results.results["text"]?.stringValue != nil, "a text to read is there")
    _ = (results.title, JSONValue.object(results.dictionary).text)
}
