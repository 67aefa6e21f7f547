"""The dearest legal things that peers can do to the daemon."""

import json
import time

from rig import Attack, call, connect, count_sent, pump

FIRST_UID = 20000
# What costs the daemon most of the calls that anybody may make, with an answer that is made anew each time.
DEAR = b"call?cmd=explain&msg=%5B%22state%22%5D&id=1\n"


def spread(path, peers, each=1, same=False):
    """Connections of so many users."""
    connections = []
    for peer in range(peers):
        for _ in range(each):
            connections.append(connect(path, None if same else FIRST_UID + peer))
    return connections


def bridge(command, data, identifier="x"):
    return json.dumps({"handlerName": command, "data": data, "callbackId": identifier}).encode() + b"\n"


def flood(payload, repeats=True, reads=True, same=False, each=1):
    def start(path, peers):
        def body():
            pump(spread(path, peers, each, same), payload, repeats, reads)

        return [Attack(body)]

    return start


def posts(subscribers, same):
    """Each peer posts without a pause to an event that so many hear."""

    def start(path, peers):
        # All of them hear before anybody posts.
        listeners = spread(path, 1, subscribers, same)
        for listener in listeners:
            call(listener, bridge("subscribe", ["flood"]))

        def post():
            pump(spread(path, peers, 1, same), bridge("post", ["flood", {"n": 1}]) * 200)

        def listen():
            count_sent(1)
            pump(listeners, b"", repeats=False)

        attacks = [Attack(listen), Attack(post)]
        for listener in listeners:
            listener.close()
        return attacks

    return start


def many_subscriptions(path, peers):
    """60 connections with 1,016 long names each, and peers that ask for the state."""

    def body():
        connections = spread(path, 60, 1, False)
        for index, connection in enumerate(connections):
            names = [f"{'n' * 110}{index}-{number}" for number in range(1016)]
            connection.sendall(bridge("subscribe", names))
        pump(spread(path, peers), b"call?cmd=state&id=1\n" * 100)

    return [Attack(body)]


def churn(path, peers):
    """Connections that come, ask once, and go."""

    def body():
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for connection in spread(path, peers):
                try:
                    connection.sendall(DEAR * 3)
                    count_sent(1)
                except OSError:
                    pass
                connection.close()

    return [Attack(body)]


def handlers(path, peers):
    """Connections with a thousand handlers that come and go, which others want to know."""

    def listen():
        count_sent(1)
        pump(listeners, b"", repeats=False)

    def come_and_go():
        end = time.monotonic() + 60
        names = b"".join(bridge("registerHandler", [f"h{number}"]) for number in range(1000))
        while time.monotonic() < end:
            for number, connection in enumerate(spread(path, peers)):
                try:
                    connection.sendall(names.replace(b'"h', f'"h{number}-'.encode()))
                    connection.recv(1 << 16)
                    count_sent(1)
                except OSError:
                    pass
                connection.close()

    listeners = spread(path, 1, 200)
    for listener in listeners:
        call(listener, bridge("subscribe", ["handlers"]))
    attacks = [Attack(listen), Attack(come_and_go)]
    for listener in listeners:
        listener.close()
    return attacks


LONG = b"call?cmd=ping&msg=[" + b",".join([b"1"] * 1_900_000) + b"]&id=n\n"

# Name, what starts the attackers, and whether the number of peers matters.
ATTACKS = [
    ("60 KB of dear calls, once", flood(DEAR * 1400, repeats=False, reads=False)),
    ("60 KB of dear calls, once, of the neighbour's user", flood(DEAR * 1400, False, False, same=True)),
    ("dear calls without a pause", flood(DEAR * 1400)),
    ("pings without a pause, of the neighbour's user", flood(b"call?cmd=ping&id=1\n" * 3000, same=True)),
    ("beginnings of lines of 4 MB", flood(b"call?cmd=ping&msg=" + b"a" * 4_000_000, repeats=False, each=20)),
    ("beginnings of lines, of the neighbour's user", flood(b"call?cmd=ping&msg=" + b"a" * 4_000_000, False, same=True, each=20)),
    ("posts that 50 hear", posts(50, same=False)),
    ("posts that 250 hear, of the neighbour's user", posts(250, same=True)),
    ("state with 60,960 subscriptions", many_subscriptions),
    ("connections that come and go", churn),
    ("lines of 4 MB", flood(LONG)),
    ("batches of 4 MB whose answers nobody reads", flood(b"[" + b"1," * 1_900_000 + b"1]\n", False, False, each=10)),
    ("replies that nobody reads", flood(DEAR * 1400, repeats=False, reads=False, each=20)),
    ("handlers that come and go, of which 200 hear", handlers),
]  # fmt: skip
