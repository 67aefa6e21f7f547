import MacroEngine

// The classes of the article «Extend an iOS Application Using JavaScriptCore As A Macro Engine», in today's Swift: the
// first label of a function is `_`, and a block is a closure.

/// Delegate protocol used to notify when a progress value has been updated
protocol ProgressUpdate {
    func innerProgressUpdate(_ progress: Float)
    func middleProgressUpdate(_ progress: Float)
    func outerProgressUpdate(_ progress: Float)
}

/// Class used to contain the progress values.
final class Thing: MacroEngineSupport, @unchecked Sendable {
    // Sendable because one test after the other uses it.

    /// static property used to retrieve the one global instance of this class
    static let sharedInstance = Thing()

    /// property used for setting the delegate callback
    var delegate: (any ProgressUpdate)?

    /// property containing the inner ring's progress value
    var innerProgress: Float {
        didSet {
            if innerProgress < 0.0 {
                innerProgress = 0
            } else if innerProgress > 10.0 {
                innerProgress = 10.0
            }

            delegate?.innerProgressUpdate(innerProgress)
        }
    }

    /// property containing the middle ring's progress value
    var middleProgress: Float {
        didSet {
            if middleProgress < 0.0 {
                middleProgress = 0.0
            } else if middleProgress > 10.0 {
                middleProgress = 10.0
            }

            delegate?.middleProgressUpdate(middleProgress)
        }
    }

    /// property containing the outer ring's progress value
    var outerProgress: Float {
        didSet {
            if outerProgress < 0.0 {
                outerProgress = 0.0
            } else if outerProgress > 10.0 {
                outerProgress = 10.0
            }

            delegate?.outerProgressUpdate(outerProgress)
        }
    }

    init(innerProgress: Float = 0.0, middleProgress: Float = 0.0, outerProgress: Float = 0.0) {
        self.innerProgress = innerProgress
        self.middleProgress = middleProgress
        self.outerProgress = outerProgress

        // Add to macro engine
        MacroEngine.sharedInstance.addObject(self)
    }

    /// MacroEngine protocol method used to register the blocks used by javascript.
    func addMacroSupport(_ engine: MacroEngine) {
        engine.insertBlockAsObject(setInnerProgress, key: "setInnerProgress")
        engine.insertBlockAsObject(getInnerProgress, key: "getInnerProgress")

        engine.insertBlockAsObject(setMiddleProgress, key: "setMiddleProgress")
        engine.insertBlockAsObject(getMiddleProgress, key: "getMiddleProgress")

        engine.insertBlockAsObject(setOuterProgress, key: "setOuterProgress")
        engine.insertBlockAsObject(getOuterProgress, key: "getOuterProgress")
    }
}

// Javascript callbacks for getting/setting the values
private let setInnerProgress: @convention(block) @Sendable (Float) -> Void = { newValue in
    Thing.sharedInstance.innerProgress = newValue
}
private let getInnerProgress: @convention(block) @Sendable () -> Float = {
    return Thing.sharedInstance.innerProgress
}
private let setMiddleProgress: @Sendable (Float) -> Void = { newValue in
    Thing.sharedInstance.middleProgress = newValue
}
private let getMiddleProgress: @Sendable () -> Float = {
    return Thing.sharedInstance.middleProgress
}
private let setOuterProgress: @Sendable (Float) -> Void = { newValue in
    Thing.sharedInstance.outerProgress = newValue
}
private let getOuterProgress: @Sendable () -> Float = {
    return Thing.sharedInstance.outerProgress
}
