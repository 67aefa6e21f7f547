"""The rows of the suite: what is measured, what it is compared with, and what is required of it."""

import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import time

import fairness
import macros
import workloads
from processes import Failure, Server, ask, memory
from report import Samples

PING_LINE = b"call?cmd=ping&id=1\n"
PONG_LINE = b"*1\r\n$4\r\nPING\r\n"


class Suite:
    """The options, the programs and the servers that several rows share."""

    def __init__(self, options, processes, report, progress):
        self.options = options
        self.processes = processes
        self.report = report
        self.progress = progress
        self.here = os.path.dirname(os.path.abspath(__file__))
        self.root = os.path.dirname(self.here)
        self.daemon_program = os.path.realpath(options.daemon)
        self.scripts_program = os.path.join(os.path.dirname(self.daemon_program), "quickconnect-scripts")
        self.load_program = processes.compile(os.path.join(self.here, "load.c"))
        self.shared = {}
        self.templates = {}

    # Servers

    def daemon(self, mappings=None, config=None, seconds=15):
        path = self.processes.path("quickconnectd")
        media = self.processes.path("media")
        os.mkdir(media)
        config = config or self.processes.write("quickconnectd.yaml", "")
        arguments = [
            self.daemon_program, "--config", config, "--socket", path, "--simulate", "--media", media,
            "--sounds", os.path.join(self.root, "sounds"),
            "--mappings", mappings or os.path.join(self.root, "mappings"),
        ]  # fmt: skip
        return Server(self.processes, "quickconnectd", arguments, path, PING_LINE, seconds)

    def redis(self, *more):
        if not shutil.which("redis-server"):
            return None
        path = self.processes.path("redis")
        folder = self.processes.path("redis-folder")
        os.mkdir(folder)
        arguments = [
            "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
            "--daemonize", "no", "--dir", folder, *more,
        ]  # fmt: skip
        return Server(self.processes, "redis-server", arguments, path, PONG_LINE)

    def node(self, script, *arguments, first_call=PING_LINE):
        if not shutil.which("node"):
            return None
        path = self.processes.path("node")
        return Server(self.processes, "node", ["node", os.path.join(self.here, script), path, *arguments], path, first_call)

    def common(self, name):
        """A server that several rows use. The first of them starts it."""
        server = self.shared.get(name)
        if server is None or not server.is_alive():
            make = {"quickconnectd": self.daemon, "redis-server": self.redis, "node": lambda: self.node("call-server.js")}
            server = self.shared[name] = make[name]()
        return server

    def end_row(self):
        """Ends what was started for one row only."""
        kept = [server.process for server in self.shared.values() if server is not None]
        for process in reversed([process for process in self.processes.running if process not in kept]):
            self.processes.stop(process)

    # The load client

    def load(self, server, workload, *arguments):
        """The figures of one measurement."""
        if workload not in self.templates:
            self.templates[workload] = self.processes.write("templates", workload.text())
        limit = self.options.limit
        command = [self.load_program, "--socket", server.socket, "--templates", self.templates[workload], "--limit", str(limit)]
        if workload.any_order:
            command.append("--any-order")
        try:
            output = self.processes.run([*command, *map(str, arguments)], limit + 5)
        except Failure as failure:
            raise Failure(f"{server.name}, {workload.name}: {failure}") from None
        self.progress(f"{server.name}, {workload.name}: {output.strip()}")
        return {name: float(value) for name, _, value in (pair.partition("=") for pair in output.split())}

    def many(self, server, workload, connections=1, under_way=None):
        pids = [argument for pid in server.pids() for argument in ("--pid", pid)]
        return self.load(
            server, workload, "--connections", connections, "--under-way", under_way or self.options.under_way,
            "--seconds", self.options.seconds, "--warmup", self.options.warmup, *pids,
        )  # fmt: skip

    def one(self, server, workload):
        return self.load(server, workload, "--latency", "--calls", self.options.calls)

    def rounds(self, contenders, measure):
        """The samples of each contender; they run in turns. A contender that fails once is left out from then on."""
        samples = {contender[0]: Samples() for contender in contenders}
        failed = set()
        for number in range(self.options.rounds):
            self.progress(f"round {number + 1} of {self.options.rounds}")
            for name, server, workload in contenders:
                if name in failed:
                    continue
                try:
                    samples[name].add(measure(server, workload))
                except Failure as failure:
                    self.report.note(f"Not measured: {name}: {failure}")
                    failed.add(name)
        return {name: found for name, found in samples.items() if name not in failed and found.rounds}


def there(contenders):
    """The contenders whose server is installed."""
    return [contender for contender in contenders if contender[1] is not None]


def ratio(samples, name, of, figure):
    if name not in samples or of not in samples:
        return None
    return samples[name].median(figure) / samples[of].median(figure)


def shown(value, format_="{:.2f}"):
    return "-" if value is None else format_.format(value)


def show_rates(suite, row, title, samples, peers):
    """The table of many calls under way. `peers` maps a column's name to the contender that the row's rate is divided by."""
    report = suite.report
    report.title(title)
    lines = []
    for name, found in samples.items():
        busy = found.median("client_busy_percent")
        line = [name] + [f"{value:.0f}" for value in (
            found.median("requests_per_second"), found.lowest("requests_per_second"),
            found.highest("requests_per_second"), found.median("server_cpu_ns"),
        )]  # fmt: skip
        line += [shown(ratio(samples, name, peer, "requests_per_second")) for peer in peers.values()]
        lines.append([*line, f"{busy:.0f} %"])
        report.keep(
            row, server=name, requests_per_second=found.median("requests_per_second"),
            rounds=found.values("requests_per_second"), cpu_ns_per_request=found.median("server_cpu_ns"),
            client_busy_percent=busy,
        )  # fmt: skip
    report.table(["server", "requests/s", "lowest", "highest", "CPU ns/request", *peers, "client busy"], lines)
    for name, found in samples.items():
        if found.median("client_busy_percent") >= 80:
            report.note(f"The client was the limit for {name}: its requests/s are too low.")


def show_waits(suite, row, title, samples):
    report = suite.report
    report.title(title)
    lines = []
    for name, found in samples.items():
        p50, p99 = found.median("p50_us"), found.median("p99_us")
        lines.append([name, f"{p50:.1f}", f"{p99:.1f}", f"{found.lowest('p99_us'):.1f}", f"{found.highest('p99_us'):.1f}"])
        report.keep(row, server=name, p50_us=p50, p99_us=p99, p50_rounds=found.values("p50_us"), p99_rounds=found.values("p99_us"))
    report.table(["server", "p50 µs", "p99 µs", "lowest p99", "highest p99"], lines)


def require_rate(suite, row, samples, name, of, least):
    value = ratio(samples, name, of, "requests_per_second")
    suite.report.require(row, f"{name} / {of}, requests/s", value, least)


# Rows 1 to 3: one command, 1,000 calls under way


def measure_post(suite):
    post_in(suite, "post", workloads.POST, "URL form", least_of_redis=1.0, least_of_node=2.5)


def measure_bridge(suite):
    post_in(suite, "bridge", workloads.BRIDGE, "bridge form", least_of_redis=0.8, least_of_node=None)


def post_in(suite, row, workload, form, least_of_redis, least_of_node):
    samples = suite.rounds(
        there([
            ("quickconnectd post", suite.common("quickconnectd"), workload),
            ("Redis SET", suite.common("redis-server"), workloads.REDIS_SET),
            ("Node.js post", suite.common("node"), workload),
        ]),
        suite.many,
    )  # fmt: skip
    title = f"{row}: post in the {form}, {suite.options.under_way} calls under way on one connection"
    show_rates(suite, row, title, samples, {"x Redis": "Redis SET", "x Node.js": "Node.js post"})
    require_rate(suite, row, samples, "quickconnectd post", "Redis SET", least_of_redis)
    if least_of_node:
        require_rate(suite, row, samples, "quickconnectd post", "Node.js post", least_of_node)


def measure_ping(suite):
    daemon = suite.common("quickconnectd")
    samples = suite.rounds(
        there([
            ("quickconnectd ping", daemon, workloads.PING),
            ("Redis PING", suite.common("redis-server"), workloads.REDIS_PING),
            ("quickconnectd ping, id first", daemon, workloads.PING_TURNED),
            ("quickconnectd ping, msg=null", daemon, workloads.PING_NULL),
        ]),
        suite.many,
    )  # fmt: skip
    title = f"ping: {suite.options.under_way} calls under way on one connection"
    show_rates(suite, "ping", title, samples, {"x Redis": "Redis PING", "x ping": "quickconnectd ping"})
    require_rate(suite, "ping", samples, "quickconnectd ping", "Redis PING", 1.2)
    value = ratio(samples, "quickconnectd ping", "Redis PING", "server_cpu_ns")
    suite.report.require("ping", "quickconnectd ping / Redis PING, CPU a request", value, 0.9, is_least=False)


# Row 4: a command that a script answers


def script_servers(suite):
    if not os.access(suite.scripts_program, os.X_OK):
        suite.report.note("quickconnect-scripts is not beside quickconnectd: a script's command is left out.")
        daemon = None
    else:
        daemon = suite.daemon()
        script = suite.processes.write("twice.js", "WebViewJavascriptBridge.registerHandler('twice', data => data[0] * 2)\n")
        arguments = [suite.scripts_program, "--socket", daemon.socket, script]
        daemon.others.append(suite.processes.start(arguments, suite.processes.path("scripts.log")))
        await_reply(daemon.socket, b"call?cmd=twice&msg=21&id=1\n", b"handleJSONRequest?cmd=twice&msg=42&id=1\n")
    fork, pipe = (suite.node("script-server.js", kind, first_call=b"call?cmd=twice&msg=21&id=1\n") for kind in ("fork", "pipe"))
    return daemon, fork, pipe


def await_reply(path, request, reply, seconds=15):
    deadline = time.monotonic() + seconds
    while True:
        found = ask(path, request, seconds)
        if found == reply:
            return
        if time.monotonic() > deadline:
            raise Failure(f"expected {reply!r}, got {found!r}")
        time.sleep(0.02)


def measure_scripts(suite):
    daemon, fork, pipe = script_servers(suite)
    redis = suite.common("redis-server")
    evalsha = None
    if redis is not None:
        digest = hashlib.sha1(workloads.LUA.encode()).hexdigest()
        ask(redis.socket, b"*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%d\r\n%s\r\n" % (len(workloads.LUA), workloads.LUA.encode()), 5)
        evalsha = workloads.evalsha(digest)
    contenders = there([
        ("quickconnectd script", daemon, workloads.TWICE),
        ("Node.js fork", fork, workloads.TWICE),
        ("Node.js pipes", pipe, workloads.TWICE),
        ("Redis EVALSHA", redis, evalsha),
    ])  # fmt: skip
    many = suite.rounds(contenders, suite.many)
    one = suite.rounds(contenders, suite.one)
    peers = {"x fork": "Node.js fork", "x pipes": "Node.js pipes", "x EVALSHA": "Redis EVALSHA"}
    title = f"scripts: a script's command, {suite.options.under_way} calls under way on one connection"
    show_rates(suite, "scripts", title, many, peers)
    show_waits(suite, "scripts", "scripts: one call at a time", one)
    ratios = [ratio(many, "quickconnectd script", peer, "requests_per_second") for peer in ("Node.js fork", "Node.js pipes")]
    value = None if None in ratios else min(ratios)
    suite.report.require("scripts", "quickconnectd / the quicker of Node.js fork and pipes, calls/s", value, 2.0)


# A macro compared with a script, and values

TIMED_CALLS = 2000
SUBSCRIBERS = 100


def measure_macros(suite):
    if not os.access(suite.scripts_program, os.X_OK):
        raise Failure("quickconnect-scripts is not beside quickconnectd")
    daemon = suite.daemon()
    macros.start_host(suite.processes, suite.scripts_program, daemon)
    await_reply(daemon.socket, macros.run_line("empty"), b"handleJSONRequest?cmd=macro&msg=null&id=1\n")
    await_reply(daemon.socket, b"call?cmd=empty&id=1\n", b"handleJSONRequest?cmd=empty&msg=null&id=1\n")
    contenders = [("a script's command", daemon, workloads.EMPTY_SCRIPT), ("macro run", daemon, workloads.EMPTY_MACRO)]
    many = suite.rounds(contenders, suite.many)
    one = suite.rounds(contenders, suite.one)
    title = f"macros: an empty macro beside a script's empty command, {suite.options.under_way} calls under way"
    show_rates(suite, "macros", title, many, {"x script": "a script's command"})
    show_waits(suite, "macros", "macros: one call at a time", one)
    require_rate(suite, "macros", many, "macro run", "a script's command", 0.9)
    show_values(suite, daemon)


def show_values(suite, daemon):
    samples = {name: Samples() for name in ("get", "set", f"set, {SUBSCRIBERS} subscribers")}
    for _ in range(suite.options.rounds):
        samples["get"].add({"us": timed(suite, daemon, "gets")})
        samples["set"].add({"us": timed(suite, daemon, "sets")})
        subscribers = macros.Subscribers(daemon.socket, "innerProgress", SUBSCRIBERS)
        samples[f"set, {SUBSCRIBERS} subscribers"].add({"us": timed(suite, daemon, "sets")})
        events, expected = subscribers.end(), SUBSCRIBERS * (TIMED_CALLS + macros.WARMUP)
        if events != expected:
            raise Failure(f"{events} events came, not {expected}")
    suite.report.title("macros: a value, from a macro, microseconds each")
    lines = []
    for name, found in samples.items():
        figures = (found.median("us"), found.lowest("us"), found.highest("us"))
        lines.append([name, *(f"{value:.1f}" for value in figures)])
        suite.report.keep("macros", what=name, us=figures[0], rounds=found.values("us"))
    suite.report.table(["", "µs", "lowest", "highest"], lines)


def timed(suite, daemon, name):
    reply = ask(daemon.socket, macros.run_line(name, TIMED_CALLS), suite.options.limit)
    try:
        return macros.value_of(reply)
    except ValueError:
        raise Failure(f"the macro {name} answered {reply!r}") from None


# Row 5: one call at a time, and 50 connections


def measure_single(suite):
    daemon, redis = suite.common("quickconnectd"), suite.common("redis-server")
    samples = suite.rounds(
        there([
            ("quickconnectd post", daemon, workloads.POST),
            ("Redis SET", redis, workloads.REDIS_SET),
            ("quickconnectd ping", daemon, workloads.PING),
            ("Redis PING", redis, workloads.REDIS_PING),
        ]),
        suite.one,
    )  # fmt: skip
    show_waits(suite, "single", "single: one call at a time", samples)
    for name, peer in (("quickconnectd post", "Redis SET"), ("quickconnectd ping", "Redis PING")):
        suite.report.require("single", f"{name} / {peer}, p99", ratio(samples, name, peer, "p99_us"), 1.1, is_least=False)


def measure_connections(suite):
    samples = suite.rounds(
        there([
            ("quickconnectd post", suite.common("quickconnectd"), workloads.POST),
            ("Redis SET", suite.common("redis-server"), workloads.REDIS_SET),
            ("Node.js post", suite.common("node"), workloads.POST),
        ]),
        lambda server, workload: suite.many(server, workload, connections=50, under_way=16),
    )  # fmt: skip
    peers = {"x Redis": "Redis SET", "x Node.js": "Node.js post"}
    show_rates(suite, "connections", "connections: 50 of them, 16 calls under way on each", samples, peers)
    require_rate(suite, "connections", samples, "quickconnectd post", "Redis SET", 1.0)


# Row 6: 100,000 commands


def mapping_folder(suite, names, files=1):
    folder = suite.processes.path("mappings")
    os.mkdir(folder)
    shutil.copy(os.path.join(suite.root, "mappings", "daemon.yaml"), folder)
    part = -(-len(names) // files)
    for number in range(files):
        with open(os.path.join(folder, f"many{number}.yaml"), "w", encoding="utf8") as file:
            file.write(workloads.mappings(names[number * part : (number + 1) * part]))
    return folder


def folder_of_many(suite, names):
    """All in one file; if the daemon refuses that, in several, so that the rest can be measured."""
    folder = mapping_folder(suite, names)
    try:
        suite.daemon(folder, seconds=60).stop()
    except Failure as failure:
        suite.report.note(f"{len(names)} commands in one file were refused, so they are in ten: {failure}")
        suite.report.require("commands", f"{len(names)} commands in one file, accepted", 0, 1)
        return mapping_folder(suite, names, files=10)
    suite.report.require("commands", f"{len(names)} commands in one file, accepted", 1, 1)
    return folder


def measure_starts(suite, folders):
    starts, rss = {count: Samples() for count in folders}, {}
    for _ in range(suite.options.rounds):
        for count, folder in folders.items():
            server = suite.daemon(folder, seconds=60)
            suite.progress(f"{count} commands: start_seconds={server.start_seconds:.3f}")
            starts[count].add({"start_seconds": server.start_seconds})
            rss[count] = memory(server.pid)["rss"]
            server.stop()
    return starts, rss


def learn_unknown(suite, server, names):
    """The replies depend on the table, since they name similar commands, so one call each collects them."""
    pairs = []
    for name in names:
        request = f"call?cmd={workloads.encode(name)}&id={{id}}\n"
        reply = ask(server.socket, request.replace("{id}", "7777777").encode(), suite.options.limit).decode()
        if "%22code%22%3A%22unknownCommand%22" not in reply or not reply.endswith("&id=7777777\n"):
            raise Failure(f"expected unknownCommand, got {reply[:200]!r}")
        pairs.append((request, reply[: -len("7777777\n")] + "{id}\n"))
    return pairs


def measure_commands(suite):
    few_count, many_count = 25, 100000
    names = workloads.command_names(many_count)
    near = workloads.near_names(names)
    taken = set(names).intersection(near + workloads.FAR_NAMES)
    if taken:
        raise Failure(f"these must be unknown: {taken}")
    folders = {few_count: mapping_folder(suite, names[:few_count]), many_count: folder_of_many(suite, names)}
    starts, rss = measure_starts(suite, folders)
    samples = {}
    for kind, called in (("mapped", names[:16]), ("unknown, near", near), ("unknown, far", workloads.FAR_NAMES)):
        # Separate daemons for each kind: one that is too slow for a kind is still busy with it long after the client has left.
        servers = {count: suite.daemon(folder, seconds=60) for count, folder in folders.items()}
        contenders = []
        for count, server in servers.items():
            pairs = [workloads.url(name) for name in called] if kind == "mapped" else learn_unknown(suite, server, called)
            contenders.append((f"{kind}, {count} commands", server, workloads.Workload(kind, pairs)))
        samples.update(suite.rounds(contenders, suite.many))
        for server in servers.values():
            server.stop()
    title = f"commands: 100,000 mapped ones beside 25, {suite.options.under_way} calls under way on one connection"
    show_rates(suite, "commands", title, samples, {})
    for kind in ("mapped", "unknown, near", "unknown, far"):
        require_rate(suite, "commands", samples, f"{kind}, {many_count} commands", f"{kind}, {few_count} commands", 0.9)
    suite.report.title("commands: the start, from exec to the first answer")
    lines = []
    for count, found in starts.items():
        figures = (found.median("start_seconds"), found.lowest("start_seconds"), found.highest("start_seconds"))
        lines.append([f"{count} commands", *(f"{value:.3f}" for value in figures), f"{rss[count] / 1e6:.1f}"])
        suite.report.keep("commands", commands=count, start_seconds=figures[0], rss_bytes=rss[count])
    suite.report.table(["", "seconds", "lowest", "highest", "RSS MB"], lines)
    value = starts[many_count].median("start_seconds")
    suite.report.require("commands", "start with 100,000 commands, seconds", value, 2.0, is_least=False)


# Row 7: 10,000 idle connections

IDLE_CONNECTIONS = 10000
# After its start, a server frees what only the start needed.
START_SECONDS = 8
# Once a second, Redis halves the buffers of an idle connection: it takes a dozen seconds until they are small.
REST_SECONDS = 20


def hold_idle(suite, server, workload):
    """Connections that made one call each; a client holds them until its input ends."""
    templates = suite.processes.write("templates", workload.text())
    reader, writer = os.pipe()
    log = suite.processes.path("idle.log")
    output = suite.processes.path("idle.out")
    with open(output, "wb") as file:
        arguments = [
            suite.load_program, "--idle", "--connections", str(IDLE_CONNECTIONS), "--socket", server.socket,
            "--templates", templates, "--limit", str(suite.options.limit),
        ]  # fmt: skip
        client = suite.processes.start(arguments, log, stdin=reader, stdout=file)
    os.close(reader)
    deadline = time.monotonic() + suite.options.limit
    while os.path.getsize(output) == 0:
        if client.poll() is not None or time.monotonic() > deadline:
            with open(log, encoding="utf8") as file:
                raise Failure(f"{server.name}, idle connections: {file.read().strip()[-300:]}")
        time.sleep(0.02)
    return client, writer


def end_idle(suite, server, client, writer):
    """The client calls once more on each connection, to prove that none was lost."""
    os.close(writer)
    try:
        status = client.wait(suite.options.limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"{server.name}: the client of the idle connections did not end") from None
    if status != 0:
        suite.report.note(f"{server.name}: not all of the idle connections were answered in the end.")


def measure_idle(suite):
    row, report = "idle", suite.report
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < IDLE_CONNECTIONS + 500:
        raise Failure(f"this system allows too few descriptors for {IDLE_CONNECTIONS} connections")
    settings = suite.processes.write("quickconnectd.yaml", f"limits:\n  connections: {IDLE_CONNECTIONS + 1000}\n")
    most = ("--maxclients", str(IDLE_CONNECTIONS + 1000))
    kinds = {
        "quickconnectd": (lambda: suite.daemon(config=settings), workloads.PING),
        "Redis": (lambda: suite.redis(*most), workloads.REDIS_PING),
    }
    servers = {name: (make(), make(), workload) for name, (make, workload) in kinds.items()}
    servers = {name: found for name, found in servers.items() if found[0] is not None}
    time.sleep(START_SECONDS)
    before, soon, clients = {}, {}, {}
    for name, (crowded, _, workload) in servers.items():
        suite.load(crowded, workload, "--latency", "--calls", 100)
        before[name] = memory(crowded.pid)
        clients[name] = hold_idle(suite, crowded, workload)
        soon[name] = memory(crowded.pid)
    time.sleep(REST_SECONDS)
    report.title(
        f"idle: memory for each of {IDLE_CONNECTIONS} connections that made a call; at once, and after {REST_SECONDS} s of rest"
    )
    lines, growth = [], {}
    for name, (crowded, _, _) in servers.items():
        after = memory(crowded.pid)

        def each(values, kind):
            return (values[kind] - before[name][kind]) / IDLE_CONNECTIONS

        growth[name] = {kind: each(after, kind) for kind in ("rss", "pss")}
        figures = [each(soon[name], "rss"), growth[name]["rss"], growth[name]["pss"]]
        lines.append([name, *(f"{value:.0f}" for value in figures), f"{after['rss'] / 1e6:.1f}"])
        report.keep(
            row, server=name, rss_bytes_each_at_once=figures[0], rss_bytes_each=figures[1], pss_bytes_each=figures[2],
            rss_bytes=after["rss"],
        )  # fmt: skip
    report.table(["server", "RSS bytes each, at once", "at rest", "PSS at rest", "RSS MB at rest"], lines)
    for kind in ("rss", "pss"):
        value = growth["quickconnectd"][kind] / growth["Redis"][kind] if "Redis" in growth else None
        report.require(row, f"quickconnectd / Redis, {kind.upper()} for each connection at rest", value, 1.0, is_least=False)
    contenders = []
    for name, (crowded, empty, workload) in servers.items():
        contenders += [(f"{name}, without", empty, workload), (f"{name}, with {IDLE_CONNECTIONS} idle", crowded, workload)]
    samples = suite.rounds(contenders, suite.one)
    show_waits(suite, row, "idle: one ping at a time, with the idle connections and without", samples)
    value = ratio(samples, f"quickconnectd, with {IDLE_CONNECTIONS} idle", "quickconnectd, without", "p50_us")
    report.require(row, "quickconnectd with / without, p50", value, 1.1, is_least=False)
    for name, (crowded, _, _) in servers.items():
        end_idle(suite, crowded, *clients[name])


# Row 8: fairness

TRIES = 3
MOST_WAIT_MS = 10.0
MOST_RSS_MB = 64.0
# From the last reply to the memory measurement. fair.c reads on for half a second of it.
UNTIL_RSS_SECONDS = 2.0 - 0.5


def one_try(suite, program, server, disturbance, files):
    received = suite.processes.path("received")
    arguments = [
        program, "--socket", server.socket, "--send", files["send"], "--replies", str(len(disturbance.ids)),
        "--received", received, "--limit", str(suite.options.limit),
    ]  # fmt: skip
    if disturbance.subscribe:
        arguments += ["--subscribe", files["subscribe"], "--events", "1"]
    if disturbance.closes:
        arguments.append("--close")
    if disturbance.more:
        arguments += ["--more", str(disturbance.more)]
    output = suite.processes.run(arguments, suite.options.limit + 10)
    time.sleep(UNTIL_RSS_SECONDS)
    figures = {name: float(value) for name, _, value in (pair.partition("=") for pair in output.split())}
    if not server.is_alive():
        raise Failure("quickconnectd ended")
    figures["rss_mb"] = memory(server.pid)["rss"] / 1e6
    with open(received, "rb") as file:
        figures["wrong"] = disturbance.wrong(file.read())
    os.unlink(received)
    if disturbance.event and (figures["events"], figures["event_bytes"]) != (1, len(disturbance.event)):
        figures["wrong"] = f"{figures['events']:.0f} events of {figures['event_bytes']:.0f} bytes"
    if figures["dropped"]:
        figures["wrong"] = f"the client was dropped after {figures['replies']:.0f} replies"
    suite.progress(f"{disturbance.name}: {output.strip()} rss_mb={figures['rss_mb']:.1f}")
    return figures


def measure_fairness(suite):
    report = suite.report
    program = suite.processes.compile(os.path.join(suite.here, "fair.c"))
    lines, wrongs = [], []
    for disturbance in fairness.disturbances():
        if suite.options.sends and suite.options.sends not in disturbance.name:
            continue
        files = {"send": suite.processes.write("send", disturbance.sent)}
        if disturbance.subscribe:
            files["subscribe"] = suite.processes.write("subscribe", disturbance.subscribe)
        tries, failure = [], None
        # A new daemon for each, so that none is affected by an earlier one.
        server = suite.daemon()
        at_start = memory(server.pid)["rss"] / 1e6
        for _ in range(TRIES):
            try:
                tries.append(one_try(suite, program, server, disturbance, files))
            except Failure as error:
                failure = str(error)
                break
        server.stop()
        for path in files.values():
            os.unlink(path)
        lines.append(keep_disturbance(report, disturbance, tries, failure, at_start))
        wrong = failure or next((found["wrong"] for found in tries if found["wrong"]), None)
        if wrong:
            wrongs.append(f"{disturbance.name}: {wrong}")
    report.title("fairness: the longest wait of a neighbour that sends one ping after another, ms")
    columns = ["wait", "all tries", "alone", "took s", "reply MB", "RSS MB at start", "2 s later"]
    report.table(["what another client sends", *columns], lines)
    for wrong in wrongs:
        report.note(f"Wrong: {wrong}")


def keep_disturbance(report, disturbance, tries, failure, at_start):
    name, row = disturbance.name, "fairness"
    whole = failure is None and len(tries) == TRIES

    def all_of(figure):
        return [found[figure] for found in tries]

    wait = min(all_of("disturbed_longest_ms")) if whole else None
    rss = max(all_of("rss_mb")) if whole else None
    right = None if not whole else sum(found["wrong"] is None for found in tries)
    report.require(row, f"{name}: longest wait, ms", wait, MOST_WAIT_MS, is_least=False)
    report.require(row, f"{name}: tries with one right reply for each call", right, TRIES)
    report.require(row, f"{name}: RSS 2 s later, MB", rss, MOST_RSS_MB, is_least=False)
    report.keep(row, what=name, longest_wait_ms=wait, rss_mb=rss, rss_mb_at_start=at_start, failure=failure, tries=tries)
    if not tries:
        return [name, "-", "-", "-", "-", "-", f"{at_start:.1f}", "-"]
    return [
        name, shown(wait), " ".join(shown(value) for value in all_of("disturbed_longest_ms")),
        " ".join(shown(value) for value in all_of("alone_longest_ms")),
        f"{statistics.median(all_of('seconds')):.2f}", f"{max(all_of('reply_bytes')) / 1e6:.1f}",
        f"{at_start:.1f}", " ".join(f"{value:.1f}" for value in all_of("rss_mb")),
    ]  # fmt: skip


ROWS = {
    "post": measure_post,
    "bridge": measure_bridge,
    "ping": measure_ping,
    "scripts": measure_scripts,
    "macros": measure_macros,
    "single": measure_single,
    "connections": measure_connections,
    "commands": measure_commands,
    "idle": measure_idle,
    "fairness": measure_fairness,
}
