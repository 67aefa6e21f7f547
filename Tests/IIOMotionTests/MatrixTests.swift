import Testing

@testable import IIOMotion

@Suite struct MatrixTests {
    @Test func `the kernel's text is read`() throws {
        let matrix = try #require(Matrix(text: "0, 1, 0; -1, 0, 0; 0, 0, 1"))
        #expect(matrix * [1, 2, 3] == [2, -1, 3])
        #expect(Matrix(text: "1,0,0;0,1,0;0,0,1\n") == .identity)
        #expect(try #require(Matrix(text: "0.5, 0, 0; 0, 0.866, 0.5; 0, -0.5, 0.866")) * [2, 0, 2] == [1, 1, 1.732])
    }

    @Test(arguments: [
        "", "(null)", "1, 0, 0", "1, 0, 0; 0, 1, 0", "1, 0; 0, 1; 0, 0", "1, 0, 0; 0, 1, 0; 0, 0, x",
        "0, 0, 0; 0, 0, 0; 0, 0, 0", "nan, 0, 0; 0, 1, 0; 0, 0, 1", "inf, 0, 0; 0, 1, 0; 0, 0, 1",
        "1, 0, 0; 0, 1, 0; 0, 0, 1;",
    ])
    func `anything else is none`(text: String) {
        #expect(Matrix(text: text) == nil)
    }

    @Test func `one behind the other is their product`() throws {
        let first = try #require(Matrix([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]))
        let second = try #require(Matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
        #expect((second * first) * [1, 2, 3] == second * (first * [1, 2, 3]))
        #expect(second * first != first * second)
    }
}

@Suite struct SamplingRateTests {
    @Test(
        arguments: [
            ("1 10 50 100", 10, 10), ("1 10 50 100", 11, 50), ("100 50 10 1", 0.5, 1), ("1 10 50 100", 200, 100),
            ("[0.5 0.5 400]", 10, 10), ("[0.5 0.5 400]", 0.1, 0.5), ("[0.5 0.5 400]", 1000, 400), ("", 33, 33),
            ("fast", 33, 33), ("[1 2]", 33, 33), ("12.500000 25.000000", 10, 12.5),
        ] as [(String, Double, Double)]
    )
    func `the lowest that is enough is chosen, else the highest`(available: String, wanted: Double, chosen: Double) {
        #expect(SamplingRate(available: available).choose(wanted) == chosen)
    }

    @Test func `a rate is written as the kernel reads it`() {
        #expect(SamplingRate.text(10) == "10")
        #expect(SamplingRate.text(12.5) == "12.500000")
        #expect(SamplingRate.text(0.1) == "0.100000")
        #expect(SamplingRate.text(1e30) == "1000000000.000000")
    }
}

@Suite struct PaceTests {
    /// How many of the values that come in a time each rate gets.
    private func counts(_ rates: Set<Double>, sensor: Double, seconds: Double, jitter: Double = 0) -> [Double: Int] {
        var pace = Pace()
        var numbers = Numbers(seed: 3)
        let start = ContinuousClock.now
        var counts: [Double: Int] = [:]
        for index in 0..<Int(sensor * seconds) {
            let late = jitter * Double(numbers.below(1000)) / 1000 / sensor
            let now = start + .seconds(Double(index) / sensor + late)
            for rate in pace.take(at: now, rates, from: sensor) { counts[rate, default: 0] += 1 }
        }
        return counts
    }

    @Test func `each rate gets as many as it asked for, and no more`() {
        let counts = counts([1, 10, 33, 100], sensor: 100, seconds: 10)
        #expect(counts == [1: 10, 10: 100, 33: 330, 100: 1000])
    }

    @Test func `a sensor that is a little faster gives no more`() {
        let counts = counts([10], sensor: 12.5, seconds: 100)
        #expect((995...1001).contains(counts[10] ?? 0))
    }

    @Test func `values that come late or early lose none`() {
        #expect(counts([50], sensor: 50, seconds: 10, jitter: 0.4) == [50: 500])
    }

    @Test func `a slower sensor's values all go out`() {
        #expect(counts([100], sensor: 7, seconds: 10) == [100: 70])
    }

    @Test func `what was missed is not made up for`() {
        var pace = Pace()
        let start = ContinuousClock.now
        #expect(pace.take(at: start, [10], from: 100) == [10])
        #expect(pace.take(at: start + .seconds(5), [10], from: 100) == [10])
        #expect(pace.take(at: start + .milliseconds(5010), [10], from: 100) == [])
        #expect(pace.take(at: start + .milliseconds(5100), [10], from: 100) == [10])
    }
}
