"""A private mosquitto, and clients of it."""
import base64
import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

ROOT = Path(__file__).resolve().parents[2]


def wait_until(condition, what, seconds=20):
    """Polls, because other programs report their readiness in no other way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def ends_with_caller():
    """Called in a child before it becomes another program: the kernel then ends it with this process."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def program(name):
    """A program of the machine, or the one unpacked for this checkout."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", str(ROOT / ".build-rig" / "bin")])
    return shutil.which(name, path=path)


class Broker:
    """mosquitto on a port of its own. Each user's name is also the password."""

    def __init__(self, folder, acl=None, users=(), tls=None, lines=(), port=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.process = None
        text = [f"listener {self.port} 127.0.0.1", "user root", "persistence true", f"persistence_location {self.folder}/",
                "log_type all", *lines]
        if tls:
            text += [f"cafile {tls}/ca.crt", f"certfile {tls}/broker.crt", f"keyfile {tls}/broker.key",
                     "require_certificate true", "use_identity_as_username true"]
        elif users:
            (self.folder / "passwords").write_text("".join(self.password_line(user) for user in users))
            text += ["allow_anonymous false", f"password_file {self.folder}/passwords"]
        else:
            text.append("allow_anonymous true")
        if acl:
            (self.folder / "acl").write_text(acl)
            text.append(f"acl_file {self.folder}/acl")
        (self.folder / "mosquitto.conf").write_text("\n".join(text) + "\n")
        os.chmod(self.folder, 0o700)

    @staticmethod
    def password_line(user):
        salt = os.urandom(12)
        key = hashlib.pbkdf2_hmac("sha512", user.encode(), salt, 101)
        return f"{user}:$7$101${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}\n"

    def start(self):
        log = open(self.folder / "mosquitto.log", "ab")
        self.process = subprocess.Popen([program("mosquitto"), "-c", self.folder / "mosquitto.conf"], stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL, preexec_fn=ends_with_caller)
        wait_until(self.listens, "the broker")
        return self

    def listens(self):
        assert self.process.poll() is None, f"the broker ended:\n{(self.folder / 'mosquitto.log').read_text()[-2000:]}"
        with socket.socket() as each:
            return each.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait(10)

    def restart(self, number=signal.SIGTERM):
        self.stop(number)
        return self.start()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


def properties(kind=PacketTypes.PUBLISH, **members):
    result = Properties(kind)
    for name, value in members.items():
        if value is not None:
            setattr(result, name, value)
    return result


class Caller:
    """A client with a user's name, which keeps all messages that it receives."""

    def __init__(self, broker, user, client_id="", tls=None, topics=()):
        self.user = user
        self.heard = []
        self.replies = {}
        self.reasons = {}
        self.up = threading.Event()
        self.lock = threading.RLock()
        self.news = threading.Condition(self.lock)
        self.topics = [f"qc/+/reply/{user}/#", *topics]
        self.client = mqtt.Client(client_id=client_id, protocol=mqtt.MQTTv5)
        # Set before paho's own answer, which knows no reason codes of PUBACK.
        self.client.username_pw_set(user, user)
        if tls:
            self.client.tls_set(f"{tls}/ca.crt", f"{tls}/{user}.crt", f"{tls}/{user}.key")
        self.client.on_connect = self.on_connect
        self.client.on_message = self.on_message
        self.client.max_inflight_messages_set(1000)
        self.client.reconnect_delay_set(1, 1)
        self.client.connect("127.0.0.1", broker.port, keepalive=10, clean_start=False,
                            properties=properties(PacketTypes.CONNECT, SessionExpiryInterval=600))
        self.client.loop_start()
        assert self.up.wait(10), f"{user} is not connected"

    def on_connect(self, client, _, flags, reason, more=None):
        if reason == 0:
            client.subscribe([(topic, SubscribeOptions(qos=2, retainAsPublished=True)) for topic in self.topics])
            self.up.set()

    def on_message(self, client, _, message):
        with self.lock:
            self.heard.append(message)
            data = getattr(message.properties, "CorrelationData", None)
            # If the broker sends something again because this client lost its own connection, the message has the dup flag.
            if data is not None and not (message.dup and data in self.replies):
                self.replies.setdefault(data, []).append(message)
            self.news.notify_all()

    def hears(self, condition, seconds):
        """Whether a condition on what this client hears becomes true in time."""
        with self.news:
            return self.news.wait_for(condition, seconds)

    def wait(self, condition, what, seconds=15):
        result = self.hears(condition, seconds)
        assert result, f"waited {seconds} s in vain for {what}"
        return result

    def publish(self, topic, payload=b"", qos=1, retain=False, wait=True, **members):
        info = self.client.publish(topic, payload, qos, retain, properties=properties(**members))
        if wait:
            info.wait_for_publish(10)
        return info

    def call(self, target, command, payload="", data=None, answer=True, caller=None, response=None, wait=False, expiry=None,
             qos=1, spread=None):
        """Makes a call; returns its correlation data."""
        data = data or os.urandom(8)
        caller = caller or self.user
        if answer and response is None:
            response = f"qc/{target}/reply/{caller}/here"
        self.publish(f"qc/{target}/call/{caller}/{command}", payload, qos=qos, wait=wait, CorrelationData=data,
                     ResponseTopic=response, MessageExpiryInterval=expiry,
                     UserProperty=None if spread is None else ("spread", str(spread)))
        return data

    def answers(self, data):
        with self.lock:
            return list(self.replies.get(data, []))

    def answer(self, data, seconds=15):
        return self.wait(lambda: self.answers(data), "an answer", seconds)[0]

    def is_answered(self, device="kiosk1", seconds=2):
        """Whether a device handles calls now."""
        data = self.call(device, "ping")
        return self.hears(lambda: self.answers(data), seconds)

    def messages(self, topic):
        with self.lock:
            return [each for each in self.heard if each.topic == topic]

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()
