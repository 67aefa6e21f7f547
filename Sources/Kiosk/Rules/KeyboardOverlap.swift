/// How much of a window an on-screen keyboard covers.
package struct KeyboardOverlap: Sendable, Hashable {
    /// A place on the screen, in pixels.
    package struct Area: Sendable, Hashable {
        package var left: Int, top: Int, width: Int, height: Int

        package init(left: Int, top: Int, width: Int, height: Int) {
            (self.left, self.top, self.width, self.height) = (left, top, width, height)
        }
    }

    /// From the window's upper and its lower edge.
    package var top = 0, bottom = 0

    package init() {}

    /// Counts what lies over at least half of the window's width, and along its upper or lower edge; a keyboard that
    /// floats leaves room beside it. What would leave less than a quarter of the window is no keyboard.
    package init(of window: Area, by others: [Area]) {
        let end = window.top + window.height
        for other in others {
            let left = max(other.left, window.left)
            let right = min(other.left + other.width, window.left + window.width)
            let (upper, lower) = (max(other.top, window.top), min(other.top + other.height, end))
            guard (right - left) * 2 >= window.width, upper < lower else { continue }
            if lower == end, upper > window.top { bottom = max(bottom, end - upper) }
            if upper == window.top, lower < end { top = max(top, lower - window.top) }
        }
        if (top + bottom) * 4 > window.height * 3 { (top, bottom) = (0, 0) }
    }
}
