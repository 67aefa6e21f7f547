public import Foundation

/// A PulseAudio of one test, on private paths, with a sink `rig` that nobody hears and its monitor `rig.monitor`.
///
/// It is killed with this object.
public final class PulseServer: @unchecked Sendable {
    // Sendable because `process` is only replaced by `restart`, which a test calls while nothing else uses the server.
    private var process: ChildProcess
    public let folder: TestFolder

    public static var isInstalled: Bool {
        ["pulseaudio", "pactl", "parec"].allSatisfy(ChildProcess.isInstalled)
    }

    /// Starts a server and waits until it answers.
    public static func start() async throws -> PulseServer {
        let folder = try TestFolder()
        for name in ["run", "home"] {
            try FileManager.default.createDirectory(
                atPath: folder(name),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let server = PulseServer(folder: folder, process: try launch(in: folder))
        try await server.awaitAnswer()
        return server
    }

    private init(folder: TestFolder, process: ChildProcess) {
        self.folder = folder
        self.process = process
    }

    public var pid: pid_t { process.pid }
    public var address: String { "unix:\(folder("native"))" }

    /// What its clients need in their environment.
    public var environment: [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder("home"),
            "PULSE_SERVER": address, "PULSE_COOKIE": folder("cookie"), "PULSE_RUNTIME_PATH": folder("run"),
        ]
    }

    /// Defines a PCM and a control device of one new name, through this server, in this process's configuration.
    public func addPCM(device: String? = nil) throws -> String {
        let body = "type pulse server \"\(address)\""
        let pcm = body + (device.map { " device \"\($0)\"" } ?? "")
        return try ALSAConfigurationFile.shared.get().addPCM(pcm, control: body)
    }

    /// The environment of another process whose default PCM and control device are this server's.
    /// - Parameter definitions: further lines of its asound.conf.
    public func environmentAsDefault(_ definitions: String = "") throws -> [String: String] {
        let configuration = folder("asound.conf")
        try "pcm.!default { type pulse }\nctl.!default { type pulse }\n\(definitions)\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        return environment.merging(["ALSA_CONFIG_PATH": configuration]) { _, last in last }
    }

    /// Sends it `SIGSTOP`, `SIGCONT`, `SIGKILL` and so on.
    public func send(_ signal: Int32) { process.send(signal) }

    /// Ends it, and waits until it is gone.
    public func kill() async throws {
        process.send(SIGKILL)
        try await process.wait()
    }

    /// Starts it again under the same address.
    public func restart() async throws {
        try? FileManager.default.removeItem(atPath: folder("native"))
        process = try Self.launch(in: folder)
        try await awaitAnswer()
    }

    /// Runs `pactl`.
    @discardableResult
    public func pactl(_ arguments: String...) async throws -> String {
        try await ChildProcess.run("pactl", arguments, environment: environment).output
    }

    /// Records what the sink plays, until the recorder ends. Returns when the recording runs.
    public func record() async throws -> Recorder {
        let arguments = ["--device=rig.monitor", "--raw", "--format=s16le", "--rate=48000", "--channels=2"]
        let process = try ChildProcess("parec", arguments + ["--latency-msec=20"], environment: environment)
        let recorder = Recorder(process: process)
        try await eventually("the recorder runs") { recorder.frames > 4800 }
        return recorder
    }

    private func awaitAnswer() async throws {
        let end = ContinuousClock.now + hangGuard
        while ContinuousClock.now < end, process.poll() == nil {
            if folder.exists("native") {
                let answer = try? await ChildProcess.run("pactl", ["info"], environment: environment)
                if answer?.exit == .status(0) { return }
            }
            // Sleeps between looks.
            try await Task.sleep(for: .milliseconds(20))
        }
        let errors = String(decoding: process.standardError, as: UTF8.self)
        throw NotInTime(description: "PulseAudio did not answer: \(errors)")
    }

    private static func launch(in folder: TestFolder) throws -> ChildProcess {
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder("home"),
            "XDG_RUNTIME_DIR": folder("run"), "XDG_CONFIG_HOME": folder("home/.config"),
            "PULSE_RUNTIME_PATH": folder("run"), "PULSE_STATE_PATH": folder("home"),
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        ]
        let arguments = [
            // One that a crashed test left behind ends by itself.
            "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=120",
            "--high-priority=no", "--realtime=no",
            // Without norewinds the sink sleeps for up to two seconds at a time.
            "-L", "module-null-sink sink_name=rig rate=48000 channels=2 format=s16le norewinds=1",
            // Last, so that whoever can connect finds the sink.
            "-L", "module-native-protocol-unix socket=\(folder("native")) auth-anonymous=1",
        ]
        return try ChildProcess("pulseaudio", arguments, environment: environment)
    }
}

/// A recording of what a ``PulseServer`` plays: 48 kHz, stereo.
public final class Recorder: Sendable {
    private let process: ChildProcess

    init(process: ChildProcess) { self.process = process }

    /// The number of frames recorded so far.
    public var frames: Int { process.outputSize / 4 }

    /// Waits until a moment from now is in the recording.
    public func recordOn(for seconds: Double) async throws {
        let target = frames + Int(seconds * 48000)
        try await eventually("the recording grows by \(seconds) s") { frames >= target }
    }

    /// Ends the recording.
    /// - Returns: the left channel, -1 to 1.
    public func finish() async throws -> [Float] {
        process.send(SIGTERM)
        try await process.wait()
        return PCM16(data: process.standardOutput, channels: 2).channel(0)
    }
}
