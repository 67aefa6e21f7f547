extension Permissions {
    /// The file rights of a call's caller.
    public func fileRights(of call: borrowing Call) -> FileRights {
        FileRights(call.caller, isPrivileged: isPrivileged(call.caller), isGranted: call.isGrantedByVerb)
    }
}
