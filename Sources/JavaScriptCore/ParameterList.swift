/// The types of a closure's parameters. A closure in an `Any` can only be cast to a type with as many of them as it has,
/// so there is a list for each number.
protocol ParameterList {
    /// The list with one more. Nil where that is too long.
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)?

    /// What calls the closure. Nil where it is of another type.
    static func body<Result>(
        _ closure: Any,
        returning result: Result.Type
    ) -> FunctionBox.Body?
}

enum Parameters0: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters1<Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard let call = closure as? () throws -> R ?? closure as? @Sendable () throws -> R else { return nil }
        return { frame in try frame.answer(try call()) }
    }
}

enum Parameters1<A>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters2<A, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard let call = closure as? (A) throws -> R ?? closure as? @Sendable (A) throws -> R else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(try call(next.nextOfAnyType()))
        }
    }
}

enum Parameters2<A, B>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters3<A, B, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard let call = closure as? (A, B) throws -> R ?? closure as? @Sendable (A, B) throws -> R else {
            return nil
        }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(try call(next.nextOfAnyType(), next.nextOfAnyType()))
        }
    }
}

enum Parameters3<A, B, C>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters4<A, B, C, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard let call = closure as? (A, B, C) throws -> R ?? closure as? @Sendable (A, B, C) throws -> R else {
            return nil
        }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(try call(next.nextOfAnyType(), next.nextOfAnyType(), next.nextOfAnyType()))
        }
    }
}

enum Parameters4<A, B, C, D>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters5<A, B, C, D, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard let call = closure as? (A, B, C, D) throws -> R ?? closure as? @Sendable (A, B, C, D) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters5<A, B, C, D, E>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { Parameters6<A, B, C, D, E, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters6<A, B, C, D, E, F>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? {
        Parameters7<A, B, C, D, E, F, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E, F) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E, F) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters7<A, B, C, D, E, F, G>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? {
        Parameters8<A, B, C, D, E, F, G, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E, F, G) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E, F, G) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters8<A, B, C, D, E, F, G, H>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? {
        Parameters9<A, B, C, D, E, F, G, H, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E, F, G, H) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E, F, G, H) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters9<A, B, C, D, E, F, G, H, I>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? {
        Parameters10<A, B, C, D, E, F, G, H, I, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E, F, G, H, I) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E, F, G, H, I) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}

enum Parameters10<A, B, C, D, E, F, G, H, I, J>: ParameterList {
    static func adding<Next>(_ next: Next.Type) -> (any ParameterList.Type)? { nil }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        guard
            let call = closure as? (A, B, C, D, E, F, G, H, I, J) throws -> R ?? closure
                as? @Sendable (A, B, C, D, E, F, G, H, I, J) throws -> R
        else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(
                try call(
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType(),
                    next.nextOfAnyType()
                )
            )
        }
    }
}
