"""What the foreign suites are, fetched once into .build-foreign. Raises Skipped, with the reason, for what cannot be had."""
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from report import Skipped
from rig import ROOT

HERE = Path(__file__).resolve().parent
HOME = ROOT / ".build-foreign"

# The commits and versions are pinned, so that the same is tested everywhere.
LLHTTP = "https://github.com/nodejs/llhttp", "01e105a30fd06e248bc8ac73c4adb34a63d4114a"
AXE = "axe-playwright-python==0.1.8"
# The last ones for CPython 2.7.
PIP = "pip==20.3.4", "setuptools==44.0.0"
# What speeds the suite up, where it can be compiled.
FASTER = "wsaccel==0.6.2"
DEBIAN_11 = "python2.7-minimal libpython2.7-minimal libpython2.7-stdlib libssl1.1 libffi7".split()


def run(what, *command, seconds=300, **options):
    """A command's output; where it fails, what it said is the reason why a suite is skipped."""
    try:
        done = subprocess.run([str(each) for each in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=seconds, **options)
    except FileNotFoundError as error:
        raise Skipped(f"{what}: there is no {error.filename}") from None
    except subprocess.TimeoutExpired:
        raise Skipped(f"{what}: took longer than {seconds} s") from None
    if done.returncode:
        raise Skipped(f"{what}: {' '.join(done.stdout.split())[:200] or f'exit status {done.returncode}'}")
    return done.stdout


def once(name, make):
    """A folder of that name. `make` is given a new folder, which is kept only if it is complete."""
    folder = HOME / name
    if not folder.exists():
        HOME.mkdir(exist_ok=True)
        begun = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=HOME))
        try:
            make(begun)
            begun.rename(folder)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    return folder


def unpack(folder, *packages):
    """Packages of PyPI as they lie in their wheels."""
    wheels = folder / "wheels"
    run(f"{packages[0]} from PyPI", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
        "--dest", wheels, *packages)
    for wheel in wheels.iterdir():
        zipfile.ZipFile(wheel).extractall(folder)
    shutil.rmtree(wheels)


def llhttp():
    """The folder of llhttp's request corpus: of the checkout LLHTTP, else fetched."""
    if "LLHTTP" in os.environ:
        checkout = Path(os.environ["LLHTTP"])
    else:
        def make(folder):
            address, commit = LLHTTP
            run("llhttp", "git", "init", "--quiet", folder)
            run("llhttp from GitHub", "git", "-C", folder, "fetch", "--quiet", "--depth", "1", address, commit,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
            run("llhttp", "git", "-C", folder, "checkout", "--quiet", "FETCH_HEAD")
        try:
            checkout = once("llhttp", make)
        except Skipped as reason:
            raise Skipped(f"{reason} (LLHTTP=FOLDER names a checkout)") from None
    corpus = checkout / "test" / "request"
    if not corpus.is_dir():
        raise Skipped(f"llhttp: {corpus} is no folder")
    return corpus


def axe():
    """The text of axe-core."""
    return (once("axe", lambda folder: unpack(folder, AXE)) / "axe_playwright_python" / "axe.min.js").read_text()


def works(python, environment):
    try:
        return "2.7" in run("CPython 2.7", *python, "-c", "import ssl, sys, zlib; print(sys.version)", env=environment)
    except Skipped:
        return False


def python2():
    """A CPython 2.7: of PYTHON2, the path, pyenv, else unpacked from Debian 11. Its path, and its environment."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [os.environ.get("PYTHON2"), shutil.which("python2.7"), *sorted(pyenv.glob("versions/2.7.*/bin/python2.7"))]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_"))}
    for python in found:
        if python and works([python], environment):
            return str(python), environment
    root = once("python2.7", debian_11)
    library, = root.glob("usr/lib/*-linux-gnu")
    environment |= {"PYTHONHOME": str(root / "usr"), "LD_LIBRARY_PATH": str(library)}
    python = str(root / "usr" / "bin" / "python2.7")
    if not works([python], environment):
        raise Skipped("CPython 2.7: that of Debian 11 does not run here")
    return python, environment


def debian_11(folder):
    """Unpacks its packages, by an apt of its own that the system's does not see, from the mirror that the system uses."""
    what = "CPython 2.7 from Debian 11"
    sites = run(what, "apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").split()
    site = next((each for each in sites if each.rstrip("/").endswith("/debian")), None)
    if not site:
        raise Skipped(f"{what}: apt knows no mirror of Debian")
    lists = folder / "apt"
    for each in ("lists/partial", "cache/archives/partial"):
        (lists / each).mkdir(parents=True)
    (lists / "status").touch()
    (lists / "sources.list").write_text(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {site} bullseye main\n")
    (lists / "apt.conf").write_text(
        f'Dir::State "{lists}"; Dir::State::status "{lists}/status"; Dir::Cache "{lists}/cache";\n'
        f'Dir::Etc::sourcelist "{lists}/sources.list"; Dir::Etc::sourceparts "-"; APT::Sandbox::User ""; Acquire::Languages "none";\n')
    apt = ["apt-get", "-qq", "-c", lists / "apt.conf"]
    run(what, *apt, "update", cwd=lists)
    run(what, *apt, "download", *DEBIAN_11, cwd=lists)
    for package in lists.glob("*.deb"):
        run(what, "dpkg-deb", "-x", package, folder)
    shutil.rmtree(lists)


def autobahn():
    """A command that runs Autobahn's wstest, and its environment."""
    if platform.system() != "Linux":
        raise Skipped("Autobahn's suite: its packages here are for Linux")
    python, environment = python2()
    boot = once("pip", lambda folder: unpack(folder, *PIP))

    def make(folder):
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder]
        options = {"env": {**environment, "PYTHONPATH": str(boot), "PYTHONWARNINGS": "ignore"}}
        run("Autobahn's suite from PyPI", *pip, "--requirement", HERE / "autobahn.txt", **options)
        try:
            run(FASTER, *pip, FASTER, **options)
        except Skipped:
            pass

    folder = once("autobahn", make)
    program = f"import site, sys; site.addsitedir({str(folder)!r}); from autobahntestsuite.wstest import run; run()"
    return [python, "-c", program], environment
