"""Clients that break the protocol, or leave without a word. Only they themselves may be affected."""
import json
import os
import socket
import struct
import time

import links
from links import Cut, frame, message
from polite import Worker

# From another address, because wrong tokens delay an address.
ELSEWHERE = "127.0.0.2"


class Rude(Worker):
    def __init__(self, ledger, name, seed, device, caller):
        super().__init__(ledger, name, seed)
        self.device, self.caller = device, caller
        self.path = device.folder / "socket"
        self.ways = [self.vanishes, self.half_closes, self.floods, self.stalls, self.talks_rubbish, self.sends_long_lines, self.goes_deep,
                     self.takes_handlers, self.cuts_requests, self.sends_wrong_frames, self.leaves_pages, self.guesses_tokens,
                     self.publishes_rubbish, self.speaks_no_mqtt]

    def work(self):
        while not self.over.wait(self.chance.uniform(0, 0.2)):
            what = self.chance.choice(self.ways)
            self.ledger.count(f"rude: {what.__name__.replace('_', ' ')}")
            try:
                what()
            except (Cut, OSError):
                pass

    def connect(self):
        return links.unix_link(self.path, patience=40)

    # The Unix socket

    def vanishes(self):
        many = [self.connect() for _ in range(self.chance.randint(1, 20))]
        for link in many:
            link.send([message(self.chance.choice(["ping", "loc", "soakEcho", "playSound"]), 0, "x")] * self.chance.randint(1, 5))
            if self.chance.random() < 0.5:
                # So that the other end gets an error.
                link.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.close()

    def half_closes(self):
        """This is not rude: each call gets its reply, and then the end."""
        link = self.connect()
        count, replies, sent = self.chance.randint(1, 500), 0, time.monotonic()
        self.ledger.sent("half-closed", count)
        numbers = set()
        try:
            link.send([message("ping", None, str(number)) if number % 10 else message("soakEcho", number, str(number)) for number in range(count)])
            link.end_input()
            while True:
                lines = link.receive(90)
                if not lines:
                    self.ledger.problem("final replies", f"half-closed: {count - len(numbers)} of {count} without a reply")
                    break
                for line in lines:
                    reply = json.loads(line)
                    if reply.get("responseId") in numbers or reply.get("responseId") is None:
                        self.ledger.twice("half-closed", f"{line[:200]!r}")
                    numbers.add(reply.get("responseId"))
                    replies += 1
                    self.ledger.replied("half-closed", "any", ("daemon", "handler"), sent, reply.get("error"))
        except Cut as cut:
            if replies < count:
                self.ledger.lost("half-closed", "any", ("daemon",), sent, str(cut), count - replies)
        link.close()

    def floods(self):
        """Sends without reading, and leaves."""
        link = self.connect()
        link.connection.settimeout(2)
        line = message("state", None, "flood")
        try:
            for _ in range(200):
                link.send([line] * 50)
        finally:
            link.close()

    def stalls(self):
        """Does not read the replies for some time."""
        link = self.connect()
        link.connection.settimeout(0.5)
        try:
            link.send([message("subscribe", ["soakEvent", "location"], "s")])
            for _ in range(self.chance.randint(1, 40)):
                link.send([message("commands", None, "c")] * 20)
        except Cut:
            pass
        self.over.wait(self.chance.choice([0.5, 2, 5, 35]) if self.chance.random() < 0.3 else 0.5)
        link.close()

    def talks_rubbish(self):
        link = self.connect()
        size = self.chance.randint(1, 20_000)
        link.send([self.chance.randbytes(size), b"call?", b"call?cmd=%", b'{"handlerName":', b"[[[[", b'{"responseId":"q1","responseData":1}', b"GET / HTTP/1.1"])
        try:
            link.receive(1)
        finally:
            link.close()

    def sends_long_lines(self):
        link = self.connect()
        text = b"x" * self.chance.choice([70_000, 1 << 20, (4 << 20) + 10])
        link.send([b'{"handlerName":"logMessage","data":"' + text[:60_000] + b'","callbackId":"l"}' if len(text) < 80_000
                   else b'{"handlerName":"ping","data":"' + text + b'","callbackId":"l"}'])
        try:
            link.receive(5)
        finally:
            link.close()

    def goes_deep(self):
        link = self.connect()
        depth = self.chance.choice([500, 600, 100_000])
        link.send([b'{"handlerName":"post","data":["x",' + b"[" * depth + b"]" * depth + b'],"callbackId":"d"}'])
        try:
            link.receive(2)
        finally:
            link.close()

    def takes_handlers(self):
        """Registers a handler, gets a call, and leaves without an answer."""
        link, name = self.connect(), f"rude{self.chance.randrange(1 << 30)}"
        link.send([message("registerHandler", [name], "h")])
        link.receive(5)
        caller = self.connect()
        caller.send([message(name, 1, "c")])
        link.receive(2)
        link.close()
        try:
            caller.receive(5)
        finally:
            caller.close()

    # The web gateway

    def web(self, source=ELSEWHERE):
        connection = socket.socket()
        connection.settimeout(5)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", self.device.port))
        return connection

    def cuts_requests(self):
        with self.web() as connection:
            request = (f"POST /call HTTP/1.1\r\nHost: 127.0.0.1:{self.device.port}\r\nAuthorization: Bearer {self.device.rude_token}\r\n"
                       f"Content-Length: 1000\r\n\r\n" + "call?cmd=loc\n").encode()
            connection.sendall(request[:self.chance.randint(1, len(request))])
            if self.chance.random() < 0.3:
                connection.sendall(self.chance.randbytes(3000))

    def sends_wrong_frames(self):
        link = links.WebSocketLink(self.device.port, self.device.rude_token, 10, ELSEWHERE)
        link.send_frames(self.chance.choice([
            b"\xff\xff\xff\xff", frame(b"\xff\xfe", 1), frame(b"x" * 200, 9), frame(b"bin", 2), frame(b'{"handlerName":"ping"', 1, 0), self.chance.randbytes(500),
            bytes([0x81, 0xff]) + struct.pack(">Q", 1 << 62), frame(b"", 8)]))
        try:
            link.receive(1)
        finally:
            link.close()

    def leaves_pages(self):
        pages = []
        for _ in range(self.chance.randint(1, 8)):
            pages.append(links.WebSocketLink(self.device.port, self.device.rude_token, 10, ELSEWHERE))
            pages[-1].send([message("subscribe", ["soakEvent"], "s"), message("loc", None, "l")])
        self.over.wait(self.chance.uniform(0, 1))
        for page in pages:
            page.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            page.close()

    def guesses_tokens(self):
        with self.web() as connection:
            links.head(connection, f"POST /call?cmd=ping HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {os.urandom(9).hex()}\r\nContent-Length: 0\r\n\r\n".encode())

    # The broker

    def publishes_rubbish(self):
        for _ in range(self.chance.randint(1, 30)):
            topic = self.chance.choice(["qc/kiosk/call/rude/ping", "qc/kiosk/call/rude/noSuchCommand", "qc/kiosk/call/rude/" + "x" * 200,
                                        "qc/kiosk/call/r%C3%BCde/ping", "qc/kiosk/call/rude/soakEcho", "qc/kiosk/status/x"])
            payload = self.chance.choice([b"", b"\xff\xfe", b"[[[[", b"x" * 30_000, b'"text"', b"[1,2,3]"])
            self.caller.publish(topic, payload, qos=self.chance.choice([0, 1]), wait=False, retain=False, MessageExpiryInterval=5)

    def speaks_no_mqtt(self):
        with socket.socket() as connection:
            connection.settimeout(2)
            connection.connect(("127.0.0.1", self.device.broker.port))
            connection.sendall(self.chance.randbytes(self.chance.randint(1, 2000)))
