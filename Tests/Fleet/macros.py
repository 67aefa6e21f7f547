"""Macros that are saved on each device of a group."""
from broker import Broker, Caller
from device import Device
from stage import ACL, MAPPINGS, MORE, SETTINGS, USERS, body, code

TEXT = "function() { return 'hello from the fleet'; }"
ALLOWED = MAPPINGS + 'macro: {verbs: {save: {users: ["mqtt:ann"]}}}\n'


def as_shipped(stage):
    """A macro is saved on no device where the owner has not listed it"""
    stage.kiosk1, stage.kiosk2
    ann = stage.ann
    ann.answer(ann.call("kiosk2", "ping"))
    done = stage.fleet("--device", "group:lobby", "call", "macro", "save", "greet", TEXT)
    assert done.returncode == 1 and done.stdout.count("denied") == 2 and "2 refused" in done.stderr, done
    # If only the gateway's list allows it, the list of the socket does not.
    alone = stage.keep(Broker(stage.place("macro-broker"), ACL + MORE, USERS).start())
    device = stage.keep(Device(stage.place("macro-device"), stage.programs, "kiosk1", alone,
                               SETTINGS.replace("commands: [", "commands: [macro, "), ["never", "slow", "bell"], ALLOWED).start())
    caller = stage.keep(Caller(alone, "ann"))
    assert code(caller.answer(caller.call(device.name, "macro", f'["save", "greet", "{TEXT}"]'))) == "denied"


def listed(stage):
    """A macro is saved on each device of a group where the owner has listed it, and by whom the mapping lets"""
    broker = stage.keep(Broker(stage.place("lobby-broker"), ACL + MORE, USERS).start())
    devices = [stage.keep(Device(stage.place("lobby"), stage.programs, f"kiosk{number}", broker,
                                 SETTINGS.replace("commands: [", "commands: [macro, "), ["never", "slow", "bell", "macro"], ALLOWED).start())
               for number in (1, 2)]
    for device in devices:
        device.start_scripts()
    ann, bob = stage.keep(Caller(broker, "ann")), stage.keep(Caller(broker, "bob"))
    done = stage.fleet("--device", "group:lobby", "call", "macro", "save", "greet", TEXT, broker=broker)
    assert done.returncode == 0 and done.stdout.count('"version":1') == 2 and "2 devices: 2 done" in done.stderr, done
    for device in devices:
        assert device.call("macro", "run", "greet") == "hello from the fleet"
    wrong = stage.fleet("--device", "group:lobby", "call", "macro", "save", "greet", "function( {", broker=broker)
    assert wrong.returncode == 1 and wrong.stdout.count("invalid") == 2, wrong
    assert code(bob.answer(bob.call("kiosk1", "macro", f'["save", "greet", "{TEXT}"]'))) == "denied"
    assert body(ann.answer(ann.call("kiosk2", "macro", '["run", "greet"]')))["responseData"] == "hello from the fleet"
    history = body(ann.answer(ann.call("kiosk1", "macro", '["history", "greet"]')))["responseData"]
    assert "ann" in str(history), history


ALL = [as_shipped, listed]
