"""What a page may not do to the window, to the daemon and to people. Each test is a function of (stage), and its docstring's first line is its title."""
import os
import re
import time
from pathlib import Path

import quickconnect
from rig import wait_until
from stage import Site


def flood(stage):
    """A page that floods: it loses its connection or its patience, others notice nothing, and the next page works"""
    opened = stage.page("kiosk/plain.html")
    pid = opened.pid
    opened.run("""
        window.refused = 0
        for (let n = 0; n < 400; n++) makeCall('can', 'x'.repeat(100000)).catch(() => refused++)
        const line = '{"handlerName":"ping","data":"' + 'y'.repeat(1 << 20) + '"}'
        for (let n = 0; n < 40; n++) document.dispatchEvent(new CustomEvent('quickconnect-out', { detail: 'l1 ' + line, cancelable: true }))
        for (let n = 0; n < 10000; n++) document.dispatchEvent(new CustomEvent('quickconnect-out', { detail: 'p0 ', cancelable: true }))
        document.dispatchEvent(new CustomEvent('quickconnect-out', { detail: 'nonsense\\x1e\\x1ez', cancelable: true }))""")
    slowest = 0
    for _ in range(20):
        start = time.monotonic()
        stage.device.call("ping", timeout=10)
        slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.05)
    assert slowest < 1, slowest
    opened.wait("refused > 0")
    assert opened.pid == pid
    opened = stage.page("kiosk/plain.html?after")
    assert opened.run("return quickconnect.call('counter', 5)") == 5


def connections(stage):
    """A page that opens connections without end gets a few, and others get theirs"""
    opened = stage.page("kiosk/plain.html")
    before = sockets(opened)
    opened.run("""for (let n = 1; n <= 5000; n++) document.dispatchEvent(new CustomEvent('quickconnect-out', { detail: `o${1000 + n} `, cancelable: true }))
        return quickconnect.call('ping')""")
    assert sockets(opened) < before + 20, (before, sockets(opened))
    others = [quickconnect.Client(str(stage.rig.socket)) for _ in range(50)]
    for each in others:
        each.call("ping", timeout=10)
        each.close()
    wait_until(lambda: "connections, the maximum" in opened.log_text(), "the line in the log")
    opened = stage.page("kiosk/plain.html?again")
    wait_until(lambda: sockets(opened) <= before + 2, "the end of the old page's connections")


def left_behind(stage):
    """What a page has sent is done, also where the page is left at once; its answers are nobody's"""
    started, ended = [], []

    def slow(data, call):
        started.append(data[0])
        ended.append(call.cancelled.wait(2))
    stage.device.handle("slow", slow, ends_with_caller=True)
    heard = []
    stage.device.handle("remember", lambda data, call: heard.append(data[0]))
    opened = stage.page("kiosk/plain.html")
    opened.run("""for (let n = 0; n < 900; n++) quickconnect.call('remember', n)
        quickconnect.call('slow', 1)
        setTimeout(() => location.reload())""")
    wait_until(lambda: started, "the slow call")
    wait_until(lambda: sorted(heard) == list(range(900)), "what it has sent")
    wait_until(lambda: ended, "its end")
    assert ended == [False], "it was cancelled with its page"
    stage.device.remove_handler("slow")
    stage.device.remove_handler("remember")
    stage.go(opened, "qc://app/kiosk/plain.html?next")


def huge_messages(stage):
    """Messages of any length reach nobody, and the window neither waits nor grows"""
    opened = stage.page("kiosk/plain.html")
    before = resident(opened)
    start = time.monotonic()
    opened.run("""const text = 'l1 ' + 'x'.repeat(40 << 20)
        for (let n = 0; n < 10; n++) document.dispatchEvent(new CustomEvent('quickconnect-out', { detail: text, cancelable: true }))
        return quickconnect.call('ping')""")
    assert time.monotonic() - start < 10
    assert resident(opened) - before < 60 << 10, (before, resident(opened))


def cut_file(stage):
    """A file of the page's folder that somebody cuts while it is read ends its loading, and not the window"""
    opened = stage.page("kiosk/plain.html")
    pid = opened.pid
    file = stage.rig.folder / "pages" / "big.bin"
    file.touch()
    os.truncate(file, 1 << 30)
    opened.run("window.big = (await fetch('/big.bin')).body.getReader(); await big.read(); return null")
    os.truncate(file, 0)
    ended = opened.run("""for (let count = 0; count < 1000; count++) {
            const { done } = await big.read().catch(() => ({ done: true }))
            if (done) return true
        }
        big.cancel()
        return false""")
    assert opened.pid == pid and ended is True
    file.unlink()
    assert opened.run("return quickconnect.call('counter', 3)") == 3


def no_way_out(stage):
    """Nothing leads out of the window: print() shows no dialog, and a field for files none of this device's folders"""
    opened = stage.window(driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.evaluate("setTimeout(() => print())")
    wait_until(lambda: "the page may not print" in opened.log_text(), "the line about printing")
    stage.evaluate("""document.body.innerHTML = '<input type="file" style="position: fixed; inset: 0; width: 100vw; height: 100vh">'
        document.querySelector('input').addEventListener('cancel', () => { window.refused = true })""")
    wait_until(lambda: opened.click_middle() or "the page may not choose a file" in opened.log_text(), "the line about files", 10)
    assert len(opened.windows()) == 1, opened.windows()
    assert stage.evaluate("return document.querySelector('input').files.length") == 0


def huge_answers(stage):
    """An answer of the page that is too large for any caller is an error, however large it is"""
    stage.window(driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.evaluate("quickconnect.registerHandler('large', length => 'x'.repeat(length)); return null")
    for length in (5 << 20, 40 << 20):
        try:
            stage.device.call("kiosk", "call", "large", length, timeout=30)
            raise AssertionError(f"{length} characters were answered")
        except quickconnect.Error as error:
            assert error.code == "tooLarge", error
    assert stage.device.call("kiosk", "call", "large", 3) == "xxx"


def long_questions(stage):
    """A question of any length keeps its buttons on the screen, and one after the other without end keeps nobody from leaving"""
    opened = stage.window(settings="  hangTime: never", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    for text in ("'line\\n'.repeat(20000)", "'W'.repeat(1000000)"):
        stage.evaluate(f"setTimeout(() => {{ window.answer = confirm({text}) }}, 300)")
        dialog = opened.dialog()
        width, height = opened.size(dialog)
        assert width <= 1024 and height <= 768, (width, height)
        stage.display.picture(stage.pictures / "long-question.png")
        opened.press("Return", window=dialog)
        wait_until(lambda: stage.evaluate("return window.answer") is True, "the answer")
        stage.evaluate("window.answer = null")
    stage.evaluate("setTimeout(() => { for (;;) alert('Again') }, 300)")
    opened.press("ctrl+alt+q", window=opened.dialog())
    assert opened.process.wait(10) == 0
    stage.close_window()


def long_texts(stage):
    """Titles and addresses of any length are cut where people see them, and the window goes on"""
    with Site(stage.rig.folder / "pages" / "kiosk") as closed:
        nowhere = closed.origin
    opened = stage.window(settings=f"  origins: ['{nowhere}']", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.evaluate("document.title = 'T'.repeat(50 << 20)")
    stage.wait_state(lambda state: state["title"].startswith("TTT") and len(state["title"]) == 501, "the title")
    stage.evaluate("location = data + 'x'.repeat(1500000)", f"{nowhere}/")
    state = stage.wait_state(lambda state: state["problem"], "the notice", 10)
    assert len(state["problem"]) < 700 and state["problem"].endswith("…"), len(state["problem"])
    stage.display.picture(stage.pictures / "long-address.png")
    assert opened.process.poll() is None


def many_lines(stage):
    """What a page is refused over and over fills no log"""
    opened = stage.page("kiosk/plain.html")
    opened.run("""Notification?.requestPermission?.()
        for (let n = 0; n < 300; n++) { const frame = document.createElement('iframe'); frame.src = 'https://nobody.example/' + n; document.body.append(frame); frame.remove() }""")
    wait_until(lambda: "this page's messages are left out" in opened.log_text(), "the last line")
    assert opened.log_text().count("is not loaded: ") + opened.log_text().count("may not have") <= 50


def too_much_memory(stage):
    """A page that needs more memory than the owner lets it is ended, and says so"""
    stage.window(settings="  memoryBytes: 300000000", driven=False)
    stage.wait_state(lambda state: state["title"] and not state["isLoading"], "the page")
    stage.evaluate("window.kept = []; setInterval(() => kept.push(new Uint8Array(16 << 20).fill(1)), 50)")
    state = stage.wait_state(lambda state: state["problem"], "the notice", 60)
    assert "more memory" in state["problem"], state
    stage.close_window()


def resident(opened):
    """Memory of the window's process itself, in KiB."""
    return int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{opened.pid}/status").read_text())[1])


def sockets(opened):
    """The number of sockets of the window's process; files do not count, because the engine opens them as it likes."""
    return sum(is_socket(descriptor) for descriptor in Path(f"/proc/{opened.pid}/fd").iterdir())


def is_socket(descriptor):
    try:
        return os.readlink(descriptor).startswith("socket:")
    except FileNotFoundError:  # The window has closed it since its folder was read.
        return False
