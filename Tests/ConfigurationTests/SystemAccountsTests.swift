import Foundation
import Testing

@testable import Configuration

@Suite("The accounts of the system")
struct SystemAccountsTests {
    private let accounts = SystemAccounts()

    @Test func `users and groups have names, or else their numbers`() {
        #expect(accounts.name(ofUser: 0) == "root" && accounts.name(ofGroup: 0) == "root")
        #expect(accounts.name(ofUser: 4_000_000_000) == "4000000000")
        #expect(accounts.name(ofGroup: 4_000_000_000) == "4000000000")
        #expect(accounts.ownGroups.contains(accounts.name(ofGroup: getegid())))
    }

    @Test func `lookups on many threads at once keep their own answers`() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let (uid, name): (UInt32, String) = number % 2 == 0 ? (0, "root") : (1, "daemon")
                    return (0..<500).allSatisfy { _ in accounts.name(ofUser: uid) == name }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
