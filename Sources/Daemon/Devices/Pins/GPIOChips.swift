internal import CLinux
internal import Glibc
internal import JSON
package import Linux
internal import QuickConnect

/// The GPIO chips of this machine. Their lines are found by name, and searched for each time: a chip that is plugged in
/// later is found.
package struct GPIOChips: Sendable {
    /// A line as its chip describes it.
    package struct Line: Sendable, Equatable {
        package var chip: String
        package var offset: Int
        /// Empty where the kernel has no name for it.
        package var name: String
        /// Who uses it; nil: nobody.
        package var consumer: String?
    }

    /// A chip that could not be opened.
    package struct Refusal: Sendable {
        package let path: String
        package let error: SystemCallError
    }

    /// Where the devices are, `/dev`.
    let folder: String
    /// More than any board has.
    private static let maxLines = 4096

    package init(folder: String = "/dev") { self.folder = folder }

    /// The paths of the chips. Some systems have links to a chip under its former name; they are left out.
    private var paths: [String] {
        let names = (FileText.names(in: folder) ?? []).filter { $0.hasPrefix("gpiochip") }
        let numbers = names.compactMap { Int($0.dropFirst("gpiochip".count)) }.sorted()
        return numbers.map { "\(folder)/gpiochip\($0)" }.filter { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFLNK
        }
    }

    /// All lines, and the chips that cannot be opened.
    package func all() -> (lines: [Line], refusals: [Refusal]) {
        var (lines, refusals): ([Line], [Refusal]) = ([], [])
        for path in paths {
            do throws(SystemCallError) {
                try open(path) { chip, label, count in
                    for offset in 0..<count { lines.append(describe(chip, label, offset)) }
                }
            } catch {
                refusals.append(Refusal(path: path, error: error))
            }
        }
        return (lines, refusals)
    }

    /// Takes a line.
    /// - Parameters:
    ///   - consumer: what other programs are shown.
    ///   - value: the first one of an output.
    /// - Returns: its descriptor.
    func take(
        _ gpio: GPIOBinding,
        for consumer: String,
        flags: UInt64,
        value: Bool = false
    ) throws(CommandError) -> Int32 {
        var found: [(path: String, line: Line)] = []
        var names: Set<String> = []
        var refused: Refusal?
        for path in paths {
            do throws(SystemCallError) {
                try open(path) { chip, label, count in
                    let lines = (0..<count).map { describe(chip, label, $0) }
                    names.formUnion(lines.map(\.name))
                    found += lines.filter { Self.matches($0, gpio.line) }.map { (path, $0) }
                }
            } catch {
                refused = Refusal(path: path, error: error)
            }
        }
        guard let (path, line) = found.first else { throw missing(gpio.line, names, refused) }
        guard found.count == 1 else { throw ambiguous(gpio.line, found.map(\.line)) }
        var descriptor = -ENODEV
        do throws(SystemCallError) {
            try open(path) { chip, _, _ in
                let debounce = UInt32(gpio.isOutput ? 0 : gpio.debounce)
                descriptor = qc_gpio_request(chip, UInt32(line.offset), consumer, flags, value ? 1 : 0, debounce)
            }
        } catch {
            descriptor = -error.code
        }
        guard descriptor < 0 else { return descriptor }
        throw error(of: gpio.line, line, -descriptor)
    }

    private func ambiguous(_ wanted: GPIOBinding.Line, _ lines: [Line]) -> CommandError {
        guard case .named(let name) = wanted else {
            return CommandError(.invalid, "\(lines.count) GPIO chips have the label of \(wanted)")
        }
        let places = lines.map { "line \($0.offset) of \($0.chip)" }.joined(separator: " and ")
        return CommandError(.invalid, "\(places) are both named \(name); name one by its chip and number")
    }

    private static func matches(_ line: Line, _ wanted: GPIOBinding.Line) -> Bool {
        switch wanted {
        case .named(let name): line.name == name
        case .numbered(let chip, let offset): line.chip == chip && line.offset == offset
        }
    }

    private func open(
        _ path: String,
        _ body: (_ chip: Int32, _ label: String, _ lines: Int) -> Void
    ) throws(SystemCallError) {
        let chip = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard chip >= 0 else { throw SystemCallError("open") }
        defer { close(chip) }
        var label = [CChar](repeating: 0, count: 32)
        let count = qc_gpio_chip(chip, &label)
        guard count >= 0 else { throw SystemCallError("GPIO_GET_CHIPINFO", -count) }
        body(chip, Self.text(label), min(Int(count), Self.maxLines))
    }

    private func describe(_ chip: Int32, _ label: String, _ offset: Int) -> Line {
        var (name, consumer) = ([CChar](repeating: 0, count: 32), [CChar](repeating: 0, count: 32))
        var flags: UInt64 = 0
        guard qc_gpio_line(chip, UInt32(offset), &name, &consumer, &flags) == 0 else {
            return Line(chip: label, offset: offset, name: "")
        }
        let user = Self.text(consumer)
        let isUsed = flags & qc_gpio_used != 0
        return Line(
            chip: label,
            offset: offset,
            name: Self.text(name),
            consumer: isUsed ? (user.isEmpty ? "the kernel" : user) : nil
        )
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func missing(_ line: GPIOBinding.Line, _ names: Set<String>, _ refused: Refusal?) -> CommandError {
        if let refused {
            return CommandError(
                refused.error.code == EACCES || refused.error.code == EPERM ? .denied : .unavailable,
                "\(refused.path) cannot be opened, where the GPIO line \(line) may be: \(refused.error)",
                details: ["fix": "sudo quickconnect setup gpio"]
            )
        }
        let chips = paths.count
        let where_ = chips == 0 ? "this machine has no GPIO chip" : "none of the \(chips) GPIO chips has it"
        return .missingPart("there is no GPIO line \(line): \(where_)\(line.question(among: names))")
    }

    private func error(of wanted: GPIOBinding.Line, _ line: Line, _ code: Int32) -> CommandError {
        switch code {
        case EBUSY:
            CommandError(.busy, "the GPIO line \(wanted) is used by \(line.consumer ?? "another program")")
        case EINVAL, EOPNOTSUPP:
            CommandError(
                .unsupported,
                "the GPIO line \(wanted) of \(line.chip) cannot be used so: \(SystemCallError("GPIO_V2_GET_LINE", code))"
            )
        default:
            CommandError(
                .unavailable,
                "the GPIO line \(wanted) of \(line.chip) cannot be taken: \(SystemCallError("GPIO_V2_GET_LINE", code))"
            )
        }
    }
}
