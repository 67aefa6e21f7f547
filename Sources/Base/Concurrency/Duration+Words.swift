extension Duration {
    /// `30 s`, `1.5 s`.
    package var words: String {
        let (seconds, attoseconds) = components
        let value = Double(seconds) + Double(attoseconds) * 1e-18
        return Int64(exactly: value).map { "\($0) s" } ?? "\(value) s"
    }
}
