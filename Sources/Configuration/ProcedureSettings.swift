/// The limits of stored procedures, and what is stored for them. Each is a setting; see docs/procedures.md.
package struct ProcedureSettings: Sendable, Equatable {
    /// How many run at the same time; more wait.
    package var parallel = 2
    /// Time from a procedure's start to its answer, in seconds.
    package var seconds = 30.0
    /// Resident memory of the process that runs one.
    package var memoryBytes = 128 << 20
    /// Time of one statement of `sql`, in seconds.
    package var sqlSeconds = 5.0
    /// Rows of one statement of `sql`.
    package var sqlRows = 10_000

    /// The server from which procedures are fetched, without a final slash; nil: none are fetched.
    package var sync: String?
    /// The files to fetch if the server has no manifest.
    package var names: [String] = []
    /// The Ed25519 key with which the manifest must be signed, in Base64; nil: no signature is required.
    package var key: String?

    /// The most bytes of a procedure's file.
    package static let fileBytes = 1 << 20
    /// The most files in a set.
    package static let fileCount = 1000
    /// The most bytes of all fetched files together.
    package static let setBytes = 32 << 20

    /// An event whose values are stored as entries.
    package struct Recorded: Sendable, Equatable {
        package var event: String
        /// How long, in seconds; nil: as long as there is room.
        package var keepSeconds: Double?

        package init(event: String, keepSeconds: Double? = nil) {
            self.event = event
            self.keepSeconds = keepSeconds
        }
    }

    package var record: [Recorded] = []
    /// The most bytes of data; beyond that the oldest entries are deleted.
    package var dataBytes = 1 << 30
    /// How long to keep entries that no `record` names, in seconds; nil: as long as there is room.
    package var dataKeepSeconds: Double?

    /// The user that fetches procedures. It has access to the network, but not to the data.
    package static let syncUser = "quickconnect-sync"

    /// Whether the server is on this device, so that the connection cannot be intercepted.
    package var isSyncLocal: Bool {
        guard let sync, let slashes = sync.firstRange(of: "://") else { return false }
        let authority = sync[slashes.upperBound...].prefix { $0 != "/" }
        return ["localhost", "127.0.0.1", "[::1]"].contains { name in
            authority == name
                || (authority.hasPrefix("\(name):") && authority.dropFirst(name.count + 1).allSatisfy(\.isNumber))
        }
    }

    package init() {}
}
