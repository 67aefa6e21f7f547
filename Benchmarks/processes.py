"""Servers and clients as processes: each is started, has a time limit, and is ended by its pid."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time


class Failure(Exception):
    """Something could not be measured. The message says what, and why."""


class Processes:
    """All processes that were started, and their folder. `end` removes all of it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="quickconnect-benchmark.")
        self.running = []
        self.count = 0

    def path(self, name):
        """A new path in the folder."""
        self.count += 1
        return os.path.join(self.folder, f"{self.count}-{name}")

    def write(self, name, content):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return path

    def start(self, arguments, log, **more):
        with open(log, "ab") as file:
            more.setdefault("stdin", subprocess.DEVNULL)
            more.setdefault("stdout", file)
            process = subprocess.Popen(arguments, stderr=file, **more)
        self.running.append(process)
        return process

    def stop(self, process, seconds=10):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.running:
            self.running.remove(process)

    def run(self, arguments, seconds):
        """The standard output of a program that ends on its own."""
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.running.append(process)
        name = os.path.basename(arguments[0])
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{name} did not end within {seconds:.0f} s") from None
        finally:
            self.stop(process, 1)
        if process.returncode != 0:
            raise Failure(errors.strip()[-400:] or f"{name} ended with status {process.returncode}")
        return output

    def compile(self, source):
        program = os.path.join(self.folder, os.path.splitext(os.path.basename(source))[0])
        self.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source], 60)
        return program

    def end(self):
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        for process in list(reversed(self.running)):
            self.stop(process, 6)
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A server on a Unix socket. It is ready when it has answered one call."""

    def __init__(self, processes, name, arguments, path, first_call, seconds=15):
        self.processes = processes
        self.name = name
        self.socket = path
        self.log = processes.path(f"{name}.log")
        begin = time.monotonic()
        self.process = processes.start(arguments, self.log)
        self.others = []
        try:
            self._await(first_call, begin + seconds)
        except Failure:
            self.stop()
            raise
        self.start_seconds = time.monotonic() - begin

    @property
    def pid(self):
        return self.process.pid

    def _await(self, call, deadline):
        while True:
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended before it could be reached: {self.last_lines()}")
            left = deadline - time.monotonic()
            if left <= 0:
                raise Failure(f"{self.name} could not be reached in time: {self.last_lines()}")
            try:
                ask(self.socket, call, left)
                return
            except OSError:
                time.sleep(0.001)

    def last_lines(self):
        with open(self.log, "rb") as file:
            return file.read()[-400:].decode(errors="replace").strip()

    def pids(self):
        """The pids of the server, its children and the processes that work for it."""
        found = []
        for process in [self.process, *self.others]:
            found += [process.pid, *children(process.pid)]
        return found

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        for process in reversed(self.others):
            self.processes.stop(process)
        self.processes.stop(self.process)


def ask(path, request, seconds):
    """One request's reply line."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        connection.sendall(request)
        reply = b""
        while not reply.endswith(b"\n"):
            part = connection.recv(1 << 16)
            if not part:
                raise ConnectionResetError("the server closed the connection")
            reply += part
        return reply


def children(parent):
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf8", errors="replace") as file:
                # The name in parentheses may contain anything.
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(entry))
    return found


def memory(pid):
    """Resident and proportional memory in bytes."""
    values = {}
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf8") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss"):
                values[name.lower()] = int(rest.split()[0]) * 1024
    return values
