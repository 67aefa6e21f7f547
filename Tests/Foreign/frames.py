"""Autobahn's suite against the gateway's own frames."""
import ast
import json
import re
import subprocess

import fetched
from rig import ends_with_caller

# 12 and 13 are about compression, which the gateway does not offer.
GROUPS = {
    "1": "frames", "2": "pings and pongs", "3": "reserved bits", "4": "opcodes", "5": "fragments", "6": "UTF-8",
    "7": "closes", "9": "limits and performance", "10": "automatic fragments",
}
# Of a whole run. It takes 15 s to a minute; without FASTER, some minutes.
SECONDS = 580


def results(programs):
    """The cases that the suite knows, and what it found: {case: {behavior, behaviorClose}}."""
    command, environment = fetched.autobahn()
    folder = fetched.HOME / "reports"
    folder.mkdir(exist_ok=True)
    index = folder / "index.json"
    index.unlink(missing_ok=True)
    echo = subprocess.Popen([programs / "frame-echo"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=ends_with_caller)
    try:
        port = echo.stdout.readline().strip()
        (folder / "spec.json").write_text(json.dumps({
            "options": {"failByDrop": False}, "outdir": str(folder), "cases": [f"{each}.*" for each in GROUPS], "exclude-cases": [],
            "exclude-agent-cases": {}, "servers": [{"agent": "quickconnect", "url": f"ws://127.0.0.1:{port}"}]}))
        done = subprocess.run([*command, "-m", "fuzzingclient", "-s", folder / "spec.json"], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    finally:
        echo.kill()
        echo.wait()
        echo.stdout.close()
    known = re.search(r"^Cases = (\[.*\])$", done.stdout, re.M)
    assert known and index.exists(), done.stdout[-2000:]
    return ast.literal_eval(known[1]), json.loads(index.read_text())["quickconnect"]


def tests(programs):
    """Of each group a title and a body."""
    found = []

    def group(number):
        def body():
            if not found:
                try:
                    found.append(results(programs))
                except Exception as error:  # Once is enough.
                    found.append(error)
            if isinstance(found[0], Exception):
                raise found[0]
            cases, told = found[0]
            own = [each for each in cases if each.split(".")[0] == number]
            assert own, f"the suite knows no case of group {number}, only {cases[:20]} …"
            wrong = []
            for case in own:
                result = told.get(case, {})
                ways = {result.get("behavior", "missing"), result.get("behaviorClose", "missing")}
                # Not strict: it was refused, but late. Informational: there is no right and wrong.
                if not ways <= {"OK", "INFORMATIONAL"}:
                    wrong.append(f"{case}: {', '.join(sorted(ways))}, {fetched.HOME.name}/reports/{result.get('reportfile', '')}")
            assert not wrong, "\n".join(wrong)
        return body

    for number, name in GROUPS.items():
        yield f"Autobahn {number}: {name}", group(number)
