"""Numbered events, and recordings that are read to their end."""
import json
import os
import time
import wave

from links import Cut, message, until
from polite import PATIENCE, Worker

# What was on its way when a connection was cut is lost, too: seconds. If a program on the way stood still before, as long as that may
# last: frozen, then suspended.
ON_ITS_WAY, BEHIND_STANDSTILL = 2, 12


class Poster(Worker):
    """Posts numbered events, one after another, and knows when each was posted."""

    def __init__(self, ledger, name, seed, connect, pause=0.01):
        super().__init__(ledger, name, seed)
        self.connect, self.pause = connect, pause
        # By number: when it was sent, and whether it was acknowledged.
        self.posted = {}

    def work(self):
        link, number = None, 0
        while not self.over.is_set():
            link = link or until(self.connect, self.over)
            if link is None:
                return
            number += 1
            sent = time.monotonic()
            self.posted[number] = [sent, None]
            self.ledger.sent("posts")
            try:
                link.send([message("post", ["soakEvent", {"n": number}], str(number))])
                lines = link.receive(PATIENCE)
                reply = json.loads(lines[0]) if lines else {}
                if len(lines) != 1 or reply.get("responseId") != str(number):
                    self.ledger.problem("final replies", f"a post was answered with {lines!r}")
                    raise Cut("no reply")
                self.ledger.replied("posts", "post", ("daemon",), sent, reply.get("error"))
                if "error" not in reply:
                    self.posted[number][1] = time.monotonic()
            except Cut as cut:
                self.ledger.lost("posts", "post", ("daemon",), sent, str(cut))
                link.close()
                link = None
            self.over.wait(self.chance.uniform(0, 2 * self.pause))
        if link:
            link.close()

    @property
    def last(self):
        return max((number for number, (_, acknowledged) in self.posted.items() if acknowledged), default=0)


class Subscriber(Worker):
    """Receives the events, and each position; notes when it was away."""

    def __init__(self, ledger, way, name, seed, connect, cuts, positions=False):
        super().__init__(ledger, name, seed)
        self.way, self.connect, self.cuts, self.positions = way, connect, cuts, positions
        self.heard = []
        self.away = []
        self.sequence, self.dropped, self.gaps = None, 0, 0

    def work(self):
        last, lost_at = 0, self.ledger.start
        while not self.over.is_set():
            link = until(self.connect, self.over)
            if link is None:
                return
            try:
                # Of any age: positions sent before a suspend are old after it.
                link.send([message("subscribe", ["soakEvent", "dropped"], "s")]
                          + ([message("subscribe", ["location", {"maximumAge": None}], "p")] if self.positions else []))
                while not self.over.is_set():
                    for line in link.receive(0.5):
                        event = json.loads(line)
                        if event.get("responseId") == "s":
                            if "error" in event:
                                raise Cut(str(event["error"]))
                            self.away.append((last, lost_at, time.monotonic()))
                            self.sequence = None
                        elif "responseId" in event:
                            if "error" in event:
                                raise Cut(str(event["error"]))
                        else:
                            self.hear(event)
            except Cut as cut:
                last, lost_at = self.heard[-1] if self.heard else 0, time.monotonic()
                self.ledger.cut(f"events {self.way}", self.cuts, str(cut))
            link.close()

    def hear(self, event):
        name, data = event.get("handlerName"), event.get("data")
        if name == "soakEvent":
            number = data["n"]
            if self.heard and number <= self.heard[-1]:
                self.ledger.problem("events", f"{self.way}: {number} after {self.heard[-1]}")
            self.heard.append(number)
        elif name == "location":
            self.ledger.count("positions heard")
            number = data["sequence"]
            if self.sequence is not None and number != self.sequence + 1:
                self.gaps += number - self.sequence - 1
            self.sequence = number
        elif name == "dropped" and data.get("event") == "location":
            self.dropped += data["count"]

    def on_its_way(self, cut):
        still = ("suspend", *(f"freeze quickconnect{program}" for program in ("d", "-web") if program == "d" or "web" in self.cuts))
        stood = any(fault.name in still and fault.overlaps(cut - BEHIND_STANDSTILL, cut, 0) for fault in self.ledger.faults)
        return BEHIND_STANDSTILL if stood else ON_ITS_WAY

    def check(self, posted):
        """At the end: each event that was posted and not received was posted while this was away."""
        heard = set(self.heard)
        missing = [(number, *times) for number, times in posted.items() if times[1] and number not in heard]
        away = [(last, cut - self.on_its_way(cut), end) for last, cut, end in self.away]
        told = [(number, sent, done) for number, sent, done in missing
                if any(number > last and begin <= done and sent <= end for last, begin, end in away)]
        never = sorted(set(each[0] for each in missing) - set(each[0] for each in told))
        if never:
            begin, end = (posted[number][0] - self.ledger.start for number in (never[0], never[-1]))
            self.ledger.problem("events", f"{self.way}: {len(never)} posted and not heard while it was subscribed, from {never[0]} at {begin:.1f} s to "
                                f"{never[-1]} at {end:.1f} s; it was cut off behind {[(last, round(end - self.ledger.start, 1)) for last, _, end in self.away]}")
        if self.gaps != self.dropped:
            self.ledger.problem("events", f"{self.way}: {self.gaps} positions are missing, and {self.dropped} were told of as dropped")
        return len(self.heard), len(told)


class RecordingMaker(Worker):
    """Records, reads the recording to its end, plays some of it, and removes it."""

    def __init__(self, ledger, name, seed, connect, media):
        super().__init__(ledger, name, seed)
        self.connect, self.media = connect, media
        self.link = None
        self.numbers = 0

    def work(self):
        while not self.over.wait(self.chance.uniform(0, 0.3)):
            self.link = self.link or until(self.connect, self.over)
            if self.link is None:
                return
            self.numbers += 1
            file = f"{self.name}-{self.numbers}.wav"
            try:
                self.record(file)
            except Cut as cut:
                self.ledger.cut("recordings", ("daemon",), str(cut))
                self.link.close()
                self.link = None
        if self.link:
            self.link.close()

    def call(self, command, data, parts):
        sent = time.monotonic()
        self.ledger.sent("recordings")
        try:
            self.link.send([message(command, data, "r")])
            lines = self.link.receive(PATIENCE)
            if not lines:
                self.ledger.problem("final replies", f"{command} has no reply after {PATIENCE} s")
                raise Cut("no reply")
        except Cut as cut:
            self.ledger.lost("recordings", command, ("daemon",), sent, str(cut))
            raise
        if len(lines) != 1:
            self.ledger.twice("recordings", f"{lines!r}")
        reply = json.loads(lines[0])
        self.ledger.replied("recordings", command, ("daemon", *parts), sent, reply.get("error"))
        return reply

    def record(self, file):
        wanted = self.chance.uniform(0.3, 2)
        begun = self.call("rec", [file, "start", {"rate": 16000}], ("sound", "disk"))
        if "error" in begun:
            self.ledger.count("recordings refused")
            self.over.wait(0.5)
            return
        self.ledger.count("recordings started")
        began = time.monotonic()
        try:
            self.over.wait(wanted)
            ended = self.call("rec", [file, "stop"], ("sound", "disk"))
        except Cut:
            self.after_kill(file, began)
            return
        if "error" in ended:
            # If the disk was full, its file was never completed; a fault then explained the error.
            self.ledger.count("recordings ended with an error")
            (self.media / file).unlink(missing_ok=True)
            return
        answer = ended["responseData"]
        self.check(file, answer["seconds"] - 0.05, answer["seconds"] + 0.05)
        if self.chance.random() < 0.15:
            self.call("play", [file, {"wait": True}], ("sound", "disk", "length"))
        self.call("media", ["remove", file], ("disk",))

    def after_kill(self, file, began):
        """The daemon recovers the recording at its next start; at most the last second may be missing."""
        cut = time.monotonic()
        self.link.close()
        self.link = until(self.connect, self.over)
        if self.link is None:
            self.ledger.count("recordings started", -1)
            return
        # The daemon recovers the file before it listens.
        length = cut - began
        deaths = self.ledger.deaths("daemon", began - 1, cut + 1)
        if deaths:
            length = max(0, min(deaths) - began)
        path = self.media / file
        end = time.monotonic() + 20
        while not path.exists() and time.monotonic() < end and not self.over.is_set():
            time.sleep(0.05)
        # If it was cut meanwhile, by another kill perhaps, nobody has seen when.
        self.link.close()
        self.link = until(self.connect, self.over)
        if self.link is None:
            self.ledger.count("recordings started", -1)
            return
        if not path.exists() and length < 1.5:
            # Shorter than what may be missing.
            self.ledger.count("recordings started", -1)
            self.ledger.count("recordings too short to be recovered")
            return
        self.ledger.count("recordings recovered")
        # If something stood still before, it did not record.
        held = self.ledger.is_disturbed(("sound", "disk"), began, cut, but="daemon")
        self.check(file, 0 if held else max(0, length - 1.8), length + 3)
        self.call("media", ["remove", file], ("disk",))

    def check(self, file, least, most):
        try:
            with wave.open(str(self.media / file)) as sound:
                frames, rate = sound.getnframes(), sound.getframerate()
                read = len(sound.readframes(frames)) // (2 * sound.getnchannels())
            size = os.stat(self.media / file).st_size
        except (OSError, EOFError, wave.Error) as error:
            self.ledger.problem("recordings", f"{file}: {error!r}")
            return
        seconds = read / rate
        if read != frames or not least <= seconds <= most or size < 2 * frames:
            self.ledger.problem("recordings", f"{file}: {seconds:.2f} s of {frames} frames can be read, {least:.2f} to {most:.2f} s were expected")
            return
        self.ledger.count("recordings whole")
