"""Packets of MQTT 5 as bytes, right and wrong ones, and both ends that send them: a client that is none, and a broker that lies."""
import os
import socket
import struct
import threading

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK = range(1, 10)
PINGREQ, PINGRESP, DISCONNECT, AUTH = 12, 13, 14, 15
# Properties.
EXPIRY, RESPONSE_TOPIC, CORRELATION_DATA, SUBSCRIPTION, MAXIMUM_PACKET, TOPIC_ALIAS, USER = 2, 8, 9, 11, 0x27, 0x23, 0x26


def length(number):
    """A number with variable length."""
    result = b""
    while True:
        number, digit = number >> 7, number & 127
        result += bytes([digit | (128 if number else 0)])
        if not number:
            return result


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack(">H", len(value)) + value


def packet(kind, body=b"", flags=0):
    return bytes([kind << 4 | flags]) + length(len(body)) + body


def publish(topic, payload=b"[]", properties=b"", qos=1, number=7, flags=0):
    middle = struct.pack(">H", number) if qos else b""
    return packet(PUBLISH, text(topic) + middle + length(len(properties)) + properties + payload, qos << 1 | flags)


def response(topic):
    return bytes([RESPONSE_TOPIC]) + text(topic)


def correlation(data):
    return bytes([CORRELATION_DATA]) + text(data)


def user(name, value):
    return bytes([USER]) + text(name) + text(value)


class Packets:
    """Reads packets from a socket."""

    def __init__(self, connection):
        self.connection = connection
        self.rest = b""

    def __iter__(self):
        while True:
            found = self.take()
            if found:
                yield found
                continue
            more = self.connection.recv(1 << 16)
            if not more:
                return
            self.rest += more

    def take(self):
        """The kind, the flags and the body of the next packet."""
        size = shift = 0
        for place in range(1, min(len(self.rest), 5)):
            size |= (self.rest[place] & 127) << shift
            shift += 7
            if self.rest[place] < 128:
                if len(self.rest) < place + 1 + size:
                    return None
                first, body = self.rest[0], self.rest[place + 1:place + 1 + size]
                self.rest = self.rest[place + 1 + size:]
                return first >> 4, first & 15, body
        return None


class Published:
    """What a client has published."""

    def __init__(self, flags, body):
        self.qos = flags >> 1 & 3
        size = struct.unpack_from(">H", body)[0]
        self.topic = body[2:2 + size].decode()
        place = 2 + size
        self.number = struct.unpack_from(">H", body, place)[0] if self.qos else 0
        place += 2 if self.qos else 0
        count = shift = 0
        while True:
            digit = body[place]
            place += 1
            count |= (digit & 127) << shift
            shift += 7
            if digit < 128:
                break
        self.properties, self.payload = body[place:place + count], body[place + count:]

    @property
    def correlation(self):
        """The correlation data if it is the only property, as in the answers of a gateway."""
        return self.properties[3:] if self.properties[:1] == bytes([CORRELATION_DATA]) else None


class FakeBroker:
    """Acts as a broker for one client at a time, and also sends whatever it is asked to.

    - `greeting`: the answer to CONNECT.
    - `lie`: what each client gets once it has subscribed.
    - `acknowledges`: whether it acknowledges what is published."""

    def __init__(self, lie=b"", greeting=packet(CONNACK, b"\x00\x00\x00")):
        self.lie, self.greeting, self.acknowledges = lie, greeting, True
        self.served = 0
        self.published = []
        self.said = threading.Condition()
        self.client = None
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen()
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with client:
                try:
                    for kind, flags, body in Packets(client):
                        self.heed(client, kind, flags, body)
                except OSError:
                    pass
            with self.said:
                self.client = None
                self.served += 1
                self.said.notify_all()

    def heed(self, client, kind, flags, body):
        if kind == CONNECT:
            client.sendall(self.greeting)
        elif kind == SUBSCRIBE:
            client.sendall(packet(SUBACK, body[:2] + b"\x00\x01") + self.lie)
            with self.said:
                self.client = client
                self.said.notify_all()
        elif kind == PINGREQ:
            client.sendall(packet(PINGRESP))
        elif kind == PUBREC:
            client.sendall(packet(PUBREL, body[:2], 2))
        elif kind == PUBLISH:
            message = Published(flags, body)
            if message.qos and self.acknowledges:
                client.sendall(packet(PUBACK, struct.pack(">H", message.number)))
            with self.said:
                self.published.append(message)
                self.said.notify_all()

    def wait(self, condition, what, seconds=20):
        with self.said:
            result = self.said.wait_for(condition, seconds)
        assert result, f"waited {seconds} s in vain for {what}"
        return result

    def say(self, data):
        """Sends to the client that has subscribed, as soon as there is one; returns whether there was one."""
        client = self.wait(lambda: self.client, "a client")
        try:
            client.sendall(data)
            return True
        except OSError:
            return False

    def call(self, topic, payload=b"[]", number=9, **more):
        """Its correlation data."""
        data = os.urandom(8)
        device, caller = topic.split("/")[1], topic.split("/")[3]
        self.say(publish(topic, payload, response(f"qc/{device}/reply/{caller}/here") + correlation(data), number=number, **more))
        return data

    def answers(self, data):
        return [each for each in self.published if each.correlation == data]

    def hang_up(self):
        """Ends the connection of the current client."""
        self.wait(lambda: self.client, "a client").shutdown(socket.SHUT_RDWR)

    def close(self):
        self.socket.close()

    stop = close


class Stranger:
    """A client of a real broker that sends whatever it is asked to."""

    def __init__(self, broker, name):
        self.connection = socket.create_connection(("127.0.0.1", broker.port), 10)
        body = text("MQTT") + b"\x05\xc2" + struct.pack(">H", 60) + b"\x00" + text(f"stranger-{os.urandom(4).hex()}") + text(name) + text(name)
        self.connection.sendall(packet(CONNECT, body))
        kind, _, body = next(iter(Packets(self.connection)))
        assert kind == CONNACK and body[1] == 0, (kind, body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def say(self, data):
        """What the broker sends to it; None if the broker only closes the connection."""
        try:
            self.connection.sendall(data)
            return next(iter(Packets(self.connection)), None)
        except OSError:
            return None
