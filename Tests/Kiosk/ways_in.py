"""How a page makes calls, a thousand of them in one turn. Each test is a function of (stage), and its docstring's first line is its title."""
from browser import BrowserError
from rig import wait_until
from stage import HEAR, MANY, in_order


def named_functions(stage):
    """Commands that the settings list are functions of the page's window, there before its own scripts, and replace none"""
    folder = stage.rig.folder / "pages" / "kiosk"
    (folder / "functions.html").write_text("<!doctype html><title>Functions</title><script>var early = typeof counter; var greet = greet || null</script>")
    stage.device.handle("greet", lambda data, call: f"Hello, {' and '.join(data)}!")
    stage.device.handle("robot.turn", lambda data, call: sum(data))
    stage.device.handle("robot.stop", lambda data, call: "stopped")
    opened = stage.window(settings="  functions: [counter, greet, alert, nobody, robot.turn, robot.stop, document.title, greet.twice]")
    stage.go(opened, "qc://app/kiosk/functions.html")
    assert opened.value("early") == "function"
    assert opened.run("await counter(3); return counter()") == 3
    assert opened.run("return greet('ann', 'bob')") == "Hello, ann and bob!"
    assert opened.run("return [await robot.turn(40, 50), await robot.stop(), Object.keys(robot).join(), document.title, typeof greet.twice]") == [
        90, "stopped", "turn,stop", "Functions", "undefined"]
    assert "[native code]" in opened.value("String(alert)")
    wait_until(lambda: "the page's window already has 'alert'" in stage.rig.log("quickconnectd").replace("\\'", "'"), "the line in the journal")
    try:
        opened.run("return nobody()")
        raise AssertionError("a command that does not exist has an answer")
    except BrowserError as error:
        assert "nobody" in str(error), error
    for name in ("greet", "robot.turn", "robot.stop"):
        stage.device.remove_handler(name)


def many_make_call(stage):
    """1,000 calls in one turn by makeCall: each answered once, in order"""
    opened = stage.page("kiosk/plain.html")
    opened.run(HEAR + f"window.promised = []; for (let n = 0; n < {MANY}; n++) makeCall('counter', n).then(value => promised.push(value))")
    in_order(opened)
    assert opened.value("promised") == list(range(MANY))


def many_bridge(stage):
    """1,000 calls in one turn by the bridge's callHandler: each answered once, in order"""
    opened = stage.page("kiosk/plain.html")
    opened.run(f"window.got = []; for (let n = 0; n < {MANY}; n++) WebViewJavascriptBridge.callHandler('counter', n, value => got.push(value))")
    opened.wait(f"got.length >= {MANY}")
    assert opened.value("got") == list(range(MANY))


def many_messages(stage):
    """1,000 calls in one turn by messageHandlers: each answered once, in order; a handler that is taken back rejects"""
    opened = stage.page("kiosk/plain.html")
    opened.run(HEAR + f"for (let n = 0; n < {MANY}; n++) webkit.messageHandlers.counter.postMessage(n)")
    in_order(opened)
    stage.device.handle("added", lambda data, call: {"added": data})
    assert opened.run("return webkit.messageHandlers.added.postMessage(['x'])") == {"added": ["x"]}
    stage.device.remove_handler("added")
    assert opened.run("return webkit.messageHandlers.added.postMessage(['x']).then(() => 'answered', error => error.code)") == "unknownCommand"


def many_links(stage):
    """1,000 clicks of one link in one turn: each answered once, in order"""
    opened = stage.page("kiosk/plain.html")
    opened.run(HEAR + f"const link = document.createElement('a'); document.body.append(link)\n"
               f"for (let n = 0; n < {MANY}; n++) {{ link.href = 'call?cmd=counter&msg=' + n; link.click() }}")
    in_order(opened)
    assert opened.url().endswith("plain.html")


def many_frames(stage):
    """1,000 hidden frames in one turn, removed at once: each answered once, in order"""
    opened = stage.page("kiosk/plain.html")
    opened.run(HEAR + f"for (let n = 0; n < {MANY}; n++) {{ const frame = document.createElement('iframe'); frame.style.display = 'none'\n"
               "frame.src = 'call?cmd=counter&msg=' + n; document.documentElement.appendChild(frame); frame.remove() }")
    in_order(opened)


def many_schemes(stage):
    """1,000 addresses of the owner's scheme in one turn: each calls its command once, in order"""
    heard = []
    stage.device.handle("shop", lambda data, call: heard.append(data))
    opened = stage.window(settings="  schemes: [shop]")
    stage.go(opened, "qc://app/kiosk/plain.html")
    opened.click("#shop")
    wait_until(lambda: heard == [["shop://order/7?x=1"]], "the order")
    heard.clear()
    opened.run(f"for (let n = 0; n < {MANY}; n++) {{ const frame = document.createElement('iframe'); frame.src = 'shop://' + n\n"
               "document.documentElement.appendChild(frame); frame.remove() }")
    wait_until(lambda: len(heard) >= MANY, "the orders")
    assert sorted(heard) == sorted([f"shop://{n}"] for n in range(MANY)), heard[:5]


def location_calls(stage):
    """Calls by the page's address: each turn's last one arrives, whatever the way, and the page stays"""
    opened = stage.page("kiosk/plain.html")
    opened.run(HEAR + """
        const turn = () => new Promise(done => { const { port1, port2 } = new MessageChannel(); port2.onmessage = done; port1.postMessage(0) })
        const ways = [each => { location = each }, each => { location.href = each }, each => location.assign(each), each => location.replace(each)]
        for (let n = 0; n < 100; n++) { ways[n % 4]('call?cmd=counter&msg=' + n); await turn(); await turn() }""")
    in_order(opened, 100)
    opened.run("document.querySelector('#link').click()")
    assert opened.url().endswith("plain.html")


def ten_thousand(stage):
    """10,000 messages each way: each answered once, in order"""
    opened = stage.page("kiosk/bridge/echo.html")
    opened.run(HEAR + "for (let n = 0; n < 10000; n++) makeCall('counter', n)")
    in_order(opened, 10_000, 60)
    waiting = [stage.device.submit("echoHandler", number, timeout=60) for number in range(10_000)]
    answers = [each.result(60) for each in waiting]
    assert answers == list(range(10_000)), answers[:5]
