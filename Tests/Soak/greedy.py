"""Clients that break no rule and take all they can: the dearest things that are allowed, from many connections at once. They are
another user than the polite clients, who must not notice."""
import contextlib
import ctypes
import json
import os
import platform
import selectors
import socket
import time

import links
from links import Cut, frame, message
from polite import Worker
from rude import ELSEWHERE

NOBODY = 65534
# How long each thing is held, in seconds.
HOLD = 1.5
# A parser takes exponential time for it.
DEAR = "([a=" * 20 + "1" + "]=[])=>1" * 20
# The kernel's setresuid, which changes one thread; libc's changes all.
SETRESUID = {"x86_64": 117, "aarch64": 147}


@contextlib.contextmanager
def as_nobody():
    """What this thread connects to meanwhile knows it as nobody."""
    call = ctypes.CDLL(None, use_errno=True).syscall

    def become(user):
        if call(SETRESUID[platform.machine()], -1, user, -1):
            raise OSError(ctypes.get_errno(), "setresuid")

    become(NOBODY)
    try:
        yield
    finally:
        become(0)


def missing():
    """Why nobody else can be played on the Unix socket; None if it can."""
    if os.getuid() != 0:
        return "only root can be another user"
    return None if platform.machine() in SETRESUID else f"the number of setresuid on {platform.machine()} is not known"


class Greedy(Worker):
    def __init__(self, ledger, name, seed, device, caller):
        super().__init__(ledger, name, seed)
        self.device, self.caller = device, caller
        self.ways = [self.pages_ask_much, self.bodies_of_strangers, self.unread_answers, self.many_lines, self.unread_pings,
                     self.wrong_tokens, self.many_log_ins, self.idle_browsers, self.many_pages, self.deep_values, self.large_arguments]
        if missing() is None:
            self.ways += [self.connections_ask_much, self.many_hear, self.long_names, self.unfinished_lines, self.many_connections,
                          self.dear_texts]

    def work(self):
        while not self.over.wait(self.chance.uniform(0.2, 1.5)):
            what = self.chance.choice(self.ways)
            self.ledger.count(f"rude: {what.__name__.replace('_', ' ')}")
            with contextlib.ExitStack() as self.opened:
                with contextlib.suppress(Cut, OSError):
                    what()

    # What they share

    def connect(self):
        with as_nobody():
            link = links.unix_link(self.device.folder / "socket", 10)
        self.opened.callback(link.close)
        return link

    def page(self):
        link = links.WebSocketLink(self.device.port, self.device.greedy_token, 10, ELSEWHERE)
        self.opened.callback(link.close)
        return link

    def browser(self, source=ELSEWHERE):
        connection = self.opened.enter_context(socket.socket())
        connection.settimeout(5)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", self.device.port))
        return connection

    def push(self, connections, data, reads=True):
        """Sends it on each of them, as fast as they take it, and reads what comes, for the time of HOLD."""
        reading = selectors.EVENT_READ if reads else 0
        with selectors.DefaultSelector() as selector:
            for connection in connections:
                connection.setblocking(False)
                selector.register(connection, reading | selectors.EVENT_WRITE, memoryview(data))
            end = time.monotonic() + HOLD
            while selector.get_map() and not self.over.is_set() and (seconds := end - time.monotonic()) > 0:
                for key, events in selector.select(seconds):
                    left = self.step(key.fileobj, key.data, events)
                    wanted = 0 if left is None else reading | (selectors.EVENT_WRITE if left else 0)
                    if wanted:
                        selector.modify(key.fileobj, wanted, left)
                    else:
                        selector.unregister(key.fileobj)
            # What was sent is held, although nothing more is to come.
            self.over.wait(max(end - time.monotonic(), 0))

    @staticmethod
    def step(connection, left, events):
        """What is left to be sent; None if the connection has ended."""
        try:
            if events & selectors.EVENT_READ and not connection.recv(1 << 20):
                return None
            return left[connection.send(left):] if events & selectors.EVENT_WRITE and left else left
        except BlockingIOError:
            return left
        except OSError:
            return None

    def request(self, way, token, body=b"", length=None, more=""):
        return (f"{way} HTTP/1.1\r\nHost: 127.0.0.1:{self.device.port}\r\nAuthorization: Bearer {token}\r\n{more}"
                f"Content-Length: {len(body) if length is None else length}\r\n\r\n").encode() + body

    # The Unix socket

    def connections_ask_much(self):
        self.push([self.connect().connection for _ in range(5)], b"call?cmd=commands&id=1\n" * 2600)

    def many_hear(self):
        name = f"greedy{self.chance.randrange(1 << 30)}"
        hearing = [self.connect() for _ in range(50)]
        for link in hearing:
            link.send([message("subscribe", [name], "s")])
            link.receive(5)
        posting = self.connect()
        posting.send([message("post", [name, "x" * 1000])] * 200)
        self.push([link.connection for link in hearing], b"")

    def long_names(self):
        asking = [self.connect() for _ in range(30)]
        for number, link in enumerate(asking):
            link.send([message("subscribe", [f"{number}-{index}-" + "n" * 110 for index in range(begin, begin + 100)], "s") for begin in (0, 100, 200)])
        self.push([link.connection for link in asking], message("state", None, "s") + b"\n")

    def unfinished_lines(self):
        many = [self.connect() for _ in range(150)]
        self.push([link.connection for link in many], b'{"handlerName":"ping","data":"' + b"x" * (4 << 20), reads=False)

    def many_connections(self):
        for _ in range(1100):
            self.connect()
        self.over.wait(HOLD)

    def dear_texts(self):
        link = self.connect()
        link.send([message("macro", ["check", "soakAdd", DEAR], f"m{number}") for number in range(4)]
                  + [message("procedures", ["check", "soakSum", f"function execute(callback) {{ {DEAR} }}"], f"p{number}") for number in range(4)])
        link.receive(5)

    # The web gateway

    def pages_ask_much(self):
        frames = frame(message("commands", None, "c")) * 1500
        self.push([self.page().connection for _ in range(5)], frames)

    def bodies_of_strangers(self):
        head = self.request("POST /call", "x", length=4 << 20)
        self.push([self.browser() for _ in range(50)], head + b"x" * (4 << 20), reads=False)

    def unread_answers(self):
        request = f"GET /style.css HTTP/1.1\r\nHost: 127.0.0.1:{self.device.port}\r\n\r\n".encode()
        self.push([self.browser()], request * (1_400_000 // len(request)), reads=False)

    def many_lines(self):
        lines = self.chance.choice([b"call?cmd=commands&id=1\n" * 256, b"call?cmd=ping\n" * 30_000])
        self.push([self.browser() for _ in range(4)], self.request("POST /call", self.device.greedy_token, lines))

    def unread_pings(self):
        self.push([self.page().connection], frame(b"x" * 100, 9) * 50_000, reads=False)

    def wrong_tokens(self):
        """From the address of the polite ones, too: right tokens must go on to count there."""
        connection = self.browser(self.chance.choice([ELSEWHERE, "127.0.0.1"]))
        for _ in range(6):
            links.head(connection, self.request("POST /call?cmd=ping", os.urandom(18).hex()))

    def many_log_ins(self):
        body = json.dumps({"token": self.device.greedy_token}).encode()
        request = self.request("POST /login", "", body, more="Content-Type: application/json\r\n").replace(b"Authorization: Bearer \r\n", b"")
        self.push([self.browser()], request * 200)

    def idle_browsers(self):
        for _ in range(600):
            self.browser()
        self.over.wait(HOLD)

    def many_pages(self):
        for _ in range(60):
            self.page()
        self.over.wait(HOLD)

    def large_arguments(self):
        link = self.page()
        link.send([message("execute", ["soakSum", "x" * 900_000], f"e{number}") for number in range(8)])
        link.receive(5)

    # The broker

    def deep_values(self):
        for _ in range(20):
            self.caller.publish("qc/kiosk/call/rude/ping", b"[" * 14_000 + b"]" * 14_000, qos=0, wait=False, retain=False, MessageExpiryInterval=5)
