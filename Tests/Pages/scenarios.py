"""What a person does with the pages, in a real browser, against a daemon with simulated devices. Each test is a function of
(stage), and its docstring's first line is its title."""
import json
import os
import re
import shutil
import subprocess
import time
from urllib.parse import quote

from report import Skipped
from rig import ROOT, wait_until

PAGES = ("", "macros.html", "procedures.html", "state.html")
EXAMPLES = ("examples/catalog/", "examples/bridge/")


class Stage:
    """A rig and a browser, with somebody logged in."""

    def __init__(self, rig, browser, pictures):
        self.rig, self.browser, self.pictures = rig, browser, pictures
        self.tokens = {}
        self.who = None

    def log_out(self, query):
        """By the page's own way, which no page is open for now."""
        self.browser.open(f"{self.rig.url}login.html?{query}")
        self.browser.run("return fetch('logout', {method: 'POST'}).then(() => null)")
        self.who = None

    def token(self, name, *groups):
        if name not in self.tokens:
            self.tokens[name] = self.rig.token(name, *groups)
        return self.tokens[name]

    def log_in(self, name="ann", *groups):
        groups = groups or (("editors",) if name == "ann" else ())
        token = self.token(name, *groups)
        if self.who == name:
            return
        self.log_out("as=" + name)
        self.browser.open(f"{self.rig.url}login.html?to={name}#token={token}")
        self.browser.wait("location.pathname === '/'")
        self.who = name

    def open(self, page):
        self.browser.open(self.rig.url + page)
        self.browser.run("""
            window.violations = []
            document.addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective + ' ' + e.blockedURI))
            return null""")
        if page != "login.html":
            self.browser.wait_connected()

    def value(self, name):
        return self.rig.call(name)


def says(selector):
    return f"document.querySelector({json.dumps(selector)}).closest('.card').querySelector('.says').textContent"


# The log-in


def log_in(stage):
    """A stranger is led to the log-in page, and a token lets him in"""
    browser, url = stage.browser, stage.rig.url
    stage.log_out("first")
    browser.open(url + "macros.html")
    browser.wait("location.pathname === '/login.html'")
    for line in "quickconnect web user add NAME --group home", "quickconnect web user link NAME":
        browser.wait_text("main", line)
    browser.type("#token", "wrong")
    browser.click("#enter")
    browser.wait_text("#says", "That is not a token of this device.")
    assert browser.value("document.activeElement.id") == "token"
    browser.run("document.getElementById('token').value = ''; return null")
    browser.type("#token", stage.token("ann", "editors"))
    browser.click("#enter")
    browser.wait("location.pathname === '/macros.html'")
    browser.wait_connected()
    browser.click("#logout")
    browser.wait("location.pathname === '/login.html'")
    browser.open(url)
    browser.wait("location.pathname === '/login.html'")


def open_by_code(stage):
    """An address of «quickconnect web open» lets in once, and its code does not stay in the address"""
    browser = stage.browser
    address = stage.rig.call("web", "open")["address"]
    stage.log_out("first")
    browser.open(address)
    browser.wait("location.pathname === '/'")
    stage.log_out("before a page")
    words = [stage.rig.programs / "quickconnect", "web", "open", "state.html?here#there", "--socket", stage.rig.socket]
    browser.open(subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout.strip())
    browser.wait("location.href.endsWith('/state.html?here#there')")
    for elsewhere in ("https://example.org/", "//example.org/", "javascript:alert(1)"):
        stage.log_out("before one of elsewhere")
        browser.open(stage.rig.call("web", "open")["address"].replace("#", "?next=" + quote(elsewhere, safe="") + "#"))
        browser.wait("location.pathname === '/'")
    stage.log_out("second")
    browser.open(address.replace("login.html", "login.html?again"))
    browser.wait_text("#says", "This address has been used")
    assert "#" not in browser.url(), browser.url()


def logged_out_elsewhere(stage):
    """A page whose session ends says so, and where to log in"""
    stage.log_in()
    stage.open("state.html")
    stage.who = None
    stage.browser.run("return fetch('logout', {method: 'POST'}).then(() => null)")
    stage.browser.wait_text(".banner", "You are logged out.")
    link = stage.browser.value("document.querySelector('.banner a').getAttribute('href')")
    assert link.startswith(stage.rig.url + "login.html?next="), link
    token = stage.token("ann")
    stage.browser.open(link + "#token=" + token)
    stage.browser.wait("location.pathname === '/state.html'")
    # One without a watcher goes to the log-in by itself.
    stage.browser.open(stage.rig.url + "tests/plain.html")
    stage.browser.run("return quickconnect.call('hello').then(() => fetch('/logout', {method: 'POST'})).then(() => null)")
    stage.browser.wait("location.pathname === '/login.html' && location.search.includes('plain.html')")
    stage.browser.open(f"{stage.rig.url}login.html?to=ann#token={token}")
    stage.browser.wait("location.pathname === '/'")
    stage.who = "ann"


# The device catalogue


def sounds(stage):
    """Catalogue: vibrate, sound, each system sound, stop all"""
    stage.open("")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#sounds button').length === 9")
    browser.click("[data-run=vibrateDevice]")
    moved = stage.rig.folder / "simulated" / "vibration.jsonl"
    wait_until(lambda: moved.exists() and '"vibrates":true' in moved.read_text(), "the vibration")
    browser.click("[data-run=playSound]")
    browser.run("const { call } = quickconnect; window.made = []; quickconnect.call = (...all) => { made.push(all); return call(...all) }; return null")
    for number in range(1, 10):
        browser.click(f"#sounds button:nth-child({number})")
    assert browser.value("JSON.stringify(made)") == json.dumps([["playSound", number] for number in range(9)], separators=(",", ":"))
    browser.click("[data-run=stopAll]")
    browser.wait("!document.querySelector('[aria-busy=true]')")
    assert browser.value(says("#sounds")) == "", browser.value(says("#sounds"))


def volume(stage):
    """Catalogue: the volume by slider and by mute, and what others set"""
    stage.open("")
    browser = stage.browser
    browser.wait_text("#volume-text", "%")
    browser.run("const v = document.getElementById('volume'); v.value = 40; v.dispatchEvent(new Event('input', {bubbles: true}));"
                "v.dispatchEvent(new Event('change', {bubbles: true})); return null")
    wait_until(lambda: stage.rig.call("volume")["volume"] == 40, "the volume")
    browser.click("#mute")
    browser.wait("document.getElementById('mute').getAttribute('aria-pressed') === 'true'")
    assert stage.rig.call("volume")["muted"]
    browser.click("#mute")
    browser.wait("document.getElementById('mute').getAttribute('aria-pressed') === 'false'")
    stage.rig.call("volume", 100)
    browser.wait_text("#volume-text", "100 %")
    browser.wait("document.getElementById('volume').value === '100'")


def lines(stage):
    """Catalogue: each button's line for a shell, a script and curl does what the button does"""
    stage.open("")
    browser, rig = stage.browser, stage.rig
    browser.wait("document.querySelectorAll('#sounds button').length === 9")
    browser.run("const file = document.getElementById('file'); file.value = \"ann's & bob's.wav\"; return null")
    environment = {**os.environ, "PATH": f"{rig.programs}:{os.environ['PATH']}", "QUICKCONNECT_SOCKET": str(rig.socket), "TOKEN": stage.token("ann", "editors")}

    def choose(form):
        browser.run(f"const all = document.getElementById('lines'); all.value = '{form}'; all.dispatchEvent(new Event('change')); return null")
        return browser.value("Object.fromEntries([...document.querySelectorAll('.lines li')].map(each => [each.querySelector('small').textContent, "
                             "each.querySelector('code').textContent]))")

    def do(line):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=30, env=environment)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def recorded():
        return any(each["name"] == "ann's & bob's.wav" for each in rig.call("media"))

    for form in ("shell", "curl") if shutil.which("curl") else ("shell",):
        found = choose(form)
        do(found["Volume"].replace("100", "40"))
        assert rig.call("volume")["volume"] == 40, found
        do(found["Sound"])
        do(found["Stop all"])
        do(found["Record"])
        wait_until(lambda: rig.call("state")["recording"], "the recording")
        do(found["Stop recording"])
        wait_until(recorded, "the recorded file")
        # Its lease ends with the line.
        assert "true" in do(found["Switch on lamp"]), found
        rig.call("volume", 100)
        # As the page shows it now: what another has recorded is a line, too.
        wait_until(lambda: "Remove ann's & bob's.wav" in choose(form), "the file's line")
        do(choose(form)["Remove ann's & bob's.wav"])
        wait_until(lambda: not recorded(), "that the file is gone")
    assert choose("curl") and browser.value("document.getElementById('lines-token').hidden") is False
    found = choose("script")
    assert browser.value("document.getElementById('lines-token').hidden") is True
    # The button that ends it now has the line of what it ends.
    assert browser.value("document.getElementById('watch').textContent") == "Pause" and "Pause" not in found, found
    assert found["Watch"] == "quickconnect.on('accel', value => console.log(value))", found
    assert found["Follow"] == "quickconnect.on('location', value => console.log(value))", found
    browser.run("return " + found["Record"] + ".then(() => null)")
    wait_until(lambda: rig.call("state")["recording"], "the recording")
    browser.run("return " + found["Stop recording"] + ".then(() => null)")
    wait_until(recorded, "the recorded file")
    rig.call("media", "remove", "ann's & bob's.wav")
    assert "«" not in json.dumps(choose("shell")) and not choose(""), "no line is left"


def recording(stage):
    """Catalogue: record with level and time, stop, play with progress, list, save, remove"""
    stage.open("")
    browser = stage.browser
    browser.click("[data-run=startRecording]")
    browser.wait_text("#rec-state", "Recording: recordedFile.wav")
    browser.wait("Number(document.getElementById('level').getAttribute('aria-valuenow')) > 0")
    # Long enough that it still plays when its button is clicked, on a busy machine too.
    browser.wait_text("#rec-time", "0:04")
    browser.click("[data-run=stopRecording]")
    browser.wait_text("#rec-state", "Stopped")
    browser.wait_text("#media", "recordedFile.wav")
    browser.click("[data-run=playRecording]")
    browser.wait_text("#play-state", "Playing: recordedFile.wav")
    browser.click("[data-run=terminatePlaying]")
    browser.wait_text("#play-state", "Stopped")
    browser.click("#media button[aria-label='Play recordedFile.wav']")
    browser.wait("Number(document.getElementById('progress').getAttribute('aria-valuenow')) > 0")
    browser.run("window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = blob => { saved.push(blob.size); return make.call(URL, blob) }; return null")
    browser.click("#media button[aria-label='Save recordedFile.wav']")
    size = (stage.rig.folder / "media" / "recordedFile.wav").stat().st_size
    browser.wait(f"window.saved[0] === {size}")
    browser.wait_text("#play-state", "Ended")
    browser.click("#media button[aria-label='Remove recordedFile.wav']")
    browser.wait("!document.getElementById('media-empty').hidden")


def upload(stage):
    """Catalogue: a file is brought to the device, whole, also in pieces"""
    stage.open("")
    for name, count in (("empty.wav", 0), ("large.bin", 1_000_003)):
        content = bytes(index * 7 % 251 for index in range(count))
        file = stage.rig.folder / name
        file.write_bytes(content)
        stage.browser.type("#upload", str(file))
        stage.browser.wait_text("#upload-state", name + " is on the device.")
        assert (stage.rig.folder / "media" / name).read_bytes() == content
        stage.browser.wait_text("#media", name)
        stage.rig.call("media", "remove", name)


def media_by_address(stage):
    """A page plays what was recorded and shows a picture, by their addresses; a chosen file is sent with progress"""
    stage.open("")
    browser = stage.browser
    recorded = browser.run("return quickconnect.call('rec', 'bell.wav', 'start', { limit: 0.5, wait: true })")
    assert recorded["file"] == "bell.wav" and recorded["seconds"] == 0.5, recorded
    # An element with its address, as in a page's text; and from the middle, which needs ranges.
    browser.run("""
        document.body.insertAdjacentHTML('afterbegin', '<audio id="bell" src="media/bell.wav"></audio><button id="play-bell">Play</button>')
        const audio = document.getElementById('bell')
        audio.onended = () => { window.heard = audio.duration }
        audio.onerror = () => { window.heard = audio.error.message }
        document.getElementById('play-bell').onclick = () => { audio.currentTime = 0.3; audio.play().catch(error => { window.heard = String(error) }) }
        return null""")
    browser.wait("document.getElementById('bell').readyState > 1 || window.heard")
    assert abs(browser.value("document.getElementById('bell').duration") - 0.5) < 0.01
    browser.wait("document.getElementById('bell').seekable.end(0) > 0.4")
    # Firefox does not play to its end without a sound card.
    if browser.name == "chromium":
        browser.click("#play-bell")
        browser.wait("window.heard")
        heard = browser.value("heard")
        assert isinstance(heard, float) and abs(heard - 0.5) < 0.01, heard
    content = bytes(index * 7 % 251 for index in range(3_000_003))
    file = stage.rig.folder / "a film #1 ü.webm"
    file.write_bytes(content)
    browser.run("""
        document.body.insertAdjacentHTML('beforeend', '<input type="file" id="chosen">')
        window.sent = { seen: [] }
        document.getElementById('chosen').onchange = event => {
            const [file] = event.target.files, upload = new XMLHttpRequest()
            upload.upload.onprogress = ({ loaded, total }) => sent.seen.push([loaded, total])
            upload.onload = () => { sent.status = upload.status; sent.text = upload.responseText }
            upload.open('PUT', 'media/' + encodeURIComponent(file.name))
            upload.send(file)
        }
        return null""")
    browser.type("#chosen", str(file))
    browser.wait("sent.status")
    sent = browser.value("sent")
    assert sent["status"] == 201 and json.loads(sent["text"]) == {"file": file.name, "bytes": len(content)}, sent
    assert sent["seen"] and sent["seen"][-1] == [len(content), len(content)], sent["seen"]
    assert (stage.rig.folder / "media" / file.name).read_bytes() == content
    form = browser.run("""
        const form = new FormData()
        form.append('file', new Blob(['GIF89a']), 'dot.gif')
        form.append('file', new Blob(['<svg xmlns="http://www.w3.org/2000/svg"></svg>']), 'dot.svg')
        return fetch('media', { method: 'POST', body: form }).then(async answer => [answer.status, await answer.json()])""")
    assert form == [201, {"files": [{"file": "dot.gif", "bytes": 6}, {"file": "dot.svg", "bytes": 46}]}], form
    # A form without a script, whose answer is the next page.
    browser.run("""
        document.body.insertAdjacentHTML('afterbegin', '<form id="plain" method="post" enctype="multipart/form-data" action="media">'
            + '<input type="file" name="file" id="formed"><button id="send">Send</button></form>')
        return null""")
    plain = stage.rig.folder / "plain.gif"
    plain.write_bytes(b"GIF89a")
    browser.type("#formed", str(plain))
    browser.click("#send")
    wait_until(lambda: (stage.rig.folder / "media" / "plain.gif").exists(), "the form's file")
    stage.rig.call("media", "remove", "plain.gif")
    stage.open("")
    # A picture that could hold a script is none here.
    shown = browser.run("""
        return new Promise(done => { const image = new Image(); image.onload = () => done('shown'); image.onerror = () => done('not shown'); image.src = 'media/dot.svg' })""")
    assert shown == "not shown", shown
    for name in ("bell.wav", file.name, "dot.gif", "dot.svg"):
        stage.rig.call("media", "remove", name)


def location(stage):
    """Catalogue: the position, the track while it is followed, and clear"""
    stage.open("")
    browser = stage.browser
    browser.click("[data-run=getGPSLocation]")
    browser.wait_text("#locDisplay", "latitude: 51.")
    text = browser.value("document.getElementById('locDisplay').innerText")
    assert re.fullmatch(r"latitude: [-\d.]+\nlongitude: [-\d.]+\naltitude: [-\d.]+", text), text
    browser.click("#follow")
    browser.wait("document.getElementById('follow').getAttribute('aria-pressed') === 'true'")
    browser.wait("document.querySelector('#plot .track').getAttribute('points').split(' ').length > 2")
    browser.click("#follow")
    browser.wait("document.getElementById('follow').getAttribute('aria-pressed') === 'false'")
    browser.click("[data-run=clearTrack]")
    browser.wait_text("#scale", "No position yet.")


def motion(stage):
    """Catalogue: the acceleration moves, pauses, and sleeps when nobody looks"""
    stage.open("")
    browser = stage.browser
    browser.wait_text("#accelDisplay", "x: ")
    first = browser.value("document.getElementById('bubble').getAttribute('cy')")
    browser.wait(f"document.getElementById('bubble').getAttribute('cy') !== {json.dumps(first)}")
    browser.click("#watch")
    browser.wait_text("#watch", "Watch")
    wait_until(lambda: not stage.rig.call("state")["measuring"], "the sensor's sleep")
    browser.click("#watch")
    browser.wait_text("#watch", "Pause")
    wait_until(lambda: "accel" in json.dumps(stage.rig.call("state")["watched"]), "the sensor")


def simulation(stage):
    """Catalogue: sliders move what the simulated sensors feel"""
    stage.open("")
    browser = stage.browser
    browser.wait("document.querySelectorAll('.simulate').length === 2")
    for name, value in ("roll", 90), ("latitude", -33.5):
        browser.run("const [id, value] = arguments; const slider = document.getElementById(id); slider.value = value;"
                    "slider.dispatchEvent(new Event('input'))", f"simulate-{name}", value)
    browser.wait_text("#accelDisplay", "x: 1.000")
    wait_until(lambda: stage.rig.call("simulate", "position").get("latitude") == -33.5, "the position")
    browser.click("[data-run=getGPSLocation]")
    browser.wait_text("#locDisplay", "latitude: -33.5")
    # What another program moves is what a page shows that comes later.
    stage.rig.call("simulate", "tilt", '{"roll": 0, "pitch": -30}')
    stage.open("")
    browser.wait("document.getElementById('simulate-pitch') && document.getElementById('simulate-pitch').value === '-30'")
    for what, card in ("tilt", "watch"), ("position", "follow"):
        browser.click(f".card:has(#{card}) .simulate button")
        wait_until(lambda: stage.rig.call("simulate", what) == {"track": "default"}, f"the track of {what}")


def pickers(stage):
    """Catalogue: without a picker on the device the browser's own asks"""
    stage.open("")
    browser = stage.browser
    for handler, value, shown in (
        ("showDateSelector", "2026-02-03T04:05", "2026-02-03 04:05"), ("showDayPicker", "2026-02-03", "2026-02-03"), ("showTimePicker", "04:05", "04:05"),
    ):
        browser.click(f"[data-run={handler}]")
        browser.wait("document.getElementById('picker').open")
        browser.run("document.getElementById('picked').value = arguments[0]; return null", value)
        browser.click("#picker-done")
        browser.wait(f"document.getElementById('pickerResults').textContent === {json.dumps(shown)}")
    browser.click("[data-run=showDateSelector]")
    browser.wait("document.getElementById('picker').open")
    browser.click("#picker-cancel")
    browser.wait("!document.getElementById('picker').open")
    assert browser.value("document.getElementById('pickerResults').textContent") == ""


def nearby_and_journal(stage):
    """Catalogue: what is nearby, and a line for the journal"""
    stage.open("")
    browser = stage.browser
    browser.click("[data-run=findNearby]")
    browser.wait_text("#nearby", "amera")
    browser.type("#message", "a line from the page")
    browser.click("[data-run=logMessage]")
    browser.wait_text("#logged", "Written.")
    wait_until(lambda: "a line from the page" in stage.rig.log("quickconnectd"), "the journal's line")


def refusal(stage):
    """What is refused is said in place, in plain words, and goes with the next try"""
    stage.open("")
    browser = stage.browser
    browser.run("document.getElementById('file').value = '../../etc/passwd'; return null")
    browser.click("[data-run=playRecording]")
    browser.wait("/did not understand|not there/.test(" + says("#level") + ")")
    browser.run("document.getElementById('file').value = 'nothing.caf'; return null")
    browser.click("[data-run=playRecording]")
    browser.wait(says("#level") + ".includes('That is not there.')")
    assert browser.value("document.getElementById('level').closest('.card').querySelector('.says').getAttribute('role')") == "alert"


# Macros


def macros_run(stage):
    """Macros: each button moves the rings, the code of the last one is shown"""
    stage.open("macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#macros button').length === 5")
    for value in ("innerProgress", "middleProgress", "outerProgress"):
        stage.rig.call(value, 3)
    browser.wait_text("#inner", "3.00")
    for name in ("addInner", "addOuter", "addRandom", "subtractRandom"):
        before = stage.rig.call("innerProgress")
        number = browser.value(f"[...document.querySelectorAll('#macros button')].findIndex(b => b.textContent === '{name}') + 1")
        browser.click(f"#macros button:nth-child({number})")
        wait_until(lambda: stage.rig.call("innerProgress") != before, "the ring's move")
        browser.wait_text("#code-name", name)
        browser.wait("document.getElementById('pane-code').innerText.includes('getInnerProgress') || "
                     "document.querySelector('#code textarea')?.value.includes('getInnerProgress')")
    inner = stage.rig.call("innerProgress")
    browser.wait(f"document.getElementById('inner').textContent === {json.dumps(f'{inner:.2f}')}")
    browser.click("#reset")
    browser.wait_text("#outer", "0.00")


def macro_mistake(stage):
    """Macros: a mistake is a dialog with its line, and Edit goes there"""
    stage.open("macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#macros button').length === 5")
    browser.click("#macros button:nth-child(5)")
    browser.wait("document.getElementById('mistake').open")
    assert browser.value("document.querySelector('#mistake h2').textContent") == "Javascript Evaluation Error"
    browser.wait_text("#mistake-message", "throws, line 3")
    browser.wait_text("#mistake-line", "return x.y.z;")
    browser.picture(stage.pictures / f"{browser.name}-mistake.png", whole=False)
    browser.click("#mistake-edit")
    browser.wait("!document.getElementById('pane-edit').hidden && document.getElementById('selector').value === 'throws'")
    browser.wait("document.querySelector('#editor .wrong, #editor .lines b') !== null")


def type_text(browser, text):
    """Replaces the editor's text as a person's typing would, be it CodeMirror or the text area."""
    browser.run("""
        const mirror = document.querySelector('#editor .CodeMirror')?.CodeMirror, area = document.querySelector('#editor textarea')
        if (mirror) mirror.replaceRange(arguments[0], {line: 0, ch: 0}, {line: mirror.lastLine() + 1, ch: 0}, '+input')
        else { area.value = arguments[0]; area.dispatchEvent(new Event('input', {bubbles: true})) }
        return null""", text)


def edit_text(browser):
    return "(document.querySelector('#editor .CodeMirror')?.CodeMirror.getValue() ?? document.querySelector('#editor textarea').value)"


def open_editor(stage, name):
    browser = stage.browser
    browser.wait("document.querySelectorAll('#selector option').length >= 5")
    browser.click("#tab-edit")
    browser.wait(edit_text(browser) + " !== ''")
    browser.wait("document.getElementById('saved').textContent.includes('as it is')")
    browser.run("""document.getElementById('saved').textContent = ''
        const s = document.getElementById('selector'); s.value = arguments[0]; s.dispatchEvent(new Event('change', {bubbles: true})); return null""", name)
    browser.wait(f"document.getElementById('saved').textContent.startsWith({json.dumps(name)})")


def macros_edit(stage):
    """Macros: another choice saves, check, save and run, discard, a new one"""
    stage.open("macros.html")
    browser = stage.browser
    open_editor(stage, "addInner")
    type_text(browser, "function() { return 'first' }\n")
    browser.wait_text("#saved", "Not saved yet")
    browser.run("const s = document.getElementById('selector'); s.value = 'addOuter'; s.dispatchEvent(new Event('change', {bubbles: true})); return null")
    browser.wait_text("#saved", "addOuter")
    assert stage.rig.call("macro", "run", "addInner") == "first"
    type_text(browser, "function() { return 1 +* 2 }\n")
    browser.click("#check")
    browser.wait("document.getElementById('mistake').open")
    browser.click("#mistake button[value=close]")
    browser.run("const s = document.getElementById('selector'); s.value = 'addInner'; s.dispatchEvent(new Event('change', {bubbles: true})); return null")
    browser.wait("document.getElementById('mistake').open")
    browser.click("#mistake button[value=close]")
    assert browser.value("document.getElementById('selector').value") == "addOuter", "what cannot be saved stays"
    browser.click("#discard")
    browser.wait_text("#saved", "addOuter as it is")
    type_text(browser, "function() { setOuterProgress(7); return 'second' }\n")
    browser.click("#try")
    browser.wait_text("#answer", '"second"')
    browser.wait_text("#outer", "7.00")
    browser.click("#new")
    browser.wait("document.getElementById('naming').open")
    browser.type("#name", "brandNew")
    browser.click("#naming button[value=make]")
    browser.wait("document.getElementById('selector').value === 'brandNew'")
    type_text(browser, "() => 42")
    browser.click("#save")
    browser.wait_text("#saved", "Saved brandNew, version 1")
    assert stage.rig.call("macro", "run", "brandNew") == 42
    browser.wait("[...document.querySelectorAll('#macros button')].some(b => b.textContent === 'brandNew')")


def macro_typing(stage):
    """Macros: the editor takes what is typed on a keyboard, and Tab leaves it"""
    stage.open("macros.html")
    browser = stage.browser
    open_editor(stage, "brandNew")
    browser.run("""const mirror = document.querySelector('#editor .CodeMirror')?.CodeMirror, area = document.querySelector('#editor textarea')
        if (mirror) { mirror.focus(); mirror.execCommand('goDocEnd') }
        else { area.focus(); area.setSelectionRange(area.value.length, area.value.length) }
        return null""")
    browser.keys(" + 1")
    browser.wait(edit_text(browser) + ".trim() === '() => 42 + 1'")
    browser.keys("\ue004")
    browser.wait("document.activeElement.id === 'save'")
    browser.keys("\ue007")
    browser.wait_text("#saved", "Saved brandNew, version 2")
    assert stage.rig.call("macro", "run", "brandNew") == 43


def macro_conflict(stage):
    """Macros: what somebody else saved meanwhile is not overwritten"""
    stage.open("macros.html")
    browser = stage.browser
    open_editor(stage, "brandNew")
    stage.rig.call("macro", "save", "brandNew", "() => 'theirs'")
    type_text(browser, "() => 'mine'")
    browser.click("#save")
    browser.wait(says("#editor") + ".includes('Somebody has saved version')")
    assert stage.rig.call("macro", "run", "brandNew") == "theirs"
    browser.click("#discard")
    browser.wait(edit_text(browser) + ".includes('theirs')")


def macro_history(stage):
    """Macros: history shows older texts, and reverts"""
    stage.open("macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#history-of option').length >= 5")
    browser.run("document.getElementById('history-of').value = 'brandNew'; return null")
    browser.click("#tab-history")
    browser.wait("document.querySelectorAll('#versions li').length === 3")
    browser.click("#versions li:nth-child(3) button")
    browser.wait("(document.querySelector('#old .CodeMirror')?.CodeMirror.getValue() ?? document.querySelector('#old textarea').value).trim() === '() => 42'")
    browser.click("#versions li:nth-child(3) button[aria-label='Revert to version 1']")
    browser.wait("document.querySelectorAll('#versions li').length === 4")
    assert stage.rig.call("macro", "run", "brandNew") == 42


def macro_trace(stage):
    """Macros: a trace lists the calls with their answers"""
    stage.open("macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#trace-of option').length >= 5")
    browser.click("#tab-trace")
    browser.run("document.getElementById('trace-of').value = 'addRandom'; return null")
    browser.type("#parameters", "[")
    browser.click("#trace")
    browser.wait(says("#trace") + ".includes('not JSON')")
    browser.run("document.getElementById('parameters').value = '[1]'; return null")
    browser.click("#trace")
    browser.wait_text("#traced", "after 6 calls")
    browser.wait_text("#calls", "setInnerProgress" if browser.value("document.querySelector('#calls').textContent.includes('setInner')") else "innerProgress")


def macro_rights(stage):
    """Macros: who may not save is told so in plain words"""
    stage.open("macros.html")
    browser = stage.browser
    open_editor(stage, "addRandom")
    type_text(browser, "() => 'bob was here'")
    browser.click("#save")
    browser.wait(says("#editor") + ".includes('You may not do this here.')")
    assert stage.rig.call("macro", "show", "addRandom")["text"].startswith("function() {")
    browser.click("#discard")
    browser.wait_text("#saved", "addRandom as it is")


def macro_on_touch(stage):
    """Macros: on a touch screen the editor is a text area with line numbers"""
    browser = stage.browser
    if browser.name != "chromium":
        raise Skipped("only Chromium's driver can pretend a touch screen")
    browser.devtools("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    browser.size(360, 740)
    try:
        stage.open("macros.html")
        open_editor(stage, "addRandom")
        assert browser.value("matchMedia('(pointer: coarse)').matches")
        browser.wait("document.querySelector('#editor .lines').textContent.startsWith('1\\n2\\n3\\n')")
        type_text(browser, "function() {\n  retur n\n}")
        browser.click("#save")
        browser.wait("document.getElementById('mistake').open")
        browser.click("#mistake button[value=close]")
        browser.wait("document.querySelector('#editor .lines b').textContent === '2'")
        browser.picture(stage.pictures / f"{browser.name}-touch.png")
        browser.click("#discard")
        browser.wait_text("#saved", "addRandom as it is")
    finally:
        browser.devtools("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.size(1280, 900)


# Stored procedures


def choose_procedure(stage, name):
    stage.open("procedures.html")
    stage.browser.wait(f"document.querySelector('[data-name=\"{name}\"]')")
    stage.browser.click(f"[data-name='{name}']")
    stage.browser.wait(f"document.getElementById('run-title').textContent === {json.dumps(name)}")


def fill(browser, *values):
    for index, value in enumerate(values):
        browser.run("document.getElementById('argument-' + arguments[0]).value = arguments[1]; return null", index, value)


def run_procedure(browser, *values):
    """The answer's line, once it is there."""
    fill(browser, *values)
    browser.run("document.getElementById('answered').textContent = ''; return null")
    browser.click("#go")
    browser.wait("document.getElementById('answered').textContent.startsWith('The answer') || " + says("#go"))
    return browser.value("document.getElementById('answered').textContent")


def procedures(stage):
    """Procedures: the list, the arguments by name, the code, the answer, and what is recorded"""
    browser = stage.browser
    for _ in range(3):
        stage.rig.call("post", "doorbell", {"door": 1})
    wait_until(lambda: stage.rig.call("data", "info")["entries"] >= 3, "the entries")
    choose_procedure(stage, "hasEntries")
    browser.wait("[...document.querySelectorAll('#arguments label')].map(each => each.textContent).join() === 'start,end'")
    assert browser.value("/^\\d{4}-\\d\\d-\\d\\d$/.test(document.getElementById('argument-0').value)")
    browser.wait("(document.querySelector('#code .CodeMirror')?.CodeMirror.getValue() ?? document.querySelector('#code textarea').value).includes('queryEntriesBetweenDateStartEnd')")
    assert run_procedure(browser) == "The answer: true"
    assert run_procedure(browser, "2000-01-01", "2000-01-02") == "The answer: false"
    browser.wait("document.getElementById('figure').hidden && document.getElementById('table-part').hidden")
    browser.run("document.getElementById('argument-0').focus(); return null")
    browser.keys("\ue007")
    browser.wait("document.getElementById('answered').textContent === 'The answer: false'")
    browser.wait_text("#events", "doorbell")
    browser.wait_text("#amount", "saved since the service began.")
    browser.wait_text("#amount", " in all, ")
    browser.wait("/doorbell\\d+ entries, 20/.test(document.getElementById('events').textContent)")
    choose_procedure(stage, "distanceToday")
    browser.wait_text("#about", "How far the device has moved on a day")
    assert run_procedure(browser) == "The answer has 2 rows."
    browser.wait("document.getElementById('table-part').open && document.getElementById('table').textContent.includes('metres')")


def procedure_plots(stage):
    """Procedures: a series is a plot with axes and a table, anything else a table or a line"""
    browser = stage.browser
    choose_procedure(stage, "numbers")
    browser.wait("[...document.querySelectorAll('#arguments label')].map(each => each.textContent).join() === 'shape,count?'")
    for shape, count, lines, axis in (("numbers", "", 1, "number"), ("pairs", "", 1, "x"), ("objects", "", 1, "weight"), ("days", "", 2, "day"),
                                      ("moments", "", 1, "date, local time"), ("same", "", 1, "number"), ("tiny", "", 1, "number"), ("large", "", 1, "number"),
                                      ("numbers", "3000", 1, "number"), ("days", "2", 2, "day")):
        said = run_procedure(browser, json.dumps(shape), count)
        assert said.startswith("The answer has"), f"{shape}: {said} {browser.value(says('#go'))}"
        assert not browser.value("document.getElementById('figure').hidden"), shape
        facts = browser.run("""const plot = document.getElementById('plot'), box = plot.getBoundingClientRect()
            const texts = [...plot.querySelectorAll('text')]
            return {lines: plot.querySelectorAll('.line').length, axis: texts.some(each => each.textContent === arguments[0]), label: plot.getAttribute('aria-label'),
                out: texts.filter(each => { const own = each.getBoundingClientRect(); return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1 }).map(each => each.textContent),
                bad: plot.innerHTML.includes('NaN'), legend: document.querySelectorAll('#legend span').length,
                open: document.getElementById('table-part').open, rows: document.querySelectorAll('#table tbody tr').length}""", axis)
        assert facts["lines"] == lines == facts["legend"] and facts["axis"] and not facts["out"] and not facts["bad"] and not facts["open"], f"{shape}: {facts}"
        assert facts["label"].startswith("Plot of numbers: ") and facts["rows"] == {"same": 3, "tiny": 3, "large": 3}.get(shape, min(int(count or 40), 1000)), f"{shape}: {facts}"
    for shape, count in (("words", ""), ("lists", ""), ("mixed", ""), ("object", ""), ("markup", ""), ("extreme", ""), ("wide", "3000"), ("numbers", "1"), ("empty", "")):
        said = run_procedure(browser, shape, count)
        assert said.startswith("The answer has"), f"{shape}: {said}"
        assert browser.value("document.getElementById('figure').hidden"), shape
        assert browser.value("document.getElementById('table-part').open") or shape == "empty", shape
    assert browser.value("!document.querySelector('#table img, #table b')")
    assert run_procedure(browser, "nothing") == "The answer: null"
    assert len(run_procedure(browser, "text")) < 11000


def documented_plot(stage):
    """The page of docs/pages.md draws a procedure's answer, with its legend"""
    browser, folder = stage.browser, stage.rig.folder
    blocks = re.findall(r"^```(html|js)\n(.*?)^```$", (ROOT / "docs" / "pages.md").read_text(), re.M | re.S)
    page, script = (next(text for kind, text in blocks if kind == language and word in text)
                    for language, word in (("html", "report.js"), ("js", "drawPlot")))
    (folder / "pages" / "report.html").write_text(page)
    (folder / "pages" / "report.js").write_text(script)
    (folder / "procedures" / "ringsADay.js").write_text(
        "function execute(callback) { callback([3, 5, 2].map((rings, day) => ({ day: `2026-11-2${day}`, rings }))) }\n")
    browser.open(stage.rig.url + "report.html")
    browser.wait("document.querySelector('#plot .line')")
    # The page is loaded anew when its files are found to be new, which may be between two looks at it.
    facts = wait_until(lambda: browser.run("""const plot = document.getElementById('plot'), line = plot?.querySelector('.line')
        return line && {label: plot.getAttribute('aria-label'), width: plot.getBoundingClientRect().width, stroke: getComputedStyle(line).stroke,
            texts: [...plot.querySelectorAll('text')].map(each => each.textContent)}"""), "a plot is drawn")
    assert facts["width"] > 200 and facts["stroke"].startswith("rgb") and "day" in facts["texts"] and "rings a day" in facts["label"], facts
    for answer, told in (([], "it needs two entries"), ([{"day": f"2026-11-2{day}", "hot": "13.83"} for day in (1, 2)], "hot is text, not a number: in SQL, max(data ->> '$')"),
                         (None, "the answer is no list"), (["a", "b"], "the answer is no series")):
        legend = browser.run("""const [svg, legend] = ['plot', 'legend'].map(id => document.getElementById(id)), [answer] = arguments
            return import('./plot.js').then(({drawPlot, seriesOf}) => {
                drawPlot(svg, legend, seriesOf(answer), 'rings', answer)
                return legend.textContent + svg.childElementCount
            })""", answer)
        assert legend.startswith(f"no plot: {told}") and legend.endswith("0"), legend


def procedure_mistakes(stage):
    """Procedures: a mistake tells its line, a wrong argument what to write"""
    browser = stage.browser
    choose_procedure(stage, "mistaken")
    browser.wait_text("#arguments", "JSON list")
    run_procedure(browser, "{")
    assert "not a JSON list" in browser.value(says("#go")), browser.value(says("#go"))
    run_procedure(browser, "[1]")
    told = browser.value(says("#go"))
    assert "made a mistake" in told and "Line 3 of" in told, told
    browser.wait("document.querySelector('#code .wrong, #code .lines b')")
    choose_procedure(stage, "distanceToday")
    run_procedure(browser, "no day")
    assert "'no day' is not a date" in browser.value(says("#go")), browser.value(says("#go"))
    stage.rig.end(stage.rig.running.pop("quickconnect-data"))
    try:
        browser.wait(says("#procedures") + ".includes('systemctl status quickconnect-data')")
        run_procedure(browser)
        assert "does not work at the moment" in browser.value(says("#go"))
    finally:
        stage.rig.start_procedures()
    browser.wait(says("#procedures") + " === ''")
    assert run_procedure(browser, "") == "The answer has 2 rows."


def procedure_stopped(stage):
    """Procedures: one that computes is stopped, by its button or by the choice of another, and the next one runs"""
    browser = stage.browser
    computes = "document.getElementById('answered').textContent === 'It computes …' && !document.getElementById('stop').hidden"
    at_rest = lambda: stage.rig.call("procedures", "list")["running"] == 0
    choose_procedure(stage, "endless")
    assert browser.value("document.getElementById('stop').hidden")
    for stop in (lambda: browser.click("#stop"), lambda: (browser.run("document.getElementById('stop').focus(); return null"), browser.keys("\ue007"))):
        browser.click("#go")
        browser.wait(computes)
        wait_until(lambda: stage.rig.call("procedures", "list")["running"] == 1, "the procedure")
        stop()
        browser.wait_text("#answered", "It was stopped.")
        assert browser.value(says("#go")) == "" and browser.value("document.getElementById('stop').hidden")
        wait_until(at_rest, "its end")
    assert browser.value("document.activeElement.id") == "go", "the focus has not gone with the button"
    browser.click("#go")
    browser.wait(computes)
    browser.click("[data-name='numbers']")
    browser.wait("document.getElementById('run-title').textContent === 'numbers' && document.getElementById('stop').hidden")
    wait_until(at_rest, "its end")
    browser.wait("document.getElementById('go').getAttribute('aria-busy') !== 'true'")
    assert run_procedure(browser, '"nothing"') == "The answer: null"


def procedures_closed(stage):
    """Procedures: who may not is told which line lets them"""
    browser = stage.browser
    stage.open("procedures.html")
    browser.wait("!document.getElementById('closed').hidden && document.getElementById('open').hidden")
    text = browser.value("document.getElementById('closed').innerText")
    assert "procedures: {allow: {users: [web:ann, web:bob, web:eve]}}" in text and "zz-tests.yaml" in text, text
    assert "the same for execute" in text and "quickconnect call reload" in text, text
    # As shipped they are on no gateway's list.
    stage.rig.commands.difference_update({"execute", "procedures"})
    stage.rig.write_settings()
    stage.rig.restart("quickconnectd")
    try:
        stage.open("procedures.html")
        browser.wait("document.getElementById('closed').innerText.includes('commands: [execute, procedures, …]')")
        text = browser.value("document.getElementById('closed').innerText")
        assert "for its owner to decide" in text and f"{stage.rig.folder}/settings.yaml:2" in text and "systemctl restart quickconnectd" in text, text
        browser.picture(stage.pictures / f"{browser.name}-closed.png")
    finally:
        stage.rig.commands.update({"execute", "procedures"})
        stage.rig.write_settings()
        stage.rig.restart("quickconnectd")
    stage.rig.wait_for_services()


# The state


def state(stage):
    """State: who, what goes on, values, handlers, the doctor, and who may"""
    stage.open("state.html")
    browser = stage.browser
    browser.wait_text("#who", "You are ann, in editors.")
    browser.wait_text("#handlers", "macros")
    browser.wait("[...document.querySelectorAll('#handlers li')].every(each => /root|uid/.test(each.querySelector('small').textContent))")
    browser.wait_text("#handlers", "by quickconnect-sc")
    browser.wait_text("#connected", "web:ann")
    browser.wait_text("#connected", "quickconnect-sc")
    browser.wait("/media folder/.test(document.querySelector('#findings').textContent + document.querySelector('#fine').textContent)")
    browser.wait_text("#commands", "playSound")
    stage.rig.call("rec", "here.caf", "start")
    browser.wait_text("#now", "Records here.caf")
    stage.rig.call("rec", "here.caf", "stop")
    browser.wait("!document.getElementById('now').textContent.includes('Records')")
    stage.rig.call("innerProgress", 2.5)
    browser.wait("document.getElementById('value-innerProgress').value === '2.5'")
    browser.run("document.getElementById('value-innerProgress').value = '12'; return null")
    browser.click("#values button[aria-label='Set innerProgress']")
    browser.wait("document.getElementById('value-innerProgress').value === '10'")
    assert stage.rig.call("innerProgress") == 10
    browser.run("document.getElementById('value-innerProgress').value = 'much'; return null")
    browser.click("#values button[aria-label='Set innerProgress']")
    browser.wait(says("#values") + ".includes('did not understand')")
    browser.click("#doctor")
    browser.click("#refresh")
    browser.wait_text("#may", "of which you may call ")
    rights = browser.run("return [...document.querySelectorAll('#commands tr')].map(row => row.cells[1].textContent)")
    assert rights[0] == "no" and rights == sorted(rights, key=lambda may: (may != "no", may == "yes")), rights
    browser.click("summary:has(#commands-title)")
    browser.type("#find", "vibr")
    browser.wait("[...document.querySelectorAll('#commands tr')].filter(row => !row.hidden).length < 5")
    browser.wait("[...document.querySelectorAll('#commands tr')].every(row => row.cells[1].textContent)")
    stage.rig.call("rec", "there.caf", "start")
    browser.wait_text("#now", "Records there.caf")
    browser.click("#stop")
    browser.wait("!document.querySelector('[aria-busy=true]')")
    stage.rig.call("rec", "there.caf", "stop")
    stage.rig.call("innerProgress", 0)


def events_and_schedules(stage):
    """Events as they come, the last one at once; schedules with their next run, and a button for those who may run them"""
    browser, rig = stage.browser, stage.rig
    item = "document.querySelector('#{} [data-name={}]')"
    rig.call("post", "bell", {"door": "back"})
    for page in ("", "state.html"):
        stage.open(page)
        browser.wait_text("#events [data-name=bell]", '{"door":"back"}')
        browser.wait_text("#events [data-name=ring]", "not yet")
        assert not browser.value(item.format("events", "others")), "whoever may not hear it is not told of it"
        rig.call("post", "bell", "front")
        browser.wait_text("#events [data-name=bell] .data", "front")
        browser.wait(item.format("events", "bell") + ".textContent.includes(':')")
        rig.call("post", "bell", {"door": "back"})
        # A page that is new has no times of what came before it.
        browser.wait_text("#schedules [data-name=night]", "Next: ")
        browser.wait_text("#schedules [data-name=dawn]", "at 06:30")
        browser.wait_text("#schedules [data-name=dawn]", "Has not run yet")
        assert not browser.value(item.format("schedules", "dawn") + ".querySelector('button')"), "ann may not run it"
        browser.click("#schedules [data-name=night] button")
        browser.wait_text("#schedules [data-name=night] .last", ", ok")
        # As others run it.
        rig.call("night", "run")
        last = rig.call("night")["last"]
        browser.wait(f"{item.format('schedules', 'night')}.querySelector('.last').textContent.includes(new Date({last}).toLocaleTimeString([], {{ hour: '2-digit', minute: '2-digit', second: '2-digit' }})) || {last} % 60000 === 0")
    # Without any, the cards are not there.
    mappings = rig.folder / "mappings" / "zz-tests.yaml"
    text = mappings.read_text()
    try:
        mappings.write_text("\n".join(line for line in text.split("\n") if "event:" not in line and "schedule:" not in line))
        rig.call("reload")
        browser.wait("document.getElementById('events-card').hidden && document.getElementById('schedules-card').hidden")
    finally:
        mappings.write_text(text)
        rig.call("reload")
    browser.wait("!document.getElementById('schedules-card').hidden")


def hardware(stage):
    """Lines and lights as they are: a lamp is lit, a push is pressed and a reader typed on by hand, and what one may not set has no control"""
    browser, rig = stage.browser, stage.rig
    item = "document.querySelector('#hardware [data-name={}]')"
    for page in ("", "state.html"):
        stage.open(page)
        browser.wait_text("#hardware [data-name=lamp]", "off")
        assert not browser.value(item.format("lamp") + ".querySelector('.lit')")
        browser.click("#hardware [data-name=lamp] button")
        browser.wait(item.format("lamp") + ".querySelector('.lit')")
        assert rig.call("lamp") is True
        rig.call("lamp", False)
        browser.wait("!" + item.format("lamp") + ".querySelector('.lit')")
        browser.click("#hardware [data-name=push] button")
        browser.wait(item.format("push") + ".querySelector('.lit')")
        assert rig.call("push") is True
        rig.call("simulate", "push", False)
        browser.wait_text("#hardware [data-name=push]", "off")
        rig.call("fan", 40)
        browser.wait_text("#hardware [data-name=fan] .data", "40 %")
        assert not browser.value(item.format("fan") + ".querySelector('input')"), "ann may not set it"
        rig.call("fan", 0)
        for card in ("0012345678", "0098765432"):
            browser.type("#events [data-name=reader] input", card)
            browser.keys("\ue007")
            browser.wait_text("#events [data-name=reader] .data", card)
            browser.wait("document.querySelector('#events [data-name=reader] input').value === ''")
        browser.click("#events [data-name=remote] button")
        browser.wait_text("#events [data-name=remote] .data", '{"key":"play","pressed":false}')


def hanging_page(stage):
    """What is leased to a page outlasts a script that is busy for 3 s, and not one that hangs"""
    browser, rig = stage.browser, stage.rig
    browser.open(rig.url + "tests/plain.html")
    assert browser.run("return quickconnect.set('lamp', true)") is True
    browser.run("work(3000); return null")
    assert rig.call("lamp") is True
    browser.run("setTimeout(work, 0, 15000); return null")
    wait_until(lambda: rig.call("lamp") is False, "the end of the lease", 12)
    browser.wait("quickconnect.state === 'connected'")


# Connections


def two_pages(stage):
    """Two pages at once: both are told what either does"""
    browser = stage.browser
    stage.open("macros.html")
    first = browser.tab()
    second = browser.new_tab()
    browser.switch(second)
    stage.open("macros.html")
    browser.wait("document.querySelectorAll('#macros button').length >= 5")
    browser.run("return quickconnect.call('middleProgress', 4.25).then(() => null)")
    browser.wait_text("#middle", "4.25")
    browser.switch(first)
    browser.wait_text("#middle", "4.25")
    browser.click("#reset")
    browser.wait_text("#middle", "0.00")
    browser.switch(second)
    browser.wait_text("#middle", "0.00")
    browser.close_tab()
    browser.switch(first)


def left_pages(stage):
    """A page that is left has no connection, and has one again when somebody goes back to it"""
    browser = stage.browser

    def count():
        # The gateway's other connections are its own.
        return sum(each["count"] for each in stage.rig.call("state")["connections"] if each["for"].get("user") == "ann")

    for page in PAGES + ("",):
        stage.open(page)
    wait_until(lambda: count() == 1, "one connection")
    browser.run("setTimeout(() => history.back(), 0); return null")
    browser.wait("location.pathname.endsWith('state.html') && window.quickconnect?.state === 'connected'")
    wait_until(lambda: count() == 1, "one connection behind the way back")


def reload_in_a_call(stage):
    """A page that is reloaded in the middle of a call leaves none behind"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/plain.html")
    browser.run("window.lost = quickconnect.call('vibrate', 9000).catch(({code}) => code); return null")
    wait_until(lambda: stage.rig.call("state")["vibrating"], "the vibration")
    browser.open(stage.rig.url + "tests/plain.html?again")
    wait_until(lambda: not stage.rig.call("state")["vibrating"], "the end of the call")
    assert browser.run("return quickconnect.makeCall('hello').then(({protocol}) => protocol)") == 1


def daemon_restarts(stage):
    """The daemon restarts: calls under way fail, others wait, and events go on"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/plain.html")
    browser.run("""window.heard = []; mapCommandToVCF('news', (data, value) => { heard.push(value) })
        return quickconnect.call('ping').then(() => null)""")
    wait_until(lambda: "news" in json.dumps(stage.rig.call("state")["watched"]), "the subscription")
    browser.run("window.under = quickconnect.call('vibrate', 8000).catch(({code}) => code); return null")
    wait_until(lambda: stage.rig.call("state")["vibrating"], "the vibration")
    stage.rig.end(stage.rig.running.pop("quickconnectd"))
    browser.wait("quickconnect.state !== 'connected'")
    assert browser.run("return under") in ("connectionLost", "cancelled"), browser.run("return under")
    browser.run("window.next = quickconnect.makeCall('hello').then(({program}) => program); return null")
    stage.rig.start_daemon()
    assert browser.run("return next") == "quickconnectd"
    wait_until(lambda: "news" in json.dumps(stage.rig.call("state")["watched"]), "the subscription")
    stage.rig.call("post", "news", "again")
    browser.wait("heard.includes('again')")
    wait_until(lambda: stage.rig.client("macro", "list", check=False).returncode == 0, "the macros")
    wait_until(lambda: stage.rig.client("web", "list", check=False).returncode == 0, "the command web")


def gateway_restarts(stage):
    """The gateway restarts: the page says so, goes on by itself, and is still logged in"""
    stage.open("state.html")
    browser = stage.browser
    stage.rig.end(stage.rig.running.pop("quickconnect-web"))
    browser.wait_text("#link", "Connecting")
    browser.wait_text(".banner", "The device does not answer.")
    stage.rig.start_web()
    browser.wait_text("#link", "Connected", 40)
    browser.wait("!document.querySelector('.banner')")
    browser.click("#refresh")
    browser.wait("!document.querySelector('[aria-busy=true]') && !" + says("#now"))


def sleep_and_wake(stage):
    """The gateway sleeps (a stopped process) and wakes: nothing is lost, or the page goes on by itself"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/plain.html")
    browser.run("return quickconnect.call('ping').then(() => null)")
    stage.rig.pause("quickconnect-web")
    try:
        browser.run("window.slept = quickconnect.makeCall('hello').then(({protocol}) => protocol, ({code}) => code); return null")
        browser.run("return new Promise(done => setTimeout(done, 500, null))")
        assert browser.value("quickconnect.state") == "connected"
    finally:
        stage.rig.resume("quickconnect-web")
    assert browser.run("return slept") == 1
    stage.rig.pause("quickconnect-web")
    try:
        # As the page does by itself when it notices that time has passed.
        browser.run("window.gone = quickconnect.call('hello').catch(({code}) => code); quickconnect.wake(); return null")
        browser.wait("quickconnect.state !== 'connected'", 25)
        assert browser.run("return gone") == "connectionLost"
    finally:
        stage.rig.resume("quickconnect-web")
    browser.wait_connected(60)
    assert browser.run("return quickconnect.makeCall('hello').then(({protocol}) => protocol)") == 1


# Old pages and the library


def book(stage):
    """The book's DeviceCatalog, with its makeCall that sets an address"""
    browser = stage.browser
    stage.open("examples/catalog/")
    if not browser.value("'navigation' in window"):
        raise Skipped("this browser does not tell pages of navigations")
    browser.click("#gps")
    browser.wait_text("#locDisplay", "latitude: 51.")
    browser.wait_text("#accelDisplay", "x: ")
    for button in ("vibrate", "sound", "record"):
        browser.click("#" + button)
    wait_until(lambda: stage.rig.call("state")["recording"], "the recording")
    browser.click("#stopRecord")
    wait_until(lambda: not stage.rig.call("state")["recording"], "its end")
    browser.click("#play")
    browser.click("#stopPlay")
    browser.click("#picker")
    assert browser.url().endswith("examples/catalog/"), browser.url()
    # Its queue holds what is called in one turn.
    browser.run("window.heard = []; mapCommandToVCF('hello', (data, hello) => { heard.push(hello.protocol) })"
                "\nfor (let n = 0; n < 50; n++) makeCall('hello'); return null")
    browser.wait("heard.length === 50")
    browser.run("makeCall('logMessage', 'Grüße & 50% {of} \"it\" + more'); return null")
    wait_until(lambda: 'Grüße & 50% {of} "it" + more' in stage.rig.log("quickconnectd").replace('\\"', '"'), "the message")


def bridge(stage):
    """A page of WebViewJavascriptBridge: the device calls its handler, and it calls the device"""
    browser = stage.browser
    stage.open("examples/bridge/")
    wait_until(lambda: stage.rig.client("brighten", 5, check=False).returncode == 0, "the page's handler")
    assert stage.rig.call("brighten", {"level": 7}) == {"level": [{"level": 7}]}
    browser.wait_text("#log", "brighten was called with")
    browser.click("#call")
    browser.wait_text("#log", "hello answers")
    browser.open(stage.rig.url + "tests/plain.html")
    wait_until(lambda: stage.rig.client("brighten", 5, check=False).returncode != 0, "the end of the handler")


def old_ways(stage):
    """Calls by a link, by hidden frames, by many addresses in one turn, and by messageHandlers"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/plain.html")
    browser.run("window.heard = []; mapCommandToVCF('news', (data, value) => { heard.push(value) }); return quickconnect.call('ping').then(() => null)")
    wait_until(lambda: "news" in json.dumps(stage.rig.call("state")["watched"]), "the subscription")
    browser.click("#link")
    browser.wait("heard.includes('link')")
    browser.run("""
        for (let n = 0; n < 3; n++) {
            const frame = document.createElement('iframe')
            frame.src = 'call?cmd=post&msg=' + encodeURIComponent(JSON.stringify(['news', 'frame' + n]))
            document.documentElement.appendChild(frame)
            frame.remove()
        }
        return null""")
    browser.wait("['frame0', 'frame1', 'frame2'].every(each => heard.includes(each))")
    browser.run("webkit.messageHandlers.post.postMessage(['news', 'message']); return null")
    browser.wait("heard.includes('message')")
    if browser.value("'navigation' in window"):
        browser.run("for (let n = 0; n < 100; n++) location = 'call?cmd=post&msg=' + encodeURIComponent(JSON.stringify(['news', n])); return null")
        browser.wait("heard.filter(each => typeof each === 'number').length === 100")
        assert browser.value("heard.filter(each => typeof each === 'number').every((each, index) => each === index)"), "in order"
    assert browser.url().endswith("tests/plain.html"), browser.url()


def library(stage):
    """quickconnect.js: as a module, 2,000 calls in one turn, an error of the page in the journal, no eval"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/module.html")
    browser.wait_text("#says", "quickconnectd at /bridge")
    browser.open(stage.rig.url + "tests/plain.html")
    assert browser.run("return Promise.all(Array.from({length: 2000}, () => makeCall('ping'))).then(all => all.length)") == 2000
    browser.run("setTimeout(blunder); return null")
    wait_until(lambda: "a mistake of the page" in stage.rig.log("quickconnectd"), "the journal's line")
    browser.run("window.failed = makeCall('noSuchCommand').catch(({code, name}) => code + name); return null")
    assert browser.run("return failed") in ("unknownCommandunknownCommand", "denieddenied")


def words(stage):
    """on, call, handle, value, set, add and post: a value now and at each change, also over a restart; what is wrong is refused"""
    browser, rig = stage.browser, stage.rig
    browser.open(rig.url + "tests/plain.html")
    rig.call("innerProgress", 2)
    assert browser.run("return quickconnect.value('innerProgress')") == 2
    browser.run("""window.seen = []; window.viewed = []; window.handled = []
        mapCommandToVCF('outerProgress', (data, value) => { viewed.push(value) })
        return makeCall('outerProgress').then(() => quickconnect.value('innerProgress', (value, name) => seen.push([value, name])))
            .then(off => { window.off = off; return quickconnect.handle('brighten', (data, call) => [data, call.command, call.parameters]) })""")
    assert browser.run("return seen") == [[2, "innerProgress"]]
    assert browser.run("return quickconnect.set('innerProgress', 99)") == 10
    assert browser.run("return quickconnect.add('innerProgress', -1.5)") == 8.5
    assert browser.run("return quickconnect.set('innerProgress', 10)") == 10
    rig.call("innerProgress", 10)
    rig.call("innerProgress", 4)
    browser.wait("seen.length === 5")
    assert browser.run("return seen.map(([value]) => value)") == [2, 10, 8.5, 10, 4]
    rig.call("outerProgress", 6)
    browser.wait("viewed.at(-1) === 6")
    assert rig.call("brighten", 7) == [[7], "brighten", [7]]
    # The daemon begins with the defaults.
    rig.end(rig.running.pop("quickconnectd"))
    browser.wait("quickconnect.state !== 'connected'")
    rig.start_daemon()
    browser.wait("seen.length === 6 && seen[5][0] === 0")
    wait_until(lambda: "outerProgress" in json.dumps(rig.call("state")["watched"]), "the subscription of the VCF")
    rig.call("outerProgress", 3)
    browser.wait("viewed.at(-1) === 3")
    browser.run("return off().then(() => null)")
    rig.call("innerProgress", 5)
    assert browser.run("return quickconnect.value('innerProgress')") == 5 and browser.run("return seen.length") == 6
    codes = """return Promise.all([
        quickconnect.value('stop'), quickconnect.value('stop', () => {}), quickconnect.value('media', () => {}), quickconnect.value('secret'),
        quickconnect.value('innerProgress', 7), quickconnect.on('innerProgress'), quickconnect.handle('brighten', null),
        quickconnect.set('innerProgress', 'x'), quickconnect.set('innerProgress', null), quickconnect.post('playState'), quickconnect.post(''), quickconnect.handle('', () => 1),
    ].map(each => each.then(value => 'done: ' + value, ({ code, name }) => code ?? name)))"""
    assert browser.run(codes) == ["notFound", "notFound", "notFound", "denied", "TypeError", "TypeError", "TypeError",
                                  "invalid", "TypeError", "denied", "invalid", "invalid"], browser.run(codes)
    # An element's id may be one of these words.
    assert browser.run("return ['on', 'call', 'handle', 'value', 'set', 'post'].filter(name => name in window)") == []
    wait_until(lambda: rig.client("macro", "list", check=False).returncode == 0, "the macros")
    wait_until(lambda: rig.client("web", "list", check=False).returncode == 0, "the command web")


def live_reload(stage):
    """--watch: a page whose files change is loaded anew"""
    browser = stage.browser
    browser.open(stage.rig.url + "tests/plain.html")
    browser.run("window.isOld = true; return quickconnect.call('ping').then(() => null)")
    file = stage.rig.folder / "pages" / "tests" / "plain.html"
    file.write_text(file.read_text() + "\n")
    browser.wait("window.isOld === undefined && document.readyState === 'complete'")


def refused_in_the_page(stage):
    """--watch: a page says what the device refuses it, with the line that helps, and not what it has handled itself"""
    browser, told = stage.browser, "document.getElementById('quickconnect-refused')?.innerText || ''"
    # The shipped pages ask before they do what may be refused.
    for page in ("", "macros.html", "procedures.html", "state.html", "examples/catalog/", "examples/bridge/"):
        stage.open(page)
        browser.run("return quickconnect.call('ping').then(() => null)")
        assert browser.value(told) == "", (page, browser.value(told))
    browser.open(stage.rig.url + "tests/plain.html")
    # Neither a rule of persons that the page handles, nor a command of its own, which is no event that it waits for.
    browser.run("""mapCommandToBCF('brew', () => 1); mapCommandToVCF('brew', () => {})
        return quickconnect.call('data', 'info').catch(() => quickconnect.call('ping')).then(() => null)""")
    # What a list lacks, whatever the page does with it.
    browser.run("return quickconnect.on('doorbell', () => {}).catch(() => null)")
    browser.wait_text("#quickconnect-refused", "Refused: the event 'doorbell': doorbell is not among the commands of the socket")
    assert re.search(r"settings\.yaml:\d+:\d+\); the line «commands: \[.*doorbell.*\]» there would allow it; so would an entry of your own .* has read it\.", browser.value(told)), browser.value(told)
    browser.run("mapCommandToVCF('visitors', () => {}); makeCall('reload'); makeCall('reload'); return null")
    browser.wait_text("#quickconnect-refused", "Refused: reload is not among the commands")
    browser.wait_text("#quickconnect-refused", "Refused: the event 'visitors'")
    # Each line's list has what the others add: whoever pastes one after the other loses none.
    lists = re.findall(r"«commands: \[(.*?)\]»", browser.value(told))
    assert len(lists) > 1 and len(set(lists)) == 1 and {"doorbell", "reload"} <= set(lists[0].split(", ")), lists
    assert not re.search("data is|brew", browser.value(told)) and browser.value(told).count("Refused: reload") == 1, browser.value(told)
    # What nobody awaits, by each word: here, and in the journal.
    browser.run("""quickconnect.call('volume', 'loud'); quickconnect.set('innerProgress', 'x'); quickconnect.add('outerProgress', 'y')
        quickconnect.post('playState'); quickconnect.on('accel', () => {}, { rate: -1 }); quickconnect.value('stop', () => {}); return null""")
    for word in "volume: ", "innerProgress: ", "outerProgress: ", "'playState' is an event of the device", "subscribe: ", "'stop' is a command":
        browser.wait_text("#quickconnect-refused", word)
    wait_until(lambda: stage.rig.log("quickconnectd").count("unhandled rejection: ") >= 6, "the lines of the journal")
    # What the policy of the pages keeps out.
    browser.run("const script = document.createElement('script'); script.textContent = '1'; document.body.append(script); return null")
    browser.wait_text("#quickconnect-refused", "An inline script is blocked")
    browser.run("const script = document.createElement('script'); script.src = 'bel.js'; document.body.append(script); return null")
    browser.wait_text("#quickconnect-refused", "bel.js cannot be loaded")
    # The mistakes of its own scripts, with their places.
    for file, kind, says in (("thrown.js", "", r"undefinedFunction.* \(\S+/tests/thrown\.js:2\)"), ("syntax.js", "", r"SyntaxError: .* \(\S+/tests/syntax\.js:2\)"),
                             ("imports.js", "module", r"imports\.js cannot be loaded: is there a file of that name, and of each that it imports,")):
        browser.run(f"const script = document.createElement('script'); script.type = '{kind}'; script.src = '{file}'; document.body.append(script); return null")
        wait_until(lambda: re.search(says, browser.value(told)), says)
    browser.run("setTimeout(mapNothing); lateMistake(); return null")
    for says in r"needs a function, not undefined \(\S+/tests/plain\.js:\d+\)", r"Unhandled Error: a late mistake \(\S+/tests/plain\.js:\d+\)":
        wait_until(lambda: re.search(says, browser.value(told)), says)
    browser.run("setTimeout(makeCode); return null")
    browser.wait_text("#quickconnect-refused", "eval and new Function are blocked")
    assert "EvalError" not in browser.value(told), browser.value(told)
    # A rule of persons that the page does not handle, in each way to call.
    browser.run("mapCommandToECF('macro', () => {}); makeCall('macro', ['save', 'x', '1']); return quickconnect.call('ping').then(() => null)")
    assert "macro is" not in browser.value(told), browser.value(told)
    for call in "makeCall('data', ['info'])", "setTimeout(readData)":
        browser.click("#quickconnect-refused button")
        browser.run(f"{call}; return null")
        browser.wait_text("#quickconnect-refused", "Refused: data is allowed to user web:ann")
    browser.click("#quickconnect-refused button")
    assert browser.value("document.getElementById('quickconnect-refused')") is None
    # Its script before quickconnect.js, whose mistake nothing has heard; not what needs nothing of it.
    browser.open(stage.rig.url + "tests/early.html")
    browser.wait_text("#quickconnect-refused", "/tests/early.js runs before quickconnect.js, which it uses: put <script")
    assert "thrown.js" not in browser.value(told), browser.value(told)


# How they look, and to whom

CONTRAST = r"""
const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1
const context = canvas.getContext('2d', {willReadFrequently: true})
const rgba = text => { context.clearRect(0, 0, 1, 1); context.fillStyle = text; context.fillRect(0, 0, 1, 1); const d = context.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255] }
const over = (top, bottom) => [0, 1, 2].map(i => top[i] * top[3] + bottom[i] * (1 - top[3]))
const ground = element => {
    const all = []
    for (let each = element; each; each = each.parentElement) all.push(rgba(getComputedStyle(each).backgroundColor))
    return all.reverse().reduce((below, top) => over(top, below), rgba(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? '#000' : '#fff'))
}
const bad = []
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, style = getComputedStyle(element), box = element.getBoundingClientRect()
    if (!node.data.trim() || !box.width || !box.height || style.visibility === 'hidden' || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(element.tagName)) continue
    if (element.closest('[aria-disabled=true], :disabled, .only-read, svg')) continue
    const back = ground(element), front = over(rgba(style.color), back)
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a)
    const ratio = (light + .05) / (dark + .05), size = parseFloat(style.fontSize)
    const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700
    if (ratio < (isLarge ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className} «${node.data.trim().slice(0, 30)}»`)
}
return bad
"""

SETTLED = "document.readyState === 'complete' && !document.querySelector('[aria-busy=true]')"


def show(stage, page, unfolds=True):
    stage.open(page)
    browser = stage.browser
    if page == "":
        browser.wait("document.querySelectorAll('#sounds button').length && document.querySelector('#media li, #media-empty:not([hidden])')")
        browser.wait_text("#accelDisplay", "z: ")
    if page == "macros.html":
        browser.wait("document.querySelectorAll('#macros button').length >= 4")
    if page == "procedures.html":
        browser.wait("document.querySelector('#procedures [aria-pressed=true]') && !document.getElementById('run').hidden && document.getElementById('amount').textContent")
    if page == "state.html":
        browser.wait("document.querySelectorAll('#findings tr, #fine tr').length > 5 && document.querySelectorAll('#commands tr').length > 10")
    if unfolds:
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true }); return null")
    browser.wait(SETTLED)


def no_foreign_resource(stage):
    """Each page keeps the Content-Security-Policy, and loads nothing from elsewhere"""
    browser = stage.browser
    for page in PAGES + EXAMPLES:
        stage.open(page)
        foreign = browser.value("performance.getEntriesByType('resource').map(each => each.name).filter(name => !name.startsWith(location.origin))")
        assert not foreign, foreign
        assert browser.value("violations") == [], f"{page}: {browser.value('violations')}"


def contrast(stage):
    """Contrast: all text of each page, in light and dark, is at least 4.5 to 1"""
    browser = stage.browser
    bad = []
    for theme in ("light", "dark"):
        browser.theme(theme)
        for page in PAGES + EXAMPLES:
            if page in PAGES:
                show(stage, page)
            else:
                stage.open(page)
            if page == "macros.html":
                browser.click("#macros button:first-child")
                browser.wait_text("#code-name", "add")
                browser.wait(SETTLED)
                browser.run("const editor = document.querySelector('.CodeMirror').CodeMirror; editor.focus(); editor.setCursor(0, editor.getLine(0).indexOf('(') + 1)")
                browser.wait("document.querySelector('.CodeMirror-matchingbracket')")
            if page == "procedures.html":
                browser.click("[data-name=numbers]")
                browser.wait("document.getElementById('argument-1')")
                run_procedure(browser, "days")
                browser.run("document.getElementById('table-part').open = true; return null")
            if page == "":
                browser.run("document.getElementById('file').value = 'nothing.caf'; return null")
                browser.click("[data-run=playRecording]")
                browser.wait(says("#level") + " !== ''")
            bad += [f"{theme} {page or 'index'}: {each}" for each in browser.run(CONTRAST)]
        browser.open(stage.rig.url + "login.html?contrast")
        bad += [f"{theme} login: {each}" for each in browser.run(CONTRAST)]
    browser.theme("light")
    assert not bad, "\n".join(bad)


ROLES = {"button": {"button", "tab"}, "a": {"link"}, "input": {"textbox", "searchbox", "slider", "button", "Date", "date", "InputTime", "DateTime", "inputtime", "none", "generic"},
         "select": {"combobox", "listbox", "MenuListPopup"}, "textarea": {"textbox"}}


def names_and_roles(stage):
    """Screen readers: all that can be used has a role and a name, each page a title, a language, a heading and a main part"""
    browser = stage.browser
    for page in PAGES:
        show(stage, page)
        if page == "macros.html":
            browser.click("#tab-edit")
        facts = browser.run("""
            const all = [...document.querySelectorAll('button, a[href], input, select, textarea, [role=meter], [role=progressbar], [role=img]')]
                .filter(each => each.getClientRects().length && !each.closest('.CodeMirror > div:first-child'))
            all.forEach((each, index) => each.setAttribute('data-test', index))
            const ids = [...document.querySelectorAll('[id]')].map(each => each.id)
            return {count: all.length, tags: all.map(each => each.localName), title: document.title, lang: document.documentElement.lang,
                headings: document.querySelectorAll('h1').length, main: document.querySelectorAll('main').length,
                doubled: ids.filter((id, index) => ids.indexOf(id) !== index),
                pointing: [...document.querySelectorAll('[aria-labelledby], [aria-controls], [aria-describedby], label[for]')]
                    .flatMap(each => ['aria-labelledby', 'aria-controls', 'aria-describedby', 'for'].map(name => each.getAttribute(name)).filter(Boolean))
                    .filter(id => !document.getElementById(id))}""")
        assert facts["title"] and facts["lang"] == "en" and facts["headings"] == 1 and facts["main"] == 1, facts
        assert not facts["doubled"] and not facts["pointing"], facts
        for index, tag in enumerate(facts["tags"]):
            role, name = browser.role_and_name(f"[data-test='{index}']")
            assert name.strip(), f"{page}: {tag} {index} ({role}) has no name: " + browser.value(f"document.querySelector(\"[data-test='{index}']\").outerHTML")
            if tag in ("button", "a", "select", "textarea"):
                assert role in ROLES[tag], f"{page}: {tag} «{name}» is a {role}"


def keyboard(stage):
    """Keyboard: Tab reaches all that can be used, in the page's order, and each shows its focus"""
    browser = stage.browser
    for page in PAGES:
        show(stage, page)
        browser.run("document.activeElement.blur(); window.scrollTo(0, 0); return null")
        wanted = browser.value("[...document.querySelectorAll('button, a[href], input, select')].filter(each => each.getClientRects().length && each.tabIndex >= 0).length")
        seen = []
        for _ in range(min(wanted + 3, 60)):
            browser.keys("\ue004")
            fact = browser.run("""const each = document.activeElement, box = each.getBoundingClientRect(), style = getComputedStyle(each)
                if (!each.dataset.seen) each.dataset.seen = Math.random()
                return [each.dataset.seen, each.localName, style.outlineStyle, box.top + scrollY, each.textContent.trim().slice(0, 20)]""")
            if fact[1] in ("body", "html"):
                break
            if fact[0] not in [each[0] for each in seen]:
                assert fact[2] != "none", f"{page}: {fact} shows no focus"
                seen.append(fact)
        assert len(seen) >= min(wanted, 55), f"{page}: Tab reached {len(seen)} of {wanted}: {[each[4] for each in seen]}"


def narrow(stage):
    """No page scrolls sideways at 320 pixels"""
    browser = stage.browser
    stage.rig.call("rec", "a-recording-with-a-rather-long-name-that-nobody-broke.caf", "start")
    stage.rig.call("rec", "a-recording-with-a-rather-long-name-that-nobody-broke.caf", "stop")
    browser.open(stage.rig.url + "tests/plain.html")
    for page in PAGES + EXAMPLES + ("login.html?narrow",):
        # A frame of that width, since a window of a desktop browser is never so narrow.
        browser.run("""document.querySelectorAll('iframe').forEach(each => each.remove())
            const frame = document.createElement('iframe'); frame.id = 'narrow'; frame.width = 320; frame.height = 700; frame.src = '/' + arguments[0]
            document.body.append(frame); return null""", page)
        inner = "document.getElementById('narrow').contentWindow"
        browser.wait(f"{inner}.document.readyState === 'complete' && {inner}.document.querySelector('h1')")
        if "." not in page or "login" not in page:
            browser.wait(f"{inner}.quickconnect?.state === 'connected'")
        assert browser.run(f"return ({inner}.document.querySelector('.head')?.offsetHeight ?? 0) <= 56"), page
        for tab in ("", "#tab-edit", "#tab-history", "#tab-trace") if page == "macros.html" else ("",):
            if tab:
                browser.run(f"{inner}.document.querySelector('{tab}').click(); return null")
            browser.wait(f"!{inner}.document.querySelector('[aria-busy=true]')")
            widest = browser.run(f"""const page = {inner}.document
                return [page.documentElement.scrollWidth, page.documentElement.clientWidth, [...page.body.querySelectorAll('*')]
                    .filter(each => each.getBoundingClientRect().right > page.documentElement.clientWidth + .5 && !each.closest('.editor, pre, .skip, .only-read, .tabs + *[hidden]')).map(each => each.outerHTML.slice(0, 80)).slice(0, 3)]""")
            assert widest[0] <= widest[1], f"{page} {tab}: {widest}"
    stage.rig.call("media", "remove", "a-recording-with-a-rather-long-name-that-nobody-broke.caf")


def pictures(stage):
    """Screenshots of each page in both themes and three sizes"""
    browser = stage.browser
    stage.rig.call("rec", "recordedFile.wav", "start")
    for name, value in (("innerProgress", 0.8), ("middleProgress", 2.35), ("outerProgress", 1)):
        stage.rig.call(name, value)
    time.sleep(0.5)  # Something to be seen in the list.
    stage.rig.call("rec", "recordedFile.wav", "stop")
    for page in PAGES + ("login.html?picture",):
        if page.startswith("login"):
            browser.open(stage.rig.url + page)
        else:
            show(stage, page, unfolds=False)
        if page == "":
            browser.click("[data-run=getGPSLocation]")
            browser.click("#follow")
            browser.wait("document.querySelector('#plot .track')?.getAttribute('points').split(' ').length > 3")
            browser.click("#follow")
            browser.click("[data-run=findNearby]")
            browser.wait_text("#nearby", "amera")
        if page == "macros.html":
            browser.click("#macros button:nth-child(3)")
            browser.wait_text("#code-name", "addRandom")
        if page == "procedures.html":
            browser.click("[data-name=numbers]")
            browser.wait("document.getElementById('argument-1')")
            run_procedure(browser, "days")
        for theme in ("light", "dark"):
            browser.theme(theme)
            for width, height in ((390, 844), (768, 1024), (1280, 900)):
                browser.size(width, height)
                browser.wait(SETTLED)
                name = page.split(".")[0] or "index"
                browser.picture(stage.pictures / f"{browser.name}-{name}-{theme}-{width}.png")
    browser.theme("light")
    browser.size(1280, 900)
    stage.rig.call("media", "remove", "recordedFile.wav")
    assert len(list(stage.pictures.glob(f"{browser.name}-*-*-*.png"))) == 30


ALL = [
    log_in, open_by_code, logged_out_elsewhere, sounds, volume, lines, recording, upload, media_by_address, location, motion, simulation, pickers, nearby_and_journal, refusal,
    macros_run, macro_mistake, macros_edit, macro_typing, macro_conflict, macro_history, macro_trace, macro_rights, macro_on_touch,
    procedures, procedure_plots, documented_plot, procedure_mistakes, procedure_stopped, procedures_closed, state, events_and_schedules, hardware, two_pages, left_pages, hanging_page, reload_in_a_call, daemon_restarts, gateway_restarts, sleep_and_wake, book, bridge, old_ways, library, words, live_reload, refused_in_the_page,
    no_foreign_resource, contrast, names_and_roles, keyboard, narrow, pictures,
]
# Who does it; else ann, who may save macros.
USER = {macro_rights: "bob", refused_in_the_page: "bob", procedures_closed: "eve"}
