"""What happens to the device: programs are killed, frozen and started again, files are saved, and resources run out."""
import base64
import json
import os
import resource
import signal
import socket
import time
from threading import Event

import links
from links import Cut, message, until
from privately import MemoryGroup
from soak_device import MACRO, PROCEDURE, QUOTA, SCRIPT

ALL_PARTS = ("daemon", "handler", "scripts", "data", "sound", "gpsd", "web", "mqtt", "disk")
# For each killed program: the parts that it affects, and whose connections it cuts.
PROGRAM_PARTS = {"quickconnectd": (ALL_PARTS, ("daemon",)), "quickconnect-scripts": (("scripts",), ()), "quickconnect-data": (("data",), ()),
                 "quickconnect-web": (("web",), ("web",)), "quickconnect-mqtt": (("mqtt",), ("mqtt",))}

# A gateway has started again when it has found its broker, so the two are never away at the same time.
NEEDED = {"quickconnect-mqtt": ("the broker",), "the broker": ("quickconnect-mqtt",)}


class Faults:
    """One fault at a time, or two of different parts. Each one is begun, and `step` ends it later."""

    def __init__(self, ledger, device, chance, versions, disk_problem):
        self.ledger, self.device, self.chance, self.versions = ledger, device, chance, versions
        self.under_way = []
        self.number = 100
        # How often each is in the bag that they are drawn from: even a short run has each kind.
        self.kinds = {self.kill_program: 4, self.freeze_program: 3, self.kill_daemon: 2, self.freeze_daemon: 1, self.stop_daemon: 1, self.kill_server: 3,
                      self.freeze_server: 2, self.save_mapping: 1, self.save_wrong_mapping: 1, self.save_macro: 1, self.save_wrong_macro: 1,
                      self.save_procedure: 1, self.save_wrong_procedure: 1, self.save_script: 1, self.save_wrong_script: 1,
                      self.fill_quota: 1, self.exhaust_descriptors: 1, self.exhaust_memory: 1, self.suspend: 1}
        if disk_problem is None:
            self.kinds[self.fill_disk] = 2
        self.bag = []
        self.memory = MemoryGroup(f"qc-soak-{os.getpid()}")

    def step(self):
        """Ends what is due, and begins another fault if there is room."""
        now = time.monotonic()
        for due, busy, fault, finish in [each for each in self.under_way if each[0] <= now]:
            self.under_way.remove((due, busy, fault, finish))
            if finish:
                finish()
            self.ledger.end(fault)
        if len(self.under_way) < 2 and (not self.under_way or self.chance.random() < 0.15):
            self.draw()

    def draw(self):
        if not self.bag:
            self.bag = [kind for kind, times in self.kinds.items() for _ in range(times)]
            self.chance.shuffle(self.bag)
        kind, before = self.bag.pop(), len(self.ledger.faults)
        kind()
        if len(self.ledger.faults) == before:
            # Not now, because it would meet another fault.
            self.bag.insert(0, kind)

    def end_all(self):
        for _, _, fault, finish in self.under_way:
            if finish:
                finish()
            self.ledger.end(fault)
        self.under_way = []

    def is_busy(self, *parts):
        busy = {part for each in self.under_way for part in each[1]}
        return busy and (not parts or "all" in busy or "all" in parts or busy & set(parts))

    def later(self, seconds, busy, fault, finish=None):
        self.under_way.append((time.monotonic() + seconds, busy, fault, finish))

    def at_once(self, name, parts, body, cuts=()):
        fault = self.ledger.begin(name, parts, cuts)
        try:
            body()
        finally:
            self.ledger.end(fault)

    # Programs

    def pick_program(self):
        name = self.chance.choice([each for each in PROGRAM_PARTS if each != "quickconnectd"])
        return None if self.is_busy(name, "quickconnectd", *NEEDED.get(name, ())) else name

    def kill_program(self):
        name = self.pick_program()
        if name:
            self.kill(name, signal.SIGKILL if self.chance.random() < 0.75 else signal.SIGTERM)

    def kill(self, name, number):
        parts, cuts = PROGRAM_PARTS[name]
        # Noted first, so that nothing is seen before it is explained.
        fault = self.ledger.begin(f"{'kill' if number == signal.SIGKILL else 'stop'} {name}", parts, cuts)
        self.device.end(name, number)
        away = self.chance.choice([0, 0.3, 2])
        self.later(away, (name,), fault, lambda: self.device.start_part(name))

    def freeze_program(self):
        name = self.pick_program()
        if name:
            self.freeze(name)

    def freeze(self, name):
        fault = self.ledger.begin(f"freeze {name}", PROGRAM_PARTS[name][0])
        self.device.signal(name, signal.SIGSTOP)
        self.later(self.chance.uniform(0.3, 4), (name,), fault, lambda: self.device.signal(name, signal.SIGCONT))

    def kill_daemon(self):
        if not self.is_busy():
            self.kill("quickconnectd", signal.SIGKILL)

    def stop_daemon(self):
        if not self.is_busy():
            self.kill("quickconnectd", signal.SIGTERM)

    def freeze_daemon(self):
        if not self.is_busy():
            self.freeze("quickconnectd")

    def servers(self):
        found = [("the broker", self.device.broker, ("mqtt",), ("mqtt",))]
        if self.device.sound:
            found += [("PulseAudio", self.device.sound, ("sound",), ()), ("gpsd", self.device.receiver, ("gpsd",), ())]
        return found

    def kill_server(self):
        name, server, parts, cuts = self.chance.choice(self.servers())
        if self.is_busy(name, "quickconnectd", *NEEDED.get(name, ())):
            return
        fault = self.ledger.begin(f"kill {name}", parts, cuts)
        (server.stop if name == "the broker" else server.end)(signal.SIGKILL)
        self.later(self.chance.choice([0, 0.5, 3]), (name,), fault, server.start)

    def freeze_server(self):
        name, server, parts, _ = self.chance.choice(self.servers())
        if self.is_busy(name, "quickconnectd", *NEEDED.get(name, ())):
            return
        fault = self.ledger.begin(f"freeze {name}", parts)
        server.process.send_signal(signal.SIGSTOP)
        self.later(self.chance.uniform(0.3, 4), (name,), fault, lambda: server.process.send_signal(signal.SIGCONT))

    def suspend(self):
        """All at once, as if the device slept."""
        if self.is_busy():
            return
        processes = list(self.device.running.values()) + [server.process for _, server, _, _ in self.servers()]
        fault = self.ledger.begin("suspend", ALL_PARTS, ("mqtt",))
        for process in processes:
            process.send_signal(signal.SIGSTOP)

        def resume():
            for process in processes:
                process.send_signal(signal.SIGCONT)
        self.later(self.chance.uniform(1, 6), ("all",), fault, resume)

    # Files that are saved

    def admin(self, command, *data):
        """A call of the owner, with its reply."""
        link = links.unix_link(self.device.folder / "socket", 60)
        try:
            link.send([message(command, list(data), "a")])
            lines = link.receive(60)
            assert lines, f"{command} has no reply"
            return json.loads(lines[0])
        finally:
            link.close()

    def ask(self, command, *data):
        """A call to a service that comes back on its own, some seconds after the daemon was away."""
        end = time.monotonic() + 20
        while True:
            reply = self.admin(command, *data)
            if reply.get("error", {}).get("code") != "unavailable" or time.monotonic() > end:
                return reply
            time.sleep(0.1)

    def expect(self, what, reply, code=None):
        error = reply.get("error") or {}
        if error.get("code") != code:
            self.ledger.problem("saved files", f"{what}: {reply}")
            return False
        return True

    def save_mapping(self):
        if self.is_busy("quickconnectd"):
            return
        self.number += 1

        def body():
            name = f"soakNew{self.number}"
            (self.device.folder / "mappings" / "zz-soak.yaml").write_text(f"{name}: {{help: A new one., value: {{type: integer, default: {self.number}}}}}\n")
            self.expect("a reload", self.admin("reload"))
            if self.admin(name).get("responseData") != self.number:
                self.ledger.problem("saved files", f"{name} is not there after the reload")
        self.at_once("save a mapping, and reload", (), body)

    def save_wrong_mapping(self):
        if self.is_busy("quickconnectd"):
            return

        def body():
            path = self.device.folder / "mappings" / "zz-wrong.yaml"
            path.write_text(self.chance.choice(["ping: {business: [NoSuchBCO]}\n", "{{{{\n", "soak0: 7\n", "\xff\n", "nothing:\n"]))
            self.expect("a reload with a mistake", self.admin("reload"), "invalid")
            path.unlink()
            self.expect("ping after a mistake", self.admin("ping"))
        self.at_once("save a wrong mapping, and reload", (), body)

    def save_macro(self):
        if self.is_busy("quickconnectd", "quickconnect-scripts"):
            return
        self.number += 1
        self.versions["macro"].add(self.number)

        def body():
            if not self.save_as_owner("soakAdd.js", "macros", MACRO.format(self.number)):
                return
            self.await_version(lambda: self.admin("macro", "run", "soakAdd", 0), self.number, "the macro")
        self.at_once("save a macro", ("scripts",), body)

    def save_as_owner(self, name, folder, text):
        path = self.device.folder / folder / name
        other = path.with_name(f".{name}.new")
        other.write_text(text)
        other.rename(path)
        return True

    def await_version(self, ask, wanted, what):
        """Soon, the newest version must answer."""
        end = time.monotonic() + 30
        reply = None
        while time.monotonic() < end:
            try:
                reply = ask()
            except Cut as cut:
                reply = str(cut)
            value = reply.get("responseData") if isinstance(reply, dict) else None
            if value == wanted or isinstance(value, list) and value[-1:] == [wanted]:
                return
            time.sleep(0.05)
        self.ledger.problem("saved files", f"{what} is not version {wanted} after 30 s: {reply}")

    def save_wrong_macro(self):
        if self.is_busy("quickconnectd", "quickconnect-scripts"):
            return

        def body():
            name = f"soakWrong{self.number}"
            self.expect("a wrong macro", self.ask("macro", "save", name, "function( {"), "invalid")
        self.at_once("save a wrong macro", (), body)

    def save_procedure(self):
        if self.is_busy("quickconnectd", "quickconnect-data"):
            return
        self.number += 1
        self.versions["procedure"].add(self.number)

        def body():
            self.save_as_owner("soakSum.js", "procedures", PROCEDURE.format(self.number))
            self.await_version(lambda: self.admin("execute", "soakSum", 0), self.number, "the procedure")
        self.at_once("save a procedure", (), body)

    def save_wrong_procedure(self):
        if self.is_busy("quickconnectd", "quickconnect-data"):
            return

        def body():
            self.save_as_owner("soakWrong.js", "procedures", "function execute( {")
            self.expect("a wrong procedure", self.ask("execute", "soakWrong"), "scriptFailed")
        self.at_once("save a wrong procedure", (), body)

    def save_script(self):
        if self.is_busy("quickconnectd", "quickconnect-scripts"):
            return
        self.number += 1
        self.versions["script"].add(self.number)

        def body():
            self.save_as_owner("soak.js", "scripts", SCRIPT.format(self.number))
            self.await_version(lambda: self.admin("soakScript", 0), self.number, "the script")
        self.at_once("save a script", ("scripts",), body)

    def save_wrong_script(self):
        if self.is_busy("quickconnectd", "quickconnect-scripts"):
            return

        def body():
            self.save_as_owner("soakWrong.js", "scripts", self.chance.choice(["throw Error('wrong')", "function( {", "for (;;) {}"]))
            time.sleep(0.5)
            (self.device.folder / "scripts" / "soakWrong.js").unlink()
        self.at_once("save a wrong script", (), body)

    # What runs out

    def fill_disk(self):
        if self.is_busy("quickconnectd", "disk"):
            return
        fault = self.ledger.begin("fill the disk of the media folder", ("disk",))
        path = self.device.folder / "media" / "filler.bin"
        try:
            with open(path, "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
        except OSError:
            pass
        self.later(self.chance.uniform(1, 5), ("disk",), fault, lambda: path.unlink())

    def fill_quota(self):
        """A user of pages writes until there is no room left, removes the files, and may write again. It affects nobody else."""
        if self.is_busy("quickconnectd", "quickconnect-web", "disk"):
            return
        self.at_once("fill the quota of a user", (), self.write_until_full)

    def write_until_full(self):
        page = until(lambda: links.WebSocketLink(self.device.port, self.device.rude_token, 60), Event(), 20)
        data = base64.b64encode(bytes(QUOTA // 4)).decode()

        def call(*parameters):
            page.send([message("media", list(parameters), "q")])
            while True:
                lines = page.receive(60)
                assert lines, f"media {parameters[0]} has no reply"
                for line in lines:
                    reply = json.loads(line)
                    if reply.get("responseId") == "q":
                        return reply.get("error", {}).get("code")
        try:
            codes = [call("write", f"quota{number}.bin", 0, data, {"end": True}) for number in range(6)]
            written = codes.index("tooLarge") if "tooLarge" in codes else len(codes)
            if codes != [None] * 4 + ["tooLarge"] * 2:
                self.ledger.problem("saved files", f"six files of a quarter of the quota each: {codes}")
            removed = [call("remove", f"quota{number}.bin") for number in range(written)]
            again = call("write", "quota0.bin", 0, data, {"end": True}), call("remove", "quota0.bin")
            if any(removed) or any(again):
                self.ledger.problem("saved files", f"the quota is not free again: {removed}, {again}")
        finally:
            page.close()

    def exhaust_descriptors(self):
        """The daemon has no descriptor left, and many clients want one."""
        if self.is_busy():
            return
        fault = self.ledger.begin("exhaust the daemon's descriptors", ALL_PARTS)
        pid = self.device.running["quickconnectd"].pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1 + self.chance.randint(0, 4), before[1]))
        waiting = []
        for _ in range(40):
            connection = socket.socket(socket.AF_UNIX)
            connection.setblocking(False)
            if connection.connect_ex(str(self.device.folder / "socket")) == 0:
                waiting.append(connection)

        def raise_again():
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
            # Each one that waited is served, or has got an error.
            for connection in waiting:
                connection.settimeout(20)
                try:
                    connection.sendall(message("ping", None, "p") + b"\n")
                    seen = connection.recv(4096)
                    self.ledger.count("waited for a descriptor: " + ("served" if b'"responseId":"p"' in seen else "closed"))
                except OSError as error:
                    if isinstance(error, TimeoutError):
                        self.ledger.problem("descriptors", "a client that waited for a descriptor is not served after 20 s")
                    else:
                        self.ledger.count("waited for a descriptor: closed")
                connection.close()
        self.later(self.chance.uniform(0.5, 3), ("all",), fault, raise_again)

    def exhaust_memory(self):
        """The daemon may not grow, and gets large requests. It may end; then it is started again, as systemd does."""
        if self.is_busy():
            return
        by_group = self.memory.limit_file is not None
        fault = self.ledger.begin(f"exhaust the daemon's memory ({'a control group' if by_group else 'RLIMIT_AS'})", ALL_PARTS, ("daemon",))
        process = self.device.running["quickconnectd"]
        if by_group:
            self.memory.add(process.pid)
            self.memory.limit(self.memory.usage() + (8 << 20))
        else:
            with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
                size = int(file.read().split()[0]) * resource.getpagesize()
            resource.prlimit(process.pid, resource.RLIMIT_AS, (size + (8 << 20), resource.RLIM_INFINITY))
        greedy = []
        try:
            for _ in range(12):
                link = links.unix_link(self.device.folder / "socket", 2)
                greedy.append(link)
                link.send([b'{"handlerName":"ping","data":"' + b"x" * (3 << 20)])
        except (Cut, OSError):
            pass

        def free():
            for link in greedy:
                link.close()
            if process.poll() is None:
                if by_group:
                    self.memory.limit(None)
                else:
                    resource.prlimit(process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                self.ledger.count("out of memory: the daemon lived")
                if by_group:
                    fault.cuts.clear()
                    return
                # Started again: libpulse keeps the descriptors of connections that failed for lack of address space.
                self.device.end("quickconnectd")
                self.device.start_daemon()
                return
            self.ledger.count(f"out of memory: the daemon ended with {process.returncode}")
            if by_group:
                self.memory.limit(None)
            self.device.running.pop("quickconnectd")
            self.device.start_daemon()
        self.later(self.chance.uniform(0.5, 2), ("all",), fault, free)

