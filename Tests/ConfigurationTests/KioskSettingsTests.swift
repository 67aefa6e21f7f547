import Calendar
import Configuration
import Foundation
import KioskRules
import Linux
import QuickConnect
import TestRig
import Testing

@Suite("The settings of a kiosk")
struct KioskSettingsTests {
    private func load(_ text: String) throws -> KioskSettings {
        let folder = try TestFolder()
        try text.write(toFile: folder("s.yaml"), atomically: true, encoding: .utf8)
        var flags = Settings.Overrides()
        flags[.config] = folder("s.yaml")
        let folders = StandardFolders(isRoot: true, environment: [:], program: "/nowhere/bin/quickconnect-kiosk")
        return try Settings.load(flags: flags, environment: [:], folders: folders).kiosk
    }

    @Test func `each is read, and what is not said is as it ships`() throws {
        #expect(try load("kiosk:") == KioskSettings())
        let kiosk = try load(
            """
            kiosk:
              page: https://shop.org/
              origins: [https://A.org, "http://b.org:81/", "HTTPS://SHOP.example.org:443", "http://c.org:80/"]
              resources: [https://tiles.org]
              urlCalls: true
              schemes: [Shop]
              cookies: never
              cache: full
              zoom: 1.5
              leaveKey: none
              hangTime: never
              microphone: true
              monitor: HDMI-1
              functions: [counter, $_a1, robot.turn]
            """
        )
        #expect(kiosk.page == "https://shop.org/" && kiosk.urlCalls == true && kiosk.schemes == ["Shop"])
        #expect(
            kiosk.origins == ["https://a.org", "http://b.org:81", "https://shop.example.org", "http://c.org"]
                && kiosk.resources == ["https://tiles.org"]
        )
        #expect(kiosk.cookies == .never && kiosk.cache == .full && kiosk.zoom == 1.5)
        #expect(kiosk.functions == ["counter", "$_a1", "robot.turn"])
        #expect(kiosk.monitor == .name("HDMI-1"))
        #expect(try load("kiosk: {monitor: 2}").monitor == .number(2))
        #expect(kiosk.leaveKey == nil && kiosk.hangSeconds == nil && kiosk.allowsMicrophone && !kiosk.allowsCamera)
    }

    @Test func `a folder is relative to the file`() throws {
        let page = try load("kiosk: {page: pages}").page
        #expect(page?.hasPrefix("/") == true && page?.hasSuffix("/pages") == true)
    }

    @Test func `several pages have their times`() throws {
        let kiosk = try load(
            """
            kiosk:
              pages:
                - {open: https://shop.org/, for: 20s}
                - {open: menus, from: "11:30", until: sunset-30m, days: [mon, fri]}
                - {open: /srv/sign.html, for: 1.5m, days: [sun]}
              fallback: closed.html
            """
        )
        #expect(kiosk.pages.map(\.seconds) == [20, 30, 90])
        #expect(kiosk.pages.first?.open == "https://shop.org/" && kiosk.pages.first?.times == nil)
        #expect(kiosk.pages.map { $0.open.hasPrefix("/") } == [false, true, true])
        #expect(kiosk.pages[1].open.hasSuffix("/menus") && kiosk.fallback?.hasSuffix("/closed.html") == true)
        let times = DayTimes(from: .at(41_400), until: .sun(.sunset, offset: -1800), days: [.mon, .fri])
        #expect(kiosk.pages[1].times == times && kiosk.pages[2].times == DayTimes(days: [.sun]))
        #expect(kiosk.warnings.map(\.message).filter { $0.contains("does not exist") }.count == 3)
        #expect(kiosk.warnings.first.map { "\($0)".contains("s.yaml:4:7: 'open': the folder") } == true)
    }

    @Test func `a window is the same wherever its pages are written`() throws {
        let (one, other) = (
            "kiosk: {pages: [{open: /a}, {open: /b}]", "kiosk:\n  pages:\n  - {open: /a}\n  - {open: /b, for: 30s}\n"
        )
        #expect(try load("\(one)}").makesSame(as: load(other)))
        #expect(try !load("\(one)}").makesSame(as: load("kiosk: {pages: [{open: /b}, {open: /a}]}")))
        #expect(try !load("\(one)}").makesSame(as: load("\(one), fallback: /c}")))
    }

    @Test(
        arguments: [
            ("{pages: []}", "'pages' must be a list of pages"), ("{pages: /srv}", "'pages' must be a list of pages"),
            ("{pages: [/srv]}", "each of 'pages' must be a mapping"),
            ("{pages: [{for: 5s}]}", "each of 'pages' needs 'open'"),
            ("{pages: [{open: /a, for: 4s}]}", "'for' must be from 5s to 24h"),
            ("{pages: [{open: /a, for: 25h}]}", "'for' must be from 5s to 24h"),
            ("{pages: [{open: /a, for: 30}]}", "'for' must be a number and a unit"),
            ("{pages: [{open: /a, from: 8}]}", "'from': '8' is no time"),
            ("{pages: [{open: /a, until: \"24:00\"}]}", "'until': '24:00' is no time"),
            ("{pages: [{open: /a, days: [monday]}]}", "no day 'monday'"),
            ("{pages: [{open: /a, days: []}]}", "'days' must not be empty"),
            ("{pages: [{open: /a, from: \"8:00\", until: \"08:00\"}]}", "'from' and 'until' are both 08:00"),
            ("{pages: [{open: \"ftp://a.org/\"}]}", "'ftp://a.org/' is not the address of a page"),
            ("{pages: [{opn: /a}]}", "unknown key 'opn'"), ("{pages: [{open: ~/a}]}", "~ is not expanded"),
            ("{page: /a, pages: [{open: /b}]}", "'page' or 'pages', not both"),
            ("{pages: [{open: /b}], page: /a}", "'page' or 'pages', not both"),
            ("{fallback: \"https://a.org/\"}", "'fallback' must be a folder or an HTML file on this device"),
            ("{zoom: 9}", "'zoom' must be a number from 0.25 to 8"),
            ("{origins: [a.org]}", "'a.org' in 'origins' is not an origin"),
            ("{origins: [\"https://a.org/x\"]}", "is not an origin"), ("{origins: [\"*\"]}", "is not an origin"),
            ("{origins: [\"https://a@b.org\"]}", "is not an origin"),
            ("{origins: [\"https://b.org?x\"]}", "is not an origin"),
            ("{schemes: [https]}", "'https' cannot be a scheme"), ("{schemes: [\"a b\"]}", "cannot be a scheme"),
            ("{cookies: nevr}", "did you mean 'never'"), ("{userAgent: \"a b\"}", "'userAgent' must be"),
            ("{userAgent: a/b/c}", "'userAgent' must be a name, or a name and a version"),
            ("{userAgent: a/}", "'userAgent' must be"),
            ("{functions: [a-b]}", "'a-b' in 'functions' cannot be a function's name"),
            ("{functions: [1a]}", "'1a' in 'functions' cannot"),
            ("{functions: [a.b.c]}", "'a.b.c' in 'functions' cannot"),
            ("{functions: [a.]}", "'a.' in 'functions' cannot"), ("{functions: [.a]}", "'.a' in 'functions' cannot"),
            ("{functions: counter}", "'functions' must be a list"),
            ("{monitor: 0}", "'monitor' must be the name of a monitor's connector, such as HDMI-1, or its number"),
            ("{monitor: [1]}", "'monitor' must be"), ("{monitor: -1}", "got the number -1"),
            ("{zom: 1}", "unknown key 'zom'"),
            ("{sandbox: 3}", "'sandbox' must be true or false"), ("{memoryBytes: 1}", "'memoryBytes' must be"),
        ]
    )
    func `a mistake is told with its place`(text: String, words: String) throws {
        let mistakes = #expect(throws: ConfigurationMistakes.self) { try load("kiosk: \(text)") }
        let told = mistakes.map { "\($0)" } ?? ""
        #expect(told.contains(words) && told.contains("s.yaml:1:"), "\(told)")
    }
}
