"""What callers do at once, while a neighbour pings: he waits no longer than at an idle gateway."""
import json
import socket
import threading
import time

from broker import Broker, Caller, wait_until
from device import Device
from stage import ACL, MAPPINGS, MORE, SETTINGS, USERS

# In milliseconds, by how much a neighbour may wait longer than who pings the daemon itself in the same moments (that has a test of its own).
# What is built for debugging parses many times as slow, and all programs of the test share the machine's processors.
LIMIT = {"release": 10, "debug": 150}
# The dearest calls: deep into arrays, long and short, with an answer or refused.
LONG = json.dumps([[[]]] * 40_000)
# How many calls all others have under way together.
CALLS = {"release": 240, "debug": 200}


def build(stage):
    return "debug" if "debug" in str(stage.programs.resolve()) else "release"


def at_once(caller):
    """A client that sends each packet as soon as it is made (TCP_NODELAY)."""
    caller.client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return caller


def highest(caller, count=20):
    """The longest of some pings in a row, in milliseconds."""
    longest = 0
    for _ in range(count):
        begin = time.monotonic()
        caller.answer(caller.call("kiosk1", "ping"), 30)
        longest = max(longest, time.monotonic() - begin)
    return longest * 1000


class Local(threading.Thread):
    """Pings the daemon itself; `longest` is in milliseconds."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self.device, self.longest, self.is_over = device, 0, False
        self.start()

    def run(self):
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.connect(str(self.device.folder / "socket"))
            while not self.is_over:
                begin = time.monotonic()
                daemon.sendall(b"call?cmd=ping&id=1\n")
                daemon.recv(65536)
                self.longest = max(self.longest, (time.monotonic() - begin) * 1000)
                time.sleep(0.002)


class Flood(threading.Thread):
    """Keeps so many of the dearest calls of some callers under way."""

    def __init__(self, callers, count):
        super().__init__(daemon=True)
        self.callers, self.each, self.is_over, self.again = callers, max(1, count // len(callers)), False, 0
        self.waiting = {caller: [self.call(caller, number) for number in range(self.each)] for caller in callers}
        self.start()

    @staticmethod
    def call(caller, number):
        command = ("logMessage", "ping", "commands")[number % 3]
        return caller.call("kiosk1", command, LONG if number % 3 == 0 else "[" * 300 + "]" * 300, qos=0)

    def run(self):
        number = 0
        while not self.is_over:
            for caller, calls in self.waiting.items():
                answered = [call for call in calls if caller.answers(call)]
                for call in answered:
                    calls.remove(call)
                    calls.append(self.call(caller, number := number + 1))
                self.again += len(answered)
            time.sleep(0.005)

    def stop(self):
        """How many calls it has made anew; waits for its last ones."""
        self.is_over = True
        self.join()
        return self.again


def wait(caller, device):
    """The longest wait of a caller beyond that of who pings the daemon itself: the best of three, in milliseconds."""
    waits = []
    for _ in range(3):
        local = Local(device)
        longest = highest(caller)
        local.is_over = True
        local.join()
        waits.append(max(0, longest - local.longest))
    return min(waits)


def neighbours(stage):
    """A neighbour's ping comes at once, whatever one, two, five or fifty others do, and the memory is given back"""
    lines = ["max_queued_messages 20000", "set_tcp_nodelay true"]
    broker = stage.keep(Broker(stage.place("neighbours-broker"), ACL + MORE, USERS, lines=lines).start())
    kiosk = Device(stage.place("neighbours"), stage.programs, "kiosk1", broker, SETTINGS, ["never", "slow", "bell"], MAPPINGS)
    stage.keep(kiosk).start()
    bob = stage.keep(at_once(Caller(broker, "bob", "bob-neighbour")))
    crowd = [stage.keep(at_once(Caller(broker, f"crowd{number}"))) for number in range(50)]
    bob.answer(bob.call("kiosk1", "ping"))
    for count in (1, 2, 5, 50):
        peers = crowd[:count]
        idle, before = wait(bob, kiosk), kiosk.memory("quickconnect-mqtt")
        flood = Flood(peers, CALLS[build(stage)])
        busy, after = wait(bob, kiosk), kiosk.memory("quickconnect-mqtt")
        assert flood.stop() > 0, f"{count}: nobody else called meanwhile"
        print(f"  ping beside {count}: idle {idle:.1f} ms, busy {busy:.1f} ms, memory {before >> 10} → {after >> 10} MiB", flush=True)
        assert busy - idle <= LIMIT[build(stage)], f"{count}: {idle:.1f} → {busy:.1f} ms"
        assert after - before < 96 << 10, f"{after - before} KiB more"
        for each in peers:
            each.answer(each.call("kiosk1", "ping"), 60)
        wait_until(lambda: kiosk.memory("quickconnect-mqtt") - before < 48 << 10, "the memory", 10)
    for each in [*crowd, bob]:
        each.close()
    kiosk.stop()
    broker.stop()


ALL = [neighbours]
