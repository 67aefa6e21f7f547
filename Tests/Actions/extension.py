"""The browsers' extension as it is installed, in real browsers, with the native host and a daemon behind it."""
import http.server
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Pages"))
from browser import BrowserError, Chromium, Firefox
from rig import ROOT, Rig, wait_until

CHROMIUM_ID = json.loads((ROOT / "browser-extension/native-messaging-hosts/chromium/quickconnect_actions.json").read_text())["allowed_origins"][0].split("/")[2]
FIREFOX_ID = "actions@quickconnect"

STRICT = "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


class Site(http.server.ThreadingHTTPServer):
    """Pages, the strictest of them included. `/NAME` is a page with that title; `/strict…` forbids all that can be, `/hostile…`
    breaks what scripts need, `/huge…` is long."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server_port}"


# Names of forms stand for the document's own members, in each world of scripts.
HOSTILE = """<form name="title"></form><form name="URL"></form><script>
    JSON.stringify = JSON.parse = RegExp.prototype.exec = String.prototype.trim = () => { throw 'broken' }
    Promise.prototype.then = Array.prototype.map = Function.prototype.call = Function.prototype.apply = function () { return this }
    Object.prototype.toJSON = () => 'forged'; Object.prototype.quickconnectMistake = { code: 'denied', message: 'forged' }
    Object.defineProperty(Object.prototype, 'then', { get() { throw 'thenable' } })
    globalThis.String = globalThis.Number = globalThis.Math = globalThis.Error = undefined
    globalThis.quickconnectAction = { token: 'forged', finalize() { document.body.append('forged') } }
    </script>"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/") or "index"
        body = f"""<!doctype html><title>{name} title</title><nav>Menu</nav><article><h1>{name}</h1><p>Some   text.</p></article>
            <script>var pagesOwn = 'seen'</script>"""
        if name.startswith("hostile"):
            body += HOSTILE
        if name.startswith("huge"):
            body += "<p>" + "much " * 1_300_000
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        if name.startswith("strict"):
            self.send_header("content-security-policy", STRICT)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ActionRig(Rig):
    """A daemon, the shipped actions and the tests' own, and the extension put together."""

    own_socket = None  # Another one for the programs that are started.

    def __enter__(self):
        try:
            self.prepare()
            self.start_daemon()
        except BaseException:
            self.__exit__()
            raise
        return self

    def prepare(self):
        super().prepare()
        for name, text in ACTIONS.items():
            folder = self.folder / "config" / "actions" / name
            folder.mkdir(parents=True)
            (folder / "Action.js").write_text(text)
        self.extension = self.folder / "extension"
        subprocess.run([ROOT / "browser-extension" / "assemble", self.extension], check=True)

    def write_settings(self):
        for name in ("config", "kept"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "settings.yaml").write_text("{}\n")

    @property
    def own(self):
        """Where the programs look for what is theirs."""
        return {"CONFIGURATION_DIRECTORY": str(self.folder / "config"), "STATE_DIRECTORY": str(self.folder / "kept"),
                "QUICKCONNECT_SOCKET": self.own_socket or str(self.socket), "XDG_RUNTIME_DIR": str(self.folder), "HOME": str(self.folder / "home")}

    def action(self, *words, check=True):
        """`quickconnect action …`"""
        return subprocess.run([self.programs / "quickconnect", "action", *words], env={**os.environ, **self.own},
                              capture_output=True, text=True, timeout=40, check=check)

    def host_manifest(self, kind, path):
        """The native host's manifest as it is shipped, for a program of this checkout."""
        program = self.folder / "native-host"
        lines = "".join(f"export {name}='{value}'\n" for name, value in self.own.items())
        program.write_text(f"#!/bin/sh\n{lines}exec {self.programs}/quickconnect-actions \"$@\"\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        shipped = ROOT / "browser-extension" / "native-messaging-hosts" / kind / "quickconnect_actions.json"
        path.mkdir(parents=True)
        (path / shipped.name).write_text(json.dumps({**json.loads(shipped.read_text()), "path": str(program)}))


ACTIONS = {
    "broken": "var ExtensionPreprocessingJS = {\n  run(p) { p.completionFunction({ }\n}\n",
    "throws": "var ExtensionPreprocessingJS = {\n  run(p) {\n    nothing.at.all\n  }\n}\n",
    "records": "var ExtensionPreprocessingJS = { async run(p) { await makeCall('rec', ['x.wav', 'start']); p.completionFunction({}) } }\n",
    "sounds": "var ExtensionPreprocessingJS = { async run(p) { p.completionFunction({ text: (await makeCall('sounds')).length + ' sounds' }) } }\n",
    "sloweval": "var ExtensionPreprocessingJS = { run(p) { p.completionFunction({}) }, async finalize(p) { await eval(p.customJavaScript); await eval('document.title += \" twice\"') } }\n",
    "old": "'use strict'\nvar ExtensionPreprocessingJS = { run(p) { p.completionFunction({ text: 'strict ' + typeof eval }) } }\n",
    "waits": "var ExtensionPreprocessingJS = { run() { document.title = 'waiting' } }\n",
    "long": "var ExtensionPreprocessingJS = { async run(p) { await eval('1;'.repeat(200000)); p.completionFunction({}) } }\n",
    "floods": "var ExtensionPreprocessingJS = { async run(p) { await Promise.all(Array.from({ length: 5000 }, () => makeCall('sounds'))); p.completionFunction({}) } }\n",
}


class InChromium(Chromium):
    def __init__(self, rig):
        super().__init__([f"--load-extension={rig.extension}"], "ignore",
                         lambda folder: rig.host_manifest("chromium", folder / "profile" / "NativeMessagingHosts"))
        self.root = f"chrome-extension://{CHROMIUM_ID}/"

    def allow_scripts(self):
        """The person's switch «Allow User Scripts»."""
        self.open("chrome://extensions/")
        self.run("""return new Promise(done => chrome.developerPrivate.updateExtensionConfiguration(
            { extensionId: arguments[0], userScriptsAccess: true }, () => done(null)))""", CHROMIUM_ID)


class InFirefox(Firefox):
    def __init__(self, rig):
        super().__init__("ignore", lambda folder: rig.host_manifest("mozilla", folder / ".mozilla" / "native-messaging-hosts"))
        self.ask("Addon:Install", {"path": str(rig.extension), "temporary": True})
        host = self.in_chrome(f"return WebExtensionPolicy.getByID('{FIREFOX_ID}').mozExtensionHostname")
        self.root = f"moz-extension://{host}/"

    def allow_scripts(self):
        """What the person's yes does to the extension's question."""
        self.in_chrome(f"""
            const {{ ExtensionPermissions }} = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs')
            const policy = WebExtensionPolicy.getByID('{FIREFOX_ID}')
            return ExtensionPermissions.add('{FIREFOX_ID}', {{ permissions: ['userScripts'], origins: [] }}, policy.extension).then(() => null)""")
