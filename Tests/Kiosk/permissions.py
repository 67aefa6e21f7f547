"""What a page may do. Each test is a function of (stage), and its docstring's first line is its title."""
import time

from rig import wait_until
from stage import Site


def position(stage):
    """navigator.geolocation is the daemon's position, and nobody watches the receiver afterwards"""
    opened = stage.page("kiosk/plain.html")
    place = opened.run("""return new Promise((done, fail) => navigator.geolocation.getCurrentPosition(
        ({ coords: { latitude, longitude, accuracy, altitude } }) => done({ latitude, longitude, accuracy, altitude }), error => fail(error.message), { timeout: 15000 }))""")
    assert 51 < place["latitude"] < 52 and -1 < place["longitude"] < 0 and place["altitude"], place
    wait_until(lambda: not [each for each in stage.rig.call("state")["watched"] if each["event"] == "location"], "the end of the watch")


def refused(stage):
    """The microphone is refused, a window of its own is none, and the User-Agent says who asks"""
    opened = stage.page("kiosk/plain.html")
    assert opened.run("return navigator.mediaDevices ? navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'allowed', error => error.name) : 'none'") in ("NotAllowedError", "none")
    assert opened.run("return window.open('qc://app/') === null")
    assert "QuickConnectKiosk" in opened.value("navigator.userAgent")


def owners_settings(stage):
    """What the owner sets holds: the name in the User-Agent, the zoom, no cookies, a microphone"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        opened = stage.window(f"{site.origin}/plain.html", "  userAgent: Shop/2\n  zoom: 1.5\n  cookies: never\n  microphone: true")
        stage.go(opened, f"{site.origin}/plain.html")
        assert opened.value("navigator.userAgent").endswith("Shop/2")
        assert opened.run("return fetch('/echo').then(answer => answer.json())")["User-Agent"].endswith("Shop/2")
        assert stage.state()["zoom"] == 1.5
        # An older test may have left one.
        assert "a=b" not in opened.value("document.cookie = 'a=b', document.cookie")
        # This machine has no microphone.
        heard = opened.run("return navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'allowed', error => error.name)")
        assert heard not in ("NotAllowedError", "TypeError"), heard
        stage.close_window()


def download(stage):
    """A download lies in the daemon's media folder, and the window says so"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        opened = stage.window(f"{site.origin}/plain.html")
        stage.go(opened, f"{site.origin}/plain.html")
        opened.run("location = '/file'")
        wait_until(lambda: (stage.rig.folder / "media" / "thing.dat").exists(), "the file")
        assert (stage.rig.folder / "media" / "thing.dat").stat().st_size == 700_000
        wait_until(lambda: "thing.dat is in the media folder" in opened.log_text(), "the sentence")
        stage.display.picture(stage.pictures / "download.png")
        assert opened.url() == f"{site.origin}/plain.html"


def download_folder(stage):
    """So does one whose folder, until it is whole, has a name that an address would read otherwise"""
    stage.close_window()
    stage.rig.variables = {"XDG_CACHE_HOME": str(stage.rig.folder / "a %41#b?c")}
    try:
        with Site(stage.rig.folder / "pages" / "kiosk") as site:
            opened = stage.window(f"{site.origin}/plain.html")
            stage.go(opened, f"{site.origin}/plain.html")
            (stage.rig.folder / "media" / "thing.dat").unlink(missing_ok=True)
            opened.run("location = '/file'")
            wait_until(lambda: "thing.dat" in opened.log_text(), "the sentence")
            assert "thing.dat is in the media folder" in opened.log_text(), opened.log_text()
            assert (stage.rig.folder / "media" / "thing.dat").stat().st_size == 700_000
    finally:
        stage.close_window()
        stage.rig.variables = {}


def is_written(stage, name):
    """Whether a database of the engine, or its log, contains the word."""
    folder = stage.rig.folder / "home" / ".local" / "share" / "quickconnect-kiosk"
    return any(b"kept" in file.read_bytes() for file in folder.rglob(f"{name}*"))


def set_cookies(stage):
    """Cookies are set, listed and removed from outside of pages, also those that pages do not see"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        opened = stage.window(f"{site.origin}/plain.html", "  keepData: false")
        address = f"{site.origin}/plain.html"
        stage.go(opened, address)
        assert stage.kiosk("setCookie", {"name": "shown", "value": "yes"}) is None
        assert stage.kiosk("setCookie", {"name": "secret", "value": "a=b", "domain": "127.0.0.1", "path": "/echo", "maxAge": 1000, "httpOnly": True}) is None
        assert opened.value("document.cookie") == "shown=yes", opened.value("document.cookie")
        assert opened.run("return (await (await fetch('/echo')).json()).Cookie").split("; ") in (["shown=yes", "secret=a=b"], ["secret=a=b", "shown=yes"])
        shown, = stage.kiosk("cookies", address)
        assert shown == {"name": "shown", "value": "yes", "domain": "127.0.0.1", "path": "/", "expires": None, "secure": False, "httpOnly": False}, shown
        secret = next(each for each in stage.kiosk("cookies", f"{site.origin}/echo") if each["name"] == "secret")
        assert secret["httpOnly"] and 900 < secret["expires"] - time.time() <= 1001, secret
        stage.kiosk("setCookie", {"name": "shown", "value": "", "maxAge": 0})
        assert opened.value("document.cookie") == "" and stage.kiosk("cookies", address) == []
        for cookie, words in (({"name": "a b", "value": "x"}, "expected 'name', a name without spaces"), ({"name": "a", "value": "x;y"}, "expected 'value', a text without"),
                              ({"name": "a"}, "expected 'value'"), ({"name": "a", "value": "x", "maxage": 3}, "secure, httpOnly, and no 'maxage'"), ("a=b", "expected cookie"),
                              ({"name": "a", "value": "x", "domain": "http://x/"}, "expected 'domain', a host"), ({"name": "a", "value": "x", "maxAge": -1}, "expected 'maxAge', whole")):
            done = stage.rig.client("kiosk", "setCookie", cookie, check=False)
            assert done.returncode != 0 and words in done.stderr, (cookie, done)
        done = stage.rig.client("kiosk", "cookies", "shop", check=False)
        assert done.returncode != 0 and "expected address, such as https://example.org/" in done.stderr, done
        stage.close_window()
    stage.window()
    wait_until(stage.state, "the window")
    done = stage.rig.client("kiosk", "setCookie", {"name": "a", "value": "x"}, check=False)
    assert done.returncode != 0 and "expected 'domain', a host" in done.stderr, done


def kept_data(stage):
    """Cookies and storage are kept over a restart, and not where the owner wants none kept"""
    with Site(stage.rig.folder / "pages" / "kiosk") as site:
        for settings, kept in (("  keepData: true", True), ("  keepData: false", False)):
            opened = stage.window(f"{site.origin}/keep", settings)
            opened.open(f"{site.origin}/keep")
            opened.run("localStorage.setItem('kept', 'yes')")
            if kept:
                wait_until(lambda: is_written(stage, "cookies.sqlite"), "what the engine writes behind")
            stage.close_window()
            opened = stage.window(f"{site.origin}/plain.html", settings)
            opened.open(f"{site.origin}/plain.html")
            assert ("kept=yes" in opened.value("document.cookie")) == kept, opened.value("document.cookie")
            assert (opened.value("localStorage.getItem('kept')") == "yes") == kept
            stage.close_window()
