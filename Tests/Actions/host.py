"""The native host, as a browser starts it. Each test is a function of (host), and its docstring is its title."""
import json
import os
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PAGE = "https://example.org/page"


class Host:
    """`with Host(rig) as host:` is what a browser has at its end of the pipe."""

    def __init__(self, rig):
        self.rig = rig
        self.count = 0

    def __enter__(self):
        self.process = subprocess.Popen([self.rig.programs / "quickconnect-actions", "chrome-extension://test/"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **self.rig.own})
        return self

    def __exit__(self, *_):
        self.end()
        self.process.stdout.close()
        self.process.stderr.close()

    def end(self):
        """Closes the browser's end. The host ends with that."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(20)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, value):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.write(struct.pack("=I", len(text)) + text)

    def receive(self):
        length = struct.unpack("=I", self.process.stdout.read(4))[0]
        assert length <= 1 << 20, length
        return json.loads(self.process.stdout.read(length))

    def ask(self, verb, page=PAGE, **more):
        self.count += 1
        self.send({"id": self.count, "verb": verb, "page": page, **more})
        answer = self.receive()
        assert answer["id"] == self.count, answer
        return answer

    def refused(self, code, verb, **more):
        error = self.ask(verb, **more).get("error")
        assert error and error["code"] == code, error
        return error["message"]

    def allow(self, action, site="https://example.org"):
        self.rig.action("enable", action, site)


def malformed(host):
    """A message that is none is answered with badRequest, and the next one is read"""
    for text in (b"", b"{", b"[]", b"\xff\xfe", b"[" * 100, b'{"id": "1"}', b'{"id": 7}', b'{"id": 7, "page": "x", "verb": "fly"}',
                 b'{"id": 7, "page": "x", "verb": "run"}', b'{"id": 7, "page": 1, "verb": "list"}'):
        host.send(text)
        answer = host.receive()
        assert answer["error"]["code"] == "badRequest" and answer["id"] in (None, 7), (text, answer)
    assert "actions" in host.ask("list")["value"]
    assert host.end() == 0


def no_frames(host):
    """What is no frame of a browser ends the host with status 1"""
    host.write(b"GET / HTTP/1.1\r\n\r\n")
    assert host.receive()["error"]["code"] == "badRequest"
    assert host.process.wait(20) == 1


def cut_off(host):
    """An end in the middle of a message is status 1"""
    host.write(struct.pack("=I", 100) + b"{")
    assert host.end() == 1


def too_large(host):
    """A message of more than a mebibyte is skipped and answered tooLarge; one of that much is read"""
    body = b'{"id": 1, "verb": "list", "page": "%s"}'
    exact = body % (b"x" * ((1 << 20) - len(body) + 2))
    assert len(exact) == 1 << 20
    host.send(exact)
    assert host.receive()["value"]["site"] is None
    host.send(exact + b" ")
    assert host.receive()["error"]["code"] == "tooLarge"
    host.send(b"x" * (5 << 20))
    assert host.receive()["error"]["code"] == "tooLarge"
    assert "actions" in host.ask("list")["value"]


def too_long_an_answer(host):
    """An answer of more than a mebibyte is tooLarge"""
    host.allow("page-title")
    argument = {"customJavaScript": "\"" * 400_000}
    assert host.refused("tooLarge", "finalize", action="page-title", token="t", argument=argument)


def disabled(host):
    """A disabled action, and a site that is not allowed, are denied with the line that allows it"""
    for verb, more in (("run", {}), ("finalize", {}), ("evaluate", {"text": "1"}), ("call", {"command": "logMessage"}), ("scripts", {}),
                       ("save", {"name": "", "text": "x"}), ("ended", {"state": "done"})):
        message = host.refused("denied", verb, action="page-title", **more)
        assert "quickconnect action enable page-title https://example.org" in message, message
    host.allow("page-title", "https://example.net")
    assert "not allowed on https://example.org" in host.refused("denied", "run", action="page-title")
    for page in ("about:blank", "data:text/html,x", "", "https://example.net.evil.org/", "https://example.net@evil.org/", "http://example.net/"):
        host.refused("denied", "run", page=page, action="page-title")
    assert "'view-source'" in host.refused("notFound", "run", action="view-sorce")
    for name in ("../page-title", "", "a/b", "x" * 200):
        host.refused("notFound", "run", action=name)


def unlisted(host):
    """A command that is not listed is denied, and a listed one is called"""
    host.allow("page-title")
    message = host.refused("denied", "call", action="page-title", command="rec", message=["x.wav", "start"])
    assert "'rec' is not listed" in message and "logMessage" in message, message
    assert len(host.ask("call", action="page-title", command="sounds")["value"]) > 0
    assert host.ask("call", action="page-title", command="logMessage", message="from the host")["value"] is None
    assert host.refused("invalid", "call", action="page-title", command="playSound", message="x")


def script(host):
    """A text that is no script is invalid, with its line"""
    host.allow("page-title")
    error = host.ask("evaluate", action="page-title", text="let a\nlet = = 1")["error"]
    assert (error["code"], error["line"], error["source"]) == ("invalid", 2, "script"), error
    assert "tooLarge" == host.ask("evaluate", action="page-title", text="1;" * 200_000)["error"]["code"]
    for text in ("}); alert(1); ({", "} catch {} alert(1); try {", "*/", "`"):
        assert host.ask("evaluate", action="page-title", text=text)["error"]["code"] == "invalid", text


def no_daemon(host):
    """Without a daemon a call is unavailable, and the rest works"""
    host.allow("page-title")
    host.rig.own_socket = "/nowhere/socket"
    host.end()
    host.__exit__()
    with host:
        assert host.ask("run", action="page-title", token="t")["value"].startswith("(async")
        host.refused("unavailable", "call", action="page-title", command="sounds")
    host.rig.own_socket = None


def in_pieces(host):
    """A message that comes byte by byte is read as one that comes whole"""
    text = json.dumps({"id": 5, "verb": "list", "page": PAGE}).encode()
    for byte in struct.pack("=I", len(text)) + text:
        host.write(bytes([byte]))
    assert host.receive()["id"] == 5


def flooded(host):
    """10,000 messages at once are answered one by one, in order, without growing"""
    count = 10_000
    with ThreadPoolExecutor() as pool:
        frame = struct.pack("=I", 2) + b"{}"
        sent = pool.submit(host.write, frame * count)
        for _ in range(count):
            assert host.receive()["error"]["code"] == "badRequest"
        sent.result(20)
    resident = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{host.process.pid}/status").read_text())[1])
    assert resident < 100 << 10, f"{resident} KiB"
    assert "actions" in host.ask("list")["value"]


def many_calls(host):
    """1,500 calls at once: each is answered once, by the device or by what it takes no more of"""
    host.allow("page-title")
    count = 1500

    def send():
        for number in range(count):
            host.send({"id": number, "verb": "call", "page": PAGE, "action": "page-title", "command": "sounds"})
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(send)
        answers = [host.receive() for _ in range(count)]
        sent.result(20)
    assert sorted(each["id"] for each in answers) == list(range(count))
    assert all("value" in each or each["error"]["code"] == "overloaded" for each in answers)


def reader_gone(host):
    """A browser that reads no more, and is gone, leaves no host behind"""
    host.process.stdout.close()
    host.send({"id": 1, "verb": "list", "page": PAGE})
    host.process.wait(20)


def forged(host):
    """Wrong kinds of everything are badRequest or denied, and nothing is written"""
    host.allow("page-title")
    for more in ({"action": 1}, {"action": None}, {"action": ["page-title"]}, {"action": "page-title", "text": 5}, {"action": "page-title", "text": None}):
        host.refused("badRequest", "evaluate", **more)
    for more in ({"name": 1, "text": "x"}, {"name": "x", "text": {}}):
        host.refused("badRequest", "save", action="page-title", **more)
    for name in ("a\nb", "\0", "x" * 101):
        host.refused("invalid", "save", action="page-title", name=name, text="x")
    host.refused("badRequest", "ended", action="page-title", state="exploded")
    host.refused("badRequest", "call", action="page-title", command=7)
    host.send(b'{"id": 9223372036854775808, "verb": "list", "page": "https://x/"}')
    assert host.receive()["error"]["code"] == "badRequest"
    assert not (host.rig.folder / "kept" / "actions" / "scripts.json").exists()


def start(host):
    """Without a browser's words it says what it is"""
    done = subprocess.run([host.rig.programs / "quickconnect-actions"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and "started by a browser" in done.stderr, done
    done = subprocess.run([host.rig.programs / "quickconnect-actions", "--version"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and done.stdout.strip(), done


ALL = [malformed, no_frames, cut_off, too_large, too_long_an_answer, disabled, unlisted, script, in_pieces, flooded, many_calls, reader_gone, forged, no_daemon, start]
