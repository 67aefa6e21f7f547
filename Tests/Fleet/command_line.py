"""quickconnect --device, quickconnect fleet and --check; certificates and credentials."""
import json
import os
import pty
import re
import select
import signal
import subprocess

from broker import ROOT, Broker, Caller, ends_with_caller, wait_until
from certificates import make_authority
from device import Device
from stage import ACL, body


def groups(stage):
    """A call to a group is answered by each member, in its own name, within the spread"""
    stage.kiosk1, stage.kiosk2
    ann = stage.ann
    ann.answer(ann.call("kiosk2", "ping"))
    data = ann.call("group/lobby", "logMessage", "to-the-lobby", spread=0.5)
    ann.wait(lambda: len(ann.answers(data)) == 2, "two answers")
    assert all("responseData" in body(each) for each in ann.answers(data)), [each.payload for each in ann.answers(data)]
    assert {each.topic for each in ann.answers(data)} == {"qc/kiosk1/reply/ann/here", "qc/kiosk2/reply/ann/here"}
    wait_until(lambda: [stage.kiosk(number).runs("to-the-lobby") for number in (1, 2)] == [1, 1], "the log's lines")


def command_line(stage):
    """quickconnect --device and quickconnect fleet reach devices elsewhere, with the exit status of a call here"""
    stage.kiosk1, stage.kiosk2
    ann = stage.ann
    wait_until(lambda: len({each.topic for each in ann.heard if each.topic.endswith("/info")}) == 2, "both")
    one = stage.fleet("--device", "kiosk1", "call", "innerProgress", "4")
    assert (one.returncode, one.stdout) == (0, "4\n"), one
    assert stage.fleet("--device", "kiosk1", "innerProgress").stdout == "4\n"
    assert stage.fleet("--device=kiosk1", "--timeout", "5", "call", "playSound", "-1").returncode == 0
    assert stage.fleet("--device", "kiosk1", "set", "innerProgress", "5").stdout == "5\n"
    assert stage.fleet("--device", "group:lobby", "set", "innerProgress", "4").stdout.count("  4\n") == 2
    text = stage.fleet("--device", "kiosk1", "set", "signText", "12")
    assert (text.returncode, text.stdout) == (0, '"12"\n'), text
    command = stage.fleet("--device", "kiosk1", "set", "ping", "1")
    assert command.returncode == 2 and "'ping' is a command and no value: «quickconnect --device kiosk1 call ping 1»" in command.stderr, command
    usage = stage.fleet("--device", "kiosk1", "set", "innerProgress")
    assert usage.returncode == 2 and "See 'quickconnect-mqtt set --help'" in usage.stderr, usage
    refused = stage.fleet("--device", "kiosk1", "call", "innerProgress", "x")
    assert refused.returncode == 1 and "invalid: " in refused.stderr, refused
    # The broker reports that nobody is there, unless somebody listens to everything.
    assert stage.fleet("--device", "kiosk9", "call", "ping").returncode in (3, 4)
    for words in (("call", "ping"), ("events",)):
        assert "did you mean 'kiosk1'" in stage.fleet("--device", "kisok1", *words).stderr, words
    assert "playState\n" in stage.fleet("--device", "kiosk1", "events").stdout
    assert stage.fleet("--device", "a/b", "call", "ping").returncode == 2
    assert stage.fleet("--device", "kiosk1", "run", "x.js").returncode == 2
    assert stage.fleet("--device", "group:other", "call", "ping").returncode in (1, 3)
    both = stage.fleet("--device", "group:lobby", "call", "--spread", "0.2", "sounds")
    assert both.returncode == 0 and sorted(line.split()[0] for line in both.stdout.splitlines()) == ["kiosk1", "kiosk2"], both
    assert "2 devices: 2 done" in both.stderr
    assert "playSound" in stage.fleet("--device", "kiosk1", "list").stdout
    assert "any" in stage.fleet("--device", "kiosk1", "explain", "playSound").stdout
    assert "No problems found" in stage.fleet("--device", "kiosk1", "doctor").stdout
    fleet = json.loads(stage.fleet("fleet", "--json").stdout)
    assert [each["device"] for each in fleet] == ["kiosk1", "kiosk2"] and all(each["status"] == "online" for each in fleet), fleet
    assert all(each["version"] and each["since"] and each["ok"] is True for each in fleet), fleet
    assert "kiosk2" in stage.fleet("fleet").stdout
    stage.kiosk2.end("quickconnect-mqtt")
    away = stage.fleet("--device", "kiosk2", "call", "--timeout", "2", "ping")
    assert away.returncode == 4 and "away" in away.stderr, away
    assert "offline" in stage.fleet("fleet").stdout
    stage.kiosk2.start_gateway()
    hear_events(stage, "kiosk1", {"event": "doorbell", "data": 5})
    stage.ann.wait(lambda: ann.messages("qc/kiosk2/status")[-1].payload == b"online", "kiosk2")
    hear_events(stage, "group:lobby", {"device": "kiosk1", "event": "doorbell", "data": 5})


def hear_events(stage, device, line):
    """quickconnect events prints that line for an event that is posted meanwhile."""
    process = subprocess.Popen([stage.programs / "quickconnect", "--device", device, "events", "doorbell"], stdout=subprocess.PIPE, text=True,
                               env=stage.elsewhere(), preexec_fn=ends_with_caller)

    def is_heard():
        # It subscribes without a message, so events are posted until it receives one.
        stage.kiosk1.call("post", "doorbell", 5)
        return select.select([process.stdout], [], [], 0.3)[0]
    wait_until(is_heard, "an event")
    assert json.loads(process.stdout.readline()) == line
    process.terminate()
    process.wait(10)


def elsewhere_shown(stage):
    """The page's loop shows another device's value, and nothing while that device is offline"""
    stage.kiosk1, stage.kiosk2
    loop = re.search(r"<!-- tested: Tests/Fleet -->\n```sh\n(.*?)```", (ROOT / "docs" / "fleet.md").read_text(), re.S)[1]
    loop = loop.replace("weather", "kiosk2").replace("temperature", "innerProgress")
    process = subprocess.Popen(["bash", "-c", loop], stdout=subprocess.DEVNULL, start_new_session=True, preexec_fn=ends_with_caller, env={
        **stage.elsewhere(), "PATH": f"{stage.programs.resolve()}:/usr/bin:/bin", "QUICKCONNECT_SOCKET": str(stage.kiosk1.folder / "socket")})
    try:
        stage.kiosk2.call("innerProgress", 7)
        shown = lambda text: wait_until(lambda: stage.kiosk1.call("signText") == text, f"the sign «{text}»")
        shown("7 °C")
        stage.kiosk2.end("quickconnect-mqtt")
        shown("")
        stage.kiosk2.start_gateway()
        shown("7 °C")
    finally:
        os.killpg(process.pid, signal.SIGTERM)


def group_answers(stage):
    """A group's call prints a line for each device and a summary, and ends as the worst of its answers"""
    stage.kiosk1, stage.kiosk2
    ann = stage.ann
    ann.answer(ann.call("kiosk2", "ping"))
    lobby = lambda *words: stage.fleet("--device", "group:lobby", *words)
    refused = lobby("call", "innerProgress", "x")
    assert refused.returncode == 1 and refused.stdout.count("invalid: ") == 2 and "2 devices: 0 done, 2 refused" in refused.stderr, refused
    lines = [json.loads(line) for line in lobby("call", "--json", "innerProgress", "3").stdout.splitlines()]
    assert sorted(line["device"] for line in lines) == ["kiosk1", "kiosk2"] and all(line["value"] == 3 for line in lines), lines
    errors = [json.loads(line) for line in lobby("call", "--json", "reload").stdout.splitlines()]
    assert len(errors) == 2 and all(line["error"]["code"] == "denied" for line in errors), errors
    doctor = lobby("doctor")
    assert doctor.returncode == 0 and doctor.stdout.count("ok") == 2, doctor
    assert lobby("list").returncode == 2
    stage.kiosk2.signal("quickconnect-mqtt", signal.SIGSTOP)
    silent = lobby("call", "--timeout", "3", "ping")
    stage.kiosk2.signal("quickconnect-mqtt", signal.SIGCONT)
    assert silent.returncode == 4 and silent.stdout.split() == ["kiosk1", "null"], silent
    assert "2 devices: 1 done, 1 silent" in silent.stderr and "no answer in time from kiosk2" in silent.stderr, silent
    assert "away" not in silent.stderr, silent
    stage.kiosk2.end("quickconnect-mqtt")
    absent = lobby("call", "ping")
    assert (absent.returncode, absent.stdout, absent.stderr) == (0, "kiosk1  null\n", "away: kiosk2\n1 device: 1 done\n"), absent
    lines = [json.loads(line) for line in lobby("call", "--json", "ping").stdout.splitlines()]
    assert lines == [{"device": "kiosk1", "value": None}, {"device": "kiosk2", "away": True}], lines
    stage.kiosk2.start_gateway()


def progress(stage):
    """Whoever waits at a terminal is told for whom, and a program is not"""
    stage.kiosk1, stage.kiosk2
    stage.ann.answer(stage.ann.call("kiosk2", "ping"))
    stage.kiosk2.signal("quickconnect-mqtt", signal.SIGSTOP)
    shown = {}
    for target in ("kiosk2", "group:lobby"):
        terminal, end = pty.openpty()
        process = subprocess.Popen([stage.programs / "quickconnect", "--device", target, "call", "--timeout", "3", "ping"], stderr=end,
                                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=stage.elsewhere(), preexec_fn=ends_with_caller)
        os.close(end)
        assert process.wait(20) == 4
        shown[target] = os.read(terminal, 1 << 16).decode()
        os.close(terminal)
    told = stage.fleet("--device", "kiosk2", "call", "--timeout", "3", "ping").stderr
    stage.kiosk2.signal("quickconnect-mqtt", signal.SIGCONT)
    assert "waiting for kiosk2 …" in shown["kiosk2"] and "no answer in time from kiosk2" in shown["kiosk2"], shown
    assert "waiting for kiosk2, 1 answered …" in shown["group:lobby"], shown
    assert "waiting" not in told and "\x1b" not in told and "no answer in time" in told, told


def credentials(stage):
    """User and password come from the credentials of systemd where the settings have none, and an empty one is none"""
    broker = stage.keep(Broker(stage.place("credentials-broker"), users=("kiosk1", "ann")).start())
    device = stage.keep(Device(stage.place("credentials"), stage.programs, "kiosk1", broker))
    settings = device.folder / "settings.yaml"
    settings.write_text(settings.read_text().replace("user: kiosk1\n  passwordFile: password\n  ", ""))
    folder = device.folder / "credentials"
    folder.mkdir()

    def tell(user, password):
        (folder / "mqtt.user").write_text(user)
        (folder / "mqtt.password").write_text(password)
    device.start_daemon()
    for user, password in (("\n", "\n"), ("kiosk1\n", "wrong\n")):
        tell(user, password)
        before = device.log("quickconnect-mqtt").count("not authorized")
        device.start_gateway(wait=False, CREDENTIALS_DIRECTORY=folder)
        wait_until(lambda: device.log("quickconnect-mqtt").count("not authorized") > before, "the refusal")
        device.end("quickconnect-mqtt")
    tell("kiosk1\n", "kiosk1\nanother line\n")
    device.start_gateway(CREDENTIALS_DIRECTORY=folder)
    ann = stage.keep(Caller(broker, "ann"))
    assert body(ann.answer(ann.call("kiosk1", "hello")))
    assert "kiosk1\nanother" not in device.log("quickconnect-mqtt")


def checks(stage):
    """--check tells a broker that holds callers to their names from one that does not"""
    good = stage.kiosk1
    def check(device):
        return subprocess.run([stage.programs / "quickconnect-mqtt", "--check", "--config", device.folder / "settings.yaml"],
                              capture_output=True, text=True, timeout=30, env={"PATH": "/usr/bin:/bin", "HOME": str(stage.folder)})
    done = check(good)
    assert done.returncode == 0 and "error" not in done.stdout, done
    open_broker = stage.keep(Broker(stage.place("open")).start())
    bad = Device(stage.folder / "open", stage.programs, "kiosk1", open_broker)
    done = check(bad)
    assert done.returncode == 1 and "call under another name" in done.stdout, done
    open_broker.stop()
    done = check(bad)
    assert done.returncode == 1 and done.stderr, done
    (bad.folder / "settings.yaml").write_text("mqtt: {broker: b, devise: x}\n")
    done = check(bad)
    assert done.returncode == 2 and "settings.yaml:1:19: unknown key 'devise'" in done.stderr and "device" in done.stderr, done


def certificates(stage):
    """With certificates the name is the certificate's; a wrong one, or a wrong broker, is told of and not talked to"""
    folder = stage.place("tls")
    make_authority(folder, "broker", "kiosk1", "ann")
    make_authority(stage.place("other"), "broker", "kiosk1", "ann")
    broker = stage.keep(Broker(stage.place("tls-broker"), ACL, tls=folder).start())
    device = stage.keep(Device(stage.folder / "tls-devices", stage.programs, "kiosk1", broker, tls=folder).start())
    ann = stage.keep(Caller(broker, "ann", tls=folder))
    assert body(ann.answer(ann.call("kiosk1", "hello")))
    for name, wrong in (("stranger", "certificate"), ("elsewhere", "ca")):
        settings = Device(stage.folder / name, stage.programs, "kiosk1", broker, tls=folder)
        path = settings.folder / "settings.yaml"
        text = path.read_text()
        keys = ("certificate", "key") if wrong == "certificate" else ("ca",)
        for key in keys:
            file = {"certificate": "kiosk1.crt", "key": "kiosk1.key", "ca": "ca.crt"}[key]
            text = text.replace(f"{key}: {folder}/{file}", f"{key}: {stage.place('other')}/{file}")
        path.write_text(text)
        stage.keep(settings)
        settings.start_daemon()
        settings.start_gateway(wait=False)
        wait_until(lambda: settings.log("quickconnect-mqtt").count("trying again") >= 1, "the log's line")
        assert "connected to 127" not in settings.log("quickconnect-mqtt")
        settings.stop()
    assert body(ann.answer(ann.call("kiosk1", "hello")))
    device.stop()


ALL = [groups, command_line, elsewhere_shown, group_answers, progress, checks, certificates, credentials]
