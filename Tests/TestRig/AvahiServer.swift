internal import Foundation

/// An Avahi daemon of one test, on a system bus of its own, in a network of its own: it hears and tells nobody else.
///
/// It is killed with this object, and the bus with it.
public final class AvahiServer: @unchecked Sendable {
    // Sendable because `process` is only replaced by `restart`, which a test calls while nothing else uses the server.
    private var process: ChildProcess
    private let bus: ChildProcess
    private let folder: TestFolder

    /// Why there can be none here; nil where there can. It has a network and mounts of its own, which only root can make.
    public static let whyNot: String? = {
        for program in ["dbus-daemon", "avahi-daemon", "avahi-publish", "unshare", "ip"]
        where !ChildProcess.isInstalled(program) {
            return "\(program) is missing"
        }
        guard geteuid() == 0 else { return "only root can make a network for it" }
        let child = try? ChildProcess("unshare", ["-mn", "ip", "link", "set", "lo", "up", "multicast", "on"])
        let end = ContinuousClock.now + hangGuard
        // Sleeps between looks.
        while let child, child.poll() == nil, .now < end { usleep(10_000) }
        return child?.poll() == .status(0) ? nil : "no network can be made for it"
    }()

    public static func start() async throws -> AvahiServer {
        let folder = try TestFolder()
        try folder.write(busConfiguration(folder("bus")), to: "bus.conf")
        try folder.write(avahiConfiguration, to: "avahi.conf")
        try folder.write(script, to: "start")
        let bus = try ChildProcess("dbus-daemon", ["--config-file=\(folder("bus.conf"))", "--nofork"])
        try await eventually("the bus is there") { folder.exists("bus") }
        let server = AvahiServer(folder, bus, try launch(folder))
        try await server.awaitStart()
        return server
    }

    private init(_ folder: TestFolder, _ bus: ChildProcess, _ process: ChildProcess) {
        (self.folder, self.bus, self.process) = (folder, bus, process)
    }

    /// What its clients need in their environment.
    public var environment: [String: String] { Self.environment(folder) }

    private static func environment(_ folder: TestFolder) -> [String: String] {
        ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder("bus"))"]
    }

    /// Offers a service, until the process is killed with its object.
    public func publish(_ name: String, type: String, port: Int, txt: String...) throws -> ChildProcess {
        try ChildProcess("avahi-publish", ["-s", name, type, "\(port)"] + txt, environment: environment)
    }

    /// Sends it `SIGSTOP`, `SIGCONT` and so on.
    public func send(_ signal: Int32) { process.send(signal) }

    public func kill() async throws {
        process.send(SIGKILL)
        try await process.wait()
    }

    public func restart() async throws {
        process = try Self.launch(folder)
        try await awaitStart()
    }

    private static func launch(_ folder: TestFolder) throws -> ChildProcess {
        let daemon = ProgramPath.find("avahi-daemon") ?? "avahi-daemon"
        let arguments = ["-mn", "sh", folder("start"), daemon, folder("avahi.conf")]
        return try ChildProcess("unshare", arguments, environment: environment(folder))
    }

    private func awaitStart() async throws {
        try await eventually("Avahi has started") { [process] in
            let log = String(decoding: process.standardOutput + process.standardError, as: UTF8.self)
            if process.poll() != nil { throw NotInTime(description: "avahi-daemon ended: \(log)") }
            return log.contains("Server startup complete")
        }
    }

    /// It asks for the account avahi, and writes to /run.
    private static let script = """
        set -e
        mount -t tmpfs none /run
        mkdir /run/avahi-daemon
        for file in passwd group; do cp /etc/$file /run/$file; done
        echo 'avahi:x:0:0::/:/bin/false' >>/run/passwd
        echo 'avahi:x:0:' >>/run/group
        for file in passwd group; do mount --bind /run/$file /etc/$file; done
        ip link set lo up multicast on
        exec "$1" --no-drop-root --no-chroot --no-rlimits --no-proc-title --file="$2"
        """

    private static let avahiConfiguration = """
        [server]
        host-name=rig
        use-ipv4=yes
        use-ipv6=yes
        [publish]
        publish-hinfo=no
        publish-workstation=no
        """

    private static func busConfiguration(_ socket: String) -> String {
        """
        <busconfig>
          <type>system</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
          </policy>
        </busconfig>
        """
    }
}
