import Configuration

/// What the mappings declare and the gateway publishes, by kind.
struct PublishedNames: Sendable, Equatable {
    var values: [String] = []
    var events: [String] = []
    var schedules: [String] = []

    /// Those with a state that the broker retains.
    var states: [String] { values + schedules }

    /// Those that send an event of their name.
    var subscriptions: [String] { values + events + schedules }

    /// Those whose names can be topics.
    var topics: PublishedNames {
        PublishedNames(
            values: values.filter(MQTTSettings.isTopic(ofValue:)),
            events: events.filter(MQTTSettings.isLevel),
            schedules: schedules.filter(MQTTSettings.isTopic(ofValue:))
        )
    }
}
