"""The pages of the originals, unchanged. Each test is a function of (stage), and its docstring's first line is its title."""
import quickconnect
from rig import wait_until
from stage import MANY


def book(stage):
    """The book's DeviceCatalog page without our script: position, motion, sound, recording, and its queue in one turn"""
    catalog = stage.rig.folder / "pages" / "examples" / "catalog"
    text = (catalog / "index.html").read_text()
    assert "quickconnect.js" in text
    (catalog / "book.html").write_text(text.replace('<script src="../../quickconnect.js"></script>', ""))
    opened = stage.page("examples/catalog/book.html")
    opened.wait("typeof displayLocationVCF === 'function'")
    opened.click("#gps")
    opened.wait_text("#locDisplay", "latitude: 5")
    opened.wait_text("#accelDisplay", "x: ")
    for button in ("vibrate", "sound", "record"):
        opened.click("#" + button)
    wait_until(lambda: stage.rig.call("state")["recording"], "the recording")
    opened.click("#stopRecord")
    wait_until(lambda: not stage.rig.call("state")["recording"], "its end")
    stage.display.picture(stage.pictures / "book.png")
    # All in one turn: the book's own queue keeps what a single address cannot hold.
    opened.run("window.counted = []; mapCommandToVCF('hello', (data, hello) => { counted.push(hello.protocol) })"
               f"\nfor (let n = 0; n < {MANY}; n++) makeCall('hello')")
    opened.wait(f"counted.length === {MANY}")
    assert opened.url().endswith("book.html"), opened.url()
    opened.run("makeCall('logMessage', 'Grüße & 50% {of} \"it\" + more')")
    wait_until(lambda: 'Grüße & 50% {of} "it" + more' in stage.rig.log("quickconnectd").replace('\\"', '"'), "the message")


def example_app(stage):
    """The bridge's ExampleApp, unchanged: both sides call each other"""
    stage.device.handle("testObjcCallback", lambda data, call: {"says": "Response from testObjcCallback", "got": data})
    opened = stage.page("kiosk/bridge/ExampleApp.html")
    opened.run("document.querySelector('#buttons button').click()")
    opened.wait_text("#log", "JS got response")
    opened.wait_text("#log", "Response from testObjcCallback")
    assert stage.kiosk("call", "testJavascriptHandler", {"greetingFromObjC": "Hi there, JS!"}) == {"Javascript Says": "Right back atcha!"}
    opened.wait_text("#log", "ObjC called testJavascriptHandler with")
    assert stage.rig.call("testJavascriptHandler", {"by": "the daemon"}) == {"Javascript Says": "Right back atcha!"}
    stage.display.picture(stage.pictures / "example-app.png")


def echo_page(stage):
    """BridgeTests: echo before the page is loaded and after, all kinds of values, an answer through both sides"""
    stage.device.handle("objcEchoToJs", lambda data, call: data)
    opened = stage.page("kiosk/bridge/echo.html")
    # After the page was set up.
    assert stage.kiosk("call", "echoHandler", "testEchoHandler") == "testEchoHandler"
    values = ["A string sent over the wire", "A string with '\"'/\\", [1, 2, 3], {"a": 1, "b": 2}, None, "", 0, False,
              "\u2028 \u2029 \n\r\f \0 </script> \U0001F600", {"deep": [{"er": [None, True, 1.5e300]}]}]
    for value in values:
        assert stage.device.call("kiosk", "call", "echoHandler", value) == value, value
    assert stage.kiosk("call", "jsRcvResponseTest") == "Response from JS"
    for name in ("disableJavscriptAlertBoxSafetyTimeout", "disableJavascriptAlertBoxSafetyTimeout"):
        opened.run(f"WebViewJavascriptBridge.{name}()")
    assert stage.kiosk("call", "jsRcvResponseTest") == "Response from JS"
    # A missing handler gives an error with a message.
    done = stage.rig.client("kiosk", "call", "nobody", check=False)
    assert done.returncode != 0, done.stdout
    opened.wait_connected()
    opened.run("WebViewJavascriptBridge.removeHandler('echoHandler')")
    assert stage.rig.client("kiosk", "call", "echoHandler", 1, check=False).returncode != 0


def reset_bridge(stage):
    """Reset: the window's calls that wait for an answer fail, and those after it are answered"""
    opened = stage.page("kiosk/bridge/echo.html")
    opened.run("WebViewJavascriptBridge.registerHandler('silent', (data, answer) => { window.silent = answer })")
    waiting = stage.device.submit("kiosk", "call", "silent", 1, timeout=20)
    opened.wait("window.silent")
    stage.kiosk("reset")
    try:
        waiting.result(20)
        raise AssertionError("a call that was reset has an answer")
    except quickconnect.Error as error:
        assert error.code == "unavailable" and "reset" in error.message, error
    opened.run("silent('late')")
    assert stage.kiosk("call", "echoHandler", "still here") == "still here"


def own_bridge(stage):
    """A page with the bridge's own script: its queue is fetched, and its handlers are called"""
    opened = stage.page("kiosk/bridge/own.html")
    opened.wait("window.bridge && bridge.registerHandler && window.WebViewJavascriptBridge === bridge")
    assert "_fetchQueue" in opened.value("Object.keys(bridge)") and not opened.value("bridge === quickconnect.bridge")
    assert stage.kiosk("call", "double", 21) == 42
    opened.run(f"window.got = []; for (let n = 0; n < {MANY}; n++) bridge.callHandler('counter', n, value => got.push(value))")
    opened.wait(f"got.length === {MANY}")
    assert opened.value("got") == list(range(MANY))


def strict_page(stage):
    """Under the strictest Content-Security-Policy the bridge comes, and what the window evaluates runs"""
    opened = stage.page("kiosk/strict.html")
    opened.wait("ready === 1")
    assert stage.evaluate("return data.a + document.title", {"a": "this is "}) == "this is Strict"
    done = stage.rig.client("kiosk", "evaluate", "return nowhere.x", check=False)
    assert "nowhere" in done.stdout + done.stderr, done
