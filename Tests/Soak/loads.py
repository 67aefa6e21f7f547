"""The parts of a year of use, by count and at full speed. Each answer is compared, byte for byte if its bytes are known."""
import json
import re
import struct
import threading
import time

import links
from links import Cut, message

CHUNK = 1000


class Wrong(Exception):
    """An answer other than the expected one."""


def exchange(link, request, expected):
    """Sends lines, and receives exactly these bytes."""
    link.connection.settimeout(120)
    link.connection.sendall(request)
    seen = bytearray()
    while len(seen) < len(expected):
        more = link.connection.recv(1 << 18)
        if not more:
            raise Wrong(f"the end after {len(seen)} of {len(expected)} bytes")
        seen += more
    if seen != expected:
        at = next(index for index, (one, other) in enumerate(zip(seen, expected)) if one != other) if seen[:len(expected)] != expected else len(expected)
        raise Wrong(f"{bytes(seen[max(0, at - 80):at + 120])!r} came, not {bytes(expected[max(0, at - 80):at + 120])!r}")


def joined(lines):
    return b"".join(line + b"\n" for line in lines)


def answer(number, data):
    return f'{{"responseId":"{number}","responseData":{data}}}'.encode()


class Calls:
    """Lines with known answers, a thousand at once."""

    def __init__(self, path, make, size=CHUNK):
        self.link = links.unix_link(path)
        pairs = [make(number) for number in range(size)]
        self.size = size
        self.request, self.expected = joined(pair[0] for pair in pairs), joined(pair[1] for pair in pairs)

    def make(self, count):
        for _ in range(max(1, count // self.size)):
            exchange(self.link, self.request, self.expected)
        return max(1, count // self.size) * self.size


def pings(path):
    return Calls(path, lambda number: (message("ping", None, f"p{number}"), answer(f"p{number}", "null")))


def values(path):
    """Sets and reads in turn."""
    return Calls(path, lambda number: (message("soak0", number if number % 2 == 0 else None, f"v{number}"), answer(f"v{number}", number // 2 * 2)))


class HandlerCalls(Calls):
    """A second connection answers the calls."""

    def __init__(self, path):
        super().__init__(path, lambda number: (message("yearHandler", number, f"h{number}"), answer(f"h{number}", number)), 500)
        self.answers = links.unix_link(path)
        self.answers.send([message("registerHandler", ["yearHandler"], "r")])
        assert b'"r"' in self.answers.receive(20)[0]
        self.answered = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        number = re.compile(rb'"data":(\d+),"callbackId":"([^"]+)"')
        try:
            while True:
                replies = []
                for line in self.answers.receive(3600):
                    data, call = number.search(line).groups()
                    replies.append(b'{"responseId":"%s","responseData":%s}' % (call, data))
                self.answered += len(replies)
                self.answers.send(replies)
        except Cut:
            return


class Posts(Calls):
    """A second connection receives the events."""

    def __init__(self, path):
        super().__init__(path, lambda number: (message("post", ["yearEvent", number], f"e{number}"), answer(f"e{number}", "null")))
        self.hears = links.unix_link(path)
        self.hears.send([message("subscribe", ["yearEvent"], "s")])
        assert b'"s"' in self.hears.receive(20)[0]
        self.block = joined(f'{{"handlerName":"yearEvent","data":{number}}}'.encode() for number in range(CHUNK))
        self.heard, self.wrong = 0, None
        self.news = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        seen = bytearray()
        connection = self.hears.connection
        connection.settimeout(None)
        while True:
            try:
                more = connection.recv(1 << 18)
            except OSError:
                return
            if not more:
                return
            seen += more
            while len(seen) >= len(self.block):
                block = bytes(seen[:len(self.block)])
                del seen[:len(self.block)]
                with self.news:
                    self.heard += CHUNK
                    if block != self.block:
                        self.wrong = block[:300]
                    self.news.notify_all()

    def make(self, count):
        before = self.heard
        made = super().make(count)
        with self.news:
            if not self.news.wait_for(lambda: self.heard >= before + made or self.wrong, 60):
                raise Wrong(f"{self.heard - before} of {made} events were heard")
        if self.wrong:
            raise Wrong(f"events came otherwise: {self.wrong!r}")
        return made


class Sounds:
    """Sounds of one millisecond, many at once."""
    AT_ONCE = 200

    def __init__(self, path):
        self.link = links.unix_link(path)

    def make(self, count):
        made = 0
        while made < count:
            size = min(self.AT_ONCE, count - made)
            self.link.send([message("playSound", "tick", f"s{number}") for number in range(size)])
            gather(self.link, [f"s{number}" for number in range(size)])
            made += size
        return made


def gather(link, numbers):
    """The values of that many calls, in whichever order they come."""
    found = {}
    while len(found) < len(numbers):
        lines = link.receive(120)
        if not lines:
            raise Wrong(f"{len(found)} of {len(numbers)} replies")
        for line in lines:
            reply = json.loads(line)
            number = reply.get("responseId")
            if "error" in reply or number in found or number not in numbers:
                raise Wrong(f"{line[:300]!r}")
            found[number] = reply["responseData"]
    return found


class Recordings:
    """Short recordings, some at once; each is ended, inspected and removed."""
    AT_ONCE = 16

    def __init__(self, path, media):
        self.link, self.media = links.unix_link(path), media
        self.number = 0

    def make(self, count):
        made = 0
        while made < count:
            names = [f"year{self.number + each}.wav" for each in range(min(self.AT_ONCE, count - made))]
            self.number += len(names)
            self.each(names, lambda name: message("rec", [name, "start", {"rate": 8000}], name))
            # Each one must contain something.
            time.sleep(0.03)
            for name, ended in self.each(names, lambda name: message("rec", [name, "stop"], name)).items():
                if ended["bytes"] != (self.media / name).stat().st_size or ended["bytes"] < 44:
                    raise Wrong(f"{name}: {ended}, a file of {(self.media / name).stat().st_size} bytes")
            self.each(names, lambda name: message("media", ["remove", name], name))
            made += len(names)
        return made

    def each(self, names, line):
        self.link.send([line(name) for name in names])
        return gather(self.link, names)


class ScriptReloads:
    """A script is saved; the new version must answer."""

    def __init__(self, path, folder, text):
        self.link, self.folder, self.text = links.unix_link(path), folder, text
        self.version = 1000

    def make(self, count):
        for _ in range(count):
            self.version += 1
            new = self.folder / ".soak.js.new"
            new.write_text(self.text.format(self.version))
            new.rename(self.folder / "soak.js")
            end = time.monotonic() + 60
            while True:
                self.link.send([message("soakScript", 0, "r")])
                reply = json.loads(self.link.receive(70)[0])
                if reply.get("responseData", [0, 0])[1] == self.version:
                    break
                if time.monotonic() > end:
                    raise Wrong(f"version {self.version} does not answer: {reply}")
                time.sleep(0.005)
        return count


class PageReloads:
    """A page's session: begun, used and ended."""

    def __init__(self, port, token):
        self.port, self.token = port, token

    def make(self, count):
        for _ in range(count):
            page = links.WebSocketLink(self.port, self.token, 30)
            page.send([message("ping", None, "p"), message("subscribe", ["soakEvent"], "s")])
            gather(page, ["p", "s"])
            page.close(politely=True)
        return count


class BrokerCalls:
    """Through the broker, several at once."""
    AT_ONCE = 50

    def __init__(self, caller):
        self.caller = caller

    def make(self, count):
        made = 0
        while made < count:
            sent = [self.caller.call("kiosk", "ping", expiry=60) for _ in range(min(self.AT_ONCE, count - made))]
            if not self.caller.hears(lambda: all(self.caller.answers(each) for each in sent), 60):
                raise Wrong("an answer through the broker is missing")
            made += len(sent)
            with self.caller.lock:
                self.caller.heard.clear()
                self.caller.replies.clear()
        return made


def write_tick(folder):
    """One millisecond of sound."""
    folder.mkdir()
    frames = b"".join(struct.pack("<h", 8000 if number % 16 < 8 else -8000) for number in range(48))
    (folder / "tick.wav").write_bytes(b"RIFF" + struct.pack("<I", 36 + len(frames)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 48000, 96000, 2, 16)
                                      + b"data" + struct.pack("<I", len(frames)) + frames)
