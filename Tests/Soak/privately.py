"""A private mount namespace of this process: its mounts vanish with it, however it ends."""
import ctypes
import os
import subprocess

NEW_MOUNTS = 0x20000


def private_mounts():
    """Call it before starting any thread. Returns why there are no private mounts; None if there are."""
    if os.getuid() != 0:
        return "only root may mount"
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_MOUNTS) != 0:
        return os.strerror(ctypes.get_errno())
    done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, text=True)
    return done.stderr.strip() or None


def mount_small_disk(folder, megabytes):
    """Returns why it is not mounted; None if it is."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)],
                          capture_output=True, text=True)
    return done.stderr.strip() or None


class MemoryGroup:
    """A control group of one process that can limit its memory; `problem` says why there is none."""

    def __init__(self, name):
        self.problem = self.limit_file = None
        for root, limit, unlimited in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "-1"), ("/sys/fs/cgroup", "memory.max", "max")):
            self.folder, self.unlimited = f"{root}/{name}", unlimited
            try:
                os.makedirs(self.folder, exist_ok=True)
                if os.access(f"{self.folder}/{limit}", os.W_OK):
                    self.limit_file = limit
                    return
                os.rmdir(self.folder)
            except OSError as error:
                self.problem = str(error)
        self.problem = self.problem or "no controller of memory is here"

    def add(self, pid):
        self.write("cgroup.procs", pid)

    def usage(self):
        name = "memory.usage_in_bytes" if self.unlimited == "-1" else "memory.current"
        with open(f"{self.folder}/{name}", encoding="ascii") as file:
            return int(file.read())

    def limit(self, number):
        self.write(self.limit_file, self.unlimited if number is None else number)

    def write(self, name, value):
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(str(value))

    def remove(self):
        """Call it after its process has ended."""
        if self.limit_file:
            try:
                os.rmdir(self.folder)
            except OSError:
                pass
