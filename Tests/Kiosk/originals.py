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
    assert stage.kiosk("call", "_disableJavascriptAlertBoxSafetyTimeout") is None
    # A missing handler gives an error with its name.
    done = stage.rig.client("kiosk", "call", "nobody", check=False)
    assert done.returncode != 0 and "unavailable: the page has no handler 'nobody'; it adds one by registerHandler('nobody'" in done.stderr, done
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
    # Each callback is called once, by whoever comes first.
    opened.wait("!('WVJBCallbacks' in window)")
    assert opened.value("called === 1 && mistakes.length === 0"), opened.value("[called, mistakes]")
    assert "_fetchQueue" in opened.value("Object.keys(bridge)") and not opened.value("bridge === quickconnect.bridge")
    assert stage.kiosk("call", "double", 21) == 42
    opened.run(f"window.got = []; for (let n = 0; n < {MANY}; n++) bridge.callHandler('counter', n, value => got.push(value))")
    opened.wait(f"got.length === {MANY}")
    assert opened.value("got") == list(range(MANY))
    # Without the safety timeout, a message is handled in the turn in which it comes.
    turns = """let turn = 0; const own = bridge._handleMessageFromObjC
        bridge._handleMessageFromObjC = text => { turn++; own(text); turn = 0 }
        bridge.registerHandler('turn', (data, answer) => answer(turn))"""
    opened.run(turns)
    assert stage.kiosk("call", "turn") == 0
    assert stage.kiosk("call", "_disableJavascriptAlertBoxSafetyTimeout") is None
    wait_until(lambda: stage.kiosk("call", "turn") == 1, "a handler in the same turn", 5)


def evaluated(stage):
    """What the window evaluates: the value of a return or of the last expression, and errors with their line"""
    for page in ("kiosk/plain.html", "kiosk/strict.html"):
        stage.page(page)
        for text, value in (("document.title", stage.state()["title"]), ("return 1 + 1", 2), ("let a = 1; a + 1", 2), ("let a = 1\nlet b = 2\n\na + b;\n", 3),
                            ("await Promise.resolve(5)", 5), ("Promise.resolve([6])", [6]), ("data.x", 7), ("({a: data})", {"a": {"x": 7}}), ("{a: 1}", {"a": 1}),
                            ("let a = 5\n+ 2; a", 7), ("let f = () => 'x; y'; f()", "x; y"), ("if (data.x) 'yes'; else 'no'", None), ("f(); function f() { globalThis.ran = 8 }", None),
                            ("globalThis.ran", 8), ("document.body", None), ("() => 1", None), ("// nothing; here", None), ("", None), ("let a = 9; return a;", 9),
                            ("for (let n = 0; n < 3; n++) ; 'end'", "end"), ("var quiet = 1; quiet", 1), ("typeof quiet", "undefined"), ("`a;b`", "a;b"), ("await 1\nreturn 2", 2)):
            got = stage.evaluate(text, {"x": 7})
            assert got == value, (page, text, got)
        for text, words in (("let a = 1\n\nnowhere.x", "line 3: ReferenceError: Can't find variable: nowhere"), ("return nowhere", "line 1: ReferenceError"),
                            ("let a = 1\nlet = = 2", "line 2: SyntaxError"), ("\nthrow new Error('mine')", "line 2: Error: mine"), ("throw 'text'", "text"),
                            ("1\nPromise.reject(new TypeError('late'))", "line 2: TypeError: late"), ("\nJSON.parse('{')", "line 2: SyntaxError: JSON Parse error"),
                            ("await late()", "Error: page's own (qc://app/kiosk/plain.html:"),
                            ("return document.body", "its value is none that JSON has")):
            if "late()" in text and page != "kiosk/plain.html":
                continue
            done = stage.rig.client("kiosk", "evaluate", text, check=False)
            assert done.returncode != 0 and words in done.stderr, (page, text, done)


def strict_page(stage):
    """Under the strictest Content-Security-Policy the bridge comes, and what the window evaluates runs"""
    opened = stage.page("kiosk/strict.html")
    opened.wait("ready === 1")
    assert stage.evaluate("return data.a + document.title", {"a": "this is "}) == "this is Strict"
    done = stage.rig.client("kiosk", "evaluate", "return nowhere.x", check=False)
    assert "nowhere" in done.stdout + done.stderr, done
