import Configuration
import IIOMotion
import Logging
import QuickConnect

/// The source of motion: the accelerometer, or a recorded motion.
struct MotionDevices {
    let sensor: IIOMotionSensor
    /// What a person may move by hand; nil for a real sensor.
    let simulated: SimulatedInput?

    init(_ settings: Settings, logger: Logger) {
        simulated = settings.simulate ? IIOMotionSensor.tilt(track: settings.motionTrack) : nil
        let matrix = settings.motionMatrix.flatMap { Matrix($0) }
        sensor =
            simulated.map { IIOMotionSensor(simulated: $0, matrix: matrix, logger: logger) }
            ?? IIOMotionSensor(device: settings.motionDevice, matrix: matrix, logger: logger)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] {
        simulated.map { ["the motion is simulated: it is that of the track \($0.track)"] } ?? []
    }

    var events: [any EventSource] { [sensor.event] }
    var examined: [any Examined] { [MotionDoctor(sensor)] }

    func close() async { await sensor.close() }
}
