"""What a client may send at most, and what it must get back."""

import json
import re

LINE_BYTES = 4 << 20
CODE = re.compile(rb"%22code%22%3A%22(\w+)%22")
REPLY_ID = re.compile(rb"&id=(\w+)$")

# Stands for any outcome, an error or a result.
ANY = object()


class Disturbance:
    """`ids` are the ids of the replies, None for a reply without one. `code` is the code of the error, None for a success."""

    def __init__(self, name, sent, ids, code, subscribe=None, event=None, closes=False, more=0):
        self.name = name
        self.sent = sent
        self.ids = ids
        self.code = code
        self.subscribe = subscribe
        # The only event that the subscriber must get.
        self.event = event
        self.closes = closes
        # How many other connections send the same.
        self.more = more

    def wrong(self, received):
        """What is wrong with the replies, or None: each id must come once, with the right outcome."""
        missing = {}
        for identifier in self.ids:
            missing[identifier] = missing.get(identifier, 0) + 1
        lines = received.split(b"\n")
        if lines.pop() != b"":
            return "a reply was cut off"
        for line in lines:
            try:
                identifier, code = read_reply(line)
            except (ValueError, AttributeError, KeyError):
                return f"not a reply: {line[:80]!r}"
            if missing.get(identifier, 0) == 0:
                return f"a reply too many: {line[:80]!r}"
            missing[identifier] -= 1
            if self.code is not ANY and code != self.code:
                return f"expected {self.code or 'a success'}, got {code or 'a success'}"
        left = sum(missing.values())
        return f"{left} replies are missing" if left else None


def read_reply(line):
    """The id and the error code of a reply in either form."""
    if line.startswith(b"{"):
        message = json.loads(line)
        error = message.get("error")
        return message.get("responseId"), error["code"] if error else None
    if not line.startswith(b"handleJSONRequest?cmd="):
        raise ValueError
    identifier = REPLY_ID.search(line)
    code = CODE.search(line) if line.startswith(b"handleJSONRequest?cmd=error&") else None
    return identifier and identifier[1].decode(), code and code[1].decode()


def filled(start, end, unit=b"a", separator=b""):
    """A line just below the longest allowed one."""
    count = (LINE_BYTES - 64 - len(start) - len(end)) // len(unit + separator)
    return start + separator.join([unit] * count) + end + b"\n"


def bridge(command, data, identifier):
    return b'{"handlerName":"%s","data":%s,"callbackId":"%s"}\n' % (command, data, identifier)


def disturbances():
    """Makes each one when its turn comes, since each is large."""
    many = [f"{index}" for index in range(90000)]
    for senders in 2, 5, 50:
        count = 2600 if senders < 50 else 260
        yield Disturbance(
            f"{count:,} times commands from each of {senders} senders",
            b"call?cmd=commands&id=1\n" * count, ["1"] * count, None, more=senders - 1,
        )  # fmt: skip
        yield Disturbance(
            f"20,000 pings from each of {senders} senders",
            b"call?cmd=ping&id=1\n" * 20000, ["1"] * 20000, None, more=senders - 1,
        )  # fmt: skip
    yield Disturbance(
        "numbers to a command without parameters", filled(b"call?cmd=ping&msg=[", b"]&id=n", b"1", b","), ["n"], "invalid"
    )
    yield Disturbance(
        "the same, bridge form", filled(b'{"handlerName":"ping","callbackId":"n","data":[', b"]}", b"1", b","), ["n"], "invalid"
    )
    yield Disturbance(
        "a batch of 90,000 unknown commands",
        b"[" + b",".join(b'{"handlerName":"x%d","callbackId":"%d"}' % (index, index) for index in range(90000)) + b"]\n",
        many,
        "unknownCommand",
    )
    yield Disturbance(
        "5,000 unknown commands in lines",
        b"".join(b"call?cmd=unknown%dThing&id=%d\n" % (index * 7919, index) for index in range(5000)),
        many[:5000],
        "unknownCommand",
    )
    yield Disturbance("a command name of 4 MB", filled(b"call?cmd=", b"&id=n"), ["n"], "unknownCommand")
    yield Disturbance("4 MB of text to logMessage", filled(b"call?cmd=logMessage&msg=", b"&id=n"), ["n"], None)
    yield Disturbance(
        "300,000 names in one subscribe",
        bridge(b"subscribe", b"[" + b",".join(b'"n%d"' % index for index in range(300000)) + b"]", b"n"),
        ["n"],
        ANY,
    )
    keys = b",".join(b'"key%d":%d' % (index, index) for index in range(200000))
    yield Disturbance(
        "200,000 keys as an option of play", bridge(b"play", b'["x.wav","start",{%s}]' % keys, b"n"), ["n"], "invalid"
    )
    text = b"a" * 4000000
    yield Disturbance(
        "4 MB to post, with a subscriber",
        bridge(b"post", b'["big","%s"]' % text, b"n"),
        ["n"],
        None,
        subscribe=bridge(b"subscribe", b'["big"]', b"s"),
        event=b'{"handlerName":"big","data":"%s"}\n' % text,
    )
    yield Disturbance("4 MiB that never were JSON", filled(b"{", b""), [None], "badRequest")
    yield Disturbance("a line of 16 MiB", filled(b"call?cmd=ping&msg=", b"&id=n")[:-1] * 4 + b"\n", [None], "tooLarge")
    yield Disturbance(
        "depth bombs",
        filled(b"[", b"", b"[")
        + filled(b'{"a":', b"", b'{"a":')
        + filled(b"call?cmd=post&msg=[", b"&id=url", b"[")
        + bridge(b"post", b"[" * 2000000 + b"]" * 2000000, b"bridge"),
        [None, None, "url", "bridge"],
        "tooLarge",
    )
    yield Disturbance(
        "1,024 handlers, then closed",
        b"".join(b"call?cmd=registerHandler&msg=handler%d&id=%d\n" % (index, index) for index in range(1024)),
        many[:1024],
        None,
        closes=True,
    )
