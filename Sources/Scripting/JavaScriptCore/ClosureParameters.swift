/// The types of a closure's parameters. A closure in an `Any` can only be cast to a type with the same number of
/// parameters, so there is a list type for each number.
protocol ClosureParameters {
    /// The list with one more type. Nil if that is too long.
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)?

    /// A body that calls the closure. Nil if the closure has another type.
    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body?
}

enum Parameters0: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters1<Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? () throws -> R
        guard let call = plain ?? closure as? @Sendable () throws -> R else { return nil }
        return { frame in try frame.answer(call()) }
    }
}

enum Parameters1<A>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters2<A, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A) throws -> R
        guard let call = plain ?? closure as? @Sendable (A) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next()))
        }
    }
}

enum Parameters2<A, B>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters3<A, B, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next()))
        }
    }
}

enum Parameters3<A, B, C>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters4<A, B, C, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next()))
        }
    }
}

enum Parameters4<A, B, C, D>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters5<A, B, C, D, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next()))
        }
    }
}

enum Parameters5<A, B, C, D, E>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters6<A, B, C, D, E, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next(), next()))
        }
    }
}
