"""REUSE's own tool on the sources: each file has a copyright and a license, and each license its text."""
import os
import subprocess
import sys

import fetched
from rig import ROOT

REUSE = "reuse==5.0.2"


def tool():
    def make(folder):
        fetched.run("reuse from PyPI", sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder, REUSE)
    return fetched.once("reuse", make)


def all_files():
    done = subprocess.run([sys.executable, "-m", "reuse", "--root", str(ROOT), "lint"], env={**os.environ, "PYTHONPATH": str(tool())},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def tests(_):
    yield "REUSE: each file has a license", all_files
