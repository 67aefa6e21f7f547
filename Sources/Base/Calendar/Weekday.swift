/// A day of the week, by the three letters that settings have for it. Monday is the first.
package enum Weekday: String, CaseIterable, Sendable, Hashable {
    case mon, tue, wed, thu, fri, sat, sun

    /// 0 for Monday … 6 for Sunday.
    package var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
