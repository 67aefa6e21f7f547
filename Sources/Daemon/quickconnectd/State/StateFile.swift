import JSON
import Linux
import Logging

/// What the daemon keeps in a file of JSON over restarts.
enum StateFile {
    /// What a file holds; nil if there is none. One that cannot be read is renamed, and does not prevent a start.
    /// - Parameters:
    ///   - what: what is kept there, as the log names it.
    ///   - kept: reads it; nil if it is not there.
    static func read<Kept>(
        _ path: String,
        _ what: String,
        maximumBytes: Int,
        logger: Logger,
        _ kept: (JSONValue) -> Kept?
    ) -> Kept? {
        guard FileText.exists(path) else { return nil }
        let reason: String
        switch FileText.exact(path, maximumBytes: maximumBytes) {
        case .success(let text):
            if let json = try? JSONParser.parse(text), let kept = kept(json) { return kept }
            reason = "does not hold what was kept"
        case .failure(let problem): reason = problem.message
        }
        let lost = "\(what) in \(path) are lost: the file \(reason)"
        do throws(SystemCallError) {
            let other = try FileText.setAside(path)
            logger.error("\(lost); it is now \(other)")
        } catch {
            logger.error("\(lost), and cannot be renamed: \(error)")
        }
        return nil
    }
}
