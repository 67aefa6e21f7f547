"""Actions against malicious pages, actions and users, and against bad luck. Each test is a function of (stage), and its
docstring is its title."""
import json
import os
import signal
import subprocess
import time

from report import Skipped
from rig import wait_until

NOBODY = 65_534


def menu(stage):
    """The window's menu has the actions that may run on this page, and is none where there are none"""
    stage.show("strict")
    before = stage.settled()
    stage.open_menu()
    assert stage.difference(before, stage.settled()) == (0, 0, 0, 0), "a menu was shown"
    stage.allow("page-title")
    stage.open_menu()
    wait_until(lambda: stage.difference(before, stage.pixels()) != (0, 0, 0, 0), "the menu")
    stage.settled()
    stage.picture("menu")
    stage.display.run("xdotool", "key", "--delay", "50", "Down", "Return", check=True)
    wait_until(lambda: stage.shown() == "action-view", "the editor")
    stage.write("document.title = 'from the menu'")
    stage.done()
    wait_until(lambda: stage.document_title() == "from the menu", "the title")


def other_users(stage):
    """Another user of the device runs no action in this window, asks it nothing, and does not answer in its place"""
    if os.geteuid() != 0:
        raise Skipped("only root can act as another user")
    stage.page_with("page-title")
    stage.rig.folder.chmod(0o711)
    stage.rig.socket.chmod(0o666)
    environment = {**os.environ, "QUICKCONNECT_SOCKET": str(stage.rig.socket), "HOME": "/nonexistent"}

    def refused(*words):
        done = subprocess.run([stage.rig.programs / "quickconnect", *words], env=environment, capture_output=True, text=True,
                              timeout=30, user=NOBODY, group=NOBODY, extra_groups=[])
        assert done.returncode == 1 and done.stderr.startswith("quickconnect: denied"), (words, done)
        return done.stderr

    for words in (["action", "run", "page-title"], ["call", "action", "run", "page-title"], ["call", "action", "list"], ["call", "action"]):
        assert "are for its own user and root" in refused(*words), words
    for verb in ("state", "reload", "home", "open", "zoom", "call", "evaluate", "reset"):
        refused("call", "kiosk", verb)
    for name in ("action", "kiosk"):
        refused("call", "registerHandler", name)
    assert stage.shown() == "page"
    # A client of root may call the window of root.
    assert json.loads(stage.rig.client("action", "list").stdout) == {"site": stage.site.origin, "actions": ["page-title"]}


def hostile_page(stage):
    """A page that has broken what scripts need, and forges names, stops no action and is told nothing"""
    stage.page_with("page-title", page="hostile")
    process = stage.editor()
    stage.write("document.body.dataset.ran = 'yes'")
    stage.done()
    status, out, err = stage.ends(process)
    assert status == 0, err
    assert "forged" not in out, out
    # In the page itself nothing works any more; an action can still look at it.
    stage.allow("view-source")
    process = stage.editor("view-source")
    stage.key("Escape")
    status, out, err = stage.ends(process)
    source = json.loads(out)["NSExtensionJavaScriptPreprocessingResultsKey"]["text"]
    assert status == 0 and '<body data-ran="yes">' in source and "</script>forged" not in source, source
    # It has also broken how errors are reported. The editor ends nevertheless.
    process = stage.editor()
    stage.write("missing.name")
    stage.done()
    # The page gets the key until the editor is there again.
    wait_until(lambda: process.poll() is not None or stage.key("Escape"), "the end")
    assert "cancelled" in stage.ends(process)[2]


def old_action(stage):
    """An action that begins with «use strict» runs as another does"""
    stage.page_with("old")
    process = stage.editor("old")
    # The page gets the key until the editor has the focus.
    wait_until(lambda: process.poll() is not None or stage.key("Escape"), "the end")
    status, out, err = stage.ends(process)
    assert status == 0 and json.loads(out)["NSExtensionJavaScriptPreprocessingResultsKey"] == {"text": "strict function"}, (out, err)


def two_texts(stage):
    """finalize may run several texts, one after the other"""
    stage.page_with("sloweval", page="own")
    process = stage.editor("sloweval")
    stage.write("document.title = 'once'")
    stage.done()
    assert stage.ends(process)[0] == 0
    assert stage.document_title() == "once twice"


def leaves(stage):
    """A script that leaves the page is done"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("location = '/own'")
    stage.done()
    status, _, err = stage.ends(process)
    assert status == 0, err
    stage.window.wait("document.title === 'own title'")
    assert stage.shown() == "page"


def page_left(stage):
    """A page that is left while an action runs there ends it at once"""
    stage.page_with("waits")
    process = stage.begin("waits")
    wait_until(lambda: stage.document_title() == "waiting", "the action")
    start = time.monotonic()
    stage.show("own")
    status, _, err = stage.ends(process)
    assert status == 1 and "cancelled: the page was left" in err, err
    assert time.monotonic() - start < 10


def long_script(stage):
    """A text beyond all measure is refused before anything looks at it"""
    stage.page_with("long")
    assert "tooLarge" in stage.refused("long")


def many_calls(stage):
    """An action that calls without end is refused, and the window goes on"""
    stage.page_with("floods", "address-to-log")
    assert "overloaded" in stage.refused("floods")
    assert stage.rig.action("run", "address-to-log").returncode == 0


def huge_page(stage):
    """The source of a page that is longer than an answer may be is shown, and whoever waits is told"""
    stage.page_with("view-source", page="huge")
    process = stage.editor("view-source")
    stage.key("Escape")
    status, _, err = stage.ends(process)
    assert status == 1 and "tooLarge" in err, (status, err)
    stage.page_with("address-to-log")
    assert stage.rig.action("run", "address-to-log").returncode == 0


def endless(stage):
    """A script without end is ended with its page, and comes back to the editor"""
    stage.page_with("page-title")
    process = stage.editor()
    stage.write("for (;;) ;")
    stage.done()
    wait_until(lambda: stage.rig.call("kiosk", "state")["problem"], "the problem", 60)
    wait_until(lambda: stage.shown() == "action-view", "the editor")
    stage.key("Escape")
    status, _, err = stage.ends(process)
    assert status == 1 and "cancelled" in err, err
    assert stage.kept() == "for (;;) ;"
    wait_until(lambda: (state := stage.rig.call("kiosk", "state")) and not state["problem"] and not state["isLoading"], "the page again")


def page_lost(stage):
    """An editor stays, with its text, where the page's process is lost and the page comes again"""
    stage.new_window()
    stage.page_with("page-title")
    pages = stage.web_processes()
    process = stage.editor()
    stage.write("document.title = 'run'")
    generation = stage.rig.call("kiosk", "state")["generation"]
    for pid in pages:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: stage.rig.call("kiosk", "state")["problem"], "the problem")
    assert stage.shown() == "action-view", "the editor is gone"
    wait_until(lambda: (state := stage.rig.call("kiosk", "state")) and not state["problem"] and state["generation"] > generation, "the page again")
    assert stage.shown() == "action-view", "the editor is gone"
    stage.done()
    wait_until(lambda: stage.kept() == "document.title = 'run'", "the text")
    stage.key("Escape")
    status, _, err = stage.ends(process)
    assert status == 1 and "cancelled" in err, err
    assert stage.rig.call("kiosk", "state")["title"] == "strict title"


def view_lost(stage):
    """An editor whose own process is lost ends its action, the page is shown, and the next editor works"""
    stage.new_window()
    stage.page_with("page-title")
    before = stage.web_processes()
    process = stage.editor()
    stage.write("1")
    for pid in stage.web_processes() - before:
        os.kill(pid, signal.SIGKILL)
    status, _, err = stage.ends(process)
    assert status == 1 and "unavailable: the action's own view was lost" in err, err
    assert stage.shown() == "page"
    process = stage.editor()
    stage.write("document.title = 'again'")
    stage.done()
    assert stage.ends(process)[0] == 0 and stage.document_title() == "again"


ALL = [menu, other_users, hostile_page, old_action, two_texts, leaves, page_left, long_script, many_calls, huge_page, endless, view_lost, page_lost]
