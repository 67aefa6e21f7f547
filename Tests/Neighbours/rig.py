"""Peers that attack one process, and a neighbour that measures what it costs others."""

import json
import mmap
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

PING = b"call?cmd=ping&id=neighbour\n"
PONG = b"handleJSONRequest?cmd=ping&msg=null&id=neighbour\n"


class Failure(Exception):
    pass


class Daemon:
    """A private daemon, with simulated devices and a socket that strangers may use."""

    def __init__(self, programs, settings=""):
        self.folder = tempfile.mkdtemp(prefix="qc-neighbours-")
        os.chmod(self.folder, 0o755)
        self.socket = os.path.join(self.folder, "socket")
        path = os.path.join(self.folder, "settings.yaml")
        with open(path, "w", encoding="utf8") as file:
            file.write(f"audit: false\n{settings}")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        environment = {
            "PATH": os.environ["PATH"], "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder,
            "STATE_DIRECTORY": os.path.join(self.folder, "state"),
        }  # fmt: skip
        self.process = subprocess.Popen(
            [os.path.join(programs, "quickconnectd"), "--simulate", "--config", path, "--socket", self.socket],
            stdout=self.log, stderr=self.log, env=environment, preexec_fn=lambda: os.nice(-10),
        )  # fmt: skip
        end = time.monotonic() + 20
        while True:
            try:
                connect(self.socket).close()
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Failure(f"the daemon did not start: see {self.log.name}") from None
                time.sleep(0.01)
        os.chmod(self.socket, 0o777)

    def memory(self):
        """Bytes that are the process's own."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf8") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def connect(path, uid=None):
    """A connection, as another user: the kernel names the effective user of the moment."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if uid is not None:
        os.seteuid(uid)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    finally:
        if uid is not None:
            os.seteuid(0)
    return connection


def call(connection, line):
    """One call and its reply, as the value; raises the error's code."""
    connection.sendall(line)
    text = b""
    while not text.endswith(b"\n"):
        piece = connection.recv(1 << 20)
        if not piece:
            raise Failure("the connection closed")
        text += piece
    return json.loads(text)


class Neighbour:
    """A process that sends one ping after another, and tells the longest wait of each period."""

    def __init__(self, path):
        own, self.far = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.far.close()
            try:
                self.run(path, own)
            finally:
                os._exit(1)
        own.close()

    @staticmethod
    def run(path, own):
        os.nice(-10)
        connection = connect(path)
        connection.settimeout(60)
        longest, count = 0.0, 0
        own.setblocking(False)
        while True:
            begin = time.monotonic()
            connection.sendall(PING)
            reply = connection.recv(4096)
            while reply and not reply.endswith(b"\n"):
                reply += connection.recv(4096)
            if reply != PONG:
                own.setblocking(True)
                own.sendall(json.dumps({"wrong": repr(reply[:200])}).encode())
                os._exit(0)
            longest, count = max(longest, time.monotonic() - begin), count + 1
            try:
                if not own.recv(1):
                    os._exit(0)
            except BlockingIOError:
                time.sleep(0.0005)
                continue
            own.setblocking(True)
            own.sendall(json.dumps({"ms": longest * 1e3, "count": count}).encode() + b"\n")
            own.setblocking(False)
            longest, count = 0.0, 0

    def longest(self, limit=60):
        """The longest wait since it was asked last, in milliseconds."""
        self.far.settimeout(limit)
        self.far.sendall(b"?")
        try:
            answer = json.loads(self.far.recv(4096) or "{}")
        except TimeoutError:
            raise Failure(f"the neighbour has waited for {limit} s") from None
        if "ms" not in answer:
            raise Failure(f"the neighbour got {answer.get('wrong', 'no answer')}")
        return answer["ms"]

    def stop(self):
        self.far.close()
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


class Attack:
    """A process with many connections, each of which sends the same bytes again and again, or once."""

    def __init__(self, body):
        global sent_bytes
        self.sent = sent_bytes = mmap.mmap(-1, 8)
        self.has_ended = False
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.nice(5)
                body()
                code = 0
            except (OSError, Failure) as error:
                print(f"attack: {error}", file=sys.stderr)
            finally:
                os._exit(code)

    def check(self):
        """Fails if it does not attack: what is measured beside it says nothing."""
        self.has_ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
        if self.has_ended:
            raise Failure("an attack has ended")
        if not int.from_bytes(self.sent[:8], "little"):
            raise Failure("an attack has sent nothing")

    def stop(self):
        if self.has_ended:
            return
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


# Shared by an attack and its child.
sent_bytes = None


def count_sent(count):
    sent_bytes[:8] = (int.from_bytes(sent_bytes[:8], "little") + count).to_bytes(8, "little")


def pump(connections, payload, repeats=True, reads=True, seconds=60.0):
    """Sends as fast as the other side takes it. A connection that is closed is left out."""
    selector = selectors.DefaultSelector()
    sent = {}
    for connection in connections:
        connection.setblocking(False)
        sent[connection] = 0
        selector.register(connection, selectors.EVENT_WRITE | (selectors.EVENT_READ if reads else 0))
    end = time.monotonic() + seconds
    while selector.get_map() and time.monotonic() < end:
        for key, events in selector.select(0.1):
            connection = key.fileobj
            try:
                if events & selectors.EVENT_READ and not connection.recv(1 << 18):
                    raise ConnectionResetError
                if events & selectors.EVENT_WRITE:
                    count = connection.send(payload[sent[connection] :])
                    count_sent(count)
                    sent[connection] += count
                    if sent[connection] == len(payload):
                        sent[connection] = 0
                        if not repeats:
                            selector.modify(connection, selectors.EVENT_READ) if reads else selector.unregister(connection)
            except BlockingIOError:
                continue
            except OSError:
                selector.unregister(connection)
    while time.monotonic() < end:
        time.sleep(0.05)
