"""What Home Assistant learns."""
from broker import Broker, Caller, wait_until
from device import Device
from stage import MAPPINGS, body


def discovery(stage):
    """Home Assistant is told of what the device can do, and again when that changes"""
    kiosk, observer = stage.kiosk1, stage.observer
    topic = "homeassistant/device/qc_kiosk1/config"
    message = observer.wait(lambda: observer.messages(topic), "the discovery")[-1]
    told = body(message)
    parts = told["components"]
    assert told["device"]["identifiers"] == ["qc_kiosk1"] and told["origin"]["name"] and told["availability"] == [{"topic": "qc/kiosk1/status"}]
    assert all(part["platform"] and part["unique_id"].startswith("qc_kiosk1_") for part in parts.values())
    assert len({part["unique_id"] for part in parts.values()}) == len(parts)
    assert {"sound_0", "playSound", "volume", "rec", "location", "vibrate", "event_doorbell", "doctor", "innerProgress"} <= set(parts), set(parts)
    assert "stop" not in parts and "play" not in parts, "taken out, and not on the list"
    assert parts["innerProgress"]["unit_of_measurement"] == "%" and parts["innerProgress"]["platform"] == "number"
    assert parts["sound_0"]["command_topic"] == "qc/kiosk1/call/ha/playSound" and parts["sound_0"]["payload_press"] == "[0]"
    # A button's message is a call.
    ha = stage.caller("ha")
    ha.publish(parts["vibrate"]["command_topic"], parts["vibrate"]["payload_press"], qos=parts["vibrate"]["qos"])
    wait_until(lambda: "ha" in "".join(line for line in kiosk.log("quickconnectd").splitlines() if "command=playSound" in line), "its call")
    count = len(observer.messages(topic))
    (kiosk.folder / "mappings" / "zz-tests.yaml").write_text(MAPPINGS.replace('homeAssistant: {unit_of_measurement: "%"}', "homeAssistant: false"))
    kiosk.call("reload")
    again = body(observer.wait(lambda: observer.messages(topic)[count:], "the discovery again")[-1])
    assert again["components"]["innerProgress"] == {"platform": "number"}, again["components"]["innerProgress"]


def home_declared(stage):
    """With «values: own» an event is published, and a schedule with its next run and a button for those who may run it"""
    broker = stage.keep(Broker(stage.place("declared-broker")).start())
    declared = """
bell: {help: The bell., event: {type: object}, post: {users: ["mqtt:ha"]}, homeAssistant: {device_class: doorbell}}
night: {help: Dark at ten., schedule: {at: "22:00"}, call: [logMessage, good-night], set: {users: ["mqtt:ha"]}}
dawn: {help: In the morning., schedule: {at: "06:00"}, allow: {users: ["mqtt:ha"]}}
inner: {help: Nobody's., schedule: {every: 1h}}
"""
    device = stage.keep(Device(stage.place("declared"), stage.programs, "kiosk1", broker, "values: own\n  homeAssistant: true", mappings=declared).start())
    looker = stage.keep(Caller(broker, "looker", topics=("qc/kiosk1/state/#", "qc/kiosk1/event/#", "homeassistant/#")))
    heard = lambda topic: [each for each in looker.heard if each.topic == f"qc/kiosk1/{topic}" and each.payload]
    last = lambda name: body(heard(f"state/{name}")[-1]) if heard(f"state/{name}") else None
    wait_until(lambda: last("night") and last("dawn"), "the schedules' states")
    assert last("night")["next"] > 0 and last("night")["last"] is None, last("night")
    parts = lambda: body([each for each in looker.heard if each.topic.endswith("/config")][-1])["components"]
    wait_until(lambda: [each for each in looker.heard if each.topic.endswith("/config")] and "next_night" in parts(), "the sensor")
    assert {"event_bell", "event_night", "night", "next_night", "event_dawn", "next_dawn"} <= set(parts())
    assert "dawn" not in parts() and not any("inner" in name for name in parts()), "nobody of the broker may run it; nobody there is named"
    assert parts()["event_bell"]["device_class"] == "doorbell" and parts()["next_night"]["device_class"] == "timestamp"
    # What the button sends runs it: its event, and its state again, when its call has ended.
    ha = stage.keep(Caller(broker, "ha"))
    press = parts()["night"]
    ha.publish(press["command_topic"], press["payload_press"], qos=press["qos"])
    wait_until(lambda: heard("event/night"), "its event")
    assert body(heard("event/night")[0])["missed"] is False
    wait_until(lambda: (last("night") or {}).get("result") == "ok", "its end")
    wait_until(lambda: "good-night" in device.log("quickconnectd"), "its call")
    assert body(ha.answer(ha.call("kiosk1", "dawn", '["run"]')))["error"]["code"] == "denied"
    device.call("post", "bell", {"door": 1})
    wait_until(lambda: heard("event/bell"), "the bell")
    assert body(heard("event/bell")[0]) == {"door": 1}
    # Another time is told, and what is gone is taken away.
    before = last("night")["next"]
    (device.folder / "mappings" / "zz-tests.yaml").write_text(declared.replace("22:00", "22:30").replace("dawn:", "dusk:"))
    device.call("reload")
    wait_until(lambda: (last("night")["next"] - before) % 86_400_000 == 1_800_000, "the new time")
    wait_until(lambda: parts().get("next_dawn") == {"platform": "sensor"} and "next_dusk" in parts(), "the other name")
    wait_until(lambda: [each for each in looker.heard if each.topic == "qc/kiosk1/state/dawn"][-1].payload == b"", "the state that is gone")
    device.stop()


ALL = [discovery, home_declared]
