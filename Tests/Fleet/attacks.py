"""What malicious callers send: sizes, floods, names and packets."""
import os
import re
import struct

from broker import Broker, Caller, wait_until
from device import Device
from packets import PUBACK, RESPONSE_TOPIC, USER, Stranger, correlation, packet, publish, response, user
from stage import Stage, body, code


def sizes(stage):
    """Payloads of any size and kind are answered, and cost no memory for long"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    before = kiosk.memory("quickconnect-mqtt")
    for _ in range(3):
        assert code(ann.answer(ann.call("kiosk1", "logMessage", b"x" * (10 << 20)), 30)) == "tooLarge"
    assert code(ann.answer(ann.call("kiosk1", "logMessage", b"\xff\xfe"))) == "badRequest"
    assert code(ann.answer(ann.call("kiosk1", "logMessage", "[" * 600 + "]" * 600))) in ("tooLarge", "invalid")
    # A message larger than the broker's client allows is not even sent; its caller waits in vain, and the device lives.
    ann.call("kiosk1", "logMessage", b"x" * (20 << 20), wait=True)
    ann.answer(ann.call("kiosk1", "ping"))
    grown = kiosk.memory("quickconnect-mqtt") - before
    assert grown < 60 << 10, f"{grown} KiB more"


def long_properties(stage):
    """Correlation data of 64 KiB comes back as it was, and user properties without end cost nothing"""
    kiosk, ann = stage.kiosk1, stage.ann
    data = os.urandom(65535)
    assert "responseData" in body(ann.answer(ann.call("kiosk1", "ping", data=data)))
    ann.call("kiosk1", "logMessage", "long-data", data=data, wait=True)
    ann.answer(ann.call("kiosk1", "ping"))
    assert kiosk.runs("long-data") == 0, "the same data is the same call"
    assert "responseData" in body(ann.answer(ann.call("kiosk1", "ping", data=b"")))
    with Stranger(stage.broker, "bob") as stranger:
        many = response("qc/kiosk1/reply/bob/many") + user("spread", "x" * 60000) * 20
        kind, _, _ = stranger.say(publish("qc/kiosk1/call/bob/ping", b"", many))
        assert kind == PUBACK
    ann.answer(ann.call("kiosk1", "ping"))


def strangers(stage):
    """What a caller sends that is not MQTT stays with the broker, and what is MQTT harms no device"""
    # On its own broker: paho's thread ends at a property that some brokers pass on, and the client that hears everything would hear no more.
    stage = stage.keep(Stage(stage.place("strangers"), stage.programs))
    kiosk, ann, bob = stage.kiosk1, stage.ann, stage.bob
    pid = kiosk.running["quickconnect-mqtt"].pid
    ann.answer(ann.call("kiosk1", "ping"))
    mine = "qc/kiosk1/call/bob/logMessage"
    text = b"never-by-a-stranger"
    # Some brokers pass some of these on, after removing what is wrong with them.
    packets = [publish(mine, b"stranger-%d" % number, properties) for number, properties in enumerate((
        b"\xee\x01", b"\x08\x00\x40qc", b"\x09\xff\xff", response(b"\xff\xfe"), bytes([USER]) + b"\x00\x01a\x00\x05b",
        user("a", b"\xed\xa0\x80"), user("a", b"\x00"), response("a") * 2, correlation(b"a") * 2, b"\x01\x09", b"\x0b\x00",
        bytes([RESPONSE_TOPIC])))]
    packets += [publish(topic, text) for topic in ("qc/+/call/bob/logMessage", "qc/kiosk1/call/bob/#", b"qc/kiosk1/call/bob/\xff", b"",
                                                   b"qc/kiosk1/call/bob/log\x00Message")]
    packets += [publish(mine, text, qos=3), publish(mine, b"stranger-0", number=0), packet(3, b"\x00\x40qc", 2), packet(6, struct.pack(">H", 3), 2),
                b"\x32\xff\xff\xff\xff\xff", b"\xf0\x02\x18\x00"]
    for data in packets:
        with Stranger(stage.broker, "bob") as stranger:
            stranger.say(data)
    # These are MQTT, and reach the device.
    for topic in ("qc/kiosk1/reply/bob/#", "qc/kiosk1/reply/bob/+", "#", "qc/kiosk1/reply/bob/" + "x" * 60000):
        with Stranger(stage.broker, "bob") as stranger:
            stranger.say(publish(mine, text, response(topic)))
    with Stranger(stage.broker, "bob") as stranger:
        stranger.say(publish(mine, text, response("qc/kiosk1/reply/bob/here") + correlation(b"kept"), flags=1))
    assert code(bob.answer(b"kept")) == "badRequest"
    with Stranger(stage.broker, "bob") as stranger:
        stranger.say(publish(mine, b"", flags=1))
    ann.answer(ann.call("kiosk1", "ping"))
    assert kiosk.runs(text.decode()) == 0 and all(kiosk.runs(f"stranger-{number}") <= 1 for number in range(12))
    assert kiosk.running["quickconnect-mqtt"].pid == pid and kiosk.running["quickconnect-mqtt"].poll() is None
    stage.stop()


def names(stage):
    """A name that a broker without rights lets anybody have is no user of the device, and a name that is none is nobody"""
    broker = stage.keep(Broker(stage.place("open-broker")).start())
    mappings = 'volume: {allow: {users: ["mqtt:ann"]}}\n'
    device = stage.keep(Device(stage.place("names"), stage.programs, "Kiosk-1.a_b", broker, "homeAssistant: true", mappings=mappings).start())
    somebody = stage.keep(Caller(broker, "somebody", topics=("qc/+/reply/#", "homeassistant/#")))
    for name in ("root", "0", "quickconnect-mqtt", "web", "somebody", "mqtt", "-", "."):
        data = somebody.call(device.name, "volume", "[10]", caller=name)
        assert code(somebody.answer(data)) == "denied", name
    assert "responseData" in body(somebody.answer(somebody.call(device.name, "volume", "[11]", caller="ann")))
    asked = [somebody.call(device.name, "logMessage", "by-nobody", caller=name)
             for name in ("mqtt:ann", "a b", "ä", "ann\u200b", "x" * 65, "ann;root")]
    somebody.answer(somebody.call(device.name, "ping"))
    assert device.runs("by-nobody") == 0 and not any(somebody.answers(data) for data in asked)
    told = [each for each in somebody.heard if each.topic.startswith("homeassistant/")]
    assert told and re.fullmatch(r"homeassistant/device/qc_[a-zA-Z0-9_-]+/config", told[-1].topic), told
    device.stop()


def too_large_for_the_broker(stage):
    """An answer that the broker does not take is told to whoever waits for it"""
    broker = stage.keep(Broker(stage.place("small-broker"), lines=["max_packet_size 3000"]).start())
    device = stage.keep(Device(stage.place("small"), stage.programs, "kiosk1", broker).start())
    ann = stage.keep(Caller(broker, "ann"))
    answer = body(ann.answer(ann.call("kiosk1", "commands")))["error"]
    assert answer["code"] == "tooLarge" and answer["cmd"] == "commands" and "the call was done" in answer["message"], answer
    assert "responseData" in body(ann.answer(ann.call("kiosk1", "ping")))
    assert "nothing was published to qc/kiosk1/reply/ann/here" in device.log("quickconnect-mqtt")
    device.stop()


def flood(stage):
    """A caller's flood costs him his answers, and nobody else's"""
    kiosk, ann, bob = stage.kiosk1, stage.ann, stage.bob
    bob.answer(bob.call("kiosk1", "ping"))
    before = kiosk.memory("quickconnect-mqtt")
    sent = [ann.call("kiosk1", "logMessage", f"flood-{number:05}", qos=0) for number in range(3000)]
    for _ in range(10):
        assert "responseData" in body(bob.answer(bob.call("kiosk1", "ping"), 10))
    ann.answer(ann.call("kiosk1", "ping"), 20)
    assert all(len(ann.answers(data)) <= 1 for data in sent)
    assert sum(len(ann.answers(data)) for data in sent) > 500
    grown = kiosk.memory("quickconnect-mqtt") - before
    assert grown < 60 << 10, f"{grown} KiB more"


def flood_without_daemon(stage):
    """While the daemon is away so much of a caller's waits and no more, and the rest is told at once"""
    kiosk, ann, bob = stage.kiosk1, stage.ann, stage.bob
    ann.answer(ann.call("kiosk1", "ping"))
    before = kiosk.memory("quickconnect-mqtt")
    kiosk.end("quickconnectd")
    large = [ann.call("kiosk1", "logMessage", b"x" * (1 << 20), expiry=9, wait=True) for _ in range(40)]
    long = [ann.call("kiosk1", "ping", data=os.urandom(60000), expiry=9) for _ in range(300)]
    small = [ann.call("kiosk1", "ping", expiry=9) for _ in range(3000)]
    # bob's calls wait besides hers.
    his = bob.call("kiosk1", "ping", expiry=60)
    codes = lambda calls: [code(each) for data in calls for each in ann.answers(data) if b'"error"' in each.payload]
    ann.wait(lambda: all("overloaded" in codes(calls) for calls in (large, long, small)), "the refusals", 30)
    grown = kiosk.memory("quickconnect-mqtt") - before
    assert grown < 80 << 10, f"{grown} KiB more"
    kiosk.start_daemon()
    wait_until(ann.is_answered, "calls again")
    assert len(bob.wait(lambda: bob.answers(his), "bob's answer")) == 1 and "responseData" in body(bob.answers(his)[0])
    # Refusals beyond those that may wait for the broker are left out; nobody gets two.
    every = large + long + small
    assert all(len(ann.answers(data)) <= 1 for data in every) and set(codes(every)) <= {"overloaded", "timeout", "unavailable"}


ALL = [sizes, long_properties, strangers, names, too_large_for_the_broker, flood, flood_without_daemon]
