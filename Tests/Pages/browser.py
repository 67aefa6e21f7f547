"""Two browsers, driven with the standard library alone: Chromium through chromedriver, Firefox through Marionette."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from rig import ends_with_caller, wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class BrowserError(Exception):
    """What the driver says; `kind` is WebDriver's word for it."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def free_port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


# Returns once an element has not moved for 20 ms, after 2 s at the latest.
STAYS = """const selector = arguments[0]
    const place = () => JSON.stringify(document.querySelector(selector)?.getBoundingClientRect())
    const pause = () => new Promise(resolve => setTimeout(resolve, 20))
    return (async () => {
        for (let last, now, n = 0; n < 100 && (now = place()) !== last; n++) {
            last = now
            await pause()
        }
        return null
    })()"""


class Browser:
    """What both have. Elements are named by CSS selectors, and waited for."""

    name = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, script, *arguments):
        """The value of a function body in the page; a promise is awaited."""
        raise NotImplementedError

    def value(self, expression):
        return self.run(f"return ({expression})")

    def wait(self, expression, seconds=20):
        """Waits until a JavaScript expression is true."""
        last = None

        def holds():
            nonlocal last
            try:
                return self.value(f"Boolean({expression})")
            except BrowserError as error:  # The page is on its way to another.
                last = error
                return None

        try:
            return wait_until(holds, expression, seconds)
        except AssertionError:
            raise AssertionError(f"{self.name} waited in vain for {expression} ({last or ''}):\n{self.text()[:300]!r}") from None

    def text(self):
        try:
            return self.value("document.body.innerText")
        except BrowserError as error:
            return str(error)

    def wait_text(self, selector, part, seconds=20):
        return self.wait(f"(document.querySelector({json.dumps(selector)})?.textContent ?? '').includes({json.dumps(part)})", seconds)

    def click(self, selector):
        """Waits until the element stays where it is, too; else the click may land beside it."""
        try:
            self.run(STAYS, selector)
        except BrowserError:  # A dialog is open, or the page is on its way to another.
            pass
        self.click_at_once(selector)

    def wait_connected(self, seconds=30):
        self.wait("window.quickconnect?.state === 'connected'", seconds)


class WebDriver(Browser):
    """A browser behind a driver that speaks W3C's protocol. `begin` starts both; `self.folder` is theirs."""

    def begin(self, driver, arguments, capabilities, environment=None):
        self.port = free_port()
        self.log = open(Path(self.folder) / "driver.log", "wb")
        self.driver = subprocess.Popen([shutil.which(driver), f"--port={self.port}", *arguments],
                                       stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment,
                                       preexec_fn=ends_with_caller)
        try:
            wait_until(lambda: self.is_up(), driver)
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = "/session/" + answer["sessionId"]
            self.ask("POST", self.session + "/timeouts", {"script": 60000, "pageLoad": 30000})
        except BaseException:
            self.close()
            raise

    def is_up(self):
        try:
            return self.ask("GET", "/status")["ready"]
        except OSError:
            return False

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise BrowserError(value["error"], value["message"].split("\n")[0]) from None

    def close(self):
        try:
            if hasattr(self, "session"):
                self.ask("DELETE", self.session)
        except (BrowserError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, url):
        self.ask("POST", self.session + "/url", {"url": url})

    def url(self):
        return self.ask("GET", self.session + "/url")

    def run(self, script, *arguments):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def element(self, selector):
        return self.ask("POST", self.session + "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click_at_once(self, selector):
        self.ask("POST", f"{self.session}/element/{self.element(selector)}/click", {})

    def type(self, selector, text):
        self.ask("POST", f"{self.session}/element/{self.element(selector)}/value", {"text": text})

    def role_and_name(self, selector):
        path = f"{self.session}/element/{self.element(selector)}"
        return self.ask("GET", path + "/computedrole"), self.ask("GET", path + "/computedlabel")

    def keys(self, text):
        actions = [action for key in text for action in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def new_tab(self):
        return self.ask("POST", self.session + "/window/new", {"type": "tab"})["handle"]

    def tab(self):
        return self.ask("GET", self.session + "/window")

    def switch(self, handle):
        self.ask("POST", self.session + "/window", {"handle": handle})

    def close_tab(self):
        self.ask("DELETE", self.session + "/window")

    def tabs(self):
        return self.ask("GET", self.session + "/window/handles")

    def alert(self):
        """The text of the alert that is open."""
        return self.ask("GET", self.session + "/alert/text")

    def accept(self):
        self.ask("POST", self.session + "/alert/accept", {})


class Chromium(WebDriver):
    name = "chromium"

    def __init__(self, arguments=(), prompts="accept", prepare=lambda folder: None):
        """`prepare` is given the folder, with the profile in it, before the browser starts."""
        self.folder = tempfile.mkdtemp(prefix="qc-chromium.")
        (Path(self.folder) / "profile").mkdir()
        prepare(Path(self.folder))
        # Without the second one it hides tabs that an extension has opened.
        options = {"binary": shutil.which("chromium"), "enableExtensionTargets": True, "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            f"--user-data-dir={self.folder}/profile", "--window-size=1280,900", "--lang=en-GB", *arguments]}
        self.begin("chromedriver", [], {"goog:chromeOptions": options, "unhandledPromptBehavior": prompts})

    def devtools(self, command, parameters):
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def theme(self, name):
        self.devtools("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def picture(self, path, whole=True):
        parameters = {"format": "png"}
        if whole:
            size = self.devtools("Page.getLayoutMetrics", {})["cssContentSize"]
            parameters |= {"captureBeyondViewport": True,
                           "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        Path(path).write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot", parameters)["data"]))


class Firefox(Browser):
    name = "firefox"

    def __init__(self, prompts="accept", prepare=lambda folder: None):
        """`prepare` is given the folder, which is the browser's home, before the browser starts."""
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="qc-firefox.")
        prepare(Path(self.folder))
        preferences = {
            "marionette.port": self.port, "layout.css.prefers-color-scheme.content-override": 1,
            "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
            "toolkit.telemetry.reportingpolicy.firstRun": False, "browser.aboutwelcome.enabled": False,
            "app.update.enabled": False, "extensions.update.enabled": False, "network.captive-portal-service.enabled": False,
            "network.connectivity-service.enabled": False, "browser.startup.page": 0, "dom.disable_beforeunload": True,
        }
        profile = Path(self.folder) / "profile"
        profile.mkdir()
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in preferences.items()))
        self.log = open(Path(self.folder) / "firefox.log", "wb")
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        self.process = subprocess.Popen(
            [program, "--headless", "--marionette", "--no-remote", "--remote-allow-system-access", "--profile", str(profile),
             "--width", "1280", "--height", "900"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, "HOME": self.folder, "MOZ_DISABLE_CONTENT_SANDBOX": "1"}, preexec_fn=ends_with_caller)
        self.count = 0
        self.bytes = b""
        try:
            self.socket = wait_until(self.connect, "Firefox", 60)
            self.read()
            self.ask("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"unhandledPromptBehavior": prompts}}})
            self.ask("WebDriver:SetTimeouts", {"script": 60000})
        except BaseException:
            self.close()
            raise

    def connect(self):
        assert self.process.poll() is None, "Firefox has ended"
        try:
            each = socket.create_connection(("127.0.0.1", self.port), 90)
        except OSError:
            return None
        return each

    def read(self):
        while b":" not in self.bytes:
            self.more()
        length, _, rest = self.bytes.partition(b":")
        self.bytes = rest
        while len(self.bytes) < int(length):
            self.more()
        message, self.bytes = self.bytes[:int(length)], self.bytes[int(length):]
        return json.loads(message)

    def more(self):
        part = self.socket.recv(65536)
        if not part:
            raise BrowserError("closed", "Firefox has ended")
        self.bytes += part

    def ask(self, command, parameters=None):
        self.count += 1
        text = json.dumps([0, self.count, command, parameters or {}]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        while True:
            kind, number, error, result = self.read()
            if kind == 1 and number == self.count:
                break
        if error:
            raise BrowserError(error["error"], error["message"].split("\n")[0])
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result

    def close(self):
        try:
            if hasattr(self, "socket"):
                self.ask("Marionette:Quit", {"flags": ["eForceQuit"]})
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, url):
        self.ask("WebDriver:Navigate", {"url": url})

    def url(self):
        return self.ask("WebDriver:GetCurrentURL")

    def run(self, script, *arguments):
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": list(arguments), "sandbox": None})

    def element(self, selector):
        return self.ask("WebDriver:FindElement", {"using": "css selector", "value": selector})[ELEMENT]

    def click_at_once(self, selector):
        self.ask("WebDriver:ElementClick", {"id": self.element(selector)})

    def type(self, selector, text):
        self.ask("WebDriver:ElementSendKeys", {"id": self.element(selector), "text": text})

    def role_and_name(self, selector):
        each = {"id": self.element(selector)}
        return self.ask("WebDriver:GetComputedRole", each), self.ask("WebDriver:GetComputedLabel", each)

    def size(self, width, height):
        # The window of a desktop Firefox is never narrower than 450 pixels.
        self.ask("WebDriver:SetWindowRect", {"width": max(width, 450), "height": height})

    def theme(self, name):
        self.in_chrome("Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])", 0 if name == "dark" else 1)

    def picture(self, path, whole=True):
        Path(path).write_bytes(base64.b64decode(self.ask("WebDriver:TakeScreenshot", {"full": whole, "hash": False})))

    def keys(self, text):
        actions = [action for key in text for action in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.ask("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def new_tab(self):
        return self.ask("WebDriver:NewWindow", {"type": "tab"})["handle"]

    def tab(self):
        return self.ask("WebDriver:GetWindowHandle")

    def switch(self, handle):
        self.ask("WebDriver:SwitchToWindow", {"handle": handle})

    def close_tab(self):
        self.ask("WebDriver:CloseWindow")

    def tabs(self):
        return self.ask("WebDriver:GetWindowHandles")

    def alert(self):
        return self.ask("WebDriver:GetAlertText")

    def accept(self):
        self.ask("WebDriver:AcceptAlert")

    def in_chrome(self, script, *arguments):
        """Runs a function body in the browser's own context."""
        self.ask("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.run(script, *arguments)
        finally:
            self.ask("Marionette:SetContext", {"value": "content"})


def missing(kind):
    """Why a browser cannot be run here; None where it can."""
    if kind is Chromium:
        absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    else:
        absent = [] if shutil.which("firefox-esr") or shutil.which("firefox") else ["firefox-esr"]
    return f"{', '.join(absent)} is not installed" if absent else None
