"""A private PulseAudio and a private gpsd, both real, with a moving receiver."""
import os
import signal
import socket
import subprocess
import threading
import time

from broker import ends_with_caller, free_port, program, wait_until


class Server:
    """A process that can be killed, frozen and started again, always with the same address."""

    def __init__(self, folder):
        self.folder = folder
        self.process = None
        folder.mkdir()

    def spawn(self, command, environment):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                            preexec_fn=ends_with_caller)

    def end(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait(15)


class SoundServer(Server):
    """PulseAudio with a silent sink, whose monitor is the microphone."""

    def __init__(self, folder):
        super().__init__(folder)
        for name in ("run", "home"):
            (folder / name).mkdir(mode=0o700)
        (folder / "asound.conf").write_text("pcm.!default { type pulse }\nctl.!default { type pulse }\n")
        self.own = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "run"),
                    "XDG_CONFIG_HOME": str(folder / "home" / ".config"), "PULSE_RUNTIME_PATH": str(folder / "run"),
                    "PULSE_STATE_PATH": str(folder / "home"), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        self.for_clients = {"PULSE_SERVER": f"unix:{folder}/native", "PULSE_COOKIE": str(folder / "cookie"),
                            "PULSE_RUNTIME_PATH": str(folder / "run"), "ALSA_CONFIG_PATH": str(folder / "asound.conf")}

    def start(self):
        (self.folder / "native").unlink(missing_ok=True)
        # Without norewinds the sink sleeps for up to two seconds at a time. The socket comes last, so whoever can connect finds the sink.
        self.spawn([program("pulseaudio"), "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--high-priority=no", "--realtime=no",
                    "-L", "module-null-sink sink_name=rig rate=48000 channels=2 format=s16le norewinds=1",
                    "-L", f"module-native-protocol-unix socket={self.folder}/native auth-anonymous=1"], self.own)
        wait_until(self.accepts, "PulseAudio")

    def accepts(self):
        assert self.process.poll() is None, "PulseAudio ended"
        with socket.socket(socket.AF_UNIX) as each:
            return each.connect_ex(str(self.folder / "native")) == 0


class Receiver(Server):
    """gpsd, and a receiver that reports a new position five times a second."""

    def __init__(self, folder):
        super().__init__(folder)
        self.port = free_port()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.feed = free.getsockname()[1]
        self.over = threading.Event()
        self.starts = 0

    def start(self):
        self.starts += 1
        self.spawn([program("gpsd"), "-N", "-n", "-b", "-S", str(self.port), "-F", f"{self.folder}/control{self.starts}", f"udp://127.0.0.1:{self.feed}"],
                   dict(os.environ))
        wait_until(self.accepts, "gpsd")
        if self.starts == 1:
            threading.Thread(target=self.move, daemon=True).start()

    def accepts(self):
        assert self.process.poll() is None, "gpsd ended"
        with socket.socket() as each:
            return each.connect_ex(("127.0.0.1", self.port)) == 0

    def move(self):
        north = 51.0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as feed:
            while not self.over.wait(0.2):
                north = 51.0 + (north - 51.0 + 0.0005) % 0.5
                for sentence in sentences(north):
                    checksum = 0
                    for byte in sentence.encode():
                        checksum ^= byte
                    feed.sendto(f"${sentence}*{checksum:02X}\r\n".encode(), ("127.0.0.1", self.feed))


def sentences(north):
    now = time.time()
    clock = time.strftime("%H%M%S", time.gmtime(now)) + f".{int(now % 1 * 100):02}"
    place = f"{int(north):02}{(north - int(north)) * 60:08.5f},N,00007.47600,W"
    return [f"GPRMC,{clock},A,{place},0.50,90.0,{time.strftime('%d%m%y', time.gmtime(now))},,,A",
            "GPGSA,A,3,01,02,03,04,05,06,,,,,,,1.8,1.0,1.5", f"GPGGA,{clock},{place},1,06,1.0,50.0,M,-32.0,M,,"]
