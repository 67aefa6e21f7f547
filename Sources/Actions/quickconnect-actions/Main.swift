import Actions
import Configuration
import Glibc
import Linux
import QuickConnect
import QuickConnectClient
import SyntaxChecking

/// The native messaging host of the browsers' extension: a browser starts it, with words of its own. Read from here: the
/// settings, then ``BrowserHost``.
@main
enum QuickConnectActions {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        if words.contains("--version") { return finish("\(ProjectVersion.text)\n", STDOUT_FILENO, 0) }
        // Chromium names the extension, Firefox its manifest and the extension.
        guard let first = words.first, !first.hasPrefix("-") else {
            return finish(
                usage,
                words.contains("--help") ? STDOUT_FILENO : STDERR_FILENO,
                words.contains("--help") ? 0 : 2
            )
        }
        signal(SIGPIPE, SIG_IGN)
        exit(serve())
    }

    private static let usage = """
        quickconnect-actions is started by a browser, for the extension QuickConnect Actions; see quickconnect-actions(1).
        «quickconnect action» lists and allows actions.

        """

    private static func finish(_ text: String, _ descriptor: Int32, _ status: Int32) {
        Descriptor.write(text, to: descriptor)
        exit(status)
    }

    private static func serve() -> Int32 {
        let environment = OwnProcess.environment
        let log = ServiceLog("quickconnect-actions", .notice, environment: environment)
        let folders = StandardFolders(environment)
        let settings: Settings
        do throws(ConfigurationMistakes) {
            settings = try Settings.ofUser(flags: [:], environment: environment, folders: folders)
        } catch {
            log.write("\(error)", .error)
            return 2
        }
        let desk = ActionLibrary(ActionFolders(folders), ActionState(folders), commands: settings.actionCommands)
        let checker = SyntaxChecker.installed
        let browserDesk = LocalRequests(desk) { text throws(CommandError) in try checker.verdict(on: text).mistake() }
        let paths = SocketPaths.candidates(named: nil, environment: environment)
        return BrowserHost(browserDesk, DaemonLink(paths: paths), log).run()
    }
}
