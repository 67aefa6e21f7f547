"""Holds conversations through the Python client: for each connection to the socket LISTEN it makes a client, says through
its API what the lines ask for, and answers as the daemon would. Usage: driver.py LISTEN (the daemon: $QUICKCONNECT_SOCKET)"""

import asyncio
import json
import os
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))
import quickconnect  # noqa: E402


class Driver:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.client = quickconnect.AsyncClient()
        self.calls, self.answers, self.offs = [], {}, {}

    async def run(self):
        async with self.client:
            async for line in self.reader:
                if line.strip():
                    self.take(line.decode().strip())
            await asyncio.gather(*(task for _, task in self.calls), return_exceptions=True)
        self.writer.close()

    def take(self, line):
        if not line.startswith("{"):
            pairs = dict(pair.split("=", 1) for pair in line.partition("?")[2].split("&"))
            pairs = {key: urllib.parse.unquote(value) for key, value in pairs.items()}
            return self.begin("url", pairs["cmd"], parsed(pairs.get("msg", "")), pairs.get("id"))
        message = json.loads(line)
        if "responseId" in message:
            answer = self.answers.pop(message["responseId"], None)
            return answer and answer.set_result(message)
        self.begin("bridge", message["handlerName"], message.get("data"), message.get("callbackId"))

    def begin(self, form, command, data, id):
        parameters = data if isinstance(data, list) else [] if data is None else [data]
        self.calls.append((id, asyncio.ensure_future(self.call(form, command, parameters, id))))

    async def call(self, form, command, parameters, id):
        try:
            value = await self.perform(form, command, parameters)
            if id is not None:
                self.say(form, command, {"responseData": value}, id)
        except quickconnect.Error as error:
            self.say(form, "error", {"error": error.details}, id)
        except asyncio.CancelledError:
            self.say(form, "error", {"error": {"cmd": command, "code": "cancelled", "message": "cancelled"}}, id)

    async def perform(self, form, command, parameters):
        if command == "registerHandler":
            return await self.client.handle(parameters[0], self.handle)
        if command == "removeHandler":
            return await self.client.remove_handler(parameters[0])
        if command == "subscribe":
            for name in parameters:
                self.offs[name] = await self.client.on(name, lambda event: self.tell(form, event))
        elif command == "unsubscribe":
            for name in parameters:
                await self.offs.pop(name)()
        elif command == "cancel":
            for id, task in self.calls:
                if id == parameters[0]:
                    task.cancel()
        else:
            return await self.client.call(command, *parameters)

    async def handle(self, data, call):
        self.answers[call.message["callbackId"]] = answer = asyncio.get_running_loop().create_future()
        self.write(compact(call.message))
        message = await answer
        if "error" in message:
            raise quickconnect.Error(message["error"].get("code"), message["error"].get("message"), message["error"])
        call.end, call.reply_command = message.get("end", False), message.get("handlerName")
        return message["responseData"]

    def tell(self, form, event):
        if form == "bridge":
            return self.write(compact({"handlerName": event.name, "data": event.data}))
        self.write(f"handleJSONRequest?cmd={encoded(event.name)}&msg={encoded(compact(event.data))}")

    def say(self, form, command, outcome, id):
        if form == "bridge":
            return self.write(compact({**({} if id is None else {"responseId": id}), **outcome}))
        (value,) = outcome.values()
        end = "" if id is None else f"&id={encoded(id)}"
        self.write(f"handleJSONRequest?cmd={encoded(command)}&msg={encoded(compact(value))}{end}")

    def write(self, line):
        self.writer.write(line.encode() + b"\n")


def parsed(text):
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(text):
    return urllib.parse.quote(text, safe="-_.!~*'()")


async def main():
    # Whoever has sent the last line is nothing that the loop knows of, and is no garbage all the same.
    drivers = set()

    async def serve(reader, writer):
        driver = Driver(reader, writer)
        drivers.add(driver)
        try:
            await driver.run()
        finally:
            drivers.discard(driver)

    server = await asyncio.start_unix_server(serve, sys.argv[1], limit=1 << 30)
    await server.serve_forever()


asyncio.run(main())
