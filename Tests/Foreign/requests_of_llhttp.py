"""llhttp's request corpus against the HTTP door: what is not valid is refused, and no request is ever read as two.

Behind each case stands a further request of somebody who is logged in: where that is answered, or carried out, the door took
what stood before it for whole requests."""
import http.client
import json
import re
import select
import socket
import time

import corpus
import fetched
from rig import Rig

# What a server may call a request that it cannot read.
REFUSALS = {400, 431, 501, 505}
# Long enough for a loaded machine; nothing here waits for it where all is well.
SECONDS = 10
# What llhttp takes and this door refuses, on purpose: {name: reason}.
REFUSED = {
    "sample: curl GET": "its Host, 0.0.0.0=5000, is no name",
    "sample: Firefox GET": "its Host, 0.0.0.0=5000, is no name",
    "sample: No HTTP version": "HTTP/0.9 has no Host",
}


class DoorRig(Rig):
    """The daemon and the web gateway, which is known by the names of the corpus."""

    def start_scripts(self):
        pass

    def start_procedures(self):
        pass

    def write_settings(self):
        super().write_settings()
        with open(self.folder / "settings.yaml", "a") as settings:
            settings.write("web: {names: [example.com, www.example.com]}\n")


class Door:
    def __init__(self, rig):
        self.address = "127.0.0.1", rig.port
        self.token = rig.token("ann")
        self.barrier = http.client.HTTPConnection(*self.address, timeout=SECONDS)
        self.log_in()

    def log_in(self):
        connection = http.client.HTTPConnection(*self.address, timeout=SECONDS)
        connection.request("POST", "/login", json.dumps({"token": self.token}), {"content-type": "application/json"})
        self.cookie = connection.getresponse().getheader("set-cookie").split(";")[0]
        connection.close()
        fields = f"Host: {self.address[0]}:{self.address[1]}\r\nCookie: {self.cookie}\r\nContent-Length: 0\r\n\r\n"
        self.question = f"GET /session HTTP/1.1\r\n{fields}".encode()
        # What is not answered may be carried out all the same.
        self.log_out = f"POST /logout HTTP/1.1\r\n{fields}".encode()

    def is_logged_in(self):
        self.barrier.request("GET", "/session", headers={"cookie": self.cookie})
        answer = self.barrier.getresponse()
        answer.read()
        return answer.status == 200

    def pass_barrier(self):
        """Returns when the gateway, which has one loop, has seen what was sent before."""
        for _ in range(2):
            self.is_logged_in()

    def send(self, text, methods, behind, in_pieces=False):
        """Sends both; what came of it."""
        connection = socket.create_connection(self.address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        heard = Heard(connection, methods)
        for piece in [bytes([each]) for each in text] + [behind] if in_pieces else [text + behind]:
            if not heard.send(piece):
                break
        self.pass_barrier()
        heard.listen(0)
        return heard


class Heard:
    """What a connection answers."""

    def __init__(self, connection, methods):
        self.connection, self.methods = connection, methods
        self.data = b""
        self.is_closed = False

    def send(self, piece):
        """Whether it was taken: a door may have closed before it has read all."""
        while piece and not self.is_closed:
            _, writable, _ = select.select([], [self.connection], [], SECONDS)
            assert writable, "the gateway reads no more"
            try:
                piece = piece[self.connection.send(piece):]
            except (BrokenPipeError, ConnectionResetError):
                self.listen(0)
                self.is_closed = True
        return not self.is_closed

    def listen(self, seconds):
        """Hears what is there, and what comes until it is closed or nothing has come for so long."""
        while not self.is_closed and select.select([self.connection], [], [], seconds)[0]:
            try:
                data = self.connection.recv(65536)
            except ConnectionResetError:
                data = b""
            self.data += data
            self.is_closed = not data

    def until(self, condition):
        end = time.monotonic() + SECONDS
        while not condition() and not self.is_closed and time.monotonic() < end:
            self.listen(0.01)
        return condition()

    @property
    def answers(self):
        """(status, whether it says that the connection ends, whether it is that of the last request) for each."""
        found, rest = [], self.data
        methods = iter(self.methods)
        while b"\r\n\r\n" in rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            status = int(head.split()[1])
            if status < 200:
                continue
            length = re.search(rb"\r\ncontent-length: (\d+)", head, re.I)
            count = 0 if next(methods, "") == "HEAD" or not length else int(length[1])
            body, rest = rest[:count], rest[count:]
            found.append((status, b"\r\nconnection: close" in head.lower(), status == 200 and b'"user"' in body))
        return found

    def __str__(self):
        words = [f"{status}{' of the last request' if is_last else ''}{' and an end' if ends else ''}" for status, ends, is_last in self.answers]
        return f"{', '.join(words) or 'nothing'}{', closed' if self.is_closed else ', open'}"


def judge(case, heard):
    """Raises AssertionError where a case was not treated as it must be."""
    def last():
        return any(each[2] for each in heard.answers)

    if case.is_wrong or case.name in REFUSED:
        heard.until(lambda: False)
        answers = heard.answers
        assert not last(), "what follows was answered"
        assert heard.is_closed, "it stays open"
        assert answers and 400 <= answers[-1][0] < 600, "it was not refused"
        assert len(answers) <= case.count + 1, "too many answers"
        # The connection may have ended before, with the answer to a good one.
        if not case.is_read_to_the_body and len(answers) >= case.begun:
            assert answers[-1][0] in REFUSALS, "its head was taken for valid"
        return
    if case.is_complete:
        heard.until(lambda: last() or heard.answers and heard.answers[-1][1])
        answers = [each for each in heard.answers if not each[2]]
        assert answers, "no answer"
        assert all(each[0] not in REFUSALS and each[0] < 500 for each in answers), "a valid request was refused"
        assert len(answers) <= case.count, "too many answers"
        if case.ends:
            heard.until(lambda: False)
            assert heard.is_closed and not last(), "it stays open"
        elif not answers[-1][1]:
            # Who closes early says so; who does not, answers all.
            assert last() and len(answers) == case.count, "answers are missing"
        return
    # Not complete: what follows is a part of it, may complete it, and is wrong after that.
    assert not last(), "what follows was answered as a request of its own"
    assert len(heard.answers) <= case.count + 2, "too many answers"


def judge_without_host(case, heard):
    if case.is_wrong or case.count:
        heard.until(lambda: False)
        assert heard.is_closed and heard.answers, "it was not refused"
    assert len(heard.answers) <= 1, "more than one answer"
    assert all(status in REFUSALS for status, *_ in heard.answers), "it was taken"


# After each of these the connection ends: a request behind it must not be carried out, not even without an answer.
LAST = {
    "a foreign Host": b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "a foreign Origin": b"POST /logout HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.test\r\nContent-Length: 0\r\n\r\n",
    "a body that is too long": b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 17000\r\n\r\n" + b"x" * 17000,
    "a close": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    "a close and a tab": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\t\r\n\r\n",
    "an upgrade": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "a bridge without a page": b"GET /bridge HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "HTTP/1.0": b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
}


def behind_the_last(door):
    """Sends a log-out behind each; what was wrong."""
    for name, text in LAST.items():
        heard = door.send(text, [], door.log_out)
        with heard.connection:
            heard.until(lambda: False)
        is_ended = heard.is_closed and len(heard.answers) == 1
        if not door.is_logged_in():
            yield f"behind {name}: it was carried out; came {heard}"
            door.log_in()
        elif not is_ended:
            yield f"behind {name}: came {heard}"


def attempt(case, door):
    """Sends a case in each way; what was wrong."""
    with_host = case.with_host("127.0.0.1")
    for text, way in ((with_host, "at once"), (with_host, "byte by byte"), (case.bytes, "without a Host")):
        if way == "without a Host" and not case.begins_without_host:
            continue
        behind = door.question if case.may_go_on and way != "without a Host" else door.log_out
        heard = door.send(text, case.methods, behind, way == "byte by byte")
        with heard.connection:
            try:
                (judge_without_host if way == "without a Host" else judge)(case, heard)
                assert door.is_logged_in(), "what follows was carried out"
            except AssertionError as error:
                yield f"{case.name} ({way}): {error}; came {heard}"
                door.log_in()


def tests(programs):
    """Of each file a title and a body."""
    state = {}

    def once(name, make):
        """What it makes; what fails once is not tried again."""
        if name not in state:
            try:
                state[name] = make()
            except Exception as error:
                state[name] = error
        if isinstance(state[name], Exception):
            raise state[name]
        return state[name]

    def begin():
        state["rig"] = DoorRig(programs)
        state["rig"].__enter__()
        return Door(state["rig"])

    def file(name):
        def body():
            cases = corpus.cases(once("folder", fetched.llhttp) / f"{name}.md")
            assert cases, f"no case in {name}.md"
            wrong = [each for case in cases for each in attempt(case, once("door", begin))]
            assert not wrong, "\n".join(wrong)
        return body

    def behind():
        wrong = list(behind_the_last(once("door", begin)))
        assert not wrong, "\n".join(wrong)

    try:
        for name in FILES:
            yield f"llhttp {name}", file(name)
        yield "Behind the last request of a connection nothing is read", behind
    finally:
        if "rig" in state and state["rig"].port:
            state["rig"].__exit__()


FILES = (
    "connection", "content-length", "finish", "invalid", "lenient-header-value-relaxed", "lenient-headers", "lenient-version", "method",
    "pausing", "pipelining", "sample", "transfer-encoding", "uri")
