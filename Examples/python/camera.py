#!/usr/bin/env python3
# Answers the command «photo» with a picture of a camera (video4linux), which is in the media folder then, for all: {file}. Pages show
# it at media/FILE. Needs v4l2-ctl, of Debian's package v4l-utils, and a camera that gives JPEG, as most on USB do.
# With python3-quickconnect, or from the sources:  PYTHONPATH=clients/python python3 Examples/python/camera.py [/dev/video0]
import base64
import os
import subprocess
import sys
import tempfile
import threading
from datetime import datetime

import quickconnect

PIECE = 512 << 10
# A camera gives one picture at a time; the others wait their turn, and no two have one name.
turn = threading.Lock()


def shoot(camera, path):
    words = ["v4l2-ctl", f"--device={camera}", "--set-fmt-video=pixelformat=MJPG", "--stream-mmap", "--stream-count=1", f"--stream-to={path}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=15)
    except FileNotFoundError:
        raise quickconnect.Error("unavailable", "v4l2-ctl is missing: sudo apt install v4l-utils") from None
    except subprocess.TimeoutExpired:
        raise quickconnect.Error("timeout", f"the camera {camera} gives no picture") from None
    if done.returncode or not os.path.exists(path) or not os.path.getsize(path):
        raise quickconnect.Error("unavailable", f"the camera {camera} gives no picture: {done.stderr.strip() or done.stdout.strip()}")


def photo(device, camera):
    with turn, tempfile.TemporaryDirectory() as folder:
        name = datetime.now().strftime("photo-%Y%m%d-%H%M%S-%f.jpg")
        path = os.path.join(folder, name)
        shoot(camera, path)
        with open(path, "rb") as file:
            picture = file.read()
    for offset in range(0, len(picture), PIECE):
        piece = base64.b64encode(picture[offset : offset + PIECE]).decode()
        options = {"begin": offset == 0, "end": offset + PIECE >= len(picture), "shared": True}
        device.call("media", "write", name, offset, piece, options)
    return {"file": name}


if __name__ == "__main__":
    camera = sys.argv[1] if len(sys.argv) > 1 else "/dev/video0"
    with quickconnect.Client() as device:
        device.handle("photo", lambda data, call: photo(device, camera))
        for _ in device.events("never"):
            pass
