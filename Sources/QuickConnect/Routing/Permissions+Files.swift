extension Permissions {
    /// What the rules say of a caller who asks for a file.
    public func fileRights(of call: borrowing Call) -> FileRights {
        FileRights(call.caller, isPrivileged: isPrivileged(call.caller), isGranted: call.isGrantedByVerb)
    }
}
