"""What was done to the device and when, what callers saw, and what of it is explained."""
import collections
import threading
import time

# A program that was away is there again some seconds after its start: clients and gateways pause between attempts, up to 5 s.
GRACE = 8
# For connections that a kill cuts.
CUT_GRACE = 3


class Fault:
    """`parts` may fail or wait meanwhile; the connections of `cuts` may end."""

    def __init__(self, name, parts, cuts=()):
        self.name, self.parts, self.cuts = name, set(parts), set(cuts)
        self.begin = time.monotonic()
        self.end = None

    def overlaps(self, begin, end, grace):
        return self.begin <= end and (self.end is None or self.end + grace >= begin)


class Way:
    """Calls by one way of access."""

    def __init__(self):
        self.sent = self.replied = self.errors = self.twice = 0
        self.lost = self.abandoned = 0


class Ledger:
    def __init__(self, seed):
        self.seed = seed
        self.start = time.monotonic()
        self.lock = threading.Lock()
        self.faults = []
        self.ways = collections.defaultdict(Way)
        self.errors_by_code = collections.Counter()
        self.counts = collections.Counter()
        # (way, kind, parts, sent, ended, text)
        self.errors, self.losses, self.waits = [], [], []
        self.problems = []
        # (seconds, text)
        self.history = []
        # Those of these waits that no fault explains; set when all is over.
        self.calm_waits = None

    def now(self):
        return time.monotonic() - self.start

    def say(self, text):
        self.history.append((self.now(), text))
        print(f"{self.now():7.1f} s  {text}", flush=True)

    def told_before(self, moment):
        """What was said in the half minute before."""
        return [f"{at:.1f} s {text[:100]}" for at, text in self.history if moment - 30 <= at <= moment]

    def problem(self, check, text):
        """Something that no fault can explain."""
        with self.lock:
            self.problems.append((check, self.now(), text))
        self.say(f"✘ {check}: {text} (seed {self.seed})")

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number

    def begin(self, name, parts, cuts=()):
        fault = Fault(name, parts, cuts)
        with self.lock:
            self.faults.append(fault)
            self.counts[f"fault {name}"] += 1
        self.say(name)
        return fault

    def end(self, fault):
        fault.end = time.monotonic()

    # Calls

    def sent(self, way, number=1):
        with self.lock:
            self.ways[way].sent += number

    def replied(self, way, kind, parts, sent, error=None):
        """`error` is the reply's error, if the call should have had none."""
        ended = time.monotonic()
        with self.lock:
            self.ways[way].replied += 1
            # A file that plays to its end takes its own time.
            if ended - sent > 0.25 and "length" not in parts:
                self.waits.append((way, kind, parts, sent, ended, None))
            if error:
                self.ways[way].errors += 1
                self.errors_by_code[error.get("code")] += 1
                self.errors.append((way, kind, parts, sent, ended, f"{error.get('code')}: {error.get('message')}"))

    def lost(self, way, kind, cuts, sent, text, number=1):
        """Calls whose connection was cut before their reply."""
        with self.lock:
            self.ways[way].lost += number
            self.losses.append((way, kind, cuts, sent, time.monotonic(), f"{number} calls, {text}"))

    def cut(self, way, cuts, text):
        """A connection that ended with no call under way."""
        with self.lock:
            self.losses.append((way, "idle", cuts, time.monotonic(), time.monotonic(), text))

    def twice(self, way, text):
        with self.lock:
            self.ways[way].twice += 1
        self.problem("replies twice", f"{way}: {text}")

    # Judgement, when all is over

    def unexplained(self, records, attribute, grace):
        """The records that no fault explains by its parts or cuts."""
        return [each for each in records
                if not any(getattr(fault, attribute) & set(each[2]) and fault.overlaps(each[3], each[4], grace) for fault in self.faults)]

    def unexplained_errors(self):
        return self.unexplained(self.errors, "parts", GRACE)

    def unexplained_losses(self):
        return self.unexplained(self.losses, "cuts", CUT_GRACE)

    def longest_wait(self, way=None, procedures=False):
        """For a call that no fault explains: seconds, kind and time."""
        if self.calm_waits is None:
            self.calm_waits = self.unexplained(self.waits, "parts", GRACE)
        found = [(each[4] - each[3], each[1], each[3] - self.start) for each in self.calm_waits
                 if way in (None, each[0]) and procedures == (each[1] == "procedure")]
        return max(found, default=(0.25, "any", 0))

    def calm_seconds(self, parts, until):
        """For how long no fault affected these parts."""
        calm, at = 0.0, self.start
        for fault in sorted((each for each in self.faults if each.parts & set(parts)), key=lambda each: each.begin):
            calm += max(0.0, fault.begin - at)
            at = max(at, (fault.end or until) + GRACE)
        return calm + max(0.0, until - at)

    def is_disturbed(self, parts, begin, end, but):
        """Whether something other than a kill of `but` happened to these parts in this time."""
        with self.lock:
            return any(fault.parts & set(parts) and but not in fault.cuts and fault.overlaps(begin, end, CUT_GRACE) for fault in self.faults)

    def deaths(self, part, begin, end):
        """When that part was killed, if that may have been in this time."""
        return [fault.begin for fault in self.faults if part in fault.cuts and fault.begin <= end and (fault.end is None or fault.end >= begin)]
