"""A device: a daemon with simulated hardware, and its gateway, on private paths."""
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from broker import ROOT, ends_with_caller, wait_until

# What the shipped settings list for the gateway's socket.
COMMANDS = [name.strip() for name in re.search(r"gateway: mqtt.*?commands: \[(.*?)\]", (ROOT / "config" / "quickconnectd.yaml").read_text(),
                                               re.S)[1].replace("#", " ").split(",")]


class Device:
    """`programs` is their folder; `mqtt` is the settings besides broker and device."""

    def __init__(self, folder, programs, name, broker, mqtt="", commands=(), mappings="", tls=None, user=None, hardware=("--simulate",)):
        self.folder = Path(folder) / name
        self.programs = Path(programs).resolve()
        self.name = name
        self.hardware = hardware
        self.running = {}
        (self.folder / "home").mkdir(parents=True)
        shutil.copytree(ROOT / "mappings", self.folder / "mappings")
        (self.folder / "mappings" / "zz-tests.yaml").write_text(mappings)
        (self.folder / "password").write_text(f"{name}\n")
        secret = f"tls: {{ca: {tls}/ca.crt, certificate: {tls}/{user or name}.crt, key: {tls}/{user or name}.key}}" if tls else \
            f"user: {user or name}\n  passwordFile: password"
        account = pwd.getpwuid(os.getuid()).pw_name
        (self.folder / "settings.yaml").write_text(f"""
sockets:
  - {{path: {self.folder}/mqtt.sock, gateway: mqtt, user: {account}, connections: 40, commands: [{', '.join([*COMMANDS, *commands])}]}}
mqtt:
  broker: 127.0.0.1:{broker.port}
  {secret}
  device: {name}
  reconnectWithin: 1s
  {mqtt}
""")

    def spawn(self, name, *arguments, **variables):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_RUNTIME_DIR": str(self.folder)}
        for key in ("QUICKCONNECT_SOCKET", "NOTIFY_SOCKET", "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "QUICKCONNECT_CONFIG",
                    "CREDENTIALS_DIRECTORY"):
            environment.pop(key, None)
        environment |= {key: str(value) for key, value in variables.items()}
        log = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen(
            [self.programs / name, "--config", self.folder / "settings.yaml", "--socket", self.folder / "socket", *arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=ROOT, preexec_fn=ends_with_caller)
        return self.running[name]

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start_daemon(self):
        process = self.spawn("quickconnectd", *self.hardware, "--mappings", self.folder / "mappings", "--media",
                             self.folder / "media", "--sounds", ROOT / "sounds")

        def answers():
            assert process.poll() is None, self.log("quickconnectd")[-2000:]
            return self.client("ping").returncode == 0
        wait_until(answers, "the daemon")

    def start_gateway(self, wait=True, **variables):
        before = self.log("quickconnect-mqtt").count("connected to 127")
        process = self.spawn("quickconnect-mqtt", "--state", self.folder / "state", **variables)

        def connected():
            assert process.poll() is None, self.log("quickconnect-mqtt")[-2000:]
            return self.log("quickconnect-mqtt").count("connected to 127") > before
        if wait:
            wait_until(connected, f"{self.name} at the broker")

    def start_scripts(self):
        for name in ("macros", "scripts", "scripts-state"):
            (self.folder / name).mkdir()
        process = self.spawn("quickconnect-scripts", "--macros", self.folder / "macros", "--scripts", self.folder / "scripts",
                             STATE_DIRECTORY=self.folder / "scripts-state")

        def answers():
            assert process.poll() is None, self.log("quickconnect-scripts")[-2000:]
            return self.client("macro", "list").returncode == 0
        wait_until(answers, "the macros")

    def start(self):
        self.start_daemon()
        self.start_gateway()
        return self

    def client(self, *words):
        words = [word if isinstance(word, str) else json.dumps(word) for word in words]
        return subprocess.run([self.programs / "quickconnect", "call", "--socket", self.folder / "socket", "--timeout", "10", *words],
                              capture_output=True, text=True, timeout=30)

    def call(self, *words):
        done = self.client(*words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def say(self, *lines):
        """Sends lines to the daemon over one connection, and waits until it has received all."""
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.connect(str(self.folder / "socket"))
            daemon.settimeout(20)
            daemon.sendall("".join(f"{line}\n" for line in (*lines, "call?cmd=ping&id=end")).encode())
            seen = b""
            while b"id=end" not in seen:
                seen += daemon.recv(65536)

    def end(self, name, number=signal.SIGTERM):
        process = self.running.pop(name)
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(number)
            process.wait(30)
        return process.returncode

    def signal(self, name, number):
        self.running[name].send_signal(number)

    def stop(self):
        for name in reversed(list(self.running)):
            self.end(name)

    def runs(self, text):
        """How often the device has written this to its log."""
        return len(re.findall(rf"(?<![\w-]){re.escape(text)}(?![\w-])", self.log_messages()))

    def log_messages(self):
        """The daemon's log so far; it answers before it writes the log."""
        if "quickconnectd" in self.running:
            mark = f"mark-{os.urandom(8).hex()}"
            self.say(f'call?cmd=logMessage&msg="{mark}"')
            wait_until(lambda: mark in self.log("quickconnectd"), "the log")
        return "\n".join(line for line in self.log("quickconnectd").splitlines() if " audit: " not in line)

    def memory(self, name):
        """Resident memory, in KiB."""
        status = Path(f"/proc/{self.running[name].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])
