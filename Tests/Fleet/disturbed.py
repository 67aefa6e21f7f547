"""Brokers and gateways that get lost, killed, slow and full."""
import signal
import subprocess
import threading
import time

from broker import Caller, wait_until
from stage import body


def burst(stage, name, disturb, calls=300, seconds=40):
    """Calls with a disturbance in the middle. Each has one answer or none, and none ran twice."""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    sent = {}
    third = threading.Event()

    def send():
        for number in range(calls):
            if number == calls // 3:
                third.set()
            text = f"{name}-{number:04}"
            sent[text] = ann.call("kiosk1", "logMessage", text, expiry=20)
            # So that the disturbance comes in the middle.
            time.sleep(0.002)
    sender = threading.Thread(target=send)
    sender.start()
    third.wait(30)
    # In this thread: what a thread starts ends with it.
    disturb()
    sender.join(30)
    wait_until(ann.is_answered, "calls again", seconds)
    # Some answers may be lost, and nothing reports that none will come.
    ann.hears(lambda: all(ann.answers(data) for data in sent.values()), 5)
    counts = {text: (len(ann.answers(data)), kiosk.runs(text)) for text, data in sent.items()}
    assert all(answers <= 1 for answers, _ in counts.values()), f"answered twice: {counts}"
    assert all(runs <= 1 for _, runs in counts.values()), f"run twice: {[text for text in counts if counts[text][1] > 1]}"
    assert all(runs == 1 for answers, runs in counts.values() if answers), "answered, and not done"
    answered = sum(answers for answers, _ in counts.values())
    return answered, sum(runs for _, runs in counts.values())


def broker_restarts(stage):
    """A broker that is restarted in the middle of calls loses none, and none runs or is answered twice"""
    answered, ran = burst(stage, "restarted", lambda: stage.broker.restart())
    # Answers on their way are not sent again, because they may have arrived.
    assert ran == 300 and answered >= 200, f"{answered} answered, {ran} done of 300"


def broker_killed(stage):
    """A broker that is killed in the middle of calls: each has one answer or none, and none runs twice"""
    answered, ran = burst(stage, "killed", lambda: stage.broker.restart(signal.SIGKILL))
    assert answered >= 200, f"{answered} answered, {ran} done of 300"


def gateway_killed(stage):
    """A gateway that is killed in the middle of calls: each has one answer or none, and none runs twice"""
    def kill():
        stage.kiosk1.end("quickconnect-mqtt", signal.SIGKILL)
        stage.kiosk1.start_gateway()
    for number in range(3):
        answered, ran = burst(stage, f"gateway-killed-{number}", kill)
        assert answered >= 150 and ran >= answered, f"{answered} answered, {ran} done of 300"


def broker_slow(stage):
    """A broker that stands still for seconds: each call has its one answer afterwards"""
    def stand():
        stage.broker.pause()
        # The disturbance itself.
        time.sleep(4)
        stage.broker.resume()
    answered, ran = burst(stage, "slow", stand)
    assert answered == 300 and ran == 300, f"{answered} answered, {ran} done of 300"


def broker_later(stage):
    """A device that is there before its broker finds it, and says what it is"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    kiosk.end("quickconnect-mqtt")
    stage.broker.stop()
    before = kiosk.log("quickconnect-mqtt").count("trying again")
    kiosk.start_gateway(wait=False)
    wait_until(lambda: kiosk.log("quickconnect-mqtt").count("trying again") > before, "an attempt", 40)
    ann.up.clear()
    before = len(ann.heard)
    stage.broker.start()
    assert ann.up.wait(20)
    wait_until(ann.is_answered, "calls", 40)
    ann.wait(lambda: any(each.topic == "qc/kiosk1/status" and each.payload == b"online" for each in ann.heard[before:]), "its status")


def queue_full(stage):
    """While the broker is away, so much waits and no more: the newest values, and the newest events"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    stage.broker.stop()
    kiosk.say(*(line for number in range(3000) for line in (f"call?cmd=post&msg=%5B%22doorbell%22%2C{number}%5D",
                                                            f"call?cmd=innerProgress&msg={number % 10}")))
    waiting = lambda: kiosk.call("mqtt", "state")
    wait_until(lambda: waiting()["droppedEvents"] > 1000, "events that are left out")
    state = waiting()
    assert state["connected"] is False and state["waiting"] <= 200 + 20, state
    before = len(ann.heard)
    # Ann connects first: she does not get what is published before she has subscribed.
    kiosk.signal("quickconnect-mqtt", signal.SIGSTOP)
    ann.up.clear()
    stage.broker.start()
    assert ann.up.wait(20)
    ann.publish("qc/kiosk1/call/ann/ping")
    kiosk.signal("quickconnect-mqtt", signal.SIGCONT)
    wait_until(ann.is_answered, "calls again", 40)
    bells = [int(each.payload) for each in ann.heard[before:] if each.topic == "qc/kiosk1/event/doorbell"]
    assert bells and bells == sorted(bells) and bells[-1] == 2999 and len(bells) <= 201, bells
    values = [each.payload for each in ann.heard[before:] if each.topic == "qc/kiosk1/state/innerProgress"]
    assert values and values[-1] == b"9" and len(values) <= 3, values
    report = subprocess.run([stage.programs / "quickconnect", "doctor", "--socket", kiosk.folder / "socket"], capture_output=True, text=True)
    assert "fleet" in report.stdout and "left out" in report.stdout, report.stdout


def our_name(stage):
    """Another client with the device's name is told of, and does not keep the device away"""
    kiosk, ann = stage.kiosk1, stage.ann
    ann.answer(ann.call("kiosk1", "ping"))
    # Its pauses are then short again.
    kiosk.end("quickconnect-mqtt")
    kiosk.start_gateway()

    def told():
        # mosquitto 2.0.11 does not say why it disconnects a client; the device reports that it happens again and again.
        Caller(stage.broker, "kiosk1", client_id="kiosk1").close()
        wait_until(ann.is_answered, "calls again", 40)
        return "another client named 'kiosk1'" in kiosk.log("quickconnect-mqtt")
    wait_until(told, "the log's line", 60)
    wait_until(ann.is_answered, "calls again", 40)


def crowd(stage):
    """More callers than connections: each is answered"""
    kiosk = stage.kiosk1
    callers = [stage.keep(Caller(stage.broker, f"crowd{number}")) for number in range(40)]
    for caller in callers:
        assert body(caller.answer(caller.call("kiosk1", "hello")))
    state = kiosk.call("mqtt", "state")
    assert 1 <= state["callers"] <= 32, state
    groups = kiosk.call("state")["connections"]
    mine = [each for each in groups if each["for"].get("gateway") == "mqtt"]
    assert sum(each["count"] for each in mine) <= 33 and all(each["for"]["user"] for each in mine), mine
    for caller in callers:
        stage.open.remove(caller)
        caller.close()


ALL = [broker_later, broker_restarts, broker_killed, gateway_killed, broker_slow, queue_full, our_name, crowd]
