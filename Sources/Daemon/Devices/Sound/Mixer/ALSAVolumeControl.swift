internal import Concurrency
package import Logging
package import QuickConnect

/// The volume of an output: that of the PCM's mixer, or of a simulated loudspeaker.
///
/// The mixer is opened for each change, on a thread of its own, and closed again, so nothing stays open and changes by
/// other programs are seen. Only the event keeps it open, while somebody subscribes.
package final class ALSAVolumeControl: VolumeControl {
    private let output: ALSAOutput
    private let logger: Logger
    private let thread: WatchedThread

    /// The event `volumeState`.
    package let event: VolumeEvent

    /// - Parameters:
    ///   - output: the player's output.
    ///   - answer: how long the sound system may take before a change gets `timeout`.
    ///   - logger: gets one line for each failure.
    package init(output: ALSAOutput, answer: Duration = .seconds(3), logger: Logger) {
        self.output = output
        self.logger = logger
        event = VolumeEvent(output, logger: logger)
        thread = WatchedThread(name: "qc-volume", subject: "the sound system", deadline: answer)
    }

    package func volume(applying change: VolumeChange?) -> Promise<Volume> {
        let promise = Promise<Volume>()
        switch output {
        case .simulated(let speaker):
            let volume = speaker.volume(applying: change)
            event.note(volume)
            promise.fulfil(volume)
        case .named: run(change, promise)
        }
        return promise
    }

    /// Ends the thread. Later changes get `cancelled`.
    package func close() async {
        await event.close()
        await thread.end()
    }

    private func run(_ change: VolumeChange?, _ promise: Promise<Volume>) {
        let (output, logger, event) = (output, logger, event)
        let subject = "the mixer of \(output)"
        let job = WatchedThread.Job(
            step: "opening \(subject)",
            work: {
                do throws(CommandError) {
                    // A subscriber that came just before must get this change, too.
                    if change != nil, event.lacksBeginning { event.note(try output.volume(applying: nil)) }
                    let volume = try output.volume(applying: change)
                    event.note(volume)
                    promise.fulfil(volume)
                } catch {
                    logger.warning("\(error.message)")
                    promise.fail(error)
                }
            },
            giveUp: { error in
                logger.error("\(error.message)")
                promise.fail(error)
            }
        )
        do { try thread.run(job) } catch { promise.fail(error) }
    }
}

extension ALSAOutput {
    /// Applies the change, if any, and reads the resulting volume. May block.
    func volume(applying change: VolumeChange?) throws(CommandError) -> Volume {
        switch self {
        case .simulated(let speaker): speaker.volume(applying: change)
        case .named(let pcm): try PCMMixer(pcm: pcm).volume(applying: change)
        }
    }
}
