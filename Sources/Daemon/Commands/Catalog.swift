public import QuickConnect

/// The native command objects, by the name that mappings use: the name of their type.
///
/// A new command needs a file in this module, a line here, and an entry in a file of `mappings/`.
public enum Catalog {
    public static func make(_ needs: Dependencies) -> [String: any CommandObject] {
        let (router, permissions) = (needs.router, needs.permissions)
        let (controller, events, handlers) = (router.frontController, router.events, router.handlers)
        let objects: [any CommandObject] = [
            AccelerationBCO(needs.motionSensor),
            ActForBCO(),
            CanBCO(accounts: needs.accounts, controller, needs.gateways),
            CancelBCO(),
            CommandsBCO(controller),
            DoctorBCO(needs.examined),
            ExplainBCO(controller, permissions),
            HelloBCO(needs.identity),
            LocationBCO(needs.locationProvider, now: needs.now),
            LocationVCO(),
            LocationValCO(),
            LoggingVCO(needs.logger),
            MediaBCO(needs.mediaLibrary, needs.mediaTransfer, permissions),
            NearbyBCO(needs.serviceBrowser),
            PickResultsVCO(),
            PickerValCO(handlers),
            PlayAudioVCO(needs.filePlayer, permissions),
            PlayAudioValCO(),
            PlaySoundVCO(needs.soundPlayer, needs.haptics),
            PostBCO(events, router.values),
            RecordAudioVCO(needs.recorder, permissions),
            RecordAudioValCO(),
            RegisterHandlerBCO(router),
            ReloadBCO(needs.reload),
            RemoveHandlerBCO(handlers),
            SimulateBCO(needs.simulated, mediaPath: needs.mediaPath),
            SoundsBCO(needs.soundPlayer),
            StateBCO(needs.devices, router),
            StopBCO(needs.devices, permissions),
            SubscribeBCO(router),
            SubscribeValCO(controller),
            UnsubscribeBCO(events),
            VibrateVCO(needs.haptics, permissions),
            VibrateValCO(),
            VolumeBCO(needs.volumeControl),
            VolumeValCO(),
        ]
        return Dictionary(uniqueKeysWithValues: objects.map { ("\(type(of: $0))", $0) })
    }
}
