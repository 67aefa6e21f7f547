import KioskRules
import Testing

@Suite("The monitor of a window")
struct MonitorChoiceTests {
    @Test func `a number counts from one, and a name has any case`() {
        let names = ["HDMI-1", "DP-2"]
        #expect(MonitorChoice("1")?.index(among: names) == 0)
        #expect(MonitorChoice("2")?.index(among: names) == 1)
        #expect(MonitorChoice("dp-2")?.index(among: names) == 1)
        #expect(MonitorChoice("HDMI-1")?.index(among: names) == 0)
    }

    @Test func `a monitor that is not connected has no place`() {
        #expect(MonitorChoice("3")?.index(among: ["HDMI-1", "DP-2"]) == nil)
        #expect(MonitorChoice("DP")?.index(among: ["HDMI-1", "DP-2"]) == nil)
        #expect(MonitorChoice("1")?.index(among: []) == nil)
    }

    @Test(arguments: ["", "0", "17", "-1", "99999999999999999999", "1.5", " "])
    func `what is neither a number nor a name is refused`(text: String) { #expect(MonitorChoice(text) == nil) }
}
