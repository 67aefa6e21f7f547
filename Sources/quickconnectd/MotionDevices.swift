import Configuration
import IIOMotion
import Logging
import QuickConnect

/// The source of motion: the accelerometer, or a recorded motion.
struct MotionDevices {
    let sensor: IIOMotionSensor
    private let track: String?

    init(_ settings: Settings, logger: Logger) {
        track = settings.simulate ? settings.motionTrack : nil
        let matrix = settings.motionMatrix.flatMap { Matrix($0) }
        sensor =
            track.map { IIOMotionSensor(track: $0, matrix: matrix, logger: logger) }
            ?? IIOMotionSensor(device: settings.motionDevice, matrix: matrix, logger: logger)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] { track.map { ["the motion is simulated: it is that of the track \($0)"] } ?? [] }

    var events: [any EventSource] { [sensor.event] }
    var examined: [any Examined] { [MotionDoctor(sensor)] }

    func close() async { await sensor.close() }
}
