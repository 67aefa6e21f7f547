# SPDX-License-Identifier: Apache-2.0
"""A client of QuickConnect for Linux: calls, events and handlers over the daemon's Unix socket.

    with quickconnect.Client() as device:                  # blocking
        device.call("playSound", 0)
    async with quickconnect.AsyncClient() as device:       # asyncio
        latitude, longitude, altitude, accuracy = await device.call("loc", timeout=30)

One file that needs nothing but Python 3.9. A lost connection is made again, and handlers and subscriptions with it. Calls
under way then fail with ConnectionLost, since nobody knows whether they ran: none is sent twice. Others wait for the new
connection.
"""

import asyncio
import collections
import concurrent.futures
import contextlib
import errno
import inspect
import itertools
import json
import logging
import math
import os
import shlex
import threading

__all__ = ["AsyncClient", "Call", "Client", "ConnectionLost", "Error", "Event"]

CALLS = 1024  # So many calls may be under way on one connection; others wait here, in their order.
EVENTS = 10_000  # So many events wait for a slow loop; of more, the oldest are dropped, which event "dropped" tells.
FIRST_DELAY, LONGEST_DELAY = 0.1, 5.0  # Seconds between attempts to connect again.

# A handler's name may still be that of the lost connection, or the daemon keeps too much for this user at the moment.
PASSING = ("busy", "overloaded")

log = logging.getLogger("quickconnect")
Event = collections.namedtuple("Event", "name data")
_running = set()  # The tasks of all clients: asyncio itself keeps no task alive, nor a client that nothing else names.


class Error(Exception):
    """An error reply; a handler raises one to answer with its code. code: one of the protocol's, "timeout" also where
    this side stopped waiting. message: a sentence. details: the whole error object, with "fields", "nearest" and so on."""

    def __init__(self, code, message, details=None):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message
        self.details = dict(details or {}, code=code, message=message)


class ConnectionLost(Error, ConnectionError):
    """No daemon answers, or the connection ended before the reply. The code is "connectionLost"."""

    def __init__(self, message="connection lost"):
        super().__init__("connectionLost", message)


class Call:
    """What a handler is to answer: data, parameters (data as a list, whoever calls), command, phase, results (of the command objects before), caller, error (in the
    error phase), and all of it as message. Set `end` to end the stack, `reply_command` to reply under another name.
    cancelled: a threading.Event, set when nobody waits for the answer any more, if `handle` asked for that."""

    def __init__(self, message):
        self.message, self.end, self.reply_command = message, False, None
        self.cancelled = threading.Event()
        self.data, self.command, self.phase, self.results, self.caller, self.error = map(
            message.get, ("data", "command", "phase", "results", "caller", "error")
        )
        self.parameters = self.data if isinstance(self.data, list) else [] if self.data is None else [self.data]


class AsyncClient:
    """A connection for asyncio. Functions that are not async run in its event loop, too, and must not block there.

    socket: the daemon's; else $QUICKCONNECT_SOCKET, else the system's or the user's, whichever accepts first.
    wait: what the first connection does where no daemon answers: False fails at once, True waits for one, and a number waits
    for so many seconds."""

    def __init__(self, socket=None, wait=False):
        runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
        named = socket or os.environ.get("QUICKCONNECT_SOCKET")
        self._paths = [named] if named else ["/run/quickconnect/quickconnect.sock", f"{runtime}/quickconnect.sock"]
        self._writer, self._closed, self._delay = None, False, FIRST_DELAY
        self._patience = math.inf if wait is True else wait
        self._ids = itertools.count(1)
        self._waiting, self._under_way = {}, {}  # (line, future, then) of each id, in order
        self._handlers, self._subscriptions = {}, {}  # what the daemon was told, to be said again
        self._serving = {}  # (task, call) of each call to a handler of ours that ends with its caller
        self._listeners, self._streams, self._tasks = {}, set(), set()
        self._looks = []  # Each reads a value that is listened to.

    async def connect(self):
        """Connects, as `async with` does; raises ConnectionLost where no daemon answers, with `wait` only after that time."""
        clock = asyncio.get_running_loop().time
        end, is_told = clock() + self._patience, False
        while True:
            try:
                return await self._open()
            except ConnectionLost as error:
                left = end - clock()
                if left <= 0 or self._closed:
                    raise ConnectionLost(error.message + self._advice(error)) from None
                if not is_told:
                    log.warning("%s; waiting for one", error.message)
                is_told = True
                await asyncio.sleep(min(self._next_delay(), left))

    async def _open(self):
        failures = []
        for path in self._paths:
            try:
                reader, writer = await asyncio.open_unix_connection(path, limit=1 << 30)
            except OSError as error:
                is_other = os.path.isfile(path) or os.path.isdir(path)
                failures.append(f"{path}: {'it is no socket' if is_other else error.strerror or error}")
                continue
            self._begin(reader, writer)
            return self
        raise ConnectionLost(f"no daemon answers: {'; '.join(failures)}")

    def _advice(self, error):
        if "it is no socket" in error.message:
            return ""
        if os.strerror(errno.EACCES) in error.message:
            return "; «quickconnect call ping» says who may connect"
        if len(self._paths) == 1:
            line = shlex.join(["quickconnectd", "--simulate", "--socket", self._paths[0]])
            return f". Is the daemon of this socket running? To try one: «{line}»"
        return ". Is the daemon running? To try it: «quickconnectd --simulate»; one with a socket of its own needs Client(socket)"

    async def close(self):
        """Closes the connection. Calls without a reply fail, iterations over events end."""
        self._closed = True
        self._lost(self._writer, "the client was closed")
        for stream in list(self._streams):
            stream.put(None)
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    async def __aenter__(self):
        return await self.connect()

    async def __aexit__(self, *_):
        await self.close()

    @property
    def connected(self):
        return self._writer is not None and not self._writer.is_closing()

    async def call(self, command, *parameters, timeout=None):
        """Calls a command. Returns the reply's value, or raises Error. After `timeout` seconds, or when the task is
        cancelled, it is cancelled in the daemon, too."""
        return await self._request(command, parameters, timeout)

    async def handle(self, name, function, ends_with_caller=False):
        """Answers the calls to a handler with what `function(data, call)` returns (see Call), or with its exception.
        A function may be async. Raises Error "busy" where another client has the name; where no call can come, the log
        has a warning that says what mends it.

        With `ends_with_caller`, for what a person sees, such as a dialog: when nobody waits for the answer any more,
        `call.cancelled` is set, and the task of an async function is cancelled."""
        _needs_function("handle", function)
        options = {"cancel": True} if ends_with_caller else None
        await self._request(
            "registerHandler",
            [name] + ([options] if options else []),
            then=lambda answer: (self._handlers.update({name: (function, options)}), _warn(answer)),
        )

    async def remove_handler(self, name):
        await self._request("removeHandler", [name], then=lambda answer: self._handlers.pop(name, None))

    async def on(self, names, function, options=None):
        """Calls `function(event)` for each event of a name or list of names; an event has name and data. Returns an
        async function that ends it."""
        _needs_function("on", function)
        names = [names] if isinstance(names, str) else list(names)
        for name in names:
            self._listeners.setdefault(name, []).append(function)

        async def off():
            for name in names:
                self._listeners[name].remove(function)
            gone = [name for name in names if not self._listeners[name] and self._subscriptions.pop(name, 0) != 0]
            if gone and self.connected:
                await self._request("unsubscribe", gone)

        try:
            await self._request(
                "subscribe",
                names + ([options] if options else []),
                then=lambda answer: (self._subscriptions.update(dict.fromkeys(names, options)), _warn(answer)),
            )
        except BaseException:
            await off()
            raise
        return off

    async def value(self, name, function=None):
        """Calls `function(value)` with the present value, at each change, and after a lost connection if it has changed.
        Returns an async function that ends it. Without a function, returns the present value. Raises Error "notFound"
        where there is no value of that name."""
        if function is None:
            return await self._present_value(name)
        _needs_function("value", function)
        last = None

        def changed(value):
            nonlocal last
            text = json.dumps(value)
            if text != last:
                last = text
                function(value)

        async def look():
            value = await self.call(name)
            if look in self._looks:
                self._guard(changed, value, name)

        async def end():
            if look in self._looks:
                self._looks.remove(look)
                await off()

        off = await self.on(name, lambda event: changed(event.data), {"value": True})
        self._looks.append(look)
        try:
            await look()
        except BaseException:
            with contextlib.suppress(Error):
                await end()
            raise
        return end

    async def _present_value(self, name):
        off = await self.on(name, lambda event: None, {"value": True})
        try:
            return await self.call(name)
        finally:
            with contextlib.suppress(Error):
                await off()

    async def set(self, name, value, *surplus):
        """Sets a value. Returns what it became, for example after clamping."""
        if surplus:
            call = ", ".join(map(repr, (name, value, *surplus)))
            raise TypeError(f"a value with options is a call: device.call({call})")
        if value is None:
            raise TypeError(f"{name} cannot be set to None")
        return await self.call(name, value)

    async def add(self, name, number=1):
        """Adds to a value that is a number, in one step: no count is lost. Returns what it became."""
        return await self.call(name, None, {"add": number})

    async def post(self, event, data=None):
        """Sends an event to those who listen to it."""
        await self.call("post", event, data)

    def events(self, names, options=None):
        """The events of a name or list of names: `async for event in device.events("playState")`. It subscribes at the
        first step, or with `async with device.events(…) as events`, which ends the subscription, too."""
        return _Events(self, names, options)

    def _send(self, command, parameters, then=None, first=False):
        number, future = str(next(self._ids)), asyncio.get_running_loop().create_future()
        entry = (_call_line(command, parameters, number), future, then)
        if self._closed or first and not self.connected:
            raise ConnectionLost("the client is closed" if self._closed else "connection lost")
        if first:
            self._under_way[number] = entry
            self._write(entry[0])
        else:
            self._waiting[number] = entry
            self._pump()
        return number, future

    async def _request(self, command, parameters, timeout=None, then=None):
        number, future = self._send(command, parameters, then)
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise Error("timeout", f"{command} was not answered within {timeout} s") from None
        finally:
            if future.cancelled() and not self._waiting.pop(number, None) and number in self._under_way:
                self._write(_call_line("cancel", [number]))  # Its place is free when the daemon has answered it.

    def _pump(self):
        while self.connected and self._waiting and len(self._under_way) < CALLS:
            number = next(iter(self._waiting))
            self._under_way[number] = self._waiting.pop(number)
            self._write(self._under_way[number][0])

    def _write(self, line):
        if self.connected:
            self._writer.write(line)

    def _begin(self, reader, writer):
        if self._closed:
            return writer.close()
        self._writer = writer
        for name, (_, options) in self._handlers.items():
            self._spawn(self._restore("registerHandler", [name] + ([options] if options else []), self._handlers))
        for name, options in self._subscriptions.items():
            self._spawn(self._restore("subscribe", [name] + ([options] if options else []), self._subscriptions))
        for look in self._looks:
            self._spawn(self._look_again(look))
        self._spawn(self._read(reader, writer))

    async def _look_again(self, look):
        try:
            await look()
        except ConnectionLost:
            pass  # The next connection looks.
        except Error as error:
            log.error("a value: %s", error)

    async def _restore(self, command, parameters, wanted):
        while parameters[0] in wanted:
            try:
                return _warn(await self._send(command, parameters, first=True)[1])
            except ConnectionLost:
                return None
            except Error as error:
                if error.code not in PASSING:
                    return log.error("%s %s: %s", command, parameters[0], error)
                log.debug("%s %s, asked again in a second: %s", command, parameters[0], error)
            await asyncio.sleep(1)

    async def _read(self, reader, writer):
        self._pump()
        try:
            async for line in reader:
                self._delay = FIRST_DELAY
                if line.startswith(b"{") and line.endswith(b"\n"):
                    self._receive(json.loads(line), writer)
                elif line.strip():
                    log.error("the daemon said: %s", line.decode(errors="replace").strip())
        except OSError:
            pass
        except Exception:
            log.exception("what the daemon said could not be read")
        self._lost(writer)

    def _receive(self, message, writer):
        if "responseId" in message:
            self._answer(message)
        elif "callbackId" in message:
            self._begin_serving(message, writer)
        elif message.get("handlerName") == "cancel":
            for number in message["data"]:
                self._end_serving(number)
        elif "handlerName" in message:
            self._tell(Event(message["handlerName"], message.get("data")))
        else:
            log.error("the daemon said: %s", message.get("error"))

    def _answer(self, message):
        _, future, then = self._under_way.pop(message["responseId"], (None, None, None))
        self._pump()
        if not future or future.done():
            return
        error = message.get("error")
        if error:
            future.set_exception(Error(error.get("code"), error.get("message"), error))
            return
        if then:
            then(message.get("responseData"))  # Before the next line, which may need it.
        future.set_result(message.get("responseData"))

    def _tell(self, event):
        for function in list(self._listeners.get(event.name, ())):
            self._guard(function, event, event.name)

    def _guard(self, function, told, name):
        try:
            function(told)
        except Exception:  # Not the other listeners' fault.
            log.exception("a function that was told of the event %s failed", name)

    def _begin_serving(self, message, writer):
        function, options = self._handlers.get(message["handlerName"], (None, None))
        number, call = message["callbackId"], Call(message)
        task = self._spawn(self._serve(function, call, writer))
        if options:
            self._serving[number] = task, call
            task.add_done_callback(lambda _: self._forget(number, task))

    def _forget(self, number, task):
        if self._serving.get(number, (None,))[0] is task:  # The number may be a new connection's by now.
            del self._serving[number]

    def _end_serving(self, number):
        task, call = self._serving.get(number, (None, None))
        if task:
            call.cancelled.set()
            task.cancel()

    async def _serve(self, function, call, writer):
        message = call.message
        answer = {"responseId": message["callbackId"]}
        try:
            if not function:
                raise Error("unavailable", f"no handler '{message['handlerName']}' here")
            value = function(call.data, call)
            answer["responseData"] = await value if inspect.isawaitable(value) else value
            answer.update({"handlerName": call.reply_command} if call.reply_command else {})
            line = _line(dict(answer, end=True) if call.end else answer)
        except Exception as error:
            if not isinstance(error, Error):
                log.exception("the handler %s failed", message["handlerName"])
            details = error.details if isinstance(error, Error) else {"message": str(error) or type(error).__name__}
            line = _line({"responseId": message["callbackId"], "error": details})
        if writer is self._writer:
            self._write(line)

    def _lost(self, writer, reason="connection lost"):
        if writer is not self._writer:
            return
        log.debug("%s, with %d calls under way", reason, len(self._under_way))
        lost, self._under_way, self._writer = list(self._under_way.values()), {}, None
        if writer:
            writer.close()
        for number in list(self._serving):
            self._end_serving(number)
        if self._closed:
            lost, self._waiting = lost + list(self._waiting.values()), {}
        else:
            self._spawn(self._reconnect())
        for _, future, _ in lost:
            if not future.done():
                future.set_exception(ConnectionLost(reason))

    async def _reconnect(self):
        while not self._closed:
            await asyncio.sleep(self._next_delay())
            try:
                return await self._open()
            except ConnectionLost as error:
                log.debug("%s", error)

    def _next_delay(self):
        delay, self._delay = self._delay, min(self._delay * 1.1, LONGEST_DELAY)  # Until a daemon says something.
        return delay

    def _spawn(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        for tasks in (self._tasks, _running):
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        return task


class _Events:
    def __init__(self, client, names, options):
        self._client, self._arguments, self._off = client, (names, self.put, options), None
        self._queue, self._dropped = asyncio.Queue(EVENTS), collections.Counter()

    async def __aenter__(self):
        self._client._streams.add(self)
        self._off = await self._client.on(*self._arguments)
        return self

    async def __aexit__(self, *_):
        self._client._streams.discard(self)
        off, self._off = self._off, None
        if off and not self._client._closed:
            await off()

    def __aiter__(self):
        return self

    async def __anext__(self):
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next(self):
        if not self._off:
            await self.__aenter__()
        if self._dropped:
            name, count = self._dropped.popitem()
            return Event("dropped", {"event": name, "count": count})
        return await self._queue.get()

    def put(self, event):
        if self._queue.full():
            self._dropped[self._queue.get_nowait().name] += 1
        self._queue.put_nowait(event)


class Client:
    """The same for programs without asyncio: each method waits. Handlers, and functions of `on` one after the other, run
    on threads of their own, where they may make calls."""

    def __init__(self, socket=None, wait=False):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="quickconnect", daemon=True)
        self._thread.start()
        self._handling = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="quickconnect-handler")
        self._listening = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="quickconnect-event")
        # What the functions of on() and value() have not been told yet. It has one job of the executor for each.
        self._told, self._untold = collections.deque(), 0
        try:
            self._client = self._run(self._connect(socket, wait))
        except BaseException:
            self._stop()
            raise

    async def _connect(self, socket, wait):
        return await AsyncClient(socket, wait).connect()

    def call(self, command, *parameters, timeout=None):
        return self._run(self._client.call(command, *parameters, timeout=timeout))

    def submit(self, command, *parameters, timeout=None):
        """Begins a call, and returns its concurrent.futures.Future; so many can be under way."""
        if self._loop.is_closed():
            raise ConnectionLost("the client is closed")
        return asyncio.run_coroutine_threadsafe(self._client.call(command, *parameters, timeout=timeout), self._loop)

    def handle(self, name, function, ends_with_caller=False):
        _needs_function("handle", function)

        def begin(data, call):
            return self._loop.run_in_executor(self._handling, function, data, call)

        self._run(self._client.handle(name, begin, ends_with_caller))

    def remove_handler(self, name):
        self._run(self._client.remove_handler(name))

    def on(self, names, function, options=None):
        """Returns a function that ends it."""
        _needs_function("on", function)
        off = self._run(self._client.on(names, lambda event: self._tell(function, event, event.name), options))
        return lambda: self._run(off())

    def value(self, name, function=None):
        """Returns a function that ends it, or without a function the present value."""
        if function is None:
            return self._run(self._client.value(name))
        _needs_function("value", function)
        end = self._run(self._client.value(name, lambda value: self._tell(function, value, name)))
        return lambda: self._run(end())

    def _tell(self, function, told, name):
        self._told.append((function, told, name))
        if len(self._told) <= EVENTS:
            self._listening.submit(self._tell_next)
        else:
            self._untold += 1
            self._told.popleft()

    def _tell_next(self):
        if count := self._untold:
            self._untold -= count
            log.warning("%d events came while functions of on() or value() ran, and were dropped", count)
        self._client._guard(*self._told.popleft())

    def set(self, name, value, *surplus):
        return self._run(self._client.set(name, value, *surplus))

    def add(self, name, number=1):
        return self._run(self._client.add(name, number))

    def post(self, event, data=None):
        self._run(self._client.post(event, data))

    def events(self, names, options=None):
        """Iterates over events. It has subscribed when this returns; closing the iterator ends that."""
        return self._iterate(self._run(self._events(names, options)))

    async def _events(self, names, options):
        return await self._client.events(names, options).__aenter__()

    def _iterate(self, stream):
        try:
            event = self._run(stream.next())
            while event:
                yield event
                event = self._run(stream.next())
        finally:
            if not self._loop.is_closed():
                self._run(stream.__aexit__())

    @property
    def connected(self):
        return self._client.connected

    def close(self):
        if not self._loop.is_closed():
            self._run(self._close())
            self._stop()

    async def _close(self):
        await self._client.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:  # The loop goes on until threads that wait for a reply have their error.
            await asyncio.wait(others)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _run(self, coroutine):
        if self._loop.is_closed():
            coroutine.close()
            raise ConnectionLost("the client is closed")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # As after Ctrl-C.
            raise

    def _stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._handling.shutdown(wait=False)
        self._listening.shutdown(wait=False)


def _needs_function(word, function):
    if not callable(function):
        raise TypeError(f"{word} needs a function, not {function!r}")


def _warn(answer):
    if isinstance(answer, dict) and "warning" in answer:
        log.warning("%s", answer["warning"])


def _call_line(command, parameters, number=None):
    message = {"handlerName": command}
    if len(parameters) == 1 and not isinstance(parameters[0], (list, tuple, type(None))):
        message["data"] = parameters[0]  # The same parameters; a handler sees it as it was given.
    elif parameters:
        message["data"] = list(parameters)
    return _line(dict(message, callbackId=number) if number else message)


def _line(message):
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"
