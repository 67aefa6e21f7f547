import JSON

/// A command as its calls know it: its name and the parameters that it declares.
public class CommandDescription: @unchecked Sendable {
    /// The command's name.
    // Sendable because it and its subclasses have only constants; one of them is memory that it owns.
    public let command: String
    /// Nil if the parameters are not checked.
    public let parameters: ParameterList?
    /// The same, for access without counting a reference.
    let borrowedParameters: Borrowed<ParameterList>?
    /// How replies under this name begin: `handleJSONRequest?cmd=NAME&msg=`.
    private let replyStart: UnsafeBufferPointer<UInt8>

    init(_ command: String, _ parameters: ParameterList? = nil) {
        self.command = command
        self.parameters = parameters
        borrowedParameters = parameters.map { Borrowed($0) }
        let buffer = OutputBuffer(capacity: 64)
        buffer.append("handleJSONRequest?cmd=")
        var name = command
        name.withUTF8 { buffer.appendPercentEncoded($0) }
        buffer.append("&msg=")
        replyStart = buffer.withBytes {
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: $0.count)
            _ = copy.initialize(from: $0)
            return UnsafeBufferPointer(copy)
        }
    }

    deinit { replyStart.deallocate() }

    /// Begins a reply under the name.
    func writeReplyStart(to buffer: OutputBuffer) { withExtendedLifetime(self) { buffer.append(replyStart) } }
}
