"""The device: all programs, with libasound on a private PulseAudio, a real gpsd and a private broker."""
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from broker import ROOT, Broker, ends_with_caller, free_port, wait_until
from device import COMMANDS, Device
from servers import Receiver, SoundServer

WEB_COMMANDS = [name.strip() for name in re.search(r"gateway: web.*?commands: \[(.*?)\]", (ROOT / "config" / "quickconnectd.yaml").read_text(),
                                                   re.S)[1].replace("#", " ").split(",")]
VALUES = 12
OWN = ["soakEcho", "soakScript", "soakEvent", "execute", "macro", *(f"soak{number}" for number in range(VALUES))]
# Every second value survives a kill of the daemon.
MAPPINGS = "".join(f"soak{number}: {{help: Of one client., value: {{type: integer, default: 0, keep: {'true' if number % 2 == 0 else 'false'}}}}}\n"
                   for number in range(VALUES))
MACRO = "function(amount = 1) {{\n    return amount + {0}\n}}\n"
PROCEDURE = "function execute(amount, callback) {{\n    callback(amount + {0})\n}}\n"
SCRIPT = "WebViewJavascriptBridge.registerHandler('soakScript', data => [data, {0}])\n"
ACL = "user {device}\ntopic readwrite #\nuser soak\ntopic readwrite #\nuser rude\ntopic readwrite #\n"
# For a user of pages, in the media folder.
QUOTA = 2 << 20


class SoakDevice(Device):
    def __init__(self, folder, programs, simulated=False):
        self.simulated = simulated
        self.environment = {}
        folder = Path(folder)
        self.broker = Broker(folder / "broker", ACL.format(device="kiosk"), ("kiosk", "soak", "rude"), lines=["max_queued_messages 20000"])
        super().__init__(folder, programs, "kiosk", self.broker, "events: [soakEvent]", OWN, MAPPINGS)
        self.port = free_port()
        self.sound = self.receiver = None
        for name in ("media", "macros", "scripts", "procedures", "scripts-state", "data-state", "web-state", "pages"):
            (self.folder / name).mkdir()
        account = pwd.getpwuid(os.getuid()).pw_name
        settings = (self.folder / "settings.yaml").read_text()
        web = (f"sockets:\n  - {{path: {self.folder}/web.sock, gateway: web, user: {account}, connections: 64, "
               f"commands: [{', '.join(sorted({*WEB_COMMANDS, *OWN}))}]}}")
        (self.folder / "settings.yaml").write_text(settings.replace("sockets:", web, 1) + "record: [{event: soakEvent, keep: 1h}]\n"
                                                   + f"recording: {{quotaBytes: {QUOTA}}}\n")
        if not simulated:
            self.sound, self.receiver = SoundServer(folder / "sound"), Receiver(folder / "gps")
            self.environment = self.sound.for_clients

    def spawn(self, name, *arguments, known_as=None, **variables):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_RUNTIME_DIR": str(self.folder),
                       # As in an installation: the program that shows the place of a crash would keep connections open meanwhile.
                       "SWIFT_BACKTRACE": "enable=no", **self.environment}
        for key in ("QUICKCONNECT_SOCKET", "NOTIFY_SOCKET", "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "QUICKCONNECT_CONFIG",
                    "CREDENTIALS_DIRECTORY", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            environment.pop(key, None)
        environment |= {key: str(value) for key, value in variables.items()}
        known_as = known_as or name
        with open(self.folder / f"{known_as}.log", "ab") as log:
            self.running[known_as] = subprocess.Popen(
                [self.programs / name, "--config", self.folder / "settings.yaml", "--socket", self.folder / "socket", *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=ROOT, preexec_fn=ends_with_caller)
        return self.running[known_as]

    def waits_for(self, process, name, condition, what):
        def there():
            assert process.poll() is None, f"{name} ended:\n{self.log(name)[-2000:]}"
            return condition()
        wait_until(there, what, 60)

    def start_daemon(self, sounds=ROOT / "sounds", more=()):
        devices = ["--simulate"] if self.simulated else ["--gpsd", f"localhost:{self.receiver.port}"]
        process = self.spawn("quickconnectd", *devices, "--mappings", self.folder / "mappings", "--media", self.folder / "media",
                             "--sounds", sounds, *more)
        self.waits_for(process, "quickconnectd", lambda: self.client("ping").returncode == 0, "the daemon")
        # For the greedy clients, which are another user.
        os.chmod(self.folder / "socket", 0o666)

    def start_scripts(self):
        process = self.spawn("quickconnect-scripts", "--macros", self.folder / "macros", "--scripts", self.folder / "scripts",
                             STATE_DIRECTORY=self.folder / "scripts-state")
        self.waits_for(process, "quickconnect-scripts", lambda: self.client("macro", "list").returncode == 0, "the macros")

    def start_data(self):
        process = self.spawn("quickconnect-scripts", "--procedures", "--procedure-folder", self.folder / "procedures", known_as="quickconnect-data",
                             STATE_DIRECTORY=self.folder / "data-state")
        self.waits_for(process, "quickconnect-data", lambda: self.client("procedures", "list").returncode == 0, "the procedures")

    def start_web(self):
        process = self.spawn("quickconnect-web", "--listen", f"127.0.0.1:{self.port}", "--pages", self.folder / "pages",
                             "--bridge-socket", self.folder / "web.sock", "--state", self.folder / "web-state")
        self.waits_for(process, "quickconnect-web", self.serves, "the web gateway")

    def serves(self):
        with socket.socket() as each:
            if each.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
        return self.client("web", "list").returncode == 0

    def start(self):
        for server in (self.sound, self.receiver, self.broker):
            if server:
                server.start()
        (self.folder / "pages" / "style.css").write_text("x" * 20_000)
        (self.folder / "macros" / "soakAdd.js").write_text(MACRO.format(1))
        (self.folder / "scripts" / "soak.js").write_text(SCRIPT.format(1))
        (self.folder / "procedures" / "soakSum.js").write_text(PROCEDURE.format(1))
        self.start_daemon()
        for start in (self.start_scripts, self.start_data, self.start_web, self.start_gateway):
            start()
        self.token = self.call("web", "add", "soak", {})["token"]
        self.rude_token = self.call("web", "add", "rude", {})["token"]
        self.greedy_token = self.call("web", "add", "greedy", {})["token"]
        return self

    def start_part(self, name):
        """Starts one again; returns when it answers."""
        {"quickconnectd": self.start_daemon, "quickconnect-scripts": self.start_scripts, "quickconnect-data": self.start_data,
         "quickconnect-web": self.start_web, "quickconnect-mqtt": self.start_gateway}[name]()

    def stop(self):
        # Frozen ones first: the others wait for them.
        for process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
        super().stop()
        self.broker.stop()
        for server in (self.sound, self.receiver):
            if server:
                server.end()
        if self.receiver:
            self.receiver.over.set()

    def keep_logs(self, folder):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for log in self.folder.glob("*.log"):
            shutil.copy(log, folder)
