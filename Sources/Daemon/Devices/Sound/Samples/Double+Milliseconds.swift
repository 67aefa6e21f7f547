extension Double {
    /// Seconds, rounded to milliseconds.
    var inMilliseconds: Double { (self * 1000).rounded() / 1000 }
}
