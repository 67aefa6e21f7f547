enum Parameters6<A, B, C, D, E, F>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters7<A, B, C, D, E, F, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E, F) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next(), next(), next()))
        }
    }
}

enum Parameters7<A, B, C, D, E, F, G>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters8<A, B, C, D, E, F, G, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E, F, G) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next(), next(), next(), next()))
        }
    }
}

enum Parameters8<A, B, C, D, E, F, G, H>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters9<A, B, C, D, E, F, G, H, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next(), next(), next(), next(), next()))
        }
    }
}

enum Parameters9<A, B, C, D, E, F, G, H, I>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters10<A, B, C, D, E, F, G, H, I, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H, I) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H, I) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(next(), next(), next(), next(), next(), next(), next(), next(), next()))
        }
    }
}

enum Parameters10<A, B, C, D, E, F, G, H, I, J>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { nil }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H, I, J) throws -> R
        guard let call = plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H, I, J) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                call(next(), next(), next(), next(), next(), next(), next(), next(), next(), next())
            )
        }
    }
}
