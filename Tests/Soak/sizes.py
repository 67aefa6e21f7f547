"""How large programs are: their own memory, descriptors, threads, and the lines in their logs."""
import collections
import os
import re
import time
from pathlib import Path

Size = collections.namedtuple("Size", "own_kib pss_kib descriptors threads processes")


def tree(pid):
    """A process and its children."""
    result = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                result += tree(int(child))
    except OSError:
        pass
    return result


def size(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return Size(int(re.search(r"RssAnon:\s+(\d+)", status)[1]), int(re.search(r"Pss:\s+(\d+)", rollup)[1]),
                len(os.listdir(f"/proc/{pid}/fd")), int(re.search(r"Threads:\s+(\d+)", status)[1]), 1)


def size_of_tree(pid):
    """The sum, because a script host runs its scripts in separate processes."""
    parts = [size(each) for each in tree(pid)]
    return Size(*map(sum, zip(*parts)))


def smallest(pids, seconds=3.0):
    """The smallest value of each figure in a time without calls: {name: Size}."""
    found = {}
    end = time.monotonic() + seconds
    while True:
        for name, pid in pids.items():
            try:
                now = size_of_tree(pid)
            except (OSError, TypeError):
                continue
            found[name] = Size(*map(min, found.get(name, now), now))
        if time.monotonic() > end:
            return found
        time.sleep(0.25)


def log_lines(path):
    """The number of calls that the audit log names, and the number of all other lines."""
    audit = others = 0
    if path.exists():
        with open(path, "rb") as file:
            for line in file:
                if b" audit: " in line:
                    audit += 1
                else:
                    others += 1
    return audit, others
