/// What all connections share. For use on the event loop only.
struct Fairly {
    let turns: Turns
    let holdings: Holdings
    /// Reads the pages' files.
    let files: FairThread
    /// Reads large bodies.
    let parser: FairThread
}
