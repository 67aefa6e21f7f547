"""What a run of tests tells: a line for each, and how many there were."""
import sys
import threading
import time
import traceback
from pathlib import Path

counts = {"passed": 0, "failed": 0, "skipped": 0}
failures = []
lock = threading.Lock()


class Skipped(Exception):
    """This test cannot run here; the words say why."""


def tell(result, title, more="", seconds=None):
    with lock:
        counts[result] += 1
        mark = {"passed": "✔", "failed": "✘", "skipped": "–"}[result]
        took = "" if seconds is None else f" ({seconds:.1f} s)"
        print(f"{mark} {title}{took}" + (f": {more}" if more else ""), flush=True)
        if result == "failed":
            failures.append(title)


def attempt(name, body, folder, more=lambda: ""):
    """Runs a test and tells how it went. Of one that failed: where in the tests' own files, which lie in the folder, and
    `more`, which gives a text."""
    start = time.monotonic()
    try:
        body()
        tell("passed", name, seconds=time.monotonic() - start)
    except Skipped as reason:
        tell("skipped", name, str(reason))
    except Exception as error:
        seconds = time.monotonic() - start
        frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).parent == Path(folder).resolve()]
        # The test itself, then what it was in.
        place = " ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames if not Path(each.filename).name.startswith("run"))
        try:
            words = more()
        except Exception as another:
            words = f"\n({another})"
        tell("failed", name, f"{place}\n{type(error).__name__}: {error}{words}", seconds)


def title(test):
    return test.__doc__.split("\n")[0]


def finish():
    """Ends the program, with 1 where a test has failed."""
    if failures:
        print("\nfailed:", *failures, sep="\n  ")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", flush=True)
    sys.exit(1 if counts["failed"] else 0)
