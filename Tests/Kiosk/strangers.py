"""Whose pages have the bridge, and what others may pass to it. Each test is a function of (stage), and its docstring's first line is its title."""
import re
import socket
import subprocess
import time

import quickconnect
from rig import ROOT, wait_until
from stage import Site


# What connects to an address in most browsers, before or without asking anybody; O is the address.
FORERUNNERS = {
    "a link": "const a = document.createElement('a'); a.href = O; document.body.append(a); a.click()",
    "a link to a new window": "const a = document.createElement('a'); a.href = O; a.target = '_blank'; document.body.append(a); a.click()",
    "a link to a file": "const a = document.createElement('a'); a.href = O; a.download = 'x'; document.body.append(a); a.click()",
    "a link that pings": "const a = document.createElement('a'); a.href = '#here'; a.ping = O; document.body.append(a); a.click()",
    "a form": "const form = document.createElement('form'); form.action = O; form.method = 'post'; document.body.append(form); form.submit()",
    "a frame": "const frame = document.createElement('iframe'); frame.src = O; document.body.append(frame)",
    "a new window": "window.open(O)",
    "a beacon": "navigator.sendBeacon(O, 'x')",
    "a worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${O}').catch(() => {}); importScripts('${O}')`])))",
    "rules": "document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules', text: JSON.stringify({ prefetch: [{ urls: [O] }], prerender: [{ urls: [O] }] }) }))",
    **{f"rel={rel}": f"document.head.append(Object.assign(document.createElement('link'), {{ rel: '{rel}', href: O, as: 'script' }}))"
       for rel in ("preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender", "icon", "manifest")},
    "the address": "location = O",
}


def nothing_connects(stage):
    """An address that may not be loaded is refused before anything connects to it, also for a link that is clicked"""
    def listen():
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        return listener, f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with Site(stage.rig.folder / "pages" / "kiosk") as ours:
        for base in (f"{ours.origin}/plain.html", "qc://app/kiosk/plain.html"):
            opened = stage.window(base) if base.startswith("http") else stage.window()
            tried = []
            for name, script in FORERUNNERS.items():
                stage.go(opened, base)
                tried.append((name, *listen()))
                opened.run(f"const O = '{tried[-1][2]}'; {script}; return null")
                # A request of the page itself, after which the engine's process for the network has seen what was asked before.
                opened.run("return fetch('plain.html').then(answer => answer.text()).then(() => null)")
            # The last one is refused with a line, so all before it have been decided.
            wait_until(lambda: f"{tried[-1][2].rstrip('/')} is neither in" in opened.log_text(), "the refusal")
            for name, listener, address in tried:
                try:
                    listener.accept()
                    raise AssertionError(f"{name} of {base} connects")
                except BlockingIOError:
                    listener.close()
        stage.close_window()


def asked_navigation(stage):
    """A program's handler decides on what the settings allow, with why it is loaded; without one all goes, and when it has gone only the first page"""
    heard = []

    def decide(message, call):
        heard.append(message)
        if "late" in message["address"]:
            time.sleep(4)
        if "broken" in message["address"]:
            raise quickconnect.Error("unavailable", "the list is not there")
        return None if "nothing" in message["address"] else "no" not in message["address"]
    first = "qc://app/kiosk/plain.html"
    opened = stage.page("kiosk/plain.html")
    with quickconnect.Client(str(stage.rig.socket)) as program:
        program.handle("kioskNavigation", decide)
        program.call("ping")
        opened.run("location.hash = 'here'; location.href = 'strict.html'")
        opened.wait("location.pathname === '/kiosk/strict.html' && document.readyState === 'complete'")
        assert heard[-1] == {"address": "qc://app/kiosk/strict.html", "navigationType": "other", "page": first + "#here"}, heard
        stage.go(opened, first)
        # A link, and a form.
        for script, kind in (("const a = document.createElement('a'); a.href = '?no=1'; document.body.append(a); a.click()", "linkClicked"),
                             ("const f = document.createElement('form'); f.innerHTML = '<input name=no value=1>'; document.body.append(f); f.submit()", "formSubmitted"),
                             ("location.reload()", "reload")):
            count = len(heard)
            opened.run(script + "; return null")
            wait_until(lambda: len(heard) > count, kind)
            assert heard[-1]["navigationType"] == kind, (kind, heard[-1])
        opened.wait("document.readyState === 'complete'")
        assert opened.value("location.search") == "", opened.value("location.href")
        for name, words in (("no", "the handler kioskNavigation refuses it"), ("nothing", "must answer true or false; got null"),
                            ("broken", "was asked, and failed: unavailable: the list is not there"), ("late", "was asked, and failed: timeout")):
            refused = stage.rig.client("kiosk", "open", f"{first}?{name}", check=False)
            assert "denied" in refused.stderr and words.split(":")[0] in refused.stderr and heard[-1]["page"] == first, (refused, heard[-1])
            wait_until(lambda: re.search(rf"«qc://app/kiosk/plain.html.{name}» is not loaded: .*{words}", opened.log_text()), words, 10)
        assert opened.value("location.search") == "", opened.value("location.href")
        # What the settings refuse is not asked for.
        count = len(heard)
        opened.run("location.href = 'https://elsewhere.example/'; return null")
        wait_until(lambda: "https://elsewhere.example is neither in" in opened.log_text(), "the refusal")
        assert len(heard) == count, heard[count:]
    # It has decided, so that its rules hold while it is away: the first page may be shown.
    away = stage.rig.client("kiosk", "open", first + "?no", check=False)
    assert "denied" in away.stderr and "is not there" in away.stderr, away
    stage.kiosk("home")
    opened.wait("location.href === 'qc://app/'")
    # It is asked again after the daemon has restarted.
    stage.rig.restart("quickconnectd")
    opened.wait_connected()
    stage.device.call("ping")
    with quickconnect.Client(str(stage.rig.socket)) as program:
        program.handle("kioskNavigation", lambda message, call: False)
        program.call("ping")
        count = opened.log_text().count("refuses it")
        wait_until(lambda: opened.run("location.href = 'strict.html'; return null") or opened.log_text().count("refuses it") > count, "a refusal", 10)
        # A window without any page says so, and tries again.
        stage.close_window()
        opened = stage.window(driven=False)
        stage.wait_state(lambda state: "The page may not be shown." in (state["problem"] or ""), "the notice")
    stage.wait_state(lambda state: not state["problem"] and not state["isLoading"] and state["title"], "the page")


def hidden_files(stage):
    """A page's folder serves no hidden file, by the rule of pages in browsers"""
    folder = stage.rig.folder / "pages" / "kiosk"
    (folder / ".git").mkdir(exist_ok=True)
    for name in (".secret", ".git/config", "a..b", "c d.txt"):
        (folder / name).write_text("served")
    opened = stage.page("kiosk/plain.html")
    told = opened.run("""return Promise.all(arguments[0].map(path => fetch(path).then(answer => answer.text(), () => 'refused')))""",
                      ["a..b", "c%20d.txt", ".secret", "%2esecret", ".git/config", "%2Egit/config", "..%2fkiosk%2f.secret", "x/%2e%2e/.secret"])
    assert told == ["served", "served"] + ["refused"] * 6, told


def foreign_frame(stage):
    """A frame of another origin tries each way in, and none leads anywhere"""
    heard = []
    stage.device.on("news", lambda event: heard.append(event.data))
    stage.device.handle("shop", lambda data, call: heard.append(data))
    with Site(stage.rig.folder / "pages" / "kiosk") as ours, Site(stage.rig.folder / "pages" / "kiosk") as theirs:
        # The same host, another port; then another name.
        for foreign in (theirs.origin, theirs.origin.replace("127.0.0.1", "localhost")):
            opened = stage.window(f"{ours.origin}/plain.html", f"  resources: [{foreign}]\n  schemes: [shop]")
            stage.go(opened, f"{ours.origin}/plain.html")
            script = """
                const told = new Promise(done => { addEventListener('message', event => done(event.data.found)); setTimeout(() => done('no frame'), 4000) })
                const frame = document.createElement('iframe')
                frame.src = arguments[0] + '/foreign.html?top=' + encodeURIComponent(location.href)
                document.body.append(frame)
                return told"""
            assert opened.run(script, foreign) == [], "it has found a way"
            # The frame's calls would be here by now: this page's own call comes after them.
            opened.run("return quickconnect.call('post', 'news', 'own')")
            wait_until(lambda: "own" in heard, "the page's own event")
            assert [each for each in heard if each != "own"] == [], heard
            heard.clear()
            assert opened.url() == f"{ours.origin}/plain.html", opened.url()
            # As a page of its own it has no bridge either.
            opened.open(f"{foreign}/plain.html")
            assert opened.value("[typeof makeCall, typeof quickconnect, typeof WebViewJavascriptBridge]") == ["undefined"] * 3
            stage.close_window()


def foreign_frame_with_url_calls(stage):
    """While addresses are calls, a frame of another origin is not loaded at all; what is not listed is never loaded"""
    with Site(stage.rig.folder / "pages" / "kiosk") as theirs:
        opened = stage.window(settings=f"  resources: [{theirs.origin}]")
        stage.go(opened, "qc://app/kiosk/plain.html")
        script = """
            const frame = document.createElement('iframe'), told = new Promise(done => { addEventListener('message', () => done('loaded')); setTimeout(() => done('not loaded'), 1000) })
            frame.src = arguments[0] + '/foreign.html'
            document.body.append(frame)
            return told"""
        assert opened.run(script, theirs.origin) == "not loaded"
        # Fetching a listed resource is allowed; an unlisted one is not.
        assert opened.run("return fetch(arguments[0] + '/plain.html', { mode: 'no-cors' }).then(() => 'fetched', () => 'blocked')", theirs.origin) == "fetched"
        with Site(stage.rig.folder / "pages" / "kiosk") as other:
            assert opened.run("return fetch(arguments[0] + '/plain.html', { mode: 'no-cors' }).then(() => 'fetched', () => 'blocked')", other.origin) == "blocked"
            opened.run("location = arguments[0] + '/plain.html'", other.origin)
            wait_until(lambda: f"{other.origin} is neither in" in opened.log_text(), "the refusal")
        for bad in ("file:///etc/passwd", "data:text/html,x", "javascript:void 0", "mailto:a@example.org"):
            opened.run("const frame = document.createElement('iframe'); frame.src = arguments[0]; document.body.append(frame)", bad)
        assert opened.url() == "qc://app/kiosk/plain.html"
        for path in ("../../settings.yaml", "%2e%2e/%2e%2e/settings.yaml", "nothing.html", "kiosk"):
            assert opened.run("return fetch(arguments[0]).then(answer => answer.text(), () => 'refused')", f"qc://app/{path}") == "refused", path


def other_programs_links(stage):
    """A link of the owner's scheme from outside: handed to the window that runs; others are refused with words"""
    heard = []
    stage.device.handle("shop", lambda data, call: heard.append(data))
    opened = stage.window(settings="  schemes: [shop]\n  page: pages")
    stage.go(opened, "qc://app/kiosk/plain.html")
    program = [stage.rig.programs / "quickconnect-kiosk", "--config", stage.rig.folder / "settings.yaml", "--socket", stage.rig.socket]
    done = subprocess.run([*program, "shop://order/9?é=1"], env=stage.rig.environment, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done
    wait_until(lambda: heard == [["shop://order/9?é=1"]], "the order")
    done = subprocess.run([*program, "other://order"], env=stage.rig.environment, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and "other://order" in done.stderr, done
    # As a desktop opens it, through the shipped file.
    applications = stage.rig.folder / "home" / ".local" / "share" / "applications"
    applications.mkdir(parents=True, exist_ok=True)
    command = " ".join(map(str, program))
    shipped = (ROOT / "systemd" / "quickconnect-kiosk.desktop").read_text()
    (applications / "quickconnect-kiosk.desktop").write_text(re.sub(r"^Exec=.*$", f"Exec={command} %u", shipped, flags=re.M) + "MimeType=x-scheme-handler/shop;\n")
    (applications / "mimeapps.list").write_text("[Default Applications]\nx-scheme-handler/shop=quickconnect-kiosk.desktop\n")
    subprocess.run(["gio", "open", "shop://from/desktop"], env=stage.rig.environment, check=True, timeout=20)
    wait_until(lambda: ["shop://from/desktop"] in heard, "the desktop's link")
