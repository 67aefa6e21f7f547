internal import Glibc
internal import Linux

/// The process that listens on a TCP port, as far as this one may know: others' descriptors are for root.
enum PortHolder {
    /// Such as `python3 (process 812)`.
    static func listening(on port: Int) -> String? {
        let sockets = Set(["tcp", "tcp6"].flatMap { inodes(of: port, in: lines(of: "/proc/net/\($0)")) })
        guard !sockets.isEmpty else { return nil }
        let processes = (FileText.names(in: "/proc") ?? []).compactMap { Int32($0) }
        guard let process = processes.first(where: { holds(sockets, $0) }) else { return nil }
        let name = (ProcessFile.text("/proc/\(process)/comm") ?? "").prefix { $0 != "\n" }
        return "\(String(name).escapingControls) (process \(process))"
    }

    /// The inodes of the sockets that listen on a port, in a table of the kernel's.
    static func inodes(of port: Int, in table: [String]) -> [String] {
        table.dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // TCP_LISTEN is 0A.
            guard fields.count > 9, fields[3] == "0A" else { return nil }
            guard let end = fields[1].split(separator: ":").last, Int(end, radix: 16) == port else { return nil }
            return String(fields[9])
        }
    }

    private static func holds(_ sockets: Set<String>, _ process: Int32) -> Bool {
        (FileText.names(in: "/proc/\(process)/fd") ?? []).contains { name in
            var buffer = [CChar](repeating: 0, count: 64)
            let length = readlink("/proc/\(process)/fd/\(name)", &buffer, buffer.count)
            let target = String(decoding: buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
            return target.hasPrefix("socket:[") && sockets.contains(String(target.dropFirst(8).dropLast()))
        }
    }

    private static func lines(of path: String) -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 512)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            lines.append(String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return lines
    }
}
