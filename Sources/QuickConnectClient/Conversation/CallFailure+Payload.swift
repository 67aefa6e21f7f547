public import JSON

extension CallFailure {
    /// The failure as a gateway hands it on to the caller whom it acts for: the daemon's own error, or one with the code that says
    /// the same of what happened on the way.
    public func payload(command: String) -> JSONObject {
        guard case .refused(let error) = self else {
            return ["cmd": .string(command), "code": .string(code), "message": .string(message)]
        }
        return error.members
    }
}
