"""The kiosk's window, on a display of its own, driven through WebKitGTK's driver."""
import base64
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

for each in ("Tests/Pages", "clients/python"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / each))
from browser import BrowserError, WebDriver
from rig import ROOT, Rig, ends_with_caller, wait_until

DRIVER = "WebKitWebDriver"
# A window manager.
MANAGER = "openbox"


def missing():
    """Why no window can be opened here; None if one can."""
    absent = [name for name in (DRIVER, MANAGER, "Xvfb", "Xorg", "xdotool", "xprop", "xrandr", "xwininfo", "import") if not shutil.which(name)]
    return f"{', '.join(absent)} is not installed" if absent else None


class Display:
    """An X server without a screen. Its size is not the usual one of a window, so that it shows whether a window fills it."""

    output = "screen"

    def __init__(self, width=1152, height=864):
        self.width, self.height = width, height

    def __enter__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen([*self.words(), "-displayfd", str(write), "-nolisten", "tcp", "-noreset"], pass_fds=[write],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ends_with_caller)
        os.close(write)
        with os.fdopen(read) as told:
            self.name = f":{told.readline().strip()}"
        assert self.name != ":", f"{self.words()[0]} has ended"
        return self

    def words(self):
        # Without -noreset it begins anew when the last window closes, and refuses the next one meanwhile.
        return ["Xvfb", "-screen", "0", f"{self.width}x{self.height}x24"]

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def run(self, *words, **options):
        return subprocess.run(words, env={**os.environ, "DISPLAY": self.name}, capture_output=True, text=True, timeout=30, **options)

    def change(self, *monitors):
        """Gives the monitors these places, (width, height, left, top) of each; None: it is off."""
        words = ["xrandr"]
        for number, place in enumerate(monitors):
            output = self.output.format(number)
            words += ["--output", output, *(["--mode", self.mode(output, *place[:2]), "--pos", "{}x{}".format(*place[2:])] if place else ["--off"])]
        self.run(*words, check=True)
        # The driver of several monitors notices by this question that one of them is connected now.
        self.run("xrandr", check=True)

    def mode(self, output, width, height):
        mode = f"{width}x{height}:test"
        across, down = (list(map(str, range(size, size + 4))) for size in (width, height))
        # It may be there already.
        self.run("xrandr", "--newmode", mode, "30", *across, *down)
        self.run("xrandr", "--addmode", output, mode, check=True)
        return mode

    def picture(self, path):
        self.run("import", "-window", "root", str(path), check=True)


class Monitors(Display):
    """An X server with several monitors, DUMMY0, DUMMY1, …, of which the first is there at first."""

    output = "DUMMY{}"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qc-monitors.")
        (Path(self.folder.name) / "xorg.conf").write_text("""
Section "ServerFlags"
    Option "AutoAddDevices" "false"
    Option "AutoAddGPU" "false"
    Option "DontVTSwitch" "true"
EndSection
Section "Device"
    Identifier "monitors"
    Driver "dummy"
    VideoRam 65536
EndSection
""")
        return super().__enter__()

    def words(self):
        # It shares the machine's console, so that it leaves the one of a person alone.
        return ["Xorg", "-config", f"{self.folder.name}/xorg.conf", "-logfile", f"{self.folder.name}/log", "-novtswitch", "-sharevts"]

    def __exit__(self, *_):
        super().__exit__()
        self.folder.cleanup()


class KioskRig(Rig):
    """A daemon with simulated devices, and what its window needs."""

    def __init__(self, programs, display, more=""):
        super().__init__(programs)
        self.display = display
        self.more = more
        # More of windows.
        self.variables = {}

    def __enter__(self):
        try:
            self.prepare()
            self.start_daemon()
        except BaseException:
            self.__exit__()
            raise
        return self

    def prepare(self):
        super().prepare()
        shutil.copytree(Path(__file__).parent / "pages", self.folder / "pages" / "kiosk", dirs_exist_ok=True)
        (self.folder / "mappings" / "zz-tests.yaml").write_text("counter: {value: {type: number, default: 0}}\n")

    def write_settings(self):
        (self.folder / "settings.yaml").write_text("handlerCommands: {users: [root]}\n" + self.more)

    def set_kiosk(self, text):
        """Other settings for the next window."""
        (self.folder / "settings.yaml").write_text(f"kiosk:\n{text}\n")

    @property
    def environment(self):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_RUNTIME_DIR": str(self.folder / "run"),
                       "DISPLAY": self.display.name, "NO_AT_BRIDGE": "1", "WEBKIT_DISABLE_DMABUF_RENDERER": "1", "LC_ALL": "C.UTF-8"}
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "QUICKCONNECT_SOCKET", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            environment.pop(name, None)
        (self.folder / "run").mkdir(mode=0o700, exist_ok=True)
        return {**environment, **self.variables}

    def arguments(self, page, *flags):
        return ["--config", str(self.folder / "settings.yaml"), "--socket", str(self.socket), *flags, *([] if page is None else [str(page)])]


class Window(WebDriver):
    """`with Window(rig, page) as window:` drives its page; `window.log()` is its output."""

    name = "kiosk"

    def __init__(self, rig, page, *flags):
        self.rig = rig
        self.folder = tempfile.mkdtemp(prefix="qc-kiosk.")
        options = {"binary": str(rig.programs / "quickconnect-kiosk"), "args": rig.arguments(page, "--automation", *flags)}
        self.begin(DRIVER, ["--host=127.0.0.1"], {"webkitgtk:browserOptions": options}, rig.environment)

    def run(self, script, *arguments):
        # The driver's synchronous way does not wait for promises.
        body = """
            const done = arguments[arguments.length - 1], all = Array.prototype.slice.call(arguments, 0, -1)
            const run = async function () {\n%s\n}
            run.apply(null, all).then(value => done({ value }), error => done({ error: String(error) }))""" % script
        answer = self.ask("POST", self.session + "/execute/async", {"script": body, "args": list(arguments)})
        if "error" in answer:
            raise BrowserError("javascript error", answer["error"])
        return answer.get("value")

    def log_text(self):
        return (Path(self.folder) / "driver.log").read_text(errors="replace")

    @property
    def pid(self):
        """The window's own process, a child of the driver."""
        return child(self.driver.pid, "quickconnect-ki")

    def web_process(self):
        return child(self.pid, "WebKitWebProces")

    def close(self):
        # The driver leaves the program running, and the session ends with its window.
        try:
            pid = self.pid
        except AssertionError:
            pid = None
        super().close()
        if pid and os.path.exists(f"/proc/{pid}"):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def picture(self, path, whole=True):
        Path(path).write_bytes(base64.b64decode(self.ask("GET", self.session + "/screenshot")))


class PlainWindow:
    """The same without a driver, as it is in a kiosk: the display carries what a person does."""

    def __init__(self, rig, page, *flags):
        self.rig = rig
        self.display = rig.display
        self.path = rig.folder / "kiosk.log"
        with open(self.path, "wb") as log:
            self.process = subprocess.Popen([rig.programs / "quickconnect-kiosk", *rig.arguments(page, *flags)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=rig.environment,
                                            preexec_fn=ends_with_caller)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        Rig.end(self.process)

    @property
    def pid(self):
        return self.process.pid

    def web_process(self):
        return child(self.pid, "WebKitWebProces")

    def log_text(self):
        return self.path.read_text(errors="replace")

    def windows(self):
        return self.display.run("xdotool", "search", "--onlyvisible", "--pid", str(self.pid)).stdout.split()

    def dialog(self):
        """The window of the page's dialog, which is the smaller one."""
        def found():
            areas = [(width * height, each) for each in self.windows() for width, height in [self.size(each)]]
            return len(areas) > 1 and min(areas)[1]
        return wait_until(found, "the dialog", 10)

    def size(self, window):
        """Width and height of one of the windows."""
        told = dict(line.split("=") for line in self.display.run("xdotool", "getwindowgeometry", "--shell", window).stdout.split())
        return int(told.get("WIDTH", 0)), int(told.get("HEIGHT", 0))

    def click_middle(self, button=1):
        """Clicks the mouse in the middle of the window."""
        frame = max(self.windows(), key=int)
        width, height = self.size(frame)
        self.display.run("xdotool", "mousemove", "--sync", "--window", frame, str(width // 2), str(height // 2), "click", str(button), check=True)

    def press(self, *keys, window=None):
        """Presses keys on the keyboard. There is no window manager, so the window gets the focus first."""
        target = window or max(self.windows(), key=int)
        self.display.run("xdotool", "windowfocus", "--sync", target)
        for key in keys:
            self.display.run("xdotool", "key", key, check=True)


def children(pid):
    """All descendants of a process."""
    found, parents = [], {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue
        name, fields = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        parents.setdefault(int(fields[1]), []).append((int(folder.name), name))
    waiting = [pid]
    while waiting:
        for each, name in parents.get(waiting.pop(), []):
            found.append((each, name))
            waiting.append(each)
    return found


def child(pid, name):
    for each, called in children(pid):
        if called.startswith(name):
            return each
    raise AssertionError(f"{pid} has no child {name}")
