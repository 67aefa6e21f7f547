/// The four phases of a stack, in the order they run. The error phase runs only when another one failed.
public enum Phase: String, Sendable, CaseIterable {
    /// ValCOs: is the call allowed and well formed?
    case validation
    /// BCOs: get or change something.
    case business
    /// VCOs: show the result to the caller.
    case view
    /// ECOs: see the error before the caller gets it.
    case error
}
