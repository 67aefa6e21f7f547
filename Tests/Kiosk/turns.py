"""Pages in turn, their times, and what is shown where a page cannot be. Each test is a function of (stage), and its docstring's first line is its title."""
import contextlib
import http.server
import json
import os
import signal
import time
import urllib.parse

import window
from rig import wait_until

# A page of a name and a color. It says at once how it finds itself, and makes a call, as a page does that nobody should hear yet.
PAGE = """<!doctype html><title>{name}</title><body style="margin: 0; background: {color}; height: 100vh"><input autofocus>
<script>
    if (document.visibilityState === 'hidden') alert('Nobody sees this')
    const say = what => fetch('/say?' + encodeURIComponent('{name} ' + what))
    say(document.visibilityState + ' ' + document.hasFocus())
    quickconnect.call('remember', '{name}').then(() => say('called ' + document.visibilityState))
    addEventListener('keydown', ({{ key }}) => say('key ' + key))
    addEventListener('visibilitychange', () => say('turns visible'))
</script>"""
COLORS = {"one": "#c00000", "two": "#0000c0", "three": "#00c000"}


@contextlib.contextmanager
def site(stage):
    """A server of pages: its origin, what was asked for and said, and the names of the pages that it does not have now."""
    heard, broken = [], set()

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.split("?")[0][1:]
            if path == "say":
                heard.append(urllib.parse.unquote(self.path.split("?")[1]))
                return self.answer(200, "")
            if path in COLORS:
                heard.append(f"asked {path}")
            if path == "thing":
                return self.answer(200, "things", {"Content-Disposition": "attachment; filename=thing.txt"})
            found = path in COLORS and path not in broken
            self.answer(200 if found else 503, PAGE.format(name=path, color=COLORS[path]) if found else "")

        def answer(self, status, text, headers=None):
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", "Content-Length": str(len(text)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass
    called = []
    stage.device.handle("remember", lambda data, call: called.append(data[0] if isinstance(data, list) else data))
    try:
        with stage.server(Pages) as origin:
            yield origin, heard, broken, called
            # Before its server goes.
            stage.close_window()
    finally:
        stage.device.remove_handler("remember")


def open_window(stage, settings):
    """A window of the pages in the settings."""
    stage.close_window()
    stage.rig.set_kiosk(settings)
    stage.open_window = window.PlainWindow(stage.rig, None)
    return stage.open_window


def processes(opened):
    """How many processes of pages there are."""
    return sum(name.startswith("WebKitWebProces") for _, name in window.children(opened.pid))


def titles(stage, count, seconds=60):
    """The titles of the pages that are shown, one after the other."""
    seen = []

    def look():
        state = stage.state()
        if state and state["title"] and (not seen or seen[-1] != state["title"]):
            seen.append(state["title"])
        return len(seen) >= count
    wait_until(look, f"{count} pages; there were {seen}", seconds)
    return seen


def pages_in_turn(stage):
    """Pages are shown in turn: the next one is loaded unseen, without calls, focus and keys, and the last one ends"""
    with site(stage) as (origin, heard, _, called):
        pages = "".join(f"    - {{open: '{origin}/{name}', for: 6s}}\n" for name in ("one", "two", "three"))
        opened = open_window(stage, f"  pages:\n{pages}")
        stage.wait_state(lambda state: state["title"] == "one", "the first page")
        wait_until(lambda: "asked two" in heard, "the next page")
        # It is there before its turn.
        wait_until(lambda: "two hidden false" in heard, "what the next page says")
        assert stage.state()["title"] == "one" and processes(opened) == 2, (stage.state(), processes(opened))
        assert called == ["one"] and len(opened.windows()) == 1, (called, opened.windows())
        stage.wait_state(lambda state: state["title"] == "two", "the second page")
        wait_until(lambda: called == ["one", "two"], "its call")
        wait_until(lambda: "two called visible" in heard, "its answer")
        stage.display.picture(stage.pictures / "second-page.png")
        most = 0

        def goes_round():
            nonlocal most
            most = max(most, processes(opened))
            return heard.count("asked one") == 3
        wait_until(goes_round, "two rounds", 60)
        # While one takes over from the other, the ending process may still be there.
        assert most <= 3, most
        wait_until(lambda: processes(opened) <= 2, "the end of the pages that were shown")
        # Somebody types: only the page that is shown hears it, and it stays.
        wait_until(lambda: heard[-1].endswith("hidden false"), "another page behind it")
        title = stage.state()["title"]
        opened.press("k")
        wait_until(lambda: f"{title} key k" in heard, "the key")
        # Longer than a turn and what comes before it; nothing tells that nothing comes.
        time.sleep(10)
        assert stage.state()["title"] == title and sum("key" in each for each in heard) == 1, (title, heard)
        stage.wait_state(lambda state: state["title"] != title, "the next page", 60)


def no_white(stage):
    """Between two pages nothing else is seen, not even for a moment"""
    with site(stage) as (origin, _, _, _):
        open_window(stage, f"  fullScreen: true\n  pages: [{{open: '{origin}/one', for: 5s}}, {{open: '{origin}/two', for: 5s}}]")
        stage.wait_state(lambda state: state["title"] == "one" and not state["isLoading"], "the first page")
        seen = set()
        end = time.monotonic() + 11
        while time.monotonic() < end:
            seen.add(stage.display.run("import", "-window", "root", "-crop", "1x1+400+300", "-depth", "8", "txt:-").stdout.split("#")[-1][:6])
        assert seen == {"C00000", "0000C0"}, seen


def passed_over(stage):
    """A page that fails is passed over, which is told once, and comes back; one that crashes makes room for the next"""
    with site(stage) as (origin, heard, broken, _):
        broken.add("two")
        pages = ", ".join(f"{{open: '{origin}/{name}', for: 5s}}" for name in ("one", "two", "three"))
        opened = open_window(stage, f"  pages: [{pages}]")
        assert titles(stage, 5) == ["one", "three", "one", "three", "one"]
        assert heard.count("asked two") >= 2
        line = f"A page is passed over until it can be shown. {origin}/two: the server answers 503"
        assert opened.log_text().count(line) == 1, opened.log_text()
        wait_until(lambda: line in stage.rig.log("quickconnectd"), "the line in the journal")
        assert not stage.state()["problem"]
        broken.clear()
        stage.wait_state(lambda state: state["title"] == "two", "the page that failed", 60)
        # There may be the process of the next page, too: the older one is that of the page.
        os.kill(min(pid for pid, name in window.children(opened.pid) if name.startswith("WebKitWebProces")), signal.SIGKILL)
        stage.wait_state(lambda state: state["title"] == "three" and not state["problem"], "the next page", 20)
        assert opened.process.poll() is None
        # What is no page is saved nowhere.
        opened = open_window(stage, f"  pages: [{{open: '{origin}/one', for: 5s}}, {{open: '{origin}/thing', for: 5s}}]")
        wait_until(lambda: f"passed over until it can be shown. {origin}/thing: it is no page" in opened.log_text(), "the line in the log")
        assert not (stage.rig.folder / "media" / "thing.txt").exists()


def fallback_page(stage):
    """The owner's fallback is shown where no page can be, and leaves by itself; a lost one leaves the window's own notice"""
    folder = stage.rig.folder / "closed"
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text("<!doctype html><title>Closed</title><body style='background: #ffff00'><h1>Back soon</h1>")

    def color():
        return stage.display.run("import", "-window", "root", "-crop", "1x1+600+600", "-depth", "8", "txt:-").stdout.split("#")[-1][:6]
    for pages in ("page: '{0}/one'", "pages: [{{open: '{0}/one', for: 5s}}, {{open: '{0}/two', for: 5s}}]"):
        with site(stage) as (origin, _, broken, _):
            broken.update(("one", "two"))
            opened = open_window(stage, f"  fullScreen: true\n  fallback: {folder}\n  {pages.format(origin)}")
            stage.wait_state(lambda state: "the server answers 503" in (state["problem"] or ""), "the problem")
            wait_until(lambda: color() == "FFFF00", "the fallback")
            stage.display.picture(stage.pictures / "fallback.png")
            broken.clear()
            stage.wait_state(lambda state: state["title"] == "one" and not state["problem"], "the page", 60)
            wait_until(lambda: color() == "C00000", "the page instead of the fallback")
            assert opened.process.poll() is None
    with site(stage) as (origin, _, broken, _):
        broken.add("one")
        opened = open_window(stage, f"  fallback: {stage.rig.folder}/nowhere\n  page: '{origin}/one'")
        wait_until(lambda: "the fallback cannot be shown" in opened.log_text(), "the line in the log")
        broken.clear()
        stage.wait_state(lambda state: state["title"] == "one" and not state["problem"], "the page", 60)


def times_of_pages(stage):
    """A page is shown at its times only; where no page has its time, nothing is shown"""
    def clock(hours):
        return time.strftime("%H:%M", time.localtime(time.time() + hours * 3600))
    later = f"from: '{clock(2)}', until: '{clock(3)}'"
    now = f"from: '{clock(-1)}', until: '{clock(1)}'"
    with site(stage) as (origin, heard, _, _):
        open_window(stage, f"  pages: [{{open: '{origin}/one', for: 5s, {later}}}, {{open: '{origin}/two', for: 5s, {now}}}, {{open: '{origin}/three', for: 5s}}]")
        assert set(titles(stage, 4)) == {"two", "three"}
        assert "asked one" not in heard
        open_window(stage, f"  pages: [{{open: '{origin}/one', for: 5s, {later}}}]")
        stage.wait_state(lambda state: state["address"] == "about:blank" and not state["isLoading"], "no page")
        assert "asked one" not in heard and not stage.state()["problem"]


def opened_in_turn(stage):
    """What a program opens stays, until it lets the pages go on; a folder and an address take turns, with the media of the folder"""
    with site(stage) as (origin, _, _, _):
        opened = open_window(stage, f"  pages: [{{open: {stage.rig.folder}/pages/kiosk/plain.html, for: 5s}}, {{open: '{origin}/one', for: 5s}}]")
        assert titles(stage, 3) == ["Plain", "one", "Plain"]
        assert stage.state()["address"] == "qc://app/plain.html"
        stage.kiosk("open", f"{origin}/two")
        stage.wait_state(lambda state: state["title"] == "two", "what was opened")
        # Longer than a turn and what comes before it; nothing tells that nothing comes.
        time.sleep(12)
        assert stage.state()["title"] == "two" and processes(opened) <= 2
        stage.kiosk("home")
        assert titles(stage, 2)[-1] in ("Plain", "one")
        assert json.loads(stage.rig.client("kiosk", "state").stdout)["problem"] is None


def asked_in_a_swap(stage):
    """What a program wants while one page takes over from the other is done: a page is there afterwards"""
    with site(stage) as (origin, heard, _, _):
        open_window(stage, f"  pages: [{{open: '{origin}/one', for: 5s}}, {{open: '{origin}/two', for: 5s}}]")
        stage.wait_state(lambda state: state["title"] == "one", "the first page")
        for words, name in (("home",), None), (("open", f"{origin}/three"), "three"):
            for _ in range(2):
                count = len(heard)
                wait_until(lambda: any("turns visible" in each for each in heard[count:]), "a swap", 60)
                stage.kiosk(*words)
                stage.wait_state(lambda state: state["title"] in (name and [name] or ["one", "two"]), "a page")
                if name:
                    stage.kiosk("home")
                stage.wait_state(lambda state: state["title"] in ("one", "two"), "the pages in turn")


def crash_of_none(stage):
    """While no page has its time, a crash changes nothing"""
    def clock(hours):
        return time.strftime("%H:%M", time.localtime(time.time() + hours * 3600))
    with site(stage) as (origin, _, _, _):
        opened = open_window(stage, f"  pages: [{{open: '{origin}/one', for: 5s, from: '{clock(2)}', until: '{clock(3)}'}}]")

        def is_blank(state):
            return state["address"] == "about:blank" and not state["isLoading"] and not state["problem"]
        stage.wait_state(is_blank, "no page")
        lost = [pid for pid, name in window.children(opened.pid) if name.startswith("WebKitWebProces")]
        for pid in lost:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: processes(opened) and not set(lost) & {pid for pid, _ in window.children(opened.pid)}, "another process")
        stage.wait_state(is_blank, "no page again")
