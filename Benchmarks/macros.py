"""A host with macros compared with a script, and clients that listen to a value."""

import os
import selectors
import socket
import threading
import urllib.parse

# What is measured: an empty macro, and the time of a get and of a set in microseconds, which the macro measures itself.
WARMUP = 100
TIMED = """function(count) {
    for (let i = 0; i < %d; i++) %s
    const begin = Date.now()
    for (let i = 0; i < count; i++) %s
    return (Date.now() - begin) * 1000 / count
}
"""
MACROS = {
    "empty.js": "function() {}\n",
    "gets.js": TIMED % (WARMUP, *("getInnerProgress()",) * 2),
    "sets.js": TIMED % (WARMUP, *("setInnerProgress(i % 10)",) * 2),
}
# The same as a script: a handler that does nothing.
SCRIPTS = {"empty.js": "WebViewJavascriptBridge.registerHandler('empty', () => undefined)\n"}


def folder(processes, name, files):
    path = processes.path(name)
    os.mkdir(path)
    for file_name, text in files.items():
        with open(os.path.join(path, file_name), "w", encoding="utf8") as file:
            file.write(text)
    return path


def start_host(processes, program, daemon):
    """The host of the scripts and macros, as one of the processes that work for a daemon."""
    state = folder(processes, "state", {})
    arguments = [
        program, "--socket", daemon.socket, "--scripts", folder(processes, "scripts", SCRIPTS),
        "--macros", folder(processes, "macros", MACROS),
    ]  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": state, "STATE_DIRECTORY": state}
    daemon.others.append(processes.start(arguments, processes.path("host.log"), env=environment))


def run_line(name, *arguments):
    words = ",".join([f'"run","{name}"', *map(str, arguments)])
    return f"call?cmd=macro&msg={urllib.parse.quote(f'[{words}]', safe='')}&id=1\n".encode()


def value_of(reply):
    """The number in a reply line."""
    return float(urllib.parse.unquote(reply.decode().split("msg=")[1].split("&")[0]))


class Subscribers:
    """Connections that receive each new value, and read as fast as the values come."""

    def __init__(self, path, name, count):
        self.selector = selectors.DefaultSelector()
        self.connections = []
        self.lines = 0
        self.is_ending = False
        for _ in range(count):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.sendall(f"call?cmd=subscribe&msg={name}&id=1\n".encode())
            assert connection.recv(1 << 16).endswith(b"&id=1\n")
            self.connections.append(connection)
            self.selector.register(connection, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            found = self.selector.select(0.2)
            for key, _ in found:
                part = key.fileobj.recv(1 << 16)
                if not part:
                    return
                self.lines += part.count(b"\n")
            if not found and self.is_ending:
                return

    def end(self):
        """The number of events received."""
        self.is_ending = True
        self.thread.join(10)
        for connection in self.connections:
            connection.close()
        return self.lines
