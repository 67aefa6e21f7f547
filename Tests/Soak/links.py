"""Ways of access: lines over the Unix socket, over a WebSocket, and one call per request."""
import base64
import http.client
import json
import os
import socket
import struct
import time


class Cut(Exception):
    """The connection has ended, or could not be made."""


class Link:
    """Lines both ways, over a socket."""

    def __init__(self, connection, patience):
        self.connection = connection
        self.patience = patience
        self.rest = b""
        self.connection.settimeout(patience)

    def send(self, lines):
        try:
            self.connection.sendall(b"".join(line + b"\n" for line in lines))
        except OSError as error:
            raise Cut(f"sending: {error}") from None

    def receive(self, seconds=None):
        """Some lines; none if no whole one came in time."""
        end = time.monotonic() + (self.patience if seconds is None else seconds)
        while not (lines := self.take()) and (left := end - time.monotonic()) > 0:
            self.connection.settimeout(left)
            try:
                more = self.connection.recv(1 << 18)
            except TimeoutError:
                break
            except OSError as error:
                raise Cut(f"receiving: {error}") from None
            if not more:
                raise Cut("the end")
            self.rest += more
        return lines

    def take(self):
        *lines, self.rest = self.rest.split(b"\n")
        return lines

    def end_input(self):
        self.connection.shutdown(socket.SHUT_WR)

    def close(self):
        self.connection.close()


def unix_link(path, patience=90):
    connection = socket.socket(socket.AF_UNIX)
    try:
        # The kernel's own patience: with one of Python's, a full queue would be an error at once.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(patience), 0))
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        raise Cut(f"connecting: {error}") from None
    return Link(connection, patience)


def head(connection, request):
    """Sends a request, and returns the status and what came after the head."""
    connection.sendall(request)
    seen = b""
    while b"\r\n\r\n" not in seen:
        more = connection.recv(4096)
        if not more:
            raise Cut("the end")
        seen += more
    first, rest = seen.split(b"\r\n\r\n", 1)
    return int(first.split(b" ", 2)[1]), rest


class WebSocketLink(Link):
    """Each line is a message of its own."""

    def __init__(self, port, token, patience=90, source="127.0.0.1"):
        connection = socket.socket()
        connection.settimeout(patience)
        try:
            connection.bind((source, 0))
            connection.connect(("127.0.0.1", port))
            key = base64.b64encode(os.urandom(16)).decode()
            status, rest = head(connection, (
                f"GET /bridge HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n").encode())
        except OSError as error:
            connection.close()
            raise Cut(f"connecting: {error}") from None
        if status != 101:
            connection.close()
            raise Cut(f"status {status}")
        super().__init__(connection, patience)
        self.rest = rest

    def send(self, lines):
        self.send_frames(b"".join(frame(line) for line in lines))

    def send_frames(self, frames):
        try:
            self.connection.sendall(frames)
        except OSError as error:
            raise Cut(f"sending: {error}") from None

    def take(self):
        lines = []
        while len(self.rest) >= 2:
            size, at = self.rest[1] & 127, 2
            if size == 126:
                if len(self.rest) < 4:
                    break
                size, at = struct.unpack(">H", self.rest[2:4])[0], 4
            elif size == 127:
                if len(self.rest) < 10:
                    break
                size, at = struct.unpack(">Q", self.rest[2:10])[0], 10
            if len(self.rest) < at + size:
                break
            kind, body = self.rest[0] & 15, self.rest[at:at + size]
            self.rest = self.rest[at + size:]
            if kind == 8:
                raise Cut(f"closed with {body[:2].hex()}")
            if kind == 9:
                self.send_frames(frame(body, 10))
            elif kind == 1:
                lines += body.split(b"\n")
        return lines

    def close(self, politely=False):
        if politely:
            try:
                self.send_frames(frame(struct.pack(">H", 1000), 8))
                while True:
                    self.receive(5)
                    if not self.connection.gettimeout():
                        break
            except Cut:
                pass
        super().close()


def frame(body, kind=1, first=0x80):
    """A client's frame. Its mask changes nothing."""
    size = len(body)
    if size < 126:
        return bytes([first | kind, 128 | size]) + b"\0\0\0\0" + body
    if size < 1 << 16:
        return bytes([first | kind, 254]) + struct.pack(">H", size) + b"\0\0\0\0" + body
    return bytes([first | kind, 255]) + struct.pack(">Q", size) + b"\0\0\0\0" + body


class CallRequests:
    """`POST /call`, one call per request; a connection serves several of them."""

    def __init__(self, port, token, patience=90):
        self.port, self.token, self.patience = port, token, patience
        self.connection, self.used = None, 0

    def call(self, message):
        """The message of the reply, as over a socket."""
        if self.connection is None or self.used >= 20:
            self.close()
            self.connection, self.used = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience), 0
        self.used += 1
        try:
            # As a body even for one call: this shows an answer of several lines by its form.
            self.connection.request("POST", "/call", json.dumps(message) + "\n",
                                    {"Authorization": f"Bearer {self.token}", "Content-Type": "text/plain"})
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Cut(repr(error)) from None
        try:
            reply = json.loads(body.split(b"\n")[0])
        except ValueError:
            reply = {"error": {"code": f"status {answer.status}", "message": body[:200].decode(errors="replace")}}
        if answer.status != 200 and "error" not in reply:
            reply = {"error": reply}
        return reply

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


def message(command, data=None, number=None):
    result = {"handlerName": command, "data": data}
    if number is not None:
        result["callbackId"] = number
    return json.dumps(result, separators=(",", ":")).encode()


def until(connect, over, seconds=60):
    """A connection, tried again until there is one; None if `over` is set first."""
    end = time.monotonic() + seconds
    while not over.is_set():
        try:
            return connect()
        except Cut:
            if time.monotonic() > end:
                raise
            over.wait(0.05)
    return None
