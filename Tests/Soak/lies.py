"""Proves the checks: each function does, without the ledger's knowledge, what a check must find. `Tests/Soak/prove` runs them all."""
import json
import os
import signal
import time

import links
from bounds import BUSY, LONGEST_WAIT
from links import message


class LyingLink(links.Link):
    """Loses a reply, sends one twice, or changes one."""

    def __init__(self, link, lie):
        self.__dict__ = link.__dict__
        self.lie, self.lines, self.silent_since = lie, 0, None

    def receive(self, seconds=None):
        lines = super().receive(seconds)
        result = []
        for line in lines:
            self.lines += 1
            if self.lines == 50 and self.lie == "lose a reply":
                continue
            if self.lines == 50 and self.lie == "close a connection":
                raise links.Cut("a lie")
            # From the 30th event on for some seconds nothing is heard; then the connection is cut.
            if self.lie == "lose events" and b"soakEvent" in line and self.lines > 30:
                self.silent_since = self.silent_since or time.monotonic()
                if time.monotonic() > self.silent_since + 5:
                    raise links.Cut("a lie")
                continue
            result.append(line)
            if self.lines % 50 == 0 and self.lie == "reply twice":
                result.append(line)
            if self.lines % 50 == 0 and self.lie == "fail a call":
                reply = json.loads(line)
                result[-1] = json.dumps({"responseId": reply.get("responseId"), "error": {"code": "internal", "message": "a lie"}}).encode()
        return result


def post_behind(device, soak):
    """An event that the subscriber never gets, but that counts as posted."""
    soak.over.wait(5)
    soak.poster.posted[10_000_000] = [time.monotonic(), time.monotonic()]


def set_behind(device, soak):
    """Somebody else sets the values."""
    while not soak.over.wait(0.2):
        try:
            link = links.unix_link(device.folder / "socket", 5)
            link.send([message(f"soak{number}", 7, "v") for number in range(8)])
            link.receive(2)
            link.close()
        except links.Cut:
            pass


def shorten_recordings(device, soak):
    """Recordings lose their ends."""
    while not soak.over.wait(0.005):
        for file in (device.folder / "media").glob("rec*.wav"):
            try:
                if file.stat().st_size > 2000:
                    os.truncate(file, 1000)
            except OSError:
                pass


def leak(device, soak):
    """Connections that stay open until the end."""
    soak.leaked = [links.unix_link(device.folder / "socket", 5) for _ in range(40)]


def stand_still(device, soak):
    """The daemon stands still, and no fault explains it."""
    soak.over.wait(3)
    process = device.running["quickconnectd"]
    process.send_signal(signal.SIGSTOP)
    # Longer than the bound, which is larger on a busy machine.
    time.sleep(1.5 * LONGEST_WAIT * max(1, os.getloadavg()[0] * 1.2 / os.cpu_count() / BUSY))
    process.send_signal(signal.SIGCONT)


def write_much(device, soak):
    """The log grows without bound."""
    with open(device.folder / "quickconnectd.log", "ab") as log:
        log.write(b"a line\n" * 200_000)


def die(device, soak):
    """A gateway that ends on its own."""
    soak.over.wait(3)
    device.running["quickconnect-web"].send_signal(signal.SIGKILL)


def run_twice(device, soak):
    """A handler that is called twice for one call."""
    soak.over.wait(2)
    with soak.ledger.lock:
        soak.ledger.counts["handler calls made twice"] += 1


def drop_positions(device, soak):
    """Positions that are missing without a report."""
    soak.over.wait(2)
    soak.subscribers[0].gaps += 3


BEHIND = {"post behind": post_behind, "set behind": set_behind, "shorten recordings": shorten_recordings, "leak": leak, "stand still": stand_still,
          "write much": write_much, "die": die, "run twice": run_twice, "drop positions": drop_positions}
IN_LINKS = ("lose a reply", "reply twice", "fail a call", "close a connection")
OF_SUBSCRIBERS = ("lose events",)
# Each lie, and the row of the table that finds it.
FOUND_BY = {"lose a reply": "final replies", "reply twice": "replies twice", "fail a call": "errors without a fault", "close a connection": "connections cut",
            "post behind": "events", "lose events": "events", "set behind": "values", "shorten recordings": "recordings", "leak": "sizes", "stand still": "longest wait",
            "write much": "log", "die": "programs that ended", "run twice": "handler calls", "drop positions": "events"}
