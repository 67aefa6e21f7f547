"""The window on its monitor, on screens that have not its usual size, with and without a window manager. Each test is a
function of (stage), and its docstring's first line is its title."""
import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile

import window
from keyboard import on_screen_keyboard
from rig import ends_with_caller, wait_until


@contextlib.contextmanager
def screen(stage, display):
    """Another display for the windows."""
    stage.close_window()
    usual = stage.display
    with display:
        stage.display = stage.rig.display = display
        try:
            yield display
        finally:
            stage.close_window()
            stage.display = stage.rig.display = usual


@contextlib.contextmanager
def manager(display):
    """A window manager."""
    home = tempfile.TemporaryDirectory(prefix="qc-manager.")
    process = subprocess.Popen([window.MANAGER, "--sm-disable"], env={"DISPLAY": display.name, "HOME": home.name, "PATH": os.environ["PATH"]},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ends_with_caller)
    try:
        wait_until(lambda: "window id" in display.run("xprop", "-root", "_NET_SUPPORTING_WM_CHECK").stdout, "the window manager", 10)
        yield process
    finally:
        process.terminate()
        process.wait()
        home.cleanup()


def place(opened):
    """Width, height, left and top of the window, as the X server has them."""
    windows = opened.windows()
    # A window manager that begins or ends hides it for a moment.
    if not windows:
        return None
    told = opened.display.run("xwininfo", "-id", max(windows, key=int)).stdout
    return tuple(int(re.search(rf"{name}:\s+(-?\d+)", told)[1]) for name in ("Width", "Height", "Absolute upper-left X", "Absolute upper-left Y"))


def fills(stage, opened, width, height, left=0, top=0):
    """Waits until the window has this place, and its page this size."""
    shown = []

    def fit():
        shown[:] = [place(opened), stage.evaluate("return [innerWidth, innerHeight]")]
        return shown == [(width, height, left, top), [width, height]]
    try:
        wait_until(fit, f"a window of {width}×{height} at {left}, {top}", 10)
    except AssertionError as error:
        raise AssertionError(f"{error}; it and its page are {shown}\n{opened.log_text()}") from None


def full_screen(stage, settings="  zoom: 1", flags=("--full-screen",)):
    stage.close_window()
    stage.rig.set_kiosk(settings)
    opened = stage.open_window = window.PlainWindow(stage.rig, stage.rig.folder / "pages", *flags)
    stage.wait_state(lambda state: state["address"] == "qc://app/" and not state["isLoading"], "the page")
    return opened


def doctor(stage):
    done = subprocess.run([stage.rig.programs / "quickconnect", "doctor", "--socket", stage.rig.socket, "--json"], capture_output=True, text=True, timeout=40)
    report = json.loads(done.stdout)
    return next(each for each in report["findings"] if each["subject"] == "kiosk")


def each_size(stage):
    """--full-screen without a window manager: the whole screen, an upright one too, also when it turns or changes its size"""
    with screen(stage, window.Display(800, 800)) as display:
        display.change((800, 480, 0, 0))
        opened = full_screen(stage)
        fills(stage, opened, 800, 480)
        assert stage.state()["monitor"] == {"name": "screen", "number": 1, "width": 800, "height": 480}, stage.state()
        display.picture(stage.pictures / "screen-800.png")
        display.change((480, 800, 0, 0))
        fills(stage, opened, 480, 800)
    with screen(stage, window.Display(1920, 1920)) as display:
        display.change((1080, 1920, 0, 0))
        opened = full_screen(stage)
        fills(stage, opened, 1080, 1920)
        display.change((1920, 1080, 0, 0))
        fills(stage, opened, 1920, 1080)
        display.change((640, 480, 0, 0))
        fills(stage, opened, 640, 480)
        assert "the window is on screen, 640×480" in opened.log_text(), opened.log_text()


LEFT, RIGHT = (800, 480, 0, 0), (800, 900, 800, 0)


def two_monitors(stage):
    """Two monitors: a setting chooses by number or name, and the window moves when its monitor goes and comes"""
    with screen(stage, window.Monitors()) as display:
        display.change(LEFT, RIGHT)
        fills(stage, full_screen(stage), *LEFT)
        fills(stage, full_screen(stage, "  monitor: 2"), *RIGHT)
        opened = full_screen(stage, "  monitor: dummy1")
        fills(stage, opened, *RIGHT)
        assert stage.state()["monitor"] == {"name": "DUMMY1", "number": 2, "width": 800, "height": 900}, stage.state()
        display.change(LEFT, None)
        fills(stage, opened, *LEFT)
        words = "the window is on DUMMY0, 800×480: 'monitor' of the kiosk's settings, dummy1, is not connected; connected: 1 DUMMY0"
        assert words in opened.log_text(), opened.log_text()
        assert stage.state()["monitor"]["missing"] == "dummy1", stage.state()
        found = doctor(stage)
        assert found["state"] == "warning" and "dummy1" in found["says"] and "'monitor'" in found["says"], found
        display.change(LEFT, (800, 600, 800, 0))
        fills(stage, opened, 800, 600, 800, 0)
        # Turned.
        display.change(LEFT, (600, 800, 800, 0))
        fills(stage, opened, 600, 800, 800, 0)
        assert "missing" not in stage.state()["monitor"] and doctor(stage)["state"] == "ok"
        # Its neighbour goes, and it takes the neighbour's place.
        display.change(None, (600, 800, 0, 0))
        fills(stage, opened, 600, 800)


def with_manager(stage):
    """With a window manager: the whole monitor, also after a change, after a page's own full screen, and on the other one"""
    with screen(stage, window.Monitors()) as display, manager(display):
        display.change(LEFT)
        opened = full_screen(stage)
        fills(stage, opened, *LEFT)
        stage.evaluate("await document.documentElement.requestFullscreen(); await document.exitFullscreen()")
        stage.evaluate("await new Promise(done => setTimeout(done, 500))")
        fills(stage, opened, *LEFT)
        display.change((480, 800, 0, 0))
        fills(stage, opened, 480, 800)
        display.change(LEFT, RIGHT)
        opened = full_screen(stage, "  monitor: 2")
        fills(stage, opened, *RIGHT)
        display.change(LEFT, None)
        fills(stage, opened, *LEFT)
        display.change(LEFT, RIGHT)
        fills(stage, opened, *RIGHT)


def manager_later(stage):
    """A window manager that starts after the window, and ends before it"""
    with screen(stage, window.Display(800, 800)) as display:
        display.change((800, 480, 0, 0))
        opened = full_screen(stage)
        own = max(opened.windows(), key=int)
        with manager(display):
            state = lambda: display.run("xprop", "-id", own, "_NET_WM_STATE").stdout
            wait_until(lambda: "_NET_WM_STATE_FULLSCREEN" in state(), "the window manager's full screen", 10)
            fills(stage, opened, 800, 480)
        display.change((480, 800, 0, 0))
        fills(stage, opened, 480, 800)


def small_screen(stage):
    """A window that is not full-screen is no larger than its monitor, and a lost page's notice fits an upright one"""
    with screen(stage, window.Display(480, 640)):
        opened = full_screen(stage, flags=())
        fills(stage, opened, 480, 640)
        assert stage.state()["monitor"] is None, stage.state()
    with screen(stage, window.Display(320, 480)) as display:
        opened = full_screen(stage)
        fills(stage, opened, 320, 480)
        os.kill(opened.web_process(), signal.SIGKILL)
        stage.wait_state(lambda state: state["problem"], "the notice")
        assert place(opened) == (320, 480, 0, 0), place(opened)
        display.picture(stage.pictures / "screen-notice.png")


def keyboard_room(stage):
    """An on-screen keyboard over the window: the page gets smaller, the field with the focus stays in sight, and all of it comes back"""
    def room(height, why):
        wait_until(lambda: stage.evaluate("innerHeight") == height, f"a page of {height} for {why}", 10)

    for managed in (False, True):
        with screen(stage, window.Display(800, 480)) as display, manager(display) if managed else contextlib.nullcontext():
            opened = full_screen(stage)
            fills(stage, opened, 800, 480)
            stage.evaluate("document.body.innerHTML = '<div style=\"height: 400px\"></div><input id=last>'; last.focus({ preventScroll: true }); scrollTo(0, 0)")
            if not managed:
                # What takes keys is a program, and what is narrow leaves room beside it.
                with on_screen_keyboard(display, 800, 200, 0, 280, takes_keys=True), on_screen_keyboard(display, 300, 200, 0, 280):
                    stage.evaluate("await new Promise(done => setTimeout(done, 500))")
                    assert stage.evaluate("innerHeight") == 480
            with on_screen_keyboard(display, 800, 200, 0, 280, unmanaged=managed) as move:
                room(280, "the keyboard")
                assert place(opened) == (800, 480, 0, 0), place(opened)
                wait_until(lambda: stage.evaluate("last.getBoundingClientRect().bottom <= innerHeight"), "the field in sight", 5)
                display.picture(stage.pictures / f"keyboard-{managed}.png")
                move(800, 120, 0, 360)
                room(360, "a smaller one")
            room(480, "the end of it")
