internal import Glibc
internal import JSON
internal import Linux
internal import Logging
public import QuickConnect
internal import Synchronization

// What an earlier process left behind.
extension MediaOwners {
    /// Reads the index, and deletes unfinished uploads. Called once, before the first call.
    ///
    /// An index that cannot be read is logged and renamed. Its files then belong to root, which protects them from
    /// everybody else until somebody repairs it.
    public func load() {
        changes.withLock { isKept in
            deleteUploads()
            isKept = read()
            change(isKept) { settleAnnounced(&$0) }
        }
        dropGone()
    }

    private func deleteUploads() {
        do throws(CommandError) {
            for upload in try folder.unfinished(.upload) { upload.discard() }
        } catch {
            logger.warning("uploads that were cut off cannot be looked for: \(error.message)")
        }
    }

    /// - Returns: whether the index may be written.
    private func read() -> Bool {
        guard let path, FileText.exists(path) else { return true }
        let reason: String
        switch FileText.read(path, maximumBytes: 64 << 20) {
        case .success(let text):
            if let index = OwnerIndex(text: text) {
                state.withLock { $0.index = index }
                return true
            }
            reason = "is not an index of owners"
        case .failure(let problem): reason = problem.message
        }
        let all = "all files of the media folder are root's now"
        do throws(SystemCallError) {
            try FileText.setAside(path, as: "\(path).damaged")
            logger.error("\(path) \(reason); it is kept as \(path).damaged, and \(all)")
            return true
        } catch {
            logger.error("\(path) \(reason), and stays as it is (\(error)); \(all), and new owners are not kept")
            return false
        }
    }

    /// An announced file that is no longer hidden has got its name.
    private func settleAnnounced(_ index: inout OwnerIndex) {
        guard let hidden = try? folder.unfinishedNames(.recording) else { return }
        for (name, entry) in index.unfinished where !hidden.contains(name) {
            if (try? folder.holds(name)) == true { index.commit(name, as: entry) } else { index.takeBack(name) }
        }
    }

    /// Gives a recording that was cut off its name.
    public func recover(_ file: UnfinishedFile) throws(CommandError) {
        try publish(file, as: state.withLock { $0.index.unfinished[file.name] } ?? .none)
    }

    /// Renames an unreadable file to `NAME.damaged`.
    /// - Returns: that name.
    public func setAside(_ file: UnfinishedFile) throws(CommandError) -> String {
        try changes.withLock { isKept throws(CommandError) in
            let text = try file.publishDamaged()
            change(isKept) { index in
                if let name = MediaName(validating: text) {
                    index.set(index.unfinished[file.name] ?? .none, of: name)
                }
                index.takeBack(file.name)
            }
            return text
        }
    }

    /// Deletes a recording that was cut off before it had any sound.
    public func abandon(_ file: UnfinishedFile) { discard(file) }
}

// The index.
extension MediaOwners {
    /// Changes the index, and writes it if it has changed. The caller must hold the lock `changes`.
    func change(_ isKept: Bool, _ body: (inout OwnerIndex) -> Void) {
        let changed = state.withLock { state -> OwnerIndex? in
            let before = state.index
            body(&state.index)
            return state.index == before ? nil : state.index
        }
        guard isKept, let changed, let path else { return }
        do throws(SystemCallError) { try FileText.replace(path, with: changed.text) } catch {
            logger.warning("\(path) cannot be written, so that new owners are forgotten at the next start: \(error)")
        }
    }
}
