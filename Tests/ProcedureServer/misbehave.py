#!/usr/bin/env python3
"""A server of procedures that does what servers should not. Usage: misbehave.py FOLDER [CERTIFICATE]

Serves FOLDER/uploads on a free port of loopback, which it prints. What it does for a path stands in FOLDER/modes.json:
{"/uploads/a.js": "half"}, or "*" for all; anew at each request.
"""
import hashlib
import http.server
import json
import os
import ssl
import sys
import threading

folder = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out at once, not forty milliseconds apart.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def mode(self):
        try:
            with open(f"{folder}/modes.json") as file:
                modes = json.load(file)
        except FileNotFoundError:
            modes = {}
        return modes.get(self.path, modes.get("*", "well"))

    def answer(self, status, body, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with open(f"{folder}/requests", "a") as file:
            conditions = self.headers.get("If-None-Match", "-"), self.headers.get("Authorization", "-")
            file.write(f"{self.path} {' '.join(conditions)}\n")
        mode, _, argument = self.mode().partition(" ")
        path = f"{folder}/{self.path}"
        body = open(path, "rb").read() if os.path.isfile(path) else b""
        if mode == "status":
            self.answer(int(argument), b"no\n")
        elif mode == "half":
            self.answer(200, body[: len(body) // 2], length=len(body))
            self.close_connection = True
        elif mode == "short":
            self.answer(200, body, length=max(len(body) - 5, 0))
            self.close_connection = True
        elif mode == "html":
            self.answer(200, b"<!DOCTYPE html><title>Log in</title><p>Welcome to our network", Content_Type="text/html")
        elif mode == "redirect":
            self.answer(302, b"", Location=argument)
        elif mode == "large":
            self.answer(200, b"/" * ((1 << 20) + 1))
        elif mode == "endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"// " * 10000)
        elif mode == "empty":
            self.answer(200, b"")
        elif mode == "silent":
            threading.Event().wait(60)
        elif not os.path.isfile(path):
            self.answer(404, b"")
        else:
            tag = '"%s"' % hashlib.sha256(body).hexdigest()
            if self.headers.get("If-None-Match") == tag:
                self.answer(304, b"", ETag=tag)
            else:
                self.answer(200, body, ETag=tag)

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ssl.SSLError):
            pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
scheme = "http"
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    scheme = "https"
print(f"{scheme}://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
