"""A device of simulated hardware, mosquitto and Home Assistant: what its users see and press.

    python scenario.py FOLDER-OF-THE-PROGRAMS"""
import json
import os
import shutil
import signal
import subprocess
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Fleet"))
from broker import Broker, ends_with_caller, free_port, wait_until
from device import Device

SETTINGS = """events: [doorbell]
  values: [innerProgress, bellPush, lamp, light, fan, warmth, story, form, stamp, locked]
  states: [volume, recording, {state: location, every: 2s}, {state: doctor, every: 5s}]
  homeAssistant: {name: Kiosk}"""
MAPPINGS = """door: {business: ["script:door"], homeAssistant: {name: Open the door}}
bellPush: {value: {type: boolean, gpio: {line: GPIO17}}, allow: {users: ["mqtt:ha"]}}
lamp: {value: {type: boolean, gpio: {line: GPIO27, output: true}}, set: {users: ["mqtt:ha"]}}
light: {value: {type: number, led: led0}, set: {users: ["mqtt:ha"]}}
fan: {value: {type: number, unit: "%", pwm: {chip: pwmchip0, channel: 0}}, set: {users: ["mqtt:ha"]}}
warmth: {value: {type: number, unit: "°C", sensor: {chip: cpu, input: temp1}, every: 100ms}, allow: {users: ["mqtt:ha"]}}
story: {value: {type: string}, set: {users: ["mqtt:ha"]}}
form: {value: {type: object}}
stamp: {value: {type: integer}, set: {users: ["mqtt:ha"]}}
locked: {value: {type: boolean, default: true}, set: {users: [root]}}
"""
# A device with a receiver, and without a sound card.
SHED = """states: [volume, {state: location, every: 1s}]
  homeAssistant: {name: Shed}"""


class Receiver(threading.Thread):
    """As gpsd says it: positions while it has a fix."""

    def __init__(self):
        super().__init__(daemon=True)
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.door.getsockname()[1]
        self.has_fix = True
        self.start()

    def run(self):
        while True:
            visitor, _ = self.door.accept()
            threading.Thread(target=self.serve, args=(visitor,), daemon=True).start()

    def serve(self, visitor):
        say = lambda **members: visitor.sendall(json.dumps(members, separators=(",", ":")).encode() + b"\r\n")
        try:
            say(**{"class": "VERSION", "release": "3.25", "rev": "3.25", "proto_major": 3, "proto_minor": 15})
            say(**{"class": "DEVICES", "devices": [{"class": "DEVICE", "path": "/dev/ttyACM0", "activated": "2026-01-01T00:00:00Z"}]})
            while True:
                fix = {"mode": 3, "lat": 47.4, "lon": 10.9, "epx": 3.0, "epy": 4.0} if self.has_fix else {"mode": 1}
                now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
                say(**{"class": "TPV", "device": "/dev/ttyACM0", "time": now, **fix})
                time.sleep(0.5)
        except OSError:
            visitor.close()


class HomeAssistant:
    def __init__(self, folder, broker):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = None
        folder.mkdir()
        self.log = folder / "log"
        (folder / "configuration.yaml").write_text(
            f"http:\n  server_port: {self.port}\n  server_host: 127.0.0.1\napi:\nconfig:\nwebsocket_api:\n")
        self.process = subprocess.Popen([Path(sys.executable).parent / "hass", "--config", folder], stdin=subprocess.DEVNULL,
                                        stdout=open(self.log, "wb"), stderr=subprocess.STDOUT, preexec_fn=ends_with_caller)
        wait_until(self.answers, "Home Assistant", 400)
        code = self.ask("/api/onboarding/users", {"client_id": self.url, "name": "a", "username": "a", "password": "aaaaaaaa", "language": "en"})
        form = f"grant_type=authorization_code&client_id={self.url}&code={code['auth_code']}".encode()
        self.token = json.load(urllib.request.urlopen(f"{self.url}/auth/token", form))["access_token"]
        flow = self.ask("/api/config/config_entries/flow", {"handler": "mqtt"})
        done = self.ask(f"/api/config/config_entries/flow/{flow['flow_id']}", {"broker": "127.0.0.1", "port": broker.port})
        assert done["type"] == "create_entry", done

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        try:
            return self.ask("/api/onboarding") is not None
        except (urllib.error.URLError, ConnectionError):
            return False

    def ask(self, path, body=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), headers)
        return json.load(urllib.request.urlopen(request, timeout=20))

    def states(self):
        return {each["entity_id"]: each for each in self.ask("/api/states")}

    def state(self, entity):
        return self.states().get(entity, {}).get("state")

    def press(self, domain, service, **data):
        self.ask(f"/api/services/{domain}/{service}", data)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def check(title, condition, seconds=60):
    start = time.monotonic()
    wait_until(condition, title, seconds)
    print(f"✔ {title} ({time.monotonic() - start:.1f} s)", flush=True)


def hardware(home, device):
    """What is bound to hardware, which a person moves."""
    known = {"binary_sensor.kiosk_bellpush": "off", "switch.kiosk_lamp": "off", "light.kiosk_light": "off", "number.kiosk_fan": "0",
             "sensor.kiosk_warmth": "20"}
    check("a line, an output, a light, a fan and a sensor are what they are",
          lambda: known == {name: (home.state(name) or "").removesuffix(".0") for name in known})
    device.call("simulate", "bellPush", True)
    check("a push is on", lambda: home.state("binary_sensor.kiosk_bellpush") == "on")
    home.press("switch", "turn_on", entity_id="switch.kiosk_lamp")
    check("the switch sets the lamp", lambda: device.call("lamp") is True and home.state("switch.kiosk_lamp") == "on")
    device.call("lamp", True, {"for": "300ms"})
    check("a time that ends is shown", lambda: home.state("switch.kiosk_lamp") == "off")
    home.press("light", "turn_on", entity_id="light.kiosk_light", brightness_pct=40)
    check("the light is dimmed", lambda: home.state("light.kiosk_light") == "on" and abs(device.call("light") - 40) < 1)
    home.press("light", "turn_off", entity_id="light.kiosk_light")
    check("and goes out", lambda: home.state("light.kiosk_light") == "off" and device.call("light") == 0)
    home.press("number", "set_value", entity_id="number.kiosk_fan", value=60)
    check("the number sets the fan", lambda: device.call("fan") == 60)
    device.call("simulate", "warmth", 31.5)
    values(home, device)
    check("the sensor tells degrees", lambda: home.state("sensor.kiosk_warmth") == "31.5" and
          home.states()["sensor.kiosk_warmth"]["attributes"].get("unit_of_measurement") == "°C")


def values(home, device):
    """What is larger than what Home Assistant takes, and what it may not do."""
    attribute = lambda entity: home.states().get(entity, {}).get("attributes", {}).get("value")
    device.call("story", "é" * 300)
    check("a text of 300 characters is cut, and whole in an attribute",
          lambda: home.state("text.kiosk_story") == "é" * 255 and attribute("text.kiosk_story") == "é" * 300)
    home.press("text", "set_value", entity_id="text.kiosk_story", value='say "so"')
    check("and is set", lambda: device.call("story") == 'say "so"' and home.state("text.kiosk_story") == 'say "so"')
    form = {"lines": ["x" * 100] * 5}
    device.call("form", form)
    check("an object is cut, and whole in an attribute", lambda: len(home.state("sensor.kiosk_form")) == 255 and attribute("sensor.kiosk_form") == form)
    home.press("number", "set_value", entity_id="number.kiosk_stamp", value=1795240800)
    check("a number without bounds takes a time", lambda: device.call("stamp") == 1795240800 and home.state("number.kiosk_stamp") in ("1795240800", "1795240800.0"))
    check("what it may not set is only shown",
          lambda: home.state("binary_sensor.kiosk_locked") == "on" and home.state("switch.kiosk_locked") is None)
    mappings = device.folder / "mappings" / "zz-tests.yaml"
    mappings.write_text(MAPPINGS.replace("set: {users: [root]}", 'set: {users: ["mqtt:ha"]}'))
    device.call("reload")
    check("and is a switch when it may", lambda: home.state("switch.kiosk_locked") == "on" and "binary_sensor.kiosk_locked" not in home.states())
    home.press("switch", "turn_off", entity_id="switch.kiosk_locked")
    check("which sets it", lambda: device.call("locked") is False)


def comings(home, device, shed, receiver):
    """Hardware that comes and goes."""
    options = lambda: home.states().get("select.kiosk_play_file", {}).get("attributes", {}).get("options")
    check("what was recorded is on the list of files", lambda: options() == ["ha.opus"])
    shutil.copy(next((Path(__file__).resolve().parents[2] / "sounds").glob("*.wav")), device.folder / "media" / "song.wav")
    check("a file that comes is on it, too", lambda: options() == ["ha.opus", "song.wav"])
    for file in (device.folder / "media").iterdir():
        file.unlink()
    check("without files the list is unavailable", lambda: home.state("select.kiosk_play_file") == "unavailable")
    check("without a sound card the volume is unavailable",
          lambda: [home.state("number.shed_volume"), home.state("switch.shed_mute")] == ["unavailable"] * 2)
    tracker = lambda: home.states().get("device_tracker.shed_position", {})
    check("a receiver tells where it is", lambda: tracker().get("attributes", {}).get("latitude") == 47.4)
    receiver.has_fix = False
    check("one that has lost its fix does not", lambda: tracker()["state"] == "unavailable")
    receiver.has_fix = True
    check("until it has one again", lambda: tracker().get("attributes", {}).get("latitude") == 47.4 and tracker()["state"] != "unavailable")
    told = shed.log("quickconnect-mqtt").count("the state 'location' is not known")
    assert told == 1, f"the loss was told {told} times"


def main():
    folder = Path(tempfile.mkdtemp(prefix="qc-home."))
    broker = Broker(folder / "broker").start()
    device = Device(folder, sys.argv[1], "kiosk1", broker, SETTINGS, ["door", "play"], MAPPINGS)
    receiver = Receiver()
    shed = Device(folder, sys.argv[1], "shed", broker, SHED, hardware=("--gpsd", receiver.address))
    home = None
    try:
        device.start()
        shed.start()
        home = HomeAssistant(folder / "home", broker)
        runs = lambda command: device.log("quickconnectd").count(f"command={command} allowed=yes")
        wanted = ["button.kiosk_play_laser", "button.kiosk_vibrate", "button.kiosk_stop", "select.kiosk_sound", "number.kiosk_volume",
                  "switch.kiosk_mute", "switch.kiosk_recording", "device_tracker.kiosk_position", "event.kiosk_doorbell",
                  "binary_sensor.kiosk_problem", "number.kiosk_innerprogress", "notify.kiosk_journal", "button.kiosk_open_the_door"]
        check(f"{len(wanted)} entities appear, for all that the device can do", lambda: set(wanted) <= set(home.states()))
        check("the problem sensor says that all is well", lambda: home.state("binary_sensor.kiosk_problem") == "off")
        check("the volume is known", lambda: home.state("number.kiosk_volume") == "100")
        before = runs("playSound")
        home.press("button", "press", entity_id="button.kiosk_play_laser")
        check("a button plays", lambda: runs("playSound") == before + 1)
        home.press("select", "select_option", entity_id="select.kiosk_sound", option="bell")
        check("the select plays the sound that is chosen", lambda: '"3"' in device.log("quickconnectd") or runs("playSound") == before + 2)
        home.press("number", "set_value", entity_id="number.kiosk_volume", value=40)
        check("the number sets the volume, and shows it", lambda: home.state("number.kiosk_volume") == "40" and device.call("volume")["volume"] == 40)
        device.call("volume", 70)
        check("a volume that somebody else sets is shown", lambda: home.state("number.kiosk_volume") == "70")
        home.press("switch", "turn_on", entity_id="switch.kiosk_mute")
        check("the switch mutes", lambda: home.state("switch.kiosk_mute") == "on" and device.call("volume")["muted"])
        home.press("switch", "turn_on", entity_id="switch.kiosk_recording")
        check("the switch records", lambda: home.state("switch.kiosk_recording") == "on" and device.call("state")["recording"])
        home.press("switch", "turn_off", entity_id="switch.kiosk_recording")
        check("and ends the recording", lambda: home.state("switch.kiosk_recording") == "off")
        home.press("number", "set_value", entity_id="number.kiosk_innerprogress", value=7)
        check("a value is set and shown", lambda: device.call("innerProgress") == 7 and float(home.state("number.kiosk_innerprogress")) == 7)
        hardware(home, device)
        comings(home, device, shed, receiver)
        place = lambda: home.states()["device_tracker.kiosk_position"]["attributes"].get("latitude")
        first = place()
        check("the tracker moves", lambda: place() not in (None, first))
        device.call("post", "doorbell", {"door": "front"})
        check("an event comes, with what it says",
              lambda: home.states()["event.kiosk_doorbell"]["attributes"].get("data") == {"door": "front"})
        home.press("notify", "send_message", entity_id="notify.kiosk_journal", message='from "home"')
        check("a notice stands in the journal", lambda: 'from "home"' in device.log_messages() or "from" in device.log_messages())
        (device.folder / "mappings" / "zz-tests.yaml").write_text("")
        device.call("reload")
        check("what a reload takes away is gone", lambda: "button.kiosk_open_the_door" not in home.states())
        device.end("quickconnect-mqtt", signal.SIGKILL)
        check("a device that is killed becomes unavailable", lambda: home.state("button.kiosk_play_laser") == "unavailable")
        device.start_gateway()
        check("and comes back", lambda: home.state("button.kiosk_play_laser") != "unavailable")
        complaints = [line for line in home.log.read_text(errors="replace").splitlines() if "mqtt" in line and ("ERROR" in line or "WARNING" in line)]
        assert not complaints, "\n".join(complaints)
        print("✔ Home Assistant complains of nothing")
    finally:
        if home:
            home.stop()
            if "-v" in sys.argv:
                print(home.log.read_text(errors="replace")[-4000:])
        device.stop()
        shed.stop()
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()
