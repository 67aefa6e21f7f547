"""What a person does with actions in the kiosk's window. Each test is a function of (stage), and its docstring is its title."""
import contextlib
import json
import select
import subprocess

from keyboard import on_screen_keyboard
from rig import wait_until


def title(stage):
    """`alert(document.title);` typed into the editor shows the title, on a page with the strictest Content-Security-Policy"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("alert(document.title);")
    stage.picture("editor")
    stage.done()
    assert stage.alert() == "strict title"
    status, out, _ = stage.ends(process)
    answer = json.loads(out)
    assert status == 0 and answer["state"] == "done", answer
    assert answer["NSExtensionJavaScriptPreprocessingResultsKey"] == {"URL": f"{stage.site.origin}/strict", "title": "strict title"}, answer


def variables(stage):
    """What is typed sees the page's own variables"""
    stage.page_with("page-title", page="own")
    process = stage.editor()
    stage.write("document.title = pagesOwn + location.pathname")
    stage.done()
    assert stage.ends(process)[0] == 0
    assert stage.document_title() == "seen/own"


def changed(stage):
    """A page that has changed in between runs nothing, and the text is kept"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("document.title = 1")
    stage.show("strict")
    stage.done()
    wait_until(lambda: stage.kept() == "document.title = 1", "the text")
    wait_until(lambda: stage.shown() == "action-view", "the editor")
    stage.settled()
    stage.picture("changed")
    assert process.poll() is None and stage.document_title() == "strict title"
    stage.key("Escape")
    status, _, err = stage.ends(process)
    assert status == 1 and err.startswith("quickconnect: cancelled"), err
    assert stage.document_title() == "strict title"


def syntax(stage):
    """A mistake in what was typed has its line marked, runs nothing, and the text is kept; mended, it runs"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("document.title = 1\nlet = = 2")
    stage.done()
    wait_until(lambda: stage.kept() == "document.title = 1\nlet = = 2", "the text")
    stage.settled()
    stage.picture("mistake")
    assert process.poll() is None and stage.document_title() == "strict title"
    stage.write("alert(5)")
    stage.done()
    assert stage.alert() == "5"
    assert stage.ends(process)[0] == 0


def thrown(stage):
    """An error while it runs comes back to the editor"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("document.title = 'half'\nmissing.name")
    stage.done()
    wait_until(lambda: stage.document_title() == "half", "the first line")
    wait_until(lambda: stage.shown() == "action-view", "the editor")
    stage.settled()
    stage.picture("thrown")
    assert process.poll() is None


def cancelled(stage):
    """Cancel runs nothing, and the text is kept for the next time"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("document.title = 'run'")
    stage.key("Escape")
    status, _, err = stage.ends(process)
    assert status == 1 and "cancelled" in err, err
    assert stage.document_title() == "strict title" and stage.kept() == "document.title = 'run'"
    process = stage.editor()
    stage.done()
    assert stage.ends(process)[0] == 0 and stage.document_title() == "run"


def small(stage):
    """At 320 × 480 with a keyboard's height taken away, the line that is typed in stays in sight"""
    line_in_sight(stage, lambda: stage.display.run("xdotool", "windowsize", "--sync", stage.frame, "320", "230", check=True), "small")


def covered(stage):
    """At 320 × 480 with an on-screen keyboard over the lower half, the line that is typed in stays in sight"""
    with contextlib.ExitStack() as ended:
        line_in_sight(stage, lambda: ended.enter_context(on_screen_keyboard(stage.display, 320, 250, 0, 230)), "covered")


def line_in_sight(stage, shrink, picture):
    stage.page_with("page-title")
    stage.display.run("xdotool", "windowsize", "--sync", stage.frame, "320", "480", check=True)
    try:
        process = stage.editor()
        stage.write("\n".join(f"a{number}" for number in range(1, 31)))
        shrink()
        # Somewhere in the visible part of the window the line must grow, by three letters and not by a blinking caret.
        before = stage.settled()
        stage.display.run("xdotool", "type", "--delay", "8", "WWW", check=True)

        def grown():
            left, top, right, bottom = stage.difference(before, stage.pixels())
            return right - left >= 15 and 46 < top and bottom < 230
        wait_until(grown, "the line that is typed in", 10)
        stage.picture(picture)
        assert process.poll() is None
    finally:
        stage.display.run("xdotool", "windowsize", "--sync", stage.frame, "1024", "768")


def off(stage):
    """New actions and sites are off"""
    stage.show("strict")
    refused = stage.refused("page-title")
    assert f"quickconnect action enable page-title {stage.site.origin}" in refused, refused
    assert stage.refused("nothing").startswith("quickconnect: notFound")
    stage.allow("page-title")
    stage.show("strict")
    stage.window.open(stage.site.origin.replace("127.0.0.1", "localhost") + "/strict")
    assert "denied" in stage.refused("page-title")


def texts(stage):
    """View source and readable text are printed, and shown in the window"""
    stage.page_with("view-source")
    process = stage.editor("view-source")
    stage.picture("source")
    stage.key("Escape")
    status, out, _ = stage.ends(process)
    assert status == 0 and "<article><h1>strict</h1>" in out, out
    stage.allow("readable-text")
    process = stage.editor("readable-text")
    stage.key("Escape")
    status, out, _ = stage.ends(process)
    assert status == 0 and json.loads(out)["NSExtensionJavaScriptPreprocessingResultsKey"]["text"] == "strict\n\nSome text.", out


def saved(stage):
    """A script is saved by name for this site, and chosen again, all with the keyboard"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("document.title = 'saved'")
    # The list of saved scripts, then the button.
    stage.key("Tab", "Tab", "Return")
    stage.settled()
    stage.display.run("xdotool", "type", "--delay", "8", "greeting", check=True)
    stage.key("Return")
    script = wait_until(lambda: next((each for each in stage.scripts() if each["name"] == "greeting"), None), "the script")
    assert script == {"action": "page-title", "site": stage.site.origin, "name": "greeting", "text": "document.title = 'saved'"}, script
    stage.settled()
    stage.picture("saved")
    stage.key("Escape")
    stage.ends(process)
    process = stage.editor()
    stage.write("1")
    stage.key("Tab", "Down")
    stage.done()
    assert stage.ends(process)[0] == 0 and stage.document_title() == "saved"


def calls(stage):
    """makeCall reaches the device, for listed commands alone"""
    stage.page_with("address-to-log", "records", "throws", "broken", page="strict-log")
    assert stage.rig.action("run", "address-to-log").stdout.startswith("Done: ")
    wait_until(lambda: f"{stage.site.origin}/strict-log" in stage.rig.log("quickconnectd"), "the line in the log")
    assert "'rec' is not listed" in stage.refused("records")
    thrown = stage.refused("throws").split("\n")
    assert thrown[0] == "quickconnect: scriptFailed: ReferenceError: Can't find variable: nothing", thrown
    assert thrown[1].endswith("/own/actions/throws/Action.js:3:12") and thrown[2].strip() == "nothing.at.all", thrown
    assert thrown[3].index("^") == thrown[2].index("nothing") + 7, thrown
    broken = stage.refused("broken")
    assert broken.startswith("quickconnect: invalid: SyntaxError"), broken
    assert "/own/actions/broken/Action.js:3:1\n      }\n" in broken, broken


def busy(stage):
    """While an action is under way, another one is busy"""
    stage.page_with("page-title")
    process = stage.editor()
    assert "busy" in stage.refused("page-title")
    stage.key("Escape")
    stage.ends(process)


def event(stage):
    """The event action tells how one has ended"""
    stage.page_with("address-to-log")
    listener = subprocess.Popen([stage.rig.programs / "quickconnect", "events", "--socket", stage.rig.socket, "action"],
                                stdout=subprocess.PIPE, text=True)
    try:
        def heard():
            # Nothing reports that it listens already.
            stage.rig.action("run", "address-to-log")
            return select.select([listener.stdout], [], [], 0.2)[0]
        wait_until(heard, "an event")
        told = json.loads(listener.stdout.readline())
        assert told == {"event": "action", "data": {"action": "address-to-log", "site": stage.site.origin, "program": "window", "state": "done"}}, told
    finally:
        listener.terminate()
        listener.wait()
        listener.stdout.close()


ALL = [title, variables, changed, syntax, thrown, cancelled, small, covered, saved, off, texts, calls, busy, event]
