"""What happens to a page and its window. Each test is a function of (stage), and its docstring's first line is its title."""
import http.server
import os
import signal
import time
from pathlib import Path

import quickconnect
from rig import wait_until
from stage import Site


def killed(stage):
    """A page whose process is killed: a plain page says so, the journal has a line, and the page comes again by itself"""
    opened = stage.window(driven=False)
    stage.wait_state(lambda state: state["address"] == "qc://app/" and not state["isLoading"] and state["title"], "the page")
    generation = stage.state()["generation"]
    os.kill(opened.web_process(), signal.SIGKILL)
    state = stage.wait_state(lambda state: state["problem"], "the notice")
    assert "crashed" in state["problem"], state
    stage.display.picture(stage.pictures / "killed.png")
    wait_until(lambda: "quickconnect-kiosk: The page has stopped." in stage.rig.log("quickconnectd"), "the line in the journal")
    stage.wait_state(lambda state: not state["problem"] and state["generation"] > generation and not state["isLoading"], "the page again")
    wait_until(lambda: stage.evaluate("return window.quickconnect && quickconnect.state") == "connected", "its connection")
    # The button does the same at once.
    os.kill(opened.web_process(), signal.SIGKILL)
    stage.wait_state(lambda state: state["problem"], "the notice")
    opened.press("Return")
    stage.wait_state(lambda state: not state["problem"] and state["title"], "the page by its button", 3)


def reloaded(stage):
    """A reload opens the window anew where its settings have changed, and only there"""
    opened = stage.window(settings="  zoom: 1", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    process = opened.process.pid
    stage.evaluate("window.mark = 1")
    # Laid out otherwise, and then with a mistake: nothing changes.
    for text in ("\n\n  zoom: 1.0", "  zoom: 77"):
        stage.rig.set_kiosk(text)
        try:
            stage.device.call("reload")
        except quickconnect.Error as error:
            assert "zoom" in str(error), error
        time.sleep(1)
        assert stage.evaluate("return window.mark") == 1, text
    stage.rig.set_kiosk("  zoom: 1.5")
    stage.device.call("reload")
    stage.wait_state(lambda state: state["zoom"] == 1.5 and state["title"] and not state["isLoading"], "the window anew")
    assert stage.evaluate("return window.mark ?? null") is None
    assert opened.process.poll() is None and opened.process.pid == process
    assert os.readlink(f"/proc/{process}/exe").endswith("quickconnect-kiosk")


def hanging(stage):
    """A page with an endless loop is ended and loaded again"""
    opened = stage.window(settings="  hangTime: 2s", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.evaluate("setTimeout(() => { for (;;) ; }, 500)")
    start = time.monotonic()
    state = stage.wait_state(lambda state: state["problem"], "the notice")
    assert "did not answer" in state["problem"], state
    assert time.monotonic() - start < 10
    stage.wait_state(lambda state: not state["problem"] and not state["isLoading"], "the page again")
    # A page that waits for a user does not hang.
    stage.evaluate("setTimeout(() => { window.answer = confirm('Still there?') }, 300)")
    dialog = opened.dialog()
    time.sleep(4)
    assert not stage.state()["problem"], stage.state()
    opened.press("Return", dialog)
    wait_until(lambda: stage.evaluate("return window.answer") is True, "the answer")


def network(stage):
    """An address that nobody answers is said and tried again until it is there"""
    with Site(stage.rig.folder) as site:
        port = site.port
    opened = stage.window(f"http://127.0.0.1:{port}/plain.html", driven=False)
    state = stage.wait_state(lambda state: state["problem"], "the notice")
    assert "cannot be reached" in state["problem"], state
    stage.display.picture(stage.pictures / "network.png")
    with Site(stage.rig.folder / "pages" / "kiosk", port):
        stage.wait_state(lambda state: state["title"] == "Plain" and not state["problem"], "the page")
    assert opened.process.poll() is None


def unready(stage):
    """A server that answers 503, closes, sends half or nothing is tried again, and its page is shown as soon as it comes"""
    told = []
    moods = ["503", "closes", "half", "nothing"]

    class Moody(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path != "/page":
                return self.send_error(404)
            mood = moods.pop(0) if moods else "well"
            told.append(mood)
            if mood == "503":
                return self.send_error(503)
            if mood == "nothing":
                time.sleep(8)
            if mood in ("closes", "nothing"):
                self.close_connection = True
                return
            text = b"<!doctype html><title>Well</title><p>Well"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text) + (1000 if mood == "half" else 0)))
            self.end_headers()
            self.wfile.write(text if mood == "well" else text[:20])
            self.close_connection = True

        def log_message(self, *_):
            pass
    with stage.server(Moody) as origin:
        stage.window(f"{origin}/page", settings="  hangTime: 2s", driven=False)
        problems = []

        def is_well(state):
            if state["problem"] and state["problem"] not in problems:
                problems.append(state["problem"])
            return state["title"] == "Well" and not state["problem"] and not moods
        stage.wait_state(is_well, "the page", 90)
        assert told[:4] == ["503", "closes", "half", "nothing"] and told[-1] == "well" and len(told) <= 6, told
        for words in ("the server answers 503", "nothing came for 6 s"):
            assert any(words in problem for problem in problems), problems


def given_up(stage):
    """An address that never comes is left for the window's first page after three failures, and at once when somebody opens another"""
    with Site(stage.rig.folder) as site:
        dead = site.origin
    stage.window(settings=f"  origins: [{dead}, 'http://127.0.0.1:9']", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.kiosk("open", f"{dead}/x.html")
    stage.wait_state(lambda state: "cannot be reached" in (state["problem"] or ""), "the notice")
    stage.wait_state(lambda state: not state["problem"] and state["address"] == "qc://app/" and state["title"], "the first page", 60)
    # Somebody opens another page: it stays.
    stage.kiosk("open", f"{dead}/x.html")
    stage.wait_state(lambda state: state["problem"], "the notice")
    stage.kiosk("home")
    stage.wait_state(lambda state: not state["problem"] and state["address"] == "qc://app/" and not state["isLoading"], "the first page")
    stage.evaluate("window.mark = 1")
    time.sleep(13)
    assert stage.evaluate("return window.mark") == 1
    # A port that the engine forbids.
    stage.kiosk("open", "http://127.0.0.1:9/")
    stage.wait_state(lambda state: "http://127.0.0.1:9/" in (state["problem"] or ""), "the notice")
    stage.kiosk("home")
    stage.wait_state(lambda state: not state["problem"], "the first page")


def not_pages(stage):
    """A sound plays or is saved, and is fetched once or twice; what its server calls an attachment is saved"""
    asked = []

    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            data, kind = ((Path(__file__).resolve().parents[2] / "sounds" / "bell.wav").read_bytes(), "audio/wav") if self.path == "/bell.wav" else (b"words", "text/plain")
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            if self.path == "/words.txt":
                self.send_header("Content-Disposition", "Attachment; filename=words.txt")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass
    with stage.server(Files) as origin:
        stage.window(settings=f"  origins: [{origin}]", driven=False)
        stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
        stage.kiosk("open", f"{origin}/words.txt")
        wait_until(lambda: (stage.rig.folder / "media" / "words.txt").exists(), "the file")
        assert stage.state()["address"] == "qc://app/", stage.state()
        stage.kiosk("open", f"{origin}/bell.wav")
        wait_until(lambda: "/bell.wav" in asked, "the sound")
        time.sleep(8)
        assert not stage.state()["problem"] and asked.count("/bell.wav") <= 4, (stage.state(), asked)


def daemon_restart(stage):
    """The daemon restarts: the page connects again, and a call that had an answer is not made again"""
    opened = stage.page("kiosk/plain.html")
    assert opened.run("return quickconnect.call('counter', 7)") == 7
    stage.rig.restart("quickconnectd")
    opened.wait_connected()
    assert opened.run("return quickconnect.call('counter')") == 0
    wait_until(lambda: stage.state(), "the window's own handler")


def start_up_queue(stage):
    """BridgeTests: the window's calls before the page is there wait for it"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        stage.window(f"{site.origin}/late.html", driven=False)
        wait_until(stage.state, "the window's handler")
        waiting = [stage.device.submit("kiosk", "call", "echoHandler", number, timeout=20) for number in range(100)]
        assert stage.state()["title"] == "", "the page is there already"
        assert [each.result(20) for each in waiting] == list(range(100))


def opened_early(stage):
    """What a program opens as soon as the window can be called is what is shown, not the window's own page"""
    # A filter of many origins takes its time.
    origins = ", ".join(f"https://r{number}.example" for number in range(64))
    stage.window(settings=f"  resources: [{origins}]", driven=False)
    deadline = time.monotonic() + 20
    while True:
        try:
            stage.device.call("kiosk", "open", "qc://app/kiosk/plain.html", timeout=10)
            break
        except quickconnect.Error as error:
            assert error.code == "unavailable" and time.monotonic() < deadline, error
    wait_until(lambda: stage.state()["generation"] > 0 and not stage.state()["isLoading"], "the page")
    address = stage.evaluate("await new Promise(resolve => setTimeout(resolve, 300)); return location.href")
    assert address == "qc://app/kiosk/plain.html", address


def abandoned(stage):
    """A call whose caller has gone before the page is there is not made"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        stage.window(f"{site.origin}/slow/heard.html", driven=False)
        wait_until(stage.state, "the window's handler")
        gone = quickconnect.Client(str(stage.rig.socket))
        gone.submit("kiosk", "call", "hear", "gone", timeout=20)
        gone.call("ping")
        gone.close()
        kept = stage.device.submit("kiosk", "call", "hear", "kept", timeout=20)
        assert stage.state()["title"] == "", "the page is there already"
        assert kept.result(20) == "kept"
        assert stage.evaluate("return heard") == ["kept"]
