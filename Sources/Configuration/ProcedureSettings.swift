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

    public init() {}
}
