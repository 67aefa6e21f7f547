extension Double {
    /// Seconds, as precise as anybody needs them.
    var inMilliseconds: Double { (self * 1000).rounded() / 1000 }
}
