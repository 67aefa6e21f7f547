"""The table at the end, and whether each row is within its bound."""
import collections
import os

import sizes

from bounds import (AUDIT_LINES, AUDIT_USERS, BUSY, GROWTH_DESCRIPTORS, GROWTH_KIB, GROWTH_PART, GROWTH_PROCESSES, GROWTH_THREADS, LINES_ALWAYS, LINES_FAULT, LINES_RUDE,
                    LONGEST_PROCEDURE, LONGEST_WAIT)


class Table:
    def __init__(self, ledger):
        self.ledger = ledger
        self.rows = []
        self.details = []

    def row(self, name, figures, bound, is_right):
        """A problem that was noted under the row's name also makes it wrong."""
        noted = [each for each in self.ledger.problems if each[0] == name]
        self.rows.append((name, figures, bound, is_right and not noted))

    def detail(self, records, what):
        for way, kind, _, sent, ended, text in records[:10]:
            self.details.append(f"  {what}: {way}, {kind}, at {sent - self.ledger.start:.1f} s, over at {ended - self.ledger.start:.1f} s: {text}")
        if records:
            self.details.append("  before: " + "; ".join(self.ledger.told_before(records[0][3] - self.ledger.start)))

    def print(self, seed):
        width = max(len(row[0]) for row in self.rows)
        print(f"\n{'':2}{'check':{width}}  {'must be':28}  figures")
        for name, figures, bound, is_right in self.rows:
            print(f"{'✔' if is_right else '✘'} {name:{width}}  {bound:28}  {figures}")
        for line in self.details:
            print(line)
        shown = collections.Counter()
        for check, when, text in self.ledger.problems:
            shown[check] += 1
            if shown[check] <= 5:
                print(f"  seed {seed}, at {when:.1f} s, {check}: {text}")
        return all(row[3] for row in self.rows)


def show(soak):
    ledger = soak.ledger
    table = Table(ledger)
    counts = ledger.counts
    for name, way in sorted(ledger.ways.items()):
        table.row(f"calls, {name}", f"{way.sent} sent = {way.replied} final replies + {way.lost} lost with their connection; {way.errors} errors",
                  "sent = replies + lost", way.sent == way.replied + way.lost and way.replied > 0)
    noted = [each for each in ledger.problems if each[0] == "final replies"]
    table.row("final replies", f"{len(noted)} calls without one", "0 without one", not noted)
    twice = sum(way.twice for way in ledger.ways.values())
    table.row("replies twice", twice, "0", twice == 0)
    table.row("replies right", f"{sum(way.replied for way in ledger.ways.values())} looked at", "each as its call", True)
    losses = ledger.unexplained_losses()
    table.row("connections cut", f"{len(ledger.losses)} by kills, {len(losses)} by nothing", "0 by nothing", not losses)
    table.detail(losses, "cut by nothing")
    # On a machine that is busier than BUSY programs for each core, times are longer in that proportion, and what runs with the lowest
    # priority may get no time.
    slow = max(1, soak.load / os.cpu_count() / BUSY)
    errors = [each for each in ledger.unexplained_errors() if slow == 1 or each[1] != "procedure" or not each[5].startswith("timeout")]
    table.row("errors without a fault", f"{len(errors)} of {len(ledger.errors)}: {dict(ledger.errors_by_code)}", "0", not errors)
    table.detail(errors, "no fault explains")
    kinds = collections.Counter((kind, text.split(":")[0]) for _, kind, _, _, _, text in ledger.errors)
    samples = {(each[1], each[5].split(":")[0]): each[5] for each in ledger.errors}
    made, answered, double = counts["handler calls made"], counts["handler calls answered"], counts["handler calls made twice"]
    table.row("handler calls", f"{made} made, {answered} answered to clients that count, {double} twice", "none twice", double == 0 and 0 < answered <= made)
    posted = sum(1 for each in soak.poster.posted.values() if each[1])
    table.row("events", "; ".join(f"{way}: {posted} posted, {heard} heard, {told} while it was cut off" for way, heard, told in soak.events)
              + f"; {counts['positions heard']} positions, {soak.subscribers[0].gaps} missing, {soak.subscribers[0].dropped} of these told",
              "posted = heard + cut off", all(heard >= posted - told and heard > 0 for _, heard, told in soak.events))
    started, whole = counts["recordings started"], counts["recordings whole"]
    ended = counts["recordings ended with an error"]
    table.row("recordings", f"{started} started, {whole} whole ({counts['recordings recovered']} after a kill), {ended} ended with an error; "
              f"{counts['recordings refused']} refused", "started = whole + errors", started == whole + ended and whole > 0)
    table.row("values", f"{counts['values set']} set, {counts['values read']} read, {counts['values read after a kill']} of these after a kill",
              "read = set last", counts["values read"] > 0)
    saved = sum(number for name, number in counts.items() if name.startswith("fault save"))
    table.row("saved files", f"{saved} saved", "right ones count, wrong ones not", True)
    waited = {name: number for name, number in counts.items() if name.startswith("waited for")}
    table.row("descriptors", f"{dict(waited)}", "who waited is served or told", True)
    seconds, kind, when = ledger.longest_wait()
    longest = LONGEST_WAIT * slow
    calm = ledger.calm_seconds(("daemon",), ledger.start + soak.seconds)
    table.row("longest wait", f"{seconds:.2f} s without a fault ({kind}, at {when:.0f} s; {calm:.0f} s were without one of the daemon); "
              + ", ".join(f"{name} {ledger.longest_wait(name)[0]:.2f}" for name in sorted(ledger.ways)), f"at most {longest:.1f} s (load {soak.load:.0f})", seconds <= longest)
    seconds, _, when = ledger.longest_wait(procedures=True)
    table.row("longest procedure", f"{seconds:.2f} s without a fault, at {when:.0f} s", f"at most {LONGEST_PROCEDURE * slow:.0f} s", seconds <= LONGEST_PROCEDURE * slow)
    table.row("programs that ended", f"{sum(each[0] == 'programs that ended' for each in ledger.problems)} by themselves", "0", True)
    table.row("clients", f"{sum(each[0] == 'clients' for each in ledger.problems)} failed", "0", True)
    size_rows(table, soak)
    log_rows(table, soak)
    print(f"\nseed {soak.seed}, {soak.seconds:.0f} s, load {os.getloadavg()[0]:.1f}; faults:")
    for name, number in sorted((name, number) for name, number in counts.items() if name.startswith("fault ")):
        print(f"  {number:4} {name[6:]}")
    print("rude clients: " + ", ".join(f"{name[6:]} {number}" for name, number in sorted(counts.items()) if name.startswith("rude: ")))
    for name, number in sorted(counts.items()):
        if name.startswith("out of memory"):
            print(f"  {number:4} {name}")
    print("errors, such as:")
    for (kind, code), number in kinds.most_common():
        print(f"  {number:6} {kind}: {samples[kind, code][:140]}")
    return table.print(soak.seed)


def size_rows(table, soak):
    noted = []
    for name, last in soak.last.items():
        first = soak.first[name]
        more = max(1, last.processes / first.processes)
        most = (max(first.own_kib * (1 + GROWTH_PART), first.own_kib + GROWTH_KIB) * more, int(first.descriptors * more) + GROWTH_DESCRIPTORS,
                int(first.threads * more) + GROWTH_THREADS, first.processes + GROWTH_PROCESSES)
        is_right = last.own_kib <= most[0] and all(now <= allowed for now, allowed in zip(last[2:], most[1:]))
        noted.append(is_right)
        table.row(f"sizes, {name}", f"own memory {first.own_kib / 1024:.1f} → {last.own_kib / 1024:.1f} MiB, PSS {first.pss_kib / 1024:.1f} → {last.pss_kib / 1024:.1f} MiB, "
                  f"descriptors {first.descriptors} → {last.descriptors}, threads {first.threads} → {last.threads}, processes {first.processes} → {last.processes}",
                  f"≤ {most[0] / 1024:.0f} MiB, {most[1]}, {most[2]}, {most[3]}", is_right)


def log_rows(table, soak):
    counts = soak.ledger.counts
    faults = len(soak.ledger.faults)
    rude = sum(number for name, number in counts.items() if name.startswith("rude: "))
    most = LINES_ALWAYS + LINES_FAULT * faults + LINES_RUDE * rude
    for name in soak.device.running:
        audit, others = sizes.log_lines(soak.device.folder / f"{name}.log")
        bound = AUDIT_LINES * soak.seconds * AUDIT_USERS
        table.row(f"log, {name}", f"{others} lines, {audit} of the audit log", f"≤ {most} and {bound:.0f}", others <= most and audit <= bound)
