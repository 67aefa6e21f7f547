"""Clients that follow the protocol, and check what they get."""
import collections
import itertools
import json
import logging
import random
import threading
import time
import traceback

import quickconnect
from links import Cut, message, until

Kind = collections.namedtuple("Kind", "name command data parts check")
# How long a call waits for its only reply. Longer than each command's own timeout, so each call must get one.
PATIENCE = 90
# Kept values are written at most once a second; the disk and a busy machine add their time.
KEPT_WITHIN = 2.5


def refused(code):
    def check(value, error):
        return None if error and error.get("code") == code else f"{code} was expected: {error or value}"
    return check


def answers(wanted):
    def check(value, error):
        return None if error or value == wanted else f"answered {value!r}, not {wanted!r}"
    return check


def anything(value, error):
    return None


class Kinds:
    """Random calls. `versions` are those of the macro, the script and the procedure that were ever saved."""

    def __init__(self, chance, name, versions, is_gateway=False):
        self.chance, self.name, self.versions, self.is_gateway = chance, name, versions, is_gateway
        self.numbers = itertools.count()

    def next(self):
        makers = [self.ping, self.echo, self.wrong, self.script, self.macro, self.procedure, self.sound, self.volume, self.location, self.state]
        return self.chance.choices(makers, [30, 20, 5, 8, 8, 5, 4, 4, 5, 2])[0]()

    def ping(self):
        return Kind("ping", "ping", None, (), answers(None))

    def echo(self):
        payload = f"{self.name}-{next(self.numbers)}"
        return Kind("handler", "soakEcho", payload, ("handler",), answers(payload))

    def wrong(self):
        if self.is_gateway or self.chance.random() < 0.5:
            return Kind("wrong", "playSound", ["no such sound"], (), refused("invalid"))
        return Kind("wrong", "noSuchCommand", None, (), refused("unknownCommand"))

    def versioned(self, what, value, number):
        return None if value - number in self.versions[what] else f"{what} answered {value!r} for {number}"

    def script(self):
        number = self.chance.randrange(1000)

        def check(value, error):
            if error:
                return None
            return None if value[0] in (number, [number]) and value[1] in self.versions["script"] else f"the script answered {value!r} for {number}"
        return Kind("script", "soakScript", number, ("scripts",), check)

    def macro(self):
        number = self.chance.randrange(1000)
        return Kind("macro", "macro", ["run", "soakAdd", number], ("scripts",),
                    lambda value, error: None if error else self.versioned("macro", value, number))

    def procedure(self):
        number = self.chance.randrange(1000)
        return Kind("procedure", "execute", ["soakSum", number], ("data",),
                    lambda value, error: None if error else self.versioned("procedure", value, number))

    def sound(self):
        return Kind("sound", "playSound", "click", ("sound",), answers(None))

    def volume(self):
        return Kind("volume", "volume", None, ("sound",), anything)

    def location(self):
        return Kind("location", "location", {"maximumAge": None, "timeout": 8000}, ("gpsd",),
                    lambda value, error: None if error or 50.9 < value["latitude"] < 51.6 else f"a position {value}")

    def state(self):
        return Kind("state", "state", None, (), anything)


class ValueOwner:
    """Sets one value and reads it: a read must give what was last set and acknowledged."""

    def __init__(self, ledger, number):
        self.ledger, self.name, self.is_kept = ledger, f"soak{number}", number % 2 == 0
        self.next = itertools.count(number * 1_000_000 + 1)
        # (value, sent, acknowledged or None), the oldest first; it begins with the default.
        self.history = [(0, ledger.start, ledger.start)]

    def setting(self):
        value = next(self.next)
        self.history.append((value, time.monotonic(), None))
        return value

    def acknowledged(self, value):
        last = self.history[-1]
        self.history[-1] = (last[0], last[1], time.monotonic())
        self.ledger.count("values set")
        if value != last[0]:
            self.ledger.problem("values", f"{self.name} was set to {last[0]} and became {value}")

    def possible(self, deaths):
        """The values that a read may give now."""
        last = max((index for index, each in enumerate(self.history) if each[2] is not None), default=0)
        values = {each[0] for each in self.history[last:]}
        for death in deaths:
            if self.is_kept:
                settled = max((index for index, each in enumerate(self.history) if each[2] is not None and each[2] < death - KEPT_WITHIN), default=0)
                values |= {each[0] for each in self.history[settled:]}
            else:
                values.add(0)
        return values

    def read(self, value, sent):
        # A daemon that died after the last acknowledged set may have lost it.
        deaths = self.ledger.deaths("daemon", max(each[2] or 0 for each in self.history), time.monotonic())
        possible = self.possible(deaths)
        self.ledger.count("values read")
        if deaths:
            self.ledger.count("values read after a kill")
        if value not in possible:
            self.ledger.problem("values", f"{self.name} is {value}, not one of {sorted(possible)[-4:]}")
        self.history = [(value, sent, time.monotonic())]


class Worker(threading.Thread):
    """A thread that ends when `over` is set, and reports what it could not handle."""

    def __init__(self, ledger, name, seed):
        super().__init__(name=name, daemon=True)
        self.ledger = ledger
        self.chance = random.Random(f"{seed}-{name}")
        self.over = threading.Event()

    def run(self):
        try:
            self.work()
        except Exception as error:
            self.ledger.problem("clients", f"{self.name} failed: {error!r}\n{traceback.format_exc()}")

    def end(self):
        self.over.set()


class Talker(Worker):
    """Calls over a connection of lines, one after another or many at once."""

    def __init__(self, ledger, way, name, seed, connect, cuts, versions, value=None, batch=1, pause=0.01, is_gateway=False):
        super().__init__(ledger, name, seed)
        self.way, self.connect, self.cuts, self.batch, self.pause = way, connect, cuts, batch, pause
        self.kinds = Kinds(self.chance, name, versions, is_gateway)
        self.value = ValueOwner(ledger, value) if value is not None else None
        self.numbers = itertools.count(1)
        self.link = None
        # By id: its kind and when it was sent.
        self.under_way = {}
        self.answered = collections.deque(maxlen=10_000)

    def work(self):
        while not self.over.is_set():
            if self.link is None:
                self.link = until(self.connect, self.over)
                if self.link is None:
                    return
            try:
                if self.value and self.chance.random() < 0.3:
                    self.set_and_read()
                else:
                    size = self.chance.randint(1, self.batch)
                    self.exchange([self.kinds.next() for _ in range(size)])
            except Cut as cut:
                self.lose(str(cut))
            self.over.wait(self.chance.uniform(0, 2 * self.pause))
        if self.link:
            self.link.close()

    def lose(self, text):
        if self.under_way:
            sent = min(each[1] for each in self.under_way.values())
            self.ledger.lost(self.way, "any", self.cuts, sent, text, len(self.under_way))
        else:
            self.ledger.cut(self.way, self.cuts, text)
        self.under_way = {}
        self.link.close()
        self.link = None

    def set_and_read(self):
        value = self.value.setting()
        self.exchange([Kind("set", self.value.name, value, (), lambda answer, error: None if error else self.value.acknowledged(answer))])
        sent = time.monotonic()
        self.exchange([Kind("read", self.value.name, None, (), lambda answer, error: None if error else self.value.read(answer, sent))])

    def exchange(self, kinds):
        """Sends calls, and waits until each has its reply."""
        lines = []
        for kind in kinds:
            number = str(next(self.numbers))
            self.under_way[number] = kind, time.monotonic()
            lines.append(message(kind.command, kind.data, number))
        self.ledger.sent(self.way, len(lines))
        self.link.send(lines)
        while self.under_way:
            lines = self.link.receive(PATIENCE)
            if not lines:
                kind, sent = next(iter(self.under_way.values()))
                self.ledger.problem("final replies", f"{self.way}: {kind.name} has no reply after {time.monotonic() - sent:.0f} s")
                raise Cut("no reply")
            for line in lines:
                self.heard(line)

    def heard(self, line):
        reply = json.loads(line)
        number = reply.get("responseId")
        if number is None:
            self.ledger.problem("final replies", f"{self.way}: a line without an id: {line[:200]!r}")
            return
        if number not in self.under_way:
            what = "a second reply" if number in self.answered else "a reply that nothing asked for"
            self.ledger.twice(self.way, f"{what}: {line[:200]!r}")
            return
        kind, sent = self.under_way.pop(number)
        self.answered.append(number)
        judge(self.ledger, self.way, kind, (*self.cuts, *kind.parts), sent, reply)


def judge(ledger, way, kind, parts, sent, reply):
    """Counts a reply, and checks it."""
    error, value = reply.get("error"), reply.get("responseData")
    is_refusal = kind.name == "wrong"
    # A handler gets an array if the call came in a form other than the bridge form, and returns it.
    if kind.name == "handler" and value == [kind.data]:
        value = kind.data
    ledger.replied(way, kind.name, parts, sent, None if is_refusal and error and error.get("code") in ("invalid", "unknownCommand") else error)
    if is_refusal and error and error.get("code") not in ("invalid", "unknownCommand"):
        return
    wrong = kind.check(value, error)
    if wrong:
        ledger.problem("replies right", f"{way}, {kind.name}: {wrong}")
    if kind.name == "handler" and not error:
        ledger.count("handler calls answered")


class Requester(Worker):
    """Calls by `POST /call`, one after another."""

    def __init__(self, ledger, name, seed, requests, versions):
        super().__init__(ledger, name, seed)
        self.requests = requests
        self.kinds = Kinds(self.chance, name, versions, is_gateway=True)

    def work(self):
        parts = ("daemon", "web")
        while not self.over.wait(self.chance.uniform(0, 0.04)):
            kind, sent = self.kinds.next(), time.monotonic()
            self.ledger.sent("web /call")
            try:
                reply = self.requests.call({"handlerName": kind.command, "data": kind.data})
            except Cut as cut:
                self.ledger.lost("web /call", kind.name, parts, sent, str(cut))
                self.over.wait(0.05)
                continue
            judge(self.ledger, "web /call", kind, (*parts, *kind.parts), sent, reply)
        self.requests.close()


class BrokerCaller(Worker):
    """Calls through the broker, several of them at once."""

    # A call that was not delivered within this time never runs.
    EXPIRY, PATIENCE = 15, 30

    def __init__(self, ledger, name, seed, caller, versions):
        super().__init__(ledger, name, seed)
        self.caller = caller
        self.kinds = Kinds(self.chance, name, versions, is_gateway=True)

    def work(self):
        while not self.over.wait(self.chance.uniform(0, 0.1)):
            batch = []
            for _ in range(self.chance.randint(1, 8)):
                kind = self.kinds.next()
                if kind.command in ("macro", "execute"):
                    continue
                payload = json.dumps(kind.data) if kind.data is not None else ""
                self.ledger.sent("broker")
                batch.append((kind, time.monotonic(), self.caller.call("kiosk", kind.command, payload, expiry=self.EXPIRY)))
            for kind, sent, data in batch:
                self.await_answer(kind, sent, data)

    def await_answer(self, kind, sent, data):
        parts = ("daemon", "mqtt")
        left = max(0.1, sent + self.PATIENCE - time.monotonic())
        if not self.caller.hears(lambda: self.caller.answers(data), left):
            self.ledger.lost("broker", kind.name, ("mqtt", "daemon"), sent, "no answer")
            return
        answer = self.caller.answers(data)[0]
        reply = json.loads(answer.payload)
        judge(self.ledger, "broker", kind, (*parts, *kind.parts), sent, reply)

    def check(self):
        """At the end: checks that none was answered twice."""
        with self.caller.lock:
            many = [data for data, answers in self.caller.replies.items() if len(answers) > 1]
        for data in many[:5]:
            self.ledger.twice("broker", f"{[each.payload[:80] for each in self.caller.replies[data]]}")


class Said:
    """A stream of the log's lines."""

    def __init__(self, ledger):
        self.ledger = ledger

    def write(self, text):
        if text.strip():
            self.ledger.say(text.strip()[:300])

    def flush(self):
        pass


class HandlerHost:
    """Answers the command soakEcho, through the client library, which reconnects on its own."""

    def __init__(self, ledger, path):
        self.ledger = ledger
        self.runs = collections.Counter()
        # What the library tells of its connection explains errors of the callers.
        logging.basicConfig(format="%(name)s: %(message)s", stream=Said(ledger), level=logging.WARNING, force=True)
        logging.getLogger("quickconnect").setLevel(logging.DEBUG)
        self.client = quickconnect.Client(str(path))
        self.client.handle("soakEcho", self.run)

    def run(self, data, call):
        value = data[0] if isinstance(data, list) and len(data) == 1 else data
        with self.ledger.lock:
            self.ledger.counts["handler calls made"] += 1
            # Polite clients send such texts, and never the same one twice.
            if isinstance(value, str) and "-" in value:
                self.runs[value] += 1
                self.ledger.counts["handler calls made twice"] += self.runs[value] == 2
        return data

    def close(self):
        self.client.close()
