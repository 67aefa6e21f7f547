"""The environment of a fleet's tests."""
import json
import subprocess

from broker import ROOT, Broker, Caller
from device import Device

ACL = (ROOT / "Examples" / "fleet" / "acl").read_text()
USERS = ("kiosk1", "kiosk2", "kiosk3", "ann", "bob", "ha", "observer") + tuple(f"crowd{number}" for number in range(50))
# In addition to the example's: many callers, and one client that receives everything.
MORE = "\nuser observer\ntopic read #\n" + "".join(
    f"\nuser crowd{number}\ntopic write qc/kiosk1/call/crowd{number}/+\ntopic read qc/+/reply/crowd{number}/#\n" for number in range(50))
SETTINGS = """groups: [lobby]
  events: [doorbell, playState, accel]
  values: [innerProgress]
  states: [volume, recording, {state: location, every: 2s}, {state: doctor, every: 60s}]
  homeAssistant: true
  queue: {messages: 200}
  commands: [ping, hello, commands, explain, doctor, sounds, playSound, volume, rec, stop, state, innerProgress, loc, location,
    logMessage, post, reload, never, slow, signText]"""
# reload is on the gateway's list, and not on its socket's.
MAPPINGS = """
never: {business: ["script:never"], timeout: 60s}
slow: {business: ["script:slow"], timeout: 60s}
volume: {allow: {users: ["mqtt:ann", "mqtt:ha"]}}
bell: {business: ["script:bell"], homeAssistant: {name: Bell, device_class: identify}}
innerProgress: {homeAssistant: {unit_of_measurement: "%"}}
stop: {homeAssistant: false}
signText: {value: {type: string, default: ""}, allow: {users: ["mqtt:ann"]}}
"""


class Stage:
    """A broker with the example's list of rights, which drops nothing of a flood, two devices, ann and bob. Each is made on its first use."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.programs = programs
        self.number = 0
        self.begin_anew()

    def begin_anew(self):
        self.close()
        self.number += 1
        self.open = []
        self.made = {}

    def place(self, name):
        return self.folder / f"{self.number}-{name}"

    def close(self):
        for thing in reversed(getattr(self, "open", [])):
            (thing.close if isinstance(thing, Caller) else thing.stop)()
        self.open = []

    stop = close

    def keep(self, thing):
        self.open.append(thing)
        return thing

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = self.keep(make())
        return self.made[name]

    @property
    def broker(self):
        return self.once("broker", lambda: Broker(self.place("broker"), ACL + MORE, USERS, lines=["max_queued_messages 20000"]).start())

    def kiosk(self, number):
        name = f"kiosk{number}"
        return self.once(name, lambda: Device(self.folder / str(self.number), self.programs, name, self.broker, SETTINGS,
                                              ["never", "slow", "bell"], MAPPINGS).start())

    @property
    def kiosk1(self):
        return self.kiosk(1)

    @property
    def kiosk2(self):
        return self.kiosk(2)

    def caller(self, user, **more):
        return self.once(user, lambda: Caller(self.broker, user, f"{user}-test", **more))

    @property
    def ann(self):
        return self.caller("ann", topics=("qc/+/event/+", "qc/+/state/+", "qc/+/status", "qc/+/info"))

    @property
    def bob(self):
        return self.caller("bob")

    @property
    def observer(self):
        return self.caller("observer", topics=("qc/#", "homeassistant/#"))

    def elsewhere(self, user="ann", broker=None):
        """The environment of a user on another machine."""
        path, password = self.place(f"{user}.yaml"), self.place(f"{user}-password")
        password.write_text(f"{user}\n")
        path.write_text(f"mqtt: {{broker: '127.0.0.1:{(broker or self.broker).port}', user: {user}, passwordFile: {password}}}\n")
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "QUICKCONNECT_CONFIG": str(path)}

    def fleet(self, *words, seconds=30, user="ann", broker=None):
        """quickconnect as a user on another machine."""
        return subprocess.run([self.programs.resolve() / "quickconnect", *words], capture_output=True, text=True, timeout=seconds,
                              env=self.elsewhere(user, broker), stdin=subprocess.DEVNULL)

    def show_logs(self):
        for thing in self.open:
            if isinstance(thing, Device):
                print(f"--- {thing.name}\n{thing.log('quickconnect-mqtt')[-1500:]}\n{thing.log('quickconnectd')[-1000:]}")


def body(message):
    return json.loads(message.payload)


def code(message):
    return body(message)["error"]["code"]
