"""Who may what."""
import os

from broker import wait_until
from stage import body, code


def rights(stage):
    """The broker holds callers to their names, and the device to the rules for them"""
    kiosk, other, ann, bob = stage.kiosk1, stage.kiosk2, stage.ann, stage.bob
    forged = []
    for caller, target, name in ((bob, "kiosk1", "ann"), (bob, "kiosk2", "bob"), (bob, "group/lobby", "bob")):
        data = caller.call(target, "logMessage", f"{caller.user} as {name} to {target}", caller=name)
        forged.append((caller, data))
    assert code(bob.answer(bob.call("kiosk1", "volume", "[10]"))) == "denied"
    assert "responseData" in body(ann.answer(ann.call("kiosk1", "volume", "[10]")))
    assert code(ann.answer(ann.call("kiosk1", "reload"))) == "denied"
    assert code(ann.answer(ann.call("kiosk1", "middleProgress"))) == "denied"
    for command in ("subscribe", "registerHandler", "actFor", "cancel"):
        assert code(ann.answer(ann.call("kiosk1", command, '["x"]'))) == "unsupported"
    for payload in ('["root"],"caller":{"user":"root"}', '{"user":"root","cmd":"rec"}', "null,\"callbackId\":\"x\"}\n{\"handlerName\":\"rec\"",
                    "&cmd=rec&msg=x", "x\ncall?cmd=rec"):
        assert body(ann.answer(ann.call("kiosk1", "logMessage", payload))) == {"responseData": None}
    ann.answer(ann.call("kiosk2", "ping"))
    assert not any(caller.answers(data) for caller, data in forged) and " to kiosk2" not in other.log_messages()
    assert " as ann " not in kiosk.log("quickconnectd") and "group/lobby" not in kiosk.log_messages()
    audited = [line for line in kiosk.log("quickconnectd").splitlines() if "command=volume" in line]
    assert any("mqtt:ann" in line or "ann" in line for line in audited), audited
    assert "command=rec " not in "".join(line for line in kiosk.log("quickconnectd").splitlines() if "mqtt" in line and "allowed=yes" in line)


def response_topics(stage):
    """A response topic that is not the caller's own of this device is not used, and the call is not done"""
    kiosk, ann, observer = stage.kiosk1, stage.ann, stage.observer
    for number, topic in enumerate(("qc/kiosk2/call/ann/logMessage", "qc/kiosk1/reply/bob/x", "qc/kiosk2/reply/ann/x", "qc/kiosk1/status",
                                    "qc/kiosk1/reply/ann", "homeassistant/x", "qc/kiosk1/reply/ann/")):
        answer = ann.answer(ann.call("kiosk1", "logMessage", f"elsewhere-{number}", response=topic))
        assert answer.topic == "qc/kiosk1/reply/ann" and code(answer) == "badRequest"
        assert kiosk.runs(f"elsewhere-{number}") == 0
        assert not [each for each in observer.messages(topic) if each.payload not in (b"online", b"offline")] or topic == "qc/kiosk1/reply/ann"


def retained(stage):
    """A retained call never runs, neither when it comes nor when the device comes back"""
    kiosk, ann = stage.kiosk1, stage.ann
    data = os.urandom(8)
    topic = "qc/kiosk1/call/ann/logMessage"
    ann.publish(topic, "retained-call", retain=True, CorrelationData=data, ResponseTopic="qc/kiosk1/reply/ann/here")
    assert code(ann.answer(data)) == "badRequest"
    kiosk.end("quickconnect-mqtt")
    kiosk.start_gateway()
    ann.answer(ann.call("kiosk1", "ping"))
    ann.publish(topic, b"", retain=True)
    ann.answer(ann.call("kiosk1", "ping"))
    assert kiosk.runs("retained-call") == 0 and len(ann.answers(data)) == 1


ALL = [rights, response_topics, retained]
