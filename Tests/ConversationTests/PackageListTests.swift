import Foundation
import TestRig
import Testing

/// `scripts/install-packages`, through which all make targets get Debian packages, on machines that are not there: apt
/// and dpkg are told of another machine's packages, or are a script that writes down how it was called.
@Suite(
    "The packages that the make targets install",
    .enabled(if: ChildProcess.isInstalled("apt-get"), "apt is missing")
)
struct PackageListTests {
    private static let daemons = ["alsa-utils", "avahi-daemon", "gpsd", "mosquitto", "pulseaudio", "redis-server"]

    /// Tools that the script needs, and no others: what this machine has besides is hidden from it.
    private func tools(without hidden: String...) throws -> TestFolder {
        let folder = try TestFolder()
        for name in ["apt-get", "bash", "dirname", "dpkg-query", "env", "grep", "id", "sed"]
        where !hidden.contains(name) {
            try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: "/usr/bin/\(name)")
        }
        return folder
    }

    private func install(_ arguments: [String], _ environment: [String: String]) async throws -> (
        exit: ChildProcess.Exit, output: String, errors: String
    ) {
        let script = Products.root + "/scripts/install-packages"
        let child = try ChildProcess("/bin/bash", [script] + arguments, environment: environment)
        let exit = try await child.wait(within: .seconds(60))
        let texts = [child.standardOutput, child.standardError].map { String(decoding: $0, as: UTF8.self) }
        return (exit, texts[0], texts[1])
    }

    @Test(
        .slow,
        .enabled("apt knows no packages, as before the first «apt-get update»") {
            try await ChildProcess.run("apt-cache", ["show", "pipewire-audio"]).output.contains("Depends:")
        }
    )
    func `none removes anything from a desktop with PipeWire, nor installs a daemon`() async throws {
        let desktop = try TestFolder()
        let made = try await ChildProcess.run(
            Products.root + "/Tests/System/desktop-status",
            [desktop.path, "pipewire-audio", "libgtk-3-0", "systemd-sysv"]
        )
        #expect(made.exit == .status(0))
        let tools = try tools()
        let environment = ["PATH": tools.path, "DPKG_ADMINDIR": desktop.path, "APT_CONFIG": desktop("apt.conf")]

        for target in [[], ["--test"], ["--bench"], ["--deb"], ["--system"]] {
            let (exit, output, errors) = try await install(["--dry-run"] + target, environment)
            #expect(exit == .status(0), "\(target): \(errors)")
            #expect(output.contains("To be installed, none removed:\n"), "\(target)")
            let names = output.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { $0.split(separator: " ")[0] }
            #expect(names.contains("libsndfile1-dev"))
            for daemon in Self.daemons { #expect(!names.contains(Substring(daemon)), "\(target)") }
        }
        // What all of them did before.
        let (exit, _, errors) = try await install(["--dry-run", "--test", "pulseaudio"], environment)
        #expect(exit == .status(1))
        #expect(errors.hasPrefix("Refused"))
        #expect(errors.contains("The following packages will be REMOVED:\n  pipewire-alsa pipewire-audio"))
    }

    @Test func `the list is shown, and apt may remove nothing and start nothing`() async throws {
        let (tools, machine) = (try tools(without: "apt-get", "id"), try TestFolder())
        try machine.write("", to: "status")
        try tools.writeProgram("id", "echo 0")
        try tools.writeProgram(
            "apt-get",
            """
            echo "$SYSTEMD_OFFLINE $RUNLEVEL $*" >>\(machine("calls"))
            case "$*" in *" -s "*) echo 'Inst libgps-dev [3.21] (3.22 Debian:12/stable [amd64])' ;; esac
            """
        )
        let (exit, output, errors) = try await install([], ["PATH": tools.path, "DPKG_ADMINDIR": machine.path])
        #expect(exit == .status(0), "\(errors)")
        #expect(output.contains("  libgps-dev 3.22 (upgrades 3.21)\n"))
        let calls = String(decoding: try machine.data("calls"), as: UTF8.self).split(separator: "\n")
        #expect(calls.count == 3)
        for call in calls.dropFirst() {
            #expect(call.hasPrefix("1 1 ") && call.contains("--no-remove") && call.contains("--no-install-recommends"))
        }
        #expect(calls.last?.contains(" -y ") == true)
    }

    @Test func `a user who cannot become root is told what is missing and how to get it`() async throws {
        let (tools, machine) = (try tools(without: "id"), try TestFolder())
        try machine.write("", to: "status")
        try tools.writeProgram("id", "echo 1000")
        let (exit, _, errors) = try await install([], ["PATH": tools.path, "DPKG_ADMINDIR": machine.path])
        #expect(exit == .status(1))
        #expect(errors.hasPrefix("These packages are missing: libasound2-dev "))
        #expect(errors.contains("apt-get install --no-install-recommends --no-remove libasound2-dev "))
    }

    @Test func `an unknown option is a mistake, and not a package`() async throws {
        let result = try await install(["--tset"], ["PATH": "/usr/bin:/bin"])
        #expect(result.exit == .status(2) && result.errors.contains("--tset"))
    }
}

extension TestFolder {
    /// Puts a shell script there that can be run.
    func writeProgram(_ name: String, _ body: String) throws {
        try write("#!/bin/bash\n\(body)\n", to: name)
        chmod(self(name), 0o755)
    }
}
