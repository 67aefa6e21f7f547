"""What the checks of lines, lights, sensors and readers share: simulated GPIO chips, and what the kernel has done to their lines."""

import glob
import os
import re
import subprocess
import time

LINES = ("BELL", "FAST", "LAMP", "MOTOR", "STEADY", "FREE", "")
MAPPINGS = "/etc/quickconnect/mappings/hardware.yaml"
TRACING = "/sys/kernel/tracing/instances/quickconnect-test"


def check(name, problem):
    print(f"FAIL  {name}: {problem}" if problem else f"PASS  {name}", flush=True)
    return not problem


def skip(name, why):
    print(f"SKIP  {name}: {why}", flush=True)


def say(text):
    print(f"      {text}", flush=True)


def run(*command, timeout=120):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout).stdout.strip()


def as_user(user, *command):
    return run("runuser", "-u", user, "--", *command)


def call(client, name, *parameters):
    """The answer, or the error as «code: message»."""
    try:
        return client.call(name, *parameters, timeout=60)
    except Exception as error:
        return str(error)


def lacks(text, *parts):
    """What is wrong with a text that must have these parts."""
    missing = [part for part in parts if part not in str(text)]
    return missing and f"it lacks {missing}: {text}"


def differs(found, expected):
    return found != expected and f"it is {found!r}, not {expected!r}"


def is_within(seconds, holds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def read(path):
    with open(path) as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def declare(text, reload=True):
    write(MAPPINGS, text)
    if reload:
        return run("systemctl", "reload", "quickconnectd")


def doctor(*names):
    return run("quickconnect", "doctor", *names)


def daemon():
    """Its process; 0: none."""
    return int(run("systemctl", "show", "-P", "MainPID", "quickconnectd"))


def restart(client):
    run("systemctl", "restart", "quickconnectd")
    is_back(client)


def is_back(client):
    """Waits until the daemon answers a client again, after whatever has happened to it."""
    return is_within(60, lambda: client.connected and call(client, "ping") is None)


class Heard:
    """The events that a client gets, in their order, with what «dropped» tells."""

    def __init__(self, client, *names):
        self.events, self.lost, self.times = [], 0, []
        self.off = client.on([*names, "dropped"], self.hear)

    def hear(self, event):
        if event.name == "dropped":
            self.lost += event.data["count"]
        else:
            self.events.append(event.data)
            self.times.append(time.monotonic())

    def forget(self):
        self.events, self.lost, self.times = [], 0, []

    def are(self, *expected, within=10):
        """What is wrong with what is heard until then."""
        is_within(within, lambda: len(self.events) >= len(expected))
        time.sleep(0.5)
        return differs(self.events, list(expected)) or (self.lost and f"{self.lost} were dropped")


class Chip:
    """A simulated GPIO chip with named lines, which can be unplugged. One of that name that is there is used."""

    def __init__(self, name, *lines):
        self.folder, self.lines = f"/sys/kernel/config/gpio-sim/{name}", lines
        if os.path.isdir(self.folder):
            return self.find()
        os.makedirs(f"{self.folder}/bank")
        write(f"{self.folder}/bank/num_lines", str(len(lines)))
        write(f"{self.folder}/bank/label", name)
        for number, line in enumerate(lines):
            os.mkdir(f"{self.folder}/bank/line{number}")
            write(f"{self.folder}/bank/line{number}/name", line)
        self.plug()

    def plug(self):
        write(f"{self.folder}/live", "1")
        self.find()
        run("udevadm", "settle")

    def find(self):
        device = f"/sys/devices/platform/{read(f'{self.folder}/dev_name')}"
        self.path = f"{device}/{read(f'{self.folder}/bank/chip_name')}"
        self.node = f"/dev/{os.path.basename(self.path)}"
        self.base = int(read(glob.glob(f"{device}/gpio/gpiochip*/base")[0]))

    def unplug(self):
        write(f"{self.folder}/live", "0")
        run("udevadm", "settle")

    def file(self, line, name):
        return f"{self.path}/sim_gpio{self.lines.index(line)}/{name}"

    def pull(self, line, is_up):
        write(self.file(line, "pull"), "pull-up" if is_up else "pull-down")

    def level(self, line):
        return int(read(self.file(line, "value")))

    def edges(self, line, count, pause, seconds=600, *before):
        """Moves a line, at most for so long, by a program that these words begin. Returns how many edges, in how many milliseconds, and the longest pause in microseconds."""
        said = run(*before, "./edges", self.file(line, "pull"), str(count), str(int(pause * 1e9)), str(seconds), timeout=seconds + 60)
        return [int(number) for number in said.split()]


class Trace:
    """Each level that the kernel has given to a line, with its time: other than a look at the line now and then it misses none, and it does not
    matter what a line does that nobody has any more."""

    def __init__(self):
        if not os.path.isdir(TRACING):
            os.mkdir(TRACING)
        write(f"{TRACING}/trace_clock", "mono")
        write(f"{TRACING}/events/gpio/enable", "1")

    def forget(self):
        write(f"{TRACING}/trace", "")

    def of(self, chip, line):
        """[(time, level)] of time.monotonic(); «out» and «in» stand where its direction was set."""
        number = chip.base + chip.lines.index(line)
        found = re.findall(rf" (\d+\.\d+): gpio_(?:value: {number} set (\d)|direction: {number} +(in|out))", read(f"{TRACING}/trace"))
        return [(float(at), int(level) if level else way) for at, level, way in found]

    def levels(self, chip, line):
        return [level for _, level in self.of(chip, line)]

    def off_after(self, chip, line, since, seconds):
        """How many seconds after a time the line was set to 0, and nothing but 0 before; None: it was not."""

        def first():
            return next((at for at, level in self.of(chip, line) if at >= since and level == 0), None)

        is_within(seconds, first)
        return first() and first() - since


def milliseconds(seconds):
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
