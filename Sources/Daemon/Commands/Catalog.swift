package import QuickConnect

/// The native command objects, by the name that mappings use: the name of their type.
///
/// A new command needs a file in this module, a line here, and an entry in a file of `mappings/`.
package enum Catalog {
    package static func make(_ needs: Dependencies) -> [String: any CommandObject] {
        let (router, permissions, devices) = (needs.router, needs.permissions, needs.devices)
        let (controller, events, handlers) = (router.frontController, router.events, router.handlers)
        let mediaPath = { @Sendable (name: String) throws(CommandError) in try devices.mediaPath(of: name) }
        let objects: [any CommandObject] = [
            AccelerationBCO(sensor: devices.motionSensor),
            ActForBCO(),
            CanBCO(accounts: needs.accounts, controller: controller, gateways: needs.gateways),
            CancelBCO(),
            CommandsBCO(controller: controller),
            DoctorBCO(parts: needs.examined),
            ExplainBCO(controller: controller, permissions: permissions, gateways: needs.gateways),
            HardwareBCO(look: devices.hardware),
            HelloBCO(identity: needs.identity),
            LocationBCO(provider: devices.locationProvider, now: needs.now),
            LocationVCO(),
            LocationValCO(),
            LoggingVCO(logger: needs.logger),
            MediaBCO(library: devices.mediaLibrary, transfer: devices.mediaTransfer, permissions: permissions),
            NearbyBCO(browser: devices.serviceBrowser),
            PickResultsVCO(),
            PickerValCO(handlers: handlers),
            PlayAudioVCO(player: devices.filePlayer, permissions: permissions),
            PlayAudioValCO(),
            PlaySoundVCO(player: devices.soundPlayer, haptics: devices.haptics),
            PostBCO(events: events, values: router.values, permissions: permissions),
            RecordAudioVCO(recorder: devices.recorder, permissions: permissions),
            RecordAudioValCO(),
            RegisterHandlerBCO(router: router, registered: needs.registered),
            ReloadBCO(reload: needs.reload),
            RemoveHandlerBCO(handlers: handlers),
            SimulateBCO(inputs: devices.simulatedInputs, bound: needs.simulated, mediaPath: mediaPath),
            SoundsBCO(player: devices.soundPlayer),
            StateBCO(devices: devices.all, router: router, schedule: needs.schedule),
            StopBCO(devices: devices.all, permissions: permissions),
            SubscribeBCO(router: router),
            SubscribeValCO(controller: controller),
            UnsubscribeBCO(events: events),
            VibrateVCO(haptics: devices.haptics, permissions: permissions),
            VibrateValCO(),
            VolumeBCO(control: devices.volumeControl),
            VolumeValCO(),
        ]
        return Dictionary(uniqueKeysWithValues: objects.map { ("\(type(of: $0))", $0) })
    }
}
