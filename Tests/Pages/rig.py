"""The programs that a browser meets: a daemon with simulated devices, its scripts, and quickconnect-web, on private paths."""
import ctypes
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the shipped settings list for pages, and what the tests' pages add.
COMMANDS = re.search(r"gateway: web.*?commands: \[(.*?)\]", (ROOT / "config" / "quickconnectd.yaml").read_text(), re.S)[1].replace("#", " ").split(",")
COMMANDS = [name.strip() for name in COMMANDS] + ["testObjcCallback", "brighten", "news", "execute", "procedures", "data", "simulate"]
# Who may save macros here.
MAPPINGS = """
macro:
  verbs:
    save: {groups: ["web:editors"]}
    revert: {groups: ["web:editors"]}
procedures: {allow: {users: ["web:ann", "web:bob"]}}
data: {allow: {users: ["web:ann"]}}
simulate: {allow: {users: ["web:ann"]}}
bell: {help: The bell., event: {type: any, last: true}, post: {users: ["web:ann"]}}
ring: {event: {type: object}, allow: {users: ["web:ann"]}}
night: {help: Dark at ten., schedule: {at: "22:00", days: [mon, fri]}, call: [logMessage, night], set: {users: ["web:ann"]}}
dawn: {schedule: {at: "06:30"}, allow: {users: ["web:ann", "web:bob"]}}
others: {event: {type: any}, allow: {users: ["web:bob"]}}
push: {help: The push., value: {type: boolean, gpio: {line: GPIO17}}, allow: {users: ["web:ann"]}}
lamp: {help: The lamp., value: {type: boolean, gpio: {line: GPIO27, output: true}, lease: connection}, set: {users: ["web:ann"]}}
reader: {event: {reader: {device: usb-Reader-event-kbd}}, allow: {users: ["web:ann"]}}
remote: {event: {keys: {device: usb-Remote-event-kbd, names: {KEY_PLAYPAUSE: play}}}, allow: {users: ["web:ann"]}}
fan: {value: {type: number, unit: "%", pwm: {chip: pwmchip0, channel: 0}}, set: {users: [root]}, allow: {users: ["web:ann"]}}
secret: {help: Nobody's., value: {type: string}, allow: {users: [root]}}
"""


def wait_until(condition, what, seconds=30):
    """Polls; readiness is other programs', which tell it in no other way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


def ends_with_caller():
    """In a child before it becomes another program: the kernel ends it with this process."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Rig:
    """`with Rig(folder_of_the_programs) as rig:` runs all of it; `rig.url` is where it serves."""

    def __init__(self, programs, inline=False):
        self.programs = Path(programs).resolve()
        self.inline = inline
        self.folder = Path(tempfile.mkdtemp(prefix="qc-pages."))
        self.running = {}
        self.port = None
        self.commands = set(COMMANDS)
        self.logs = None  # Where the logs are kept, and what their names begin with.

    def __enter__(self):
        try:
            self.prepare()
            self.start_daemon()
            self.start_scripts()
            self.start_procedures()
            self.start_web()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(list(self.running.values())):
            self.end(process)
        for log in self.folder.glob("*.log") if self.logs else []:
            shutil.copy(log, f"{self.logs}-{log.name}")
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def prepare(self):
        self.socket = self.folder / "socket"
        for name in ("media", "mappings", "state", "pages", "macros", "scripts", "home", "procedures", "procedures/lib"):
            (self.folder / name).mkdir()
        for file in (ROOT / "mappings").glob("*.yaml"):
            shutil.copy(file, self.folder / "mappings")
        (self.folder / "mappings" / "zz-tests.yaml").write_text(MAPPINGS)
        # What is served is the checkout's, with the test's own pages beside it.
        shutil.copytree(ROOT / "pages", self.folder / "pages", dirs_exist_ok=True)
        shutil.copytree(ROOT / "Tests" / "Pages" / "fixtures", self.folder / "pages" / "tests", dirs_exist_ok=True)
        self.write_settings()

    def write_settings(self):
        user = pwd.getpwuid(os.getuid()).pw_name
        (self.folder / "settings.yaml").write_text(
            f"sockets:\n  - {{path: {self.folder}/web.sock, gateway: web, user: {user}, connections: 64, "
            f"commands: [{', '.join(sorted(self.commands))}]}}\nrecord: [{{event: doorbell}}]\nhandlerCommands: {{users: [\"web:ann\", \"web:bob\"]}}\n"
        )

    def spawn(self, name, *arguments, known_as=None):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_DATA_HOME": str(self.folder / "home"),
                       "STATE_DIRECTORY": str(self.folder / "state"), "XDG_RUNTIME_DIR": str(self.folder)}
        for key in ("XDG_CONFIG_HOME", "QUICKCONNECT_SOCKET", "NOTIFY_SOCKET", "CONFIGURATION_DIRECTORY"):
            environment.pop(key, None)
        known_as = known_as or name
        log = open(self.folder / f"{known_as}.log", "ab")
        process = subprocess.Popen(
            [self.programs / name, "--config", self.folder / "settings.yaml", "--socket", self.socket, *arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=ROOT, preexec_fn=ends_with_caller)
        self.running[known_as] = process
        return process

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_daemon(self):
        process = self.spawn("quickconnectd", "--simulate", "--mappings", self.folder / "mappings",
                             "--media", self.folder / "media", "--sounds", ROOT / "sounds")
        wait_until(lambda: self.alive(process, "quickconnectd") and self.answers(), "the daemon")

    def alive(self, process, name):
        assert process.poll() is None, f"{name} ended:\n{self.log(name)[-3000:]}"
        return True

    def answers(self):
        try:
            return self.client("ping", check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def start_scripts(self):
        process = self.spawn("quickconnect-scripts", "--macros", self.folder / "macros", "--scripts", self.folder / "scripts")
        wait_until(lambda: self.alive(process, "quickconnect-scripts")
                   and self.client("macro", "list", check=False).returncode == 0, "the macros")
        # Saved, since nothing here writes over an owner's file.
        for file in sorted((ROOT / "macros").glob("*.js")):
            self.call("macro", "save", file.stem, file.read_text())
        self.call("macro", "save", "throws", "function() {\n    var x = 1;\n    return x.y.z;\n}\n")

    def start_procedures(self):
        for file in (ROOT / "procedures").rglob("*.js"):
            shutil.copy(file, self.folder / "procedures" / file.relative_to(ROOT / "procedures"))
        for file in (ROOT / "Tests" / "Pages" / "procedures").glob("*.js"):
            shutil.copy(file, self.folder / "procedures")
        process = self.spawn("quickconnect-scripts", "--procedures", "--procedure-folder", self.folder / "procedures", known_as="quickconnect-data")
        wait_until(lambda: self.alive(process, "quickconnect-data")
                   and self.client("procedures", "list", check=False).returncode == 0, "the procedures")

    def wait_for_services(self):
        """After a restart of the daemon they come back by themselves."""
        for command in ("macro", "procedures", "web"):
            wait_until(lambda: self.client(command, "list", check=False).returncode == 0, f"the command {command}")

    def start_web(self):
        if self.port is None:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        flags = ["--watch"] + (["--inline-scripts"] if self.inline else [])
        process = self.spawn("quickconnect-web", "--listen", f"127.0.0.1:{self.port}", "--pages", self.folder / "pages",
                             "--bridge-socket", self.folder / "web.sock", "--state", self.folder / "state" / "web", *flags)
        wait_until(lambda: self.alive(process, "quickconnect-web") and self.can_connect(), "the gateway")
        wait_until(lambda: self.client("web", "list", check=False).returncode == 0, "the command web")

    def can_connect(self):
        with socket.socket() as each:
            return each.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def client(self, command, *arguments, check=True):
        words = [a if isinstance(a, str) else json.dumps(a) for a in arguments]
        return subprocess.run(
            [self.programs / "quickconnect", "call", "--socket", self.socket, "--timeout", "20", command, *words],
            capture_output=True, text=True, timeout=40, check=check)

    def call(self, command, *arguments):
        """A command's answer, called as root or the daemon's own user."""
        return json.loads(self.client(command, *arguments).stdout)

    def token(self, name, *groups):
        """A new user's token."""
        return self.call("web", "add", name, {"groups": list(groups)})["token"]

    def restart(self, name):
        self.end(self.running.pop(name))
        {"quickconnectd": self.start_daemon, "quickconnect-web": self.start_web, "quickconnect-data": self.start_procedures}[name]()

    def pause(self, name):
        os.kill(self.running[name].pid, signal.SIGSTOP)

    def resume(self, name):
        os.kill(self.running[name].pid, signal.SIGCONT)
