"""What a program does with the Python client, line by line as scenarios.js says it. Usage: scenarios.py SCENARIO [wait|SECONDS]"""

import asyncio
import inspect
import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))
import quickconnect  # noqa: E402

UNICODE = 'é e\u0301 😀 \u2028 "\\\n\u0000 ' + "ü" * 1000


def say(name, value=None):
    print(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")), flush=True)


async def attempt(name, awaitable, *keys):
    try:
        say(name, await awaitable)
    except quickconnect.Error as error:
        say(name, [error.code, *(error.details.get(key) for key in keys)])


async def calls(device):
    say("ping", await device.call("ping"))
    await attempt("unknown", device.call("helo"), "cmd", "nearest")
    try:
        await device.call("hello", 1, 2)
    except quickconnect.Error as error:
        say("invalid", [error.code, [field["field"] for field in error.details["fields"]]])
    await attempt("too large", device.call("logMessage", "x" * (5 << 20)))
    await attempt("after", device.call("ping"))
    await device.close()
    await attempt("closed", device.call("ping"), "message")


async def handlers(device):
    other = await quickconnect.AsyncClient().connect()

    async def slow(data, call):
        await asyncio.sleep(0.01)
        return [data, call.command, call.phase, call.results]

    def failing(data, call):
        raise ValueError("out of paper")

    def refusing(data, call):
        raise quickconnect.Error("notFound", "no such page", {"field": "/0"})

    def unwritable(data, call):
        return float("nan")

    await device.handle("echo", lambda data, call: data)
    await device.handle("slow", slow)
    await device.handle("failing", failing)
    await device.handle("refusing", refusing)
    await device.handle("unwritable", unwritable)
    say("unicode", await other.call("echo", UNICODE) == UNICODE)
    say("none", await other.call("echo"))
    say("one", await other.call("echo", {"a": [1]}))
    say("list", await other.call("echo", [1, 2]))
    say("two", await other.call("echo", 1, None))
    say("slow", await other.call("slow", 7))
    await attempt("failing", other.call("failing"), "message", "handler")
    await attempt("refusing", other.call("refusing"), "message", "field")
    await attempt("busy", other.handle("echo", failing))
    say("own", await device.call("echo", "own"))
    await device.remove_handler("echo")
    await attempt("removed", other.call("echo"))
    await other.handle("echo", lambda data, call: "other")
    say("other", await device.call("echo"))
    try:
        await other.call("unwritable")
    except quickconnect.Error as error:
        say("unwritable", error.code)
    await other.close()


async def hidden(device):
    await device.handle("ping", lambda data, call: "mine")
    await device.handle("rings", lambda data, call: 7)
    say("ping", await device.call("ping"))


def blocking_hidden(device):
    device.handle("ping", lambda data, call: "mine")
    say("ping", device.call("ping"))


async def parameters(device):
    say("swift", await device.call("brighten", 0.5))
    await device.handle("all", lambda data, call: call.parameters)
    other = await quickconnect.AsyncClient().connect()
    for values in ((), (0.5,), ({"a": [1]},), ([1, 2],), (1, None)):
        say("all", await other.call("all", *values))
    await other.close()


async def wrong(name, word, *values):
    try:
        say(name, ["done", await word(*values)])
    except quickconnect.Error as error:
        say(name, [error.code])
    except TypeError:
        say(name, ["TypeError"])


async def words(device):
    seen, heard = [], []
    say("present", await device.value("innerProgress"))
    off = await device.value("innerProgress", seen.append)
    await device.on("doorbell", lambda event: heard.append([event.name, event.data]))
    say("set", [await device.set("innerProgress", value) for value in (99, 10, 4)])
    await device.post("doorbell", {"door": "front"})
    await device.post("doorbell")
    await device.call("ping")
    say("seen", seen)
    say("heard", heard)
    await off()
    say("added", [await device.add("innerProgress"), await device.add("innerProgress", -0.5)])
    say("ended", len(seen))
    await wrong("nothing", device.value, "inerProgress")
    await wrong("command", device.value, "stop")
    await wrong("listened", device.value, "stop", seen.append)
    await wrong("no value", device.set, "inerProgress", 1)
    await wrong("unfit", device.set, "innerProgress", "x")
    await wrong("no number", device.add, "innerProgress", "x")
    await wrong("own", device.post, "playState")
    await wrong("no function", device.value, "innerProgress", 7)
    await wrong("on", device.on, "doorbell", 7)
    await wrong("handle", device.handle, "rings", 7)
    await wrong("null", device.set, "innerProgress", None)
    for word in (device.set, device.add):
        await wrong("surplus", word, "innerProgress", 1, {"for": "3s"})
    try:
        await device.set("door", True, {"for": "3s"})
    except TypeError as error:
        assert str(error) == "a value with options is a call: device.call('door', True, {'for': '3s'})", error


async def values(device):
    await device.value("innerProgress", lambda value: say("value", value))
    await asyncio.Event().wait()


def blocking_words(device):
    seen, heard, told = [], [], threading.Semaphore(0)

    def changed(value):
        seen.append(value)
        told.release()

    def await_told():
        assert told.acquire(timeout=20)

    say("present", device.value("innerProgress"))
    off = device.value("innerProgress", changed)
    await_told()
    device.on("doorbell", lambda event: (heard.append([event.name, event.data]), told.release()))
    say("set", [device.set("innerProgress", value) for value in (99, 10, 4)])
    device.post("doorbell", {"door": "front"})
    for _ in range(3):
        await_told()
    say("seen", seen)
    say("heard", heard)
    off()
    device.add("innerProgress")
    say("ended", [device.value("innerProgress"), len(seen)])
    for name, word, *values in (
        ("command", device.value, "stop"),
        ("listened", device.value, "stop", changed),
        ("own", device.post, "playState"),
        ("no function", device.value, "innerProgress", 7),
        ("on", device.on, "doorbell", 7),
        ("handle", device.handle, "rings", 7),
        ("null", device.set, "innerProgress", None),
    ):
        try:
            say(name, ["done", word(*values)])
        except quickconnect.Error as error:
            say(name, [error.code])
        except TypeError:
            say(name, ["TypeError"])


async def events(device):
    heard = []
    off = await device.on(["news", "weather"], lambda event: heard.append([event.name, event.data]))
    async with device.events("news") as stream:
        for number in range(1, 4):
            await device.call("post", "news", number)
        read = []
        async for event in stream:
            read.append(event.data)
            if len(read) == 3:
                break
        say("stream", read)
    await device.call("post", "weather", {"sun": "☀"})
    say("heard", heard)
    await off()
    await device.call("post", "news", 5)
    await device.call("post", "weather", 5)
    say("after", len(heard))
    await attempt("denied", device.call("post", "playState", 1))
    await attempt("options", device.events("news", {"rate": 1}).__aenter__())

    async def iterate():
        return [event.data async for event in stream]

    stream = device.events("last")
    await stream.__aenter__()
    await device.call("post", "last", 1)
    ending = asyncio.ensure_future(iterate())
    await device.close()
    say("ended", await ending)


async def burst(device):
    replies = await asyncio.gather(*(device.call("hello") for _ in range(10_000)))
    say("replies", sum(reply["program"] == "quickconnectd" for reply in replies))
    under_way = most = 0
    full = asyncio.Event()

    async def slow(data, call):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if most == 1024:
            full.set()
        await full.wait()
        under_way -= 1
        return data

    other = await quickconnect.AsyncClient().connect()
    await other.handle("slow", slow)
    numbers = await asyncio.gather(*(device.call("slow", number) for number in range(3000)))
    say("slow", numbers == list(range(3000)))
    say("most", most)


async def frozen(device):
    say("ready")
    sys.stdin.readline()
    await attempt("frozen", device.call("ping", timeout=0.3))
    many = [device.call("ping", timeout=0.3) for _ in range(3000)]
    results = await asyncio.gather(*many, return_exceptions=True)
    say("many", sum(getattr(result, "code", None) == "timeout" for result in results))
    say("thaw")
    await attempt("thawed", device.call("ping"))


async def cancelled(device):
    started = asyncio.Event()

    async def never(data, call):
        started.set()
        await asyncio.sleep(1000)

    await device.handle("never", never)
    task = asyncio.ensure_future(device.call("never"))
    await started.wait()
    task.cancel()
    say("cancelled", type((await asyncio.gather(task, return_exceptions=True))[0]).__name__ == "CancelledError")
    many = [device.call("never", timeout=0.5) for _ in range(2000)]
    results = await asyncio.gather(*many, return_exceptions=True)
    say("timeouts", sum(getattr(result, "code", None) == "timeout" for result in results))
    # There is a place for it only if the daemon has cancelled those before.
    await attempt("place", device.call("ping", timeout=10))


async def ends(device):
    shown, gone = asyncio.Queue(), asyncio.Queue()

    async def dialog(data, call):
        if data == "answer":
            return "chosen"
        shown.put_nowait(data)
        try:
            await asyncio.sleep(1000)
        finally:
            gone.put_nowait([data, call.cancelled.is_set()])

    await device.handle("dialog", dialog, ends_with_caller=True)
    other = await quickconnect.AsyncClient().connect()
    call = asyncio.ensure_future(other.call("dialog", "cancelled"))
    await shown.get()
    call.cancel()
    say("ended", await gone.get())
    say("answered", await other.call("dialog", "answer"))
    call = asyncio.ensure_future(other.call("dialog", "left"))
    await shown.get()
    await other.close()
    say("ended", await gone.get())
    await attempt("left", call)
    say("place", await device.call("dialog", "answer"))


async def reconnect(device):
    async def never(data, call):
        await asyncio.sleep(1000)

    rings = 0

    def ring(data, call):
        nonlocal rings
        rings += 1
        return rings

    await device.handle("never", never)
    await device.handle("rings", ring)
    await device.on("news", lambda event: say("news", event.data))
    under_way = asyncio.ensure_future(attempt("lost", device.call("never"), "message"))
    await device.call("ping")
    say("ready")
    await under_way
    await attempt("meanwhile", device.call("ping", timeout=0.05))
    await attempt("later", device.call("ping"))
    say("rings", await device.call("rings"))
    await asyncio.sleep(1000)


async def renewed(device):
    async def first(data, call):
        asyncio.ensure_future(device.remove_handler("first"))

    await device.handle("first", first)
    await device.handle("second", lambda data, call: "second")
    say("ready")
    await asyncio.sleep(1000)


def blocking(device):
    """Client in place of AsyncClient, from here with its threads."""
    say("ping", device.call("ping"))
    try:
        device.call("helo")
    except quickconnect.Error as error:
        say("unknown", [error.code, error.details["nearest"]])
    device.handle("twice", lambda data, call: device.call("echo", data) * 2)
    device.handle("echo", lambda data, call: data)
    say("twice", device.call("twice", 21))
    heard = []
    off = device.on("news", lambda event: heard.append(event.data) or device.call("post", "again", event.data))
    again = device.events("again")
    for number in range(3):
        device.call("post", "news", number)
    say("again", [next(again).data for _ in range(3)])
    say("heard", heard)
    again.close()
    off()
    futures = [device.submit("echo", number) for number in range(3000)]
    say("burst", [future.result() for future in futures] == list(range(3000)))
    device.handle("never", lambda data, call: None if device.call("ping") else __import__("time").sleep(1))
    try:
        device.call("never", timeout=0.05)
    except quickconnect.Error as error:
        say("timeout", error.code)
    ended = []
    device.handle("dialog", lambda data, call: ended.append(call.cancelled.wait(20)), ends_with_caller=True)
    try:
        device.call("dialog", timeout=0.05)
    except quickconnect.Error as error:
        say("dialog", error.code)
    while not ended:
        device.call("ping")
    say("ended", ended)
    for mistake in (float("nan"), "\ud800", {1, 2}):
        try:
            device.call("ping", mistake)
        except (TypeError, ValueError):
            say("mistake", device.call("ping"))
    device.handle("endless", lambda data, call: call.cancelled.wait(20), ends_with_caller=True)
    waiting = [device.submit("endless", timeout=20) for _ in range(5)]
    device.call("ping")
    device.close()
    say("left", sorted({type(future.exception(5)).__name__ for future in waiting}))
    try:
        device.call("ping")
    except quickconnect.Error as error:
        say("closed", error.code)


def blocking_slow(device):
    """More events than are kept come while a function waits for the first one."""
    go, heard, count = threading.Event(), [], quickconnect.EVENTS + 100
    device.on("news", lambda event: go.wait(60) and heard.append(event.data))
    for posted in [device.submit("post", "news", number) for number in range(count)]:
        posted.result()
    device.call("ping")
    go.set()
    while heard[-1:] != [count - 1]:
        device.call("ping")
    say("slow", [len(heard), *heard[:2]])


async def main(scenario):
    try:
        async with quickconnect.AsyncClient(wait=wait) as device:
            await scenario(device)
    except quickconnect.ConnectionLost as error:
        say("failed", [error.code, error.message])


chosen, limit = globals()[sys.argv[1]], (sys.argv[2:] or ["0"])[0]
wait = True if limit == "wait" else float(limit)
if inspect.iscoroutinefunction(chosen):
    asyncio.run(main(chosen))
else:
    with quickconnect.Client(wait=wait) as client:
        chosen(client)
