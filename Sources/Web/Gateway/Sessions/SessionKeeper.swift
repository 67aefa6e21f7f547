internal import NIOCore

/// When the sessions are written: once for all changes of a second, but at once after a log-out; and again some seconds
/// after a failure.
struct SessionKeeper {
    /// Something is not on the disk, and is not being written.
    private(set) var isDirty = false
    /// The last time it could not be written.
    private(set) var isFailing = false
    private var isWriting = false
    private var isScheduled = false
    private var isUrgent = false
    private var hasWritten = false

    private static let keepTime = TimeAmount.seconds(1)
    private static let retryTime = TimeAmount.seconds(5)

    /// Something has changed.
    /// - Parameter isUrgent: whether it must not wait for other changes.
    /// - Returns: after which time to write; nil if that is arranged already.
    mutating func change(isUrgent: Bool = false) -> TimeAmount? {
        isDirty = true
        self.isUrgent = self.isUrgent || isUrgent
        guard !isWriting, isUrgent || !isScheduled else { return nil }
        isScheduled = true
        return isUrgent || !hasWritten ? .zero : Self.keepTime
    }

    /// The time has come.
    /// - Returns: whether to write. Not if an urgent change has done so before.
    mutating func begin() -> Bool {
        guard isDirty, !isWriting else { return false }
        (isDirty, isUrgent, isScheduled, isWriting, hasWritten) = (false, false, false, true, true)
        return true
    }

    /// It was written, or could not be.
    /// - Returns: after which time to write again; nil: not until something changes.
    mutating func end(hasFailed: Bool) -> TimeAmount? {
        (isWriting, isFailing) = (false, hasFailed)
        if hasFailed { isDirty = true }
        isScheduled = isDirty
        guard isDirty else { return nil }
        return hasFailed ? Self.retryTime : isUrgent ? .zero : Self.keepTime
    }
}
