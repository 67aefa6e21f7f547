public import ArgumentParser
public import Linux

extension LogLevel: ExpressibleByArgument {}
