/// What stored procedures may use, and what is kept for them. Each is a setting; see docs/procedures.md.
public struct ProcedureSettings: Sendable, Equatable {
    /// How many run at the same time; more wait.
    public var parallel = 2
    /// Time from a procedure's start to its answer, in seconds.
    public var seconds = 30.0
    /// Resident memory of the process that runs one.
    public var memoryBytes = 128 << 20
    /// Time of one statement of `sql`, in seconds.
    public var sqlSeconds = 5.0
    /// Rows of one statement of `sql`.
    public var sqlRows = 10_000

    /// The server that procedures are fetched from, without a slash at its end; nil: none are fetched.
    public var sync: String?
    /// The files that are fetched where the server has no manifest.
    public var names: [String] = []
    /// The Ed25519 key that the manifest must be signed with, in Base64; nil: it need not be.
    public var key: String?

    /// Bytes of a procedure's file; more is none that somebody wrote.
    public static let fileBytes = 1 << 20
    /// Files at once.
    public static let fileCount = 1000
    /// Bytes of all fetched files together.
    public static let setBytes = 32 << 20

    /// An event whose values are kept as entries.
    public struct Recorded: Sendable, Equatable {
        public var event: String
        /// How long, in seconds; nil: as long as there is room.
        public var keepSeconds: Double?

        public init(event: String, keepSeconds: Double? = nil) {
            self.event = event
            self.keepSeconds = keepSeconds
        }
    }

    public var record: [Recorded] = []
    /// Bytes of the data; of more the oldest entries go.
    public var dataBytes = 1 << 30
    /// How long entries are kept that no `record` names, in seconds; nil: as long as there is room.
    public var dataKeepSeconds: Double?

    /// The user that the service quickconnect-data runs as.
    public static let user = "quickconnect-data"
    /// The user that fetches procedures, who has the network and no data.
    public static let syncUser = "quickconnect-sync"

    /// Whether the server is on this device, so that nobody is on the way to it.
    public var isSyncLocal: Bool {
        guard let sync, let slashes = sync.firstRange(of: "://") else { return false }
        let authority = sync[slashes.upperBound...].prefix { $0 != "/" }
        return ["localhost", "127.0.0.1", "[::1]"].contains { name in
            authority == name
                || (authority.hasPrefix("\(name):") && authority.dropFirst(name.count + 1).allSatisfy(\.isNumber))
        }
    }

    public init() {}
}
