import Testing

@testable import ALSAAudio

@Suite struct NumberedFilesTests {
    @Test func `the first file is number 1, and the next follows the highest`() {
        #expect(NumberedFiles([]).next == "playback-000001.wav")
        #expect(NumberedFiles(["playback-000009.wav", "playback-000002.wav"]).next == "playback-000010.wav")
        #expect(NumberedFiles(["playback-999999.wav"]).next == "playback-1000000.wav")
    }

    @Test func `only the oldest of its own files are surplus`() {
        let others = ["notes.txt", "playback-7.wav"]
        let names = ["playback-1000000.wav", "playback-000007.wav", "playback-000008.wav"] + others
        #expect(NumberedFiles(names).surplus(keeping: 1) == ["playback-000007.wav", "playback-000008.wav"])
        #expect(NumberedFiles(names).surplus(keeping: 3).isEmpty)
    }
}

@Suite struct ControlDeviceTests {
    @Test(arguments: [
        ("default", "default"), ("pulse", "pulse"), ("hw:1", "hw:1"), ("hw:1,0", "hw:1"), ("plughw:2,3", "hw:2"),
        ("sysdefault:CARD=Device", "hw:Device"), ("front:CARD=PCH,DEV=0", "hw:PCH"), ("plughw:DEV=0,CARD=A", "hw:A"),
    ])
    func `a PCM's name says which control device belongs to it`(pcm: String, control: String) {
        #expect(ControlDevice.guess(pcm: pcm) == control)
    }

    @Test(arguments: ["speaker", "dmixer:1", "hw", "hw:DEV=0", "", ":"])
    func `other names say nothing`(pcm: String) {
        #expect(ControlDevice.guess(pcm: pcm) == nil)
    }

    @Test func `of a mixer's elements the best known one is the volume, else the first`() {
        #expect(PlaybackElement.preferred(among: ["Beep", "PCM", "Master"]) == 2)
        #expect(PlaybackElement.preferred(among: ["Beep", "Headphone", "Speaker"]) == 2)
        #expect(PlaybackElement.preferred(among: ["Line", "Aux"]) == 0)
        #expect(PlaybackElement.preferred(among: []) == nil)
    }
}
