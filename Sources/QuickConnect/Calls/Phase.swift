/// The four phases of a stack, in the order they run. The error phase runs only when another one failed.
public enum Phase: String, Sendable, CaseIterable {
    /// ValCOs: may it be done, is it well formed?
    case validation
    /// BCOs: get or change something.
    case business
    /// VCOs: show it to the caller.
    case view
    /// ECOs: see the error before the caller gets it.
    case error
}
