"""What the window's tests share: a web server, and the window that is open now."""
import contextlib
import http.server
import json
import threading
import time

import quickconnect
import window
from rig import wait_until


# How many calls a page makes in one turn.
MANY = 1000
# Collects the answers without any of a page's own front controller: [command, value], in the order that they came.
HEAR = "window.heard = []; window.handleJSONRequest = (command, text) => { heard.push([command, JSON.parse(text)]) }\n"


class Site:
    """A web server of the pages for the tests, with what foreign pages need."""

    def __init__(self, folder, port=0):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments, **options):
                super().__init__(*arguments, directory=str(folder), **options)

            def do_GET(self):
                if self.path.startswith("/echo"):
                    return self.answer(json.dumps(dict(self.headers)), "application/json")
                if self.path.startswith("/keep"):
                    return self.answer("kept", "text/plain", {"Set-Cookie": "kept=yes; Max-Age=1000"})
                if self.path.startswith("/late"):
                    time.sleep(1.5)
                    self.path = "/bridge/echo.html"
                if self.path.startswith("/slow/"):
                    time.sleep(1.5)
                    self.path = self.path[len("/slow"):]
                if self.path.startswith("/file"):
                    return self.answer("x" * 700_000, "application/x-thing", {"Content-Disposition": 'attachment; filename="thing.dat"'})
                super().do_GET()

            def answer(self, text, kind, headers=None):
                self.send_response(200)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(text)), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """A page that has gone reads no more."""

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"


class Stage:
    """A rig, and the window that is open now."""

    def __init__(self, rig, display, pictures):
        self.rig, self.display, self.pictures = rig, display, pictures
        self.device = quickconnect.Client(str(rig.socket))
        self.opened = None
        self.open_window = None

    def close(self):
        self.close_window()
        self.device.close()

    @staticmethod
    @contextlib.contextmanager
    def server(handler):
        """A web server of that handler; gives its origin."""
        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A page that has gone reads no more."""
        with Server(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_address[1]}"
            server.shutdown()

    def close_window(self):
        if self.open_window:
            self.open_window.close()
        self.open_window = self.opened = None

    def log(self):
        return self.open_window.log_text() if self.open_window else ""

    def window(self, page=None, settings="  zoom: 1", driven=True):
        """A window of a page (default: the folder of all pages) with these settings; reuses the open one if it is the same."""
        page = page or self.rig.folder / "pages"
        key = (str(page), settings, driven)
        if self.opened != key:
            self.close_window()
            self.rig.set_kiosk(settings)
            self.open_window = window.Window(self.rig, page) if driven else window.PlainWindow(self.rig, page)
            self.opened = key
        return self.open_window

    def page(self, path):
        """A page of that folder, in a driven window, connected."""
        opened = self.window()
        return self.go(opened, f"qc://app/{path}")

    @staticmethod
    def go(opened, address):
        """Opens an address of an allowed origin, and waits for its connection."""
        opened.open(address)
        opened.wait("window.quickconnect && document.readyState === 'complete'")
        opened.run("return quickconnect.call('ping')")
        return opened

    def kiosk(self, *parameters):
        """Calls the command kiosk."""
        return self.rig.call("kiosk", *parameters)

    def state(self):
        done = self.rig.client("kiosk", "state", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_state(self, condition, what, seconds=30):
        return wait_until(lambda: (state := self.state()) and condition(state) and state, what, seconds)

    def evaluate(self, text, data=None):
        return self.kiosk("evaluate", text, *([] if data is None else [data]))


def in_order(opened, count=MANY, seconds=30):
    """The answers of that many calls of counter: each once, in order."""
    opened.wait(f"heard.length >= {count}", seconds)
    heard = opened.value("heard")
    assert heard == [["counter", number] for number in range(count)], f"{len(heard)} answers: {heard[:5]} … {heard[-5:]}"
