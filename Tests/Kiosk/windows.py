"""The window itself: its dialogs, its keys, its log, and how it is started. Each test is a function of (stage), and its docstring's first line is its title."""
import re
import socket
import subprocess
import time

import window
from rig import wait_until


def dialogs(stage):
    """alert, confirm and prompt are dialogs of the window, and the page gets what a person answers"""
    opened = stage.window(driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    for text, keys, answer in (("alert('Grüße <b>')", ["Return"], "done"), ("confirm('Sure?')", ["Return"], True),
                               ("confirm('Sure?')", ["Escape"], False), ("prompt('Name?', 'x')", ["End", "y", "z", "Return"], "xyz"),
                               ("prompt('Name?', 'x')", ["Escape"], "null")):
        stage.evaluate(f"window.answer = undefined; setTimeout(() => {{ const got = {text}; window.answer = got === undefined ? 'done' : got === null ? 'null' : got }}, 300)")
        dialog = opened.dialog()
        if text.startswith("prompt"):
            stage.display.picture(stage.pictures / "prompt.png")
        # Calls from the window wait for it, and get their answers then.
        opened.press(*keys, window=dialog)
        wait_until(lambda: stage.evaluate("return window.answer ?? null") == answer, f"{text} to answer {answer}")


def service_watchdog(stage):
    """systemd's watchdog is fed by the window's own loop, whatever the page does"""
    stage.close_window()
    path = stage.rig.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(10)
        stage.rig.variables = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "400000"}
        try:
            stage.window(settings="  hangTime: never", driven=False)
            stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
            stage.evaluate("setTimeout(() => { for (;;); })")
            start = time.monotonic()
            while time.monotonic() < start + 1.5:
                assert listener.recv(100) == b"WATCHDOG=1"
        finally:
            stage.rig.variables = {}
            stage.close_window()
            path.unlink()


def silent_visitor(stage):
    """Who connects to the socket for links and says nothing is sent away, and others are heard meanwhile and afterwards"""
    stage.window(settings="  schemes: [shop]\n  page: pages", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    path = next((stage.rig.folder / "run").glob("quickconnect-kiosk*"))

    def visit():
        visitor = socket.socket(socket.AF_UNIX)
        visitor.connect(str(path))
        visitor.settimeout(10)
        return visitor
    silent = [visit() for _ in range(20)]
    for round in range(2):
        with visit() as speaker:
            speaker.sendall(b"other://order\n")
            assert b"'other' is not in 'schemes'" in speaker.recv(1000)
        for each in silent if round == 0 else []:
            with each:
                assert each.recv(1) == b""


def window_keys(stage):
    """Full screen, no context menu, the screen stays awake, and the leaving key leaves"""
    opened = stage.window(settings="  fullScreen: true\n  cursor: false\n  leaveKey: <Control><Shift>x", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    told = stage.display.run("xset", "q")
    if told.returncode == 0:
        assert re.search(r"timeout:\s+0\s", told.stdout), told.stdout
    assert stage.evaluate("return getComputedStyle(document.body).cursor") == "none"
    stage.kiosk("zoom", 1.5)
    assert stage.state()["zoom"] == 1.5
    # Any other key goes to the page.
    stage.evaluate("addEventListener('keydown', ({ key, ctrlKey, altKey }) => { window.pressed = key + ctrlKey + altKey })")
    opened.press("ctrl+alt+q")
    wait_until(lambda: stage.evaluate("return window.pressed ?? null") == "qtruetrue", "the key in the page")
    assert opened.process.poll() is None
    opened.press("ctrl+shift+x")
    assert opened.process.wait(10) == 0
    stage.close_window()


def page_file(stage):
    """An HTML file is shown with its folder, whatever its name; the window's home is that file"""
    pages = stage.rig.folder / "pages"
    page = pages / "sign 100%.html"
    page.write_text("<!doctype html><title>sign</title><script src=sign.js></script>")
    (pages / "sign.js").write_text("document.title += ' with ' + typeof makeCall")
    try:
        stage.window(page, driven=False)
        stage.wait_state(lambda state: state["title"] == "sign with function" and not state["isLoading"], "the page")
        stage.kiosk("open", "qc://app/kiosk/plain.html")
        stage.wait_state(lambda state: state["title"] != "sign with function" and not state["isLoading"], "another page")
        stage.kiosk("home")
        stage.wait_state(lambda state: state["title"] == "sign with function", "the window's own page")
    finally:
        stage.close_window()
        page.unlink()
        (pages / "sign.js").unlink()


def message_log(stage):
    """--log-messages tells what the bridge says, cut at logMaxLength"""
    stage.close_window()
    stage.rig.set_kiosk("  logMaxLength: 40")
    with window.Window(stage.rig, stage.rig.folder / "pages", "--log-messages") as opened:
        stage.go(opened, "qc://app/kiosk/plain.html")
        opened.run("return quickconnect.call('logMessage', 'z'.repeat(100))")
        wait_until(lambda: "RCVD: {" in opened.log_text() and "SEND: {" in opened.log_text(), "the lines")
        lines = re.findall(r"(?:RCVD|SEND): (.*)", opened.log_text())
        assert all(len(line) <= 40 + len(" [...]") for line in lines), lines
        assert any(line.endswith(" [...]") for line in lines), lines


def wrong_use(stage):
    """Wrong settings, a folder without a page and a missing display are told, with the place"""
    program = stage.rig.programs / "quickconnect-kiosk"
    file = stage.rig.folder / "wrong.yaml"

    def told(text, *arguments, code=2, **environment):
        file.write_text(text)
        done = subprocess.run([program, "--config", file, *arguments], env={**stage.rig.environment, **environment}, capture_output=True, text=True, timeout=20)
        assert done.returncode == code, (done.returncode, done.stderr)
        return done.stderr

    page = stage.rig.folder / "pages"
    words = told("kiosk:\n  zom: 2\n  zoom: 99\n  origins: [example.org, https://x/y]\n  schemes: [http]\n  cookies: some\n  hangTime: x\n  leaveKey: [a]\n", page)
    for part in (":2:3: unknown key 'zom'", "zoom", ":3:9: 'zoom' must be a number from 0.25 to 8", "'example.org'", "'https://x/y'", "'http' cannot", "'cookies' must be one of", "hangTime", "leaveKey"):
        assert part in words, (part, words)
    assert ":2:13: '<Nonsense>q' is not a key" in told("kiosk:\n  leaveKey: <Nonsense>q\n", page)
    assert "has no index.html" in told("", stage.rig.folder)
    assert "No such file" in told("", "/nowhere")
    assert "not the address" in told("", "ftp://example.org/")
    assert "name a folder" in told("")
    assert "no display" in told("", page, code=1, DISPLAY=":99999")
