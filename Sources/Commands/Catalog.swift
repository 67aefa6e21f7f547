public import QuickConnect

/// The native command objects, by the name that mappings use: the name of their type.
///
/// A new command is a file beside this one, its line here, and its entry in a file of `mappings/`.
public enum Catalog {
    public static func make(_ parts: Parts) -> [String: any CommandObject] {
        let objects: [any CommandObject] = [
            CanBCO(accounts: parts.accounts),
            CancelBCO(),
            CommandsBCO(),
            DoctorBCO(parts.examined),
            ExplainBCO(),
            HelloBCO(parts.identity),
            LocationBCO(parts.locationProvider, now: parts.now),
            LocationVCO(),
            LocationValCO(),
            LoggingVCO(parts.logger),
            MediaBCO(parts.mediaLibrary),
            PlayAudioVCO(parts.filePlayer),
            PlayAudioValCO(),
            PlaySoundVCO(parts.soundPlayer),
            PostBCO(),
            RecordAudioVCO(parts.recorder),
            RecordAudioValCO(),
            RegisterHandlerBCO(),
            ReloadBCO(parts.reload),
            RemoveHandlerBCO(),
            SoundsBCO(parts.soundPlayer),
            StateBCO(parts.devices),
            StopBCO(parts.devices),
            SubscribeBCO(),
            SubscribeValCO(),
            UnsubscribeBCO(),
            VolumeBCO(parts.volumeControl),
            VolumeValCO(),
        ]
        return Dictionary(uniqueKeysWithValues: objects.map { ("\(type(of: $0))", $0) })
    }
}
