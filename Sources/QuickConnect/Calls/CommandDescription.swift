import JSON

/// A command, as its calls know it: its name, and the parameters that it declares.
public class CommandDescription: @unchecked Sendable {
    // Sendable because it and what is derived of it have only constants.
    public let command: String
    /// Nil where the parameters are not checked.
    public let parameters: ParameterList?
    /// How replies under the name begin: `handleJSONRequest?cmd=NAME&msg=`.
    let replyStart: [UInt8]

    init(_ command: String, _ parameters: ParameterList? = nil) {
        self.command = command
        self.parameters = parameters
        let buffer = OutputBuffer(capacity: 64)
        buffer.append("handleJSONRequest?cmd=")
        var name = command
        name.withUTF8 { buffer.appendPercentEncoded($0) }
        buffer.append("&msg=")
        replyStart = buffer.copy
    }
}
