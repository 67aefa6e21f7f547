"""What Home Assistant learns."""
from broker import wait_until
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


ALL = [discovery]
