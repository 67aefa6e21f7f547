"""Calls, answers, events and states."""
import json
import signal
import time

from broker import Broker, Caller, wait_until
from device import Device
from stage import body, code


def answers(stage):
    """A call with a response topic gets one answer, with its correlation data, under the reply's command"""
    kiosk, ann = stage.kiosk1, stage.ann
    assert body(ann.answer(ann.call(kiosk.name, "hello")))["responseData"]["program"] == "quickconnectd"
    place = ann.call(kiosk.name, "loc")
    answer = ann.answer(place)
    assert answer.topic == "qc/kiosk1/reply/ann/here" and body(answer)["handlerName"] == "showLoc"
    assert body(ann.answer(ann.call(kiosk.name, "innerProgress", "[7]"))) == {"responseData": 7}
    assert body(ann.answer(ann.call(kiosk.name, "innerProgress"))) == {"responseData": 7}
    text = ann.call(kiosk.name, "logMessage", "no JSON, one text")
    assert body(ann.answer(text)) == {"responseData": None} and kiosk.runs("no JSON, one text") == 1
    unknown = ann.answer(ann.call(kiosk.name, "post", "[]"))
    assert code(unknown) == "invalid" and body(unknown)["error"]["fields"]
    assert ann.answer(ann.call(kiosk.name, "ping", qos=0)).qos == 0
    assert len(ann.answers(place)) == 1


def silence(stage):
    """Without a response topic a call is done in silence, and only its error is told"""
    kiosk, ann = stage.kiosk1, stage.ann
    done = ann.call(kiosk.name, "logMessage", "in silence", answer=False)
    failed = ann.call(kiosk.name, "innerProgress", '["x"]', answer=False)
    answer = ann.answer(failed)
    assert answer.topic == "qc/kiosk1/reply/ann" and code(answer) == "invalid"
    assert kiosk.runs("in silence") == 1 and not ann.answers(done)


def feed(stage):
    """Events and states become messages, as far as the settings list them"""
    kiosk, ann, observer = stage.kiosk1, stage.ann, stage.observer
    kiosk.call("post", "doorbell", {"door": "front"})
    kiosk.call("post", "unlisted", 1)
    kiosk.call("innerProgress", 3)
    kiosk.call("middleProgress", 3)
    kiosk.call("volume", 40)
    ann.wait(lambda: ann.messages("qc/kiosk1/event/doorbell"), "the event")
    wait_until(lambda: any(each.payload == b"3" for each in ann.messages("qc/kiosk1/state/innerProgress")), "the value")
    wait_until(lambda: any(b'"volume":40' in each.payload for each in ann.messages("qc/kiosk1/state/volume")), "the volume")
    kiosk.call("rec", "take.wav", "start")
    recording = lambda word: any(body(each)["state"] == word for each in ann.messages("qc/kiosk1/state/recording"))
    wait_until(lambda: recording("recording"), "the recording")
    kiosk.call("rec", "take.wav", "stop")
    wait_until(lambda: body(ann.messages("qc/kiosk1/state/recording")[-1])["state"] == "stopped", "its end")
    ann.wait(lambda: len(ann.messages("qc/kiosk1/state/location")) > 1, "two positions")
    assert body(ann.messages("qc/kiosk1/event/doorbell")[0]) == {"door": "front"}
    assert all(each.retain for each in ann.messages("qc/kiosk1/state/volume"))
    assert not any(each.retain for each in ann.messages("qc/kiosk1/event/doorbell"))
    topics = {each.topic for each in observer.heard}
    assert not any("unlisted" in topic or "middleProgress" in topic for topic in topics), topics
    # The progress of a recording is reported ten times a second; its state changes twice.
    assert len(ann.messages("qc/kiosk1/state/recording")) <= 4


def presence(stage):
    """A device says what it is, and its will says that it is gone"""
    kiosk, ann = stage.kiosk1, stage.ann
    info = body(ann.wait(lambda: ann.messages("qc/kiosk1/info"), "the info")[-1])
    assert info["hello"]["version"] and "playSound" in info["commands"] and "reload" not in info["commands"], info
    assert info["groups"] == ["lobby"] and info["since"].endswith("Z")
    last = lambda: ann.messages("qc/kiosk1/status")[-1].payload
    wait_until(lambda: last() == b"online", "online")
    assert kiosk.end("quickconnect-mqtt") == 0
    wait_until(lambda: last() == b"offline", "offline at once", 2)
    kiosk.start_gateway()
    wait_until(lambda: last() == b"online", "online again")
    start = time.monotonic()
    kiosk.end("quickconnect-mqtt", signal.SIGKILL)
    wait_until(lambda: last() == b"offline", "the will")
    assert time.monotonic() - start > 3, "the will waits, so that short losses are none"
    kiosk.start_gateway()
    wait_until(lambda: last() == b"online", "online after a kill")


def taken_back(stage):
    """What the settings list no more is kept by the broker no more, and neither is a name that the device had"""
    broker = stage.keep(Broker(stage.place("kept-broker")).start())
    device = stage.keep(Device(stage.place("kept"), stage.programs, "kiosk1", broker,
                               "values: [innerProgress]\n  states: [volume, {state: location, every: 1s}]\n  homeAssistant: true").start())
    # A new client each time: it receives what the broker keeps.
    def kept(number):
        caller = stage.keep(Caller(broker, f"looker{number}", topics=("qc/#", "homeassistant/#")))
        caller.answer(caller.call(device.name, "ping"))
        return {each.topic for each in caller.heard if each.retain and each.payload}
    def once(condition, what):
        found = []

        def is_so():
            found.append(kept(len(stage.open)))
            return condition(found[-1])
        wait_until(is_so, what)
        return found[-1]
    states = {f"qc/kiosk1/state/{name}" for name in ("volume", "innerProgress", "location")}
    first = once(lambda found: states | {"qc/kiosk1/status", "qc/kiosk1/info", "homeassistant/device/qc_kiosk1/config"} <= found, "all of it")
    settings = device.folder / "settings.yaml"
    text = settings.read_text()
    device.end("quickconnect-mqtt")
    settings.write_text(text.replace("values: [innerProgress]\n  states: [volume, {state: location, every: 1s}]", "states: [volume]"))
    device.start_gateway()
    second = once(lambda found: "qc/kiosk1/state/location" not in found, "the end of states")
    assert second == first - {"qc/kiosk1/state/location", "qc/kiosk1/state/innerProgress"}, second
    device.end("quickconnect-mqtt")
    settings.write_text(text.replace("device: kiosk1", "device: kiosk7").replace("homeAssistant: true", "homeAssistant: false"))
    device.name = "kiosk7"
    device.start_gateway()
    third = once(lambda found: not any("kiosk1" in topic for topic in found) and "qc/kiosk7/status" in found, "the end of its old name")
    assert not any(topic.startswith("homeassistant") for topic in third), third
    device.stop()


def own_values(stage):
    """With «values: own» a lamp is declared in one place: it is published, callable and in Home Assistant, until a reload takes it away"""
    broker = stage.keep(Broker(stage.place("own-broker")).start())
    lamps = """
lamp: {help: The lamp., value: {type: boolean, default: false}, allow: {users: ["mqtt:ha"]}}
hidden: {help: Nobody's., value: {type: integer, default: 3}}
"""
    device = stage.keep(Device(stage.place("own"), stage.programs, "kiosk1", broker, "values: own\n  homeAssistant: true", mappings=lamps).start())
    looker = stage.keep(Caller(broker, "looker", topics=("qc/kiosk1/state/#", "homeassistant/#")))
    last = lambda name: next((each.payload for each in reversed(looker.heard) if each.topic == f"qc/kiosk1/state/{name}"), None)
    wait_until(lambda: last("lamp") == b"false", "the lamp's state")
    ha = stage.keep(Caller(broker, "ha"))
    assert "responseData" in body(ha.answer(ha.call("kiosk1", "lamp", "[true]")))
    wait_until(lambda: last("lamp") == b"true", "the lamp's change")
    assert body(looker.answer(looker.call("kiosk1", "lamp", "[false]")))["error"]["code"] == "denied"
    part = lambda name: json.loads([each for each in looker.heard if each.topic.endswith("/config")][-1].payload)["components"].get(name)
    wait_until(lambda: part("lamp") and part("lamp")["platform"] == "switch", "the switch")
    file = device.folder / "mappings" / "zz-tests.yaml"
    file.write_text('fan: {help: The fan., value: {type: integer, default: 7}, set: {groups: ["mqtt:home"]}}\n')
    device.call("reload")
    wait_until(lambda: last("fan") == b"7" and last("lamp") == b"", "the fan in place of the lamp")
    device.call("fan", 8)
    wait_until(lambda: last("fan") == b"8", "the fan's change")
    # What is retained stays while the gateway does not know yet what is published.
    device.end("quickconnect-mqtt")
    before = len(looker.heard)
    device.start_gateway()
    wait_until(lambda: [each.payload for each in looker.heard[before:] if each.topic == "qc/kiosk1/state/fan"], "the fan again")
    assert not [each for each in looker.heard[before:] if each.topic == "qc/kiosk1/state/fan" and each.payload != b"8"]
    assert {each.topic for each in looker.heard if "/state/" in each.topic} == {f"qc/kiosk1/state/{name}" for name in ("lamp", "fan", "hardware")}
    device.stop()


def duplicates(stage):
    """A call that is delivered again is done once, also by a gateway that was killed in between"""
    kiosk, ann = stage.kiosk1, stage.ann
    data = ann.call("kiosk1", "logMessage", "only-once")
    ann.answer(data)
    for _ in range(3):
        ann.call("kiosk1", "logMessage", "only-once", data=data, wait=True)
    kiosk.end("quickconnect-mqtt", signal.SIGKILL)
    kiosk.start_gateway()
    ann.call("kiosk1", "logMessage", "only-once", data=data, wait=True)
    ann.answer(ann.call("kiosk1", "ping"))
    assert kiosk.runs("only-once") == 1 and len(ann.answers(data)) == 1


def order(stage):
    """A caller's calls begin in the order sent, and others' are not in their way"""
    kiosk, ann, bob = stage.kiosk1, stage.ann, stage.bob
    sent = [ann.call("kiosk1", "logMessage", f"in-order-{number:03}") for number in range(200)]
    bob.answer(bob.call("kiosk1", "ping"))
    for data in sent:
        ann.answer(data)
    log = kiosk.log_messages()
    places = [log.index(f"in-order-{number:03}") for number in range(200)]
    assert places == sorted(places)
    # A call that waits delays nobody.
    never = ann.call("kiosk1", "location", '[{"maximumAge":0,"timeout":3000}]')
    ann.answer(ann.call("kiosk1", "ping"), 2)
    ann.answer(never)


def expiry(stage):
    """What a device that is away gets too late is not done, and the rest is, in order"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    kiosk.end("quickconnect-mqtt")
    late = ann.call("kiosk1", "logMessage", "too-late", expiry=1, wait=True)
    kept = [ann.call("kiosk1", "logMessage", f"kept-{number}", expiry=60, wait=True) for number in range(3)]
    # For the broker's clock, which cannot be observed.
    time.sleep(2)
    kiosk.start_gateway()
    for data in kept:
        ann.answer(data)
    log = kiosk.log_messages()
    assert log.index("kept-0") < log.index("kept-1") < log.index("kept-2")
    assert kiosk.runs("too-late") == 0 and not ann.answers(late)


def daemon_away(stage):
    """While the daemon is away calls wait for it, and are told when they have waited too long"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    kiosk.end("quickconnectd", signal.SIGKILL)
    short = ann.call("kiosk1", "logMessage", "short-patience", expiry=1)
    assert code(ann.answer(short)) == "timeout"
    told = body(ann.answer(short))["error"]["message"]
    assert "the daemon does not answer: " in told and "«systemctl status quickconnectd»" in told, told
    waiting = [ann.call("kiosk1", "logMessage", f"patient-{number}", expiry=9) for number in range(5)]
    kiosk.start_daemon()
    for data in waiting:
        assert body(ann.answer(data)) == {"responseData": None}
    assert kiosk.runs("short-patience") == 0 and [kiosk.runs(f"patient-{number}") for number in range(5)] == [1] * 5
    ann.wait(lambda: ann.messages("qc/kiosk1/status")[-1].payload == b"online", "online")


def daemon_off(stage):
    """A device whose daemon is off says so, to callers and in its info, until the daemon is back"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    kiosk.end("quickconnectd", signal.SIGKILL)
    ann.wait(lambda: ann.messages("qc/kiosk1/status")[-1].payload == b"offline", "offline", 20)
    info = body(ann.messages("qc/kiosk1/info")[-1])
    assert "its daemon does not run" in info["gone"]["reason"] and info["gone"]["since"] > info["since"] and info["commands"], info
    shown = stage.fleet("fleet").stdout.splitlines()
    line = next(each for each in shown if each.startswith("kiosk1"))
    assert "offline" in line and info["gone"]["since"] in line and "its daemon does not run" in line, shown
    call = stage.fleet("--device", "kiosk1", "call", "ping")
    assert call.returncode == 1 and "unavailable: the daemon does not answer: " in call.stderr, call
    kiosk.start_daemon()
    ann.wait(lambda: ann.messages("qc/kiosk1/status")[-1].payload == b"online", "online")
    ann.wait(lambda: "gone" not in body(ann.messages("qc/kiosk1/info")[-1]), "its info")
    kiosk.end("quickconnect-mqtt")
    ann.wait(lambda: "gone" in body(ann.messages("qc/kiosk1/info")[-1]), "its farewell")
    away = json.loads(stage.fleet("fleet", "--json").stdout)[0]
    assert away["status"] == "offline" and "was ended" in away["gone"]["reason"], away
    kiosk.start_gateway()


ALL = [answers, silence, feed, presence, taken_back, own_values, duplicates, order, expiry, daemon_away, daemon_off]
