public import JSON

extension CallFailure {
    /// The failure as a gateway passes it to the caller for whom it acts: the daemon's own error, or an error with the
    /// code that fits what happened on the way.
    public func payload(command: String) -> JSONObject {
        guard case .refused(let error) = self else {
            return ["cmd": .string(command), "code": .string(code), "message": .string(message)]
        }
        return error.members
    }
}
