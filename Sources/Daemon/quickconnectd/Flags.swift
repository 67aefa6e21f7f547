import ArgumentParser
import Configuration

/// The command line.
struct Flags: ParsableCommand {
    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    @Option(help: ArgumentHelp("The Unix socket to create.", valueName: "PATH"))
    var socket: String?

    @Option(
        help: ArgumentHelp("The folder of mappings, instead of the shipped one and the owner's.", valueName: "FOLDER")
    )
    var mappings: String?

    @Option(help: ArgumentHelp("The folder of system sounds.", valueName: "FOLDER"))
    var sounds: String?

    @Option(help: ArgumentHelp("The folder for the files of callers.", valueName: "FOLDER"))
    var media: String?

    @Option(help: ArgumentHelp("The ALSA PCM to play on.", valueName: "NAME"))
    var pcm: String?

    @Option(name: .customLong("capture-pcm"), help: ArgumentHelp("The ALSA PCM to record from.", valueName: "NAME"))
    var capturePCM: String?

    @Option(help: ArgumentHelp("Where gpsd listens.", valueName: "HOST:PORT"))
    var gpsd: String?

    @Flag(help: "Simulate the devices: sound goes into WAV files, and the microphone records a tone.")
    var simulate = false

    @Option(help: ArgumentHelp("What to log: \(Settings.logLevels.joined(separator: ", ")).", valueName: "LEVEL"))
    var logLevel: String?

    @Flag(help: "Check the settings and mappings, touch no device, and exit.")
    var check = false

    @Flag(help: "Check every part of the device, say how to fix each problem, and exit: 0 only if no problem is found.")
    var doctor = false

    @Flag(help: "With --doctor: print JSON, for programs.")
    var json = false

    @Flag(help: "Return all outputs of the mappings to their defaults, as the daemon does when it ends, and exit.")
    var releaseOutputs = false

    /// What "quickconnect backup" asks.
    @Flag(help: .hidden)
    var folders = false

    @Flag(help: "Show the version.")
    var version = false

    var overrides: Settings.Overrides {
        [
            .config: config, .socket: socket, .mappings: mappings, .sounds: sounds, .media: media, .pcm: pcm,
            .capturePCM: capturePCM, .gpsd: gpsd, .simulate: simulate ? "1" : nil, .logLevel: logLevel,
        ]
    }

    static let configuration = CommandConfiguration(
        commandName: "quickconnectd",
        abstract: "Lets JavaScript, web pages and any program drive this device's hardware over a Unix socket.",
        discussion: """
            Without flags it reads /etc/quickconnect/quickconnectd.yaml (an ordinary user: \
            ~/.config/quickconnect/quickconnectd.yaml), which describes each setting. Flags override \
            environment variables (QUICKCONNECT_SOCKET, QUICKCONNECT_PCM, …), which override the file.

            Examples:
              quickconnectd                                as the service runs it
              quickconnectd --simulate --socket /tmp/qc    try it on a machine without sound
              quickconnectd --check                        are the settings and mappings valid?
              quickconnectd --doctor                       does each part work? If not, how to fix it

            SIGHUP reloads the mappings; SIGTERM ends the daemon. Exit status: 0 clean, 1 failed at run time, 2 a mistake \
            in the flags, settings or mappings.
            """
    )
}
