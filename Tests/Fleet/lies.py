"""A broker that lies."""
import os
import signal
import struct

from broker import wait_until
from device import Device
from packets import (AUTH, CONNACK, DISCONNECT, EXPIRY, MAXIMUM_PACKET, PINGRESP, PUBACK, PUBCOMP, PUBREC, PUBREL, SUBACK, SUBSCRIPTION,
                     TOPIC_ALIAS, FakeBroker, correlation, length, packet, publish, response, text, user)
from stage import SETTINGS

CALL = "qc/kiosk3/call/ann/logMessage"
MINE = ("qc/kiosk3/reply/ann", "qc/kiosk3/event/", "qc/kiosk3/state/", "qc/kiosk3/status", "qc/kiosk3/info",
        "homeassistant/device/qc_kiosk3/config")


def malformed(stage):
    """A broker that sends what is not MQTT, or properties that are none, is left and tried again"""
    packets = [
        b"\x32\x7f",  # Ends in its middle.
        b"\x08\x00\x40qc",  # A response topic that is longer than the packet.
        b"\x09\xff\xff", b"\x02\x00", response("a") + response("b"), b"\x26\x00\x01a\x00\x05b", response(b"\xff\xfe"),
        b"\x30\x04\x00\x02\xff\xff", b"\xf0\x00", b"\x20\x02\x00\x00",
    ]
    pairs = []
    for number, data in enumerate(packets):
        fake = FakeBroker(data if data[0] > 0x0f and data[0] != 0x26 else publish("qc/kiosk3/call/ann/ping", b"[]", data))
        device = stage.keep(Device(stage.folder / f"fake{number}", stage.programs, "kiosk3", fake))
        device.start_gateway(wait=False)
        pairs.append((device, fake))
    for device, fake in pairs:
        # A packet that does not end is awaited until the connection ends.
        if fake.lie == b"\x32\x7f":
            fake.hang_up()
            fake.wait(lambda: fake.served >= 1, "the end of that connection")
            fake.hang_up()
        fake.wait(lambda: fake.served >= 2, f"another connection after {fake.lie}")
        assert device.running["quickconnect-mqtt"].poll() is None, device.log("quickconnect-mqtt")
        device.end("quickconnect-mqtt", signal.SIGKILL)
        stage.open.remove(device)
        fake.close()


def liar(stage, **more):
    """A device whose broker may say anything."""
    fake = stage.keep(FakeBroker(**more))
    device = stage.keep(Device(stage.place(f"liar{fake.port}"), stage.programs, "kiosk3", fake, SETTINGS).start())
    return fake, device


def answer(fake, seconds=15):
    """Answers a call that is made again and again, since each may meet a connection that has just been lost."""
    asked = []

    def is_answered():
        asked.append(fake.call("qc/kiosk3/call/ann/ping"))
        with fake.said:
            return fake.said.wait_for(lambda: any(fake.answers(data) for data in asked), 1)
    wait_until(is_answered, "an answer", seconds)
    assert all(len(fake.answers(data)) <= 1 for data in asked)


def stays(fake, device, lie, name):
    """Whether a device handles calls after a lie; else it must have left this broker, which is also right, and live."""
    served = fake.served
    fake.say(lie)
    data = fake.call("qc/kiosk3/call/ann/ping")
    fake.wait(lambda: fake.answers(data) or fake.served > served, f"what becomes of {name}")
    if fake.answers(data):
        return True
    # Its pauses, which grow if connections are short, are short again.
    assert device.end("quickconnect-mqtt") == 0, f"{name}\n{device.log('quickconnect-mqtt')[-2000:]}"
    device.start_gateway()
    return False


def lies(stage):
    """Whatever a broker says that is MQTT, the device lives, does what is a call once, and speaks below its own topics only"""
    fake, device = liar(stage)
    answer(fake)
    number = struct.pack(">H", 4711)
    data = os.urandom(65535)
    here = response("qc/kiosk3/reply/ann/here")
    packets = {
        "answers to nobody": packet(PUBACK, number) + packet(PUBREC, number) + packet(PUBREL, number, 2) + packet(PUBCOMP, number),
        "subscriptions of nobody": packet(SUBACK, number + b"\x00\x80"), "many subscriptions": packet(SUBACK, number + b"\x00" + b"\x01" * 300),
        "no subscription": packet(SUBACK, number + b"\x00"), "an answer to no question": packet(PINGRESP) * 100,
        "a second greeting": packet(CONNACK, b"\x00\x00\x00"), "authentication": packet(AUTH, b"\x18\x00"),
        "a refusal of everything": packet(PUBACK, number + b"\x87\x00"),
        "other topics": b"".join(publish(topic, b"not-mine", here) for topic in (
            "qc/kiosk4/call/ann/logMessage", "qc/group/other/call/ann/logMessage", "qc/kiosk3/call/ann", "qc/kiosk3/call/a b/logMessage",
            "qc/kiosk3/call/ann/logMessage/x", "QC/kiosk3/call/ann/logMessage", "qc//call/ann/logMessage", "x" * 65000)),
        "wildcards": publish("qc/kiosk3/call/+/logMessage", b"not-mine", here), "more of them": publish("qc/kiosk3/call/#", b"not-mine", here),
        "an alias": publish("", b"not-mine", bytes([TOPIC_ALIAS]) + b"\x00\x01"), "a number for nothing": publish(CALL, b"not-mine", number=0),
        "a third QoS": publish(CALL, b"not-mine", qos=3), "no UTF-8": publish(b"qc/kiosk3/call/ann/\xff", b"not-mine"),
        "a zero": publish(b"qc/kiosk3/call/ann/log\x00Message", b"not-mine"), "user properties": publish(CALL, b"not-mine", user(b"\xff", "a")),
        "a subscription's number": publish("qc/kiosk3/call/ann/ping", b"", bytes([SUBSCRIPTION]) + length(268435455)),
        "a million properties": publish("qc/kiosk3/call/ann/ping", b"", user("", "") * 200_000),
        "no time left": publish(CALL, b"not-mine", bytes([EXPIRY]) + b"\x00" * 4 + here),
        "a kept call": publish(CALL, b"not-mine", here, flags=1), "a goodbye": packet(DISCONNECT, b"\x8e"), "an empty goodbye": packet(DISCONNECT),
    }
    left = [name for name, lie in packets.items() if not stays(fake, device, lie, name)]
    assert len(left) < len(packets) / 2, left
    for topic in ("qc/kiosk3/reply/ann/+", "qc/kiosk3/reply/ann/#", "#", "qc/kiosk4/reply/ann/x", "qc/kiosk3/reply/bob/x", "x" * 65000, ""):
        fake.say(publish(CALL, b"not-mine", response(topic)))
    for spread in ("inf", "nan", "-0", "1e400", "0x10", "9" * 60000):
        fake.say(publish("qc/group/lobby/call/ann/ping", b"", here + user("spread", spread)))
    fake.say(publish(CALL, b"exactly-once", here + correlation(data)))
    fake.wait(lambda: fake.answers(data), "the answer with long data")
    for _ in range(3):
        fake.say(publish(CALL, b"exactly-once", here + correlation(data), flags=8))
    fake.say(publish(CALL, b"by-qos-2", here + correlation(b"two"), qos=2, number=77))
    fake.wait(lambda: fake.answers(b"two"), "the answer to a call with QoS 2")
    answer(fake)
    large = fake.call(CALL, b"x" * (10 << 20))
    assert b"tooLarge" in fake.wait(lambda: fake.answers(large), "the answer to 10 MiB", 30)[0].payload
    answer(fake)
    assert [device.runs(name) for name in ("exactly-once", "by-qos-2", "not-mine")] == [1, 1, 0], device.log_messages()[-2000:]
    assert len(fake.answers(data)) == 1
    elsewhere = {each.topic for each in fake.published if not each.topic.startswith(MINE)}
    assert not elsewhere and not any("+" in each.topic or "#" in each.topic for each in fake.published), elsewhere
    assert "another client named 'kiosk3'" in device.log("quickconnect-mqtt"), "a broker that says so is believed"
    device.stop()


def silence(stage):
    """A broker that acknowledges nothing gets so much and no more, and all that is new when it does again"""
    fake, device = liar(stage)
    answer(fake)
    fake.acknowledges = False
    device.say(*(f"call?cmd=innerProgress&msg={number % 10}" for number in range(3000)))
    waiting = device.call("mqtt", "state")["waiting"]
    assert waiting <= 220, waiting
    calls = len(fake.published)
    device.call("innerProgress", 8)
    fake.acknowledges = True
    fake.hang_up()
    fake.wait(lambda: any(each.topic == "qc/kiosk3/state/innerProgress" and each.payload == b"8" for each in fake.published[calls:]), "the newest")
    answer(fake)
    device.stop()


def small_packets(stage):
    """A broker that takes next to nothing is told next to nothing, and the device lives"""
    greeting = packet(CONNACK, b"\x00\x00" + length(5) + bytes([MAXIMUM_PACKET]) + struct.pack(">I", 60))
    fake, device = liar(stage, greeting=greeting)
    fake.call(CALL, b"done-all-the-same")
    wait_until(lambda: device.runs("done-all-the-same") == 1, "the call")
    wait_until(lambda: "nothing was published to qc/kiosk3/reply/ann/here" in device.log("quickconnect-mqtt"), "the log's line")
    assert all(len(each.payload) + len(each.topic) < 60 for each in fake.published)
    device.stop()


ALL = [malformed, lies, silence, small_packets]
