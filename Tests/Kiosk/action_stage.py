"""The kiosk's window with actions. The editor is a view of the window itself, which no driver can reach: the tests type into it
with a keyboard's keys, and look at it in pictures."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "Actions"))
from window import Display, KioskRig, Window, children
from browser import BrowserError
from extension import ACTIONS, Site
from rig import ROOT, Rig, wait_until


class ActionRig(KioskRig):
    """A window whose actions are the shipped ones and the tests' own."""

    def prepare(self):
        super().prepare()
        for name, text in ACTIONS.items():
            folder = self.folder / "own" / "actions" / name
            folder.mkdir(parents=True)
            (folder / "Action.js").write_text(text)
        (self.folder / "kept").mkdir()

    @property
    def environment(self):
        return {**super().environment, "CONFIGURATION_DIRECTORY": str(self.folder / "own"), "STATE_DIRECTORY": str(self.folder / "kept")}

    def action(self, *words, check=True):
        environment = {**self.environment, "QUICKCONNECT_SOCKET": str(self.socket)}
        return subprocess.run([self.programs / "quickconnect", "action", *words], env=environment, capture_output=True, text=True,
                              timeout=60, check=check)

    def begin(self, name):
        """`quickconnect action run`, which runs until the action has ended."""
        environment = {**self.environment, "QUICKCONNECT_SOCKET": str(self.socket)}
        return subprocess.Popen([self.programs / "quickconnect", "action", "run", "--json", name], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Stage:
    def __init__(self, rig, site, pictures):
        self.rig, self.site, self.pictures = rig, site, pictures
        self.display = rig.display
        self.running = []

    def __enter__(self):
        self.window = Window(self.rig, f"{self.site.origin}/strict")
        return self

    def __exit__(self, *_):
        self.window.close()

    def new_window(self):
        """Another window, whose editor has not been shown yet."""
        old = self.window.pid
        self.window.close()
        wait_until(lambda: not os.path.exists(f"/proc/{old}"), "the old window's end")
        self.__enter__()
        wait_until(lambda: self.rig.client("kiosk", "state", check=False).returncode == 0, "the window's handler")

    def fresh(self):
        for process in self.running:
            if process.poll() is None:
                self.key("Escape")
                Rig.end(process)
            process.stdout.close()
            process.stderr.close()
        self.running = []
        for name in ("allowed.json", "scripts.json"):
            (self.rig.folder / "kept" / "actions" / name).unlink(missing_ok=True)

    def show(self, name="strict"):
        self.window.open(f"{self.site.origin}/{name}")

    def allow(self, action):
        self.rig.action("enable", action, self.site.origin)

    @property
    def frame(self):
        found = self.display.run("xdotool", "search", "--onlyvisible", "--pid", str(self.window.pid)).stdout.split()
        return found[-1]

    def key(self, *keys):
        self.display.run("xdotool", "windowfocus", "--sync", self.frame, "key", "--delay", "20", *keys, check=True)

    def write(self, text):
        """Types with the keyboard, over the text that is there."""
        self.key("ctrl+a", "Delete")
        for number, line in enumerate(text.split("\n")):
            if number:
                self.key("Return")
            self.display.run("xdotool", "type", "--delay", "8", line, check=True)

    def page_with(self, *actions, page="strict"):
        """Shows a page, and allows actions on it."""
        self.show(page)
        for action in actions:
            self.allow(action)

    def begin(self, action):
        """Starts an action."""
        process = self.rig.begin(action)
        self.running.append(process)
        return process

    def editor(self, action="page-title"):
        """Starts an action, and waits until its editor accepts text."""
        process = self.begin(action)
        wait_until(lambda: process.poll() is not None or self.shown() == "action-view", "the editor")
        assert process.poll() is None, process.communicate()
        return process

    def refused(self, action):
        """Runs an action that ends with an error; returns the error's text."""
        done = self.rig.action("run", action, check=False)
        assert done.returncode == 1, done
        return done.stderr

    def shown(self):
        """What the window reports that it shows: the host of the view, by its title."""
        name = self.display.run("xdotool", "getwindowname", self.frame).stdout.strip()
        return "action-view" if name.startswith("Action: ") else "page"

    def done(self):
        self.key("ctrl+Return")

    def alert(self):
        def text():
            try:
                return self.window.ask("GET", self.window.session + "/alert/text")
            except BrowserError:
                return None

        found = wait_until(text, "an alert")
        self.window.ask("POST", self.window.session + "/alert/accept", {})
        return found

    def ends(self, process):
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def scripts(self):
        """What was saved."""
        path = self.rig.folder / "kept" / "actions" / "scripts.json"
        return json.loads(path.read_text())["scripts"] if path.exists() else []

    def kept(self):
        """The text typed last."""
        return next((each["text"] for each in self.scripts() if each["name"] == ""), None)

    def open_menu(self):
        """Clicks the right button in the middle of the page."""
        self.display.run("xdotool", "mousemove", "--window", self.frame, "512", "384", "click", "3", check=True)

    def web_processes(self):
        return {pid for pid, name in children(self.window.pid) if name.startswith("WebKitWebProces")}

    def picture(self, name):
        self.display.picture(self.pictures / f"action-{name}.png")

    def pixels(self):
        """The screen, as rows of bytes, three per pixel."""
        done = subprocess.run(["import", "-window", "root", "-depth", "8", "ppm:-"], env={**os.environ, "DISPLAY": self.display.name},
                              capture_output=True, timeout=30, check=True)
        _, size, _, body = done.stdout.split(b"\n", 3)
        width = int(size.split()[0])
        return [body[start:start + 3 * width] for start in range(0, len(body), 3 * width)]

    def settled(self):
        """The screen, once nothing moves except a caret."""
        shots = [self.pixels()]

        def still():
            time.sleep(0.3)
            shots.append(self.pixels())
            left, _, right, _ = self.difference(shots[-2], shots[-1])
            return right - left < 4
        wait_until(still, "a still picture", 20)
        return shots[-1]

    @staticmethod
    def difference(one, other):
        """The bounding box of the differences: left, top, right, bottom."""
        rows = [number for number, (a, b) in enumerate(zip(one, other)) if a != b]
        columns = [at // 3 for row in rows for at in range(len(one[row])) if one[row][at] != other[row][at]]
        return (min(columns), rows[0], max(columns), rows[-1]) if rows else (0, 0, 0, 0)

    def document_title(self):
        return self.rig.call("kiosk", "evaluate", "return document.title")
