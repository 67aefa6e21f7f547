"""llhttp's request corpus: Markdown with requests, and with what a parser is to tell of each."""
import json
import re

# Errors with which the parser gives way to another protocol. The request before is a good one.
GIVES_WAY = {"22", "23"}
BEHIND_THE_LAST = {"5"}


class Case:
    """A request or several, and what llhttp makes of them."""

    def __init__(self, file, name, meta, text, log):
        self.name = f"{file}: {name}"
        self.meta = meta
        self.bytes = plain(text)
        self.log = log.splitlines()
        self.methods = re.findall(r'span\[method\]="(.*)"', log)
        # How many requests are begun, and how many of them are complete.
        self.begun = log.count(" message begin")
        self.count = log.count(" message complete")
        errors = dict(re.findall(r'error code=(\d+) reason="(.*)"', log))
        self.is_complete = self.begun == self.count > 0
        # A lenient parser goes on behind the last request; a strict one may not.
        is_kept_open = meta["type"] == "request-lenient-keep-alive"
        self.is_complete |= is_kept_open
        # What only a lenient parser takes is a mistake. Data behind the last request are none.
        is_strict = meta["type"] in ("request", "request-finish") and "skipBody" not in meta
        # Whether its mistake stands, or may stand, behind a valid head.
        self.is_read_to_the_body = log.count(" headers complete") > self.count or not is_strict and " chunk header" in log
        self.is_wrong = not is_kept_open and (not is_strict or bool(errors.keys() - GIVES_WAY - BEHIND_THE_LAST))
        self.ends = self.is_complete and (is_kept_open or bool(errors) or not self.stays_open())

    @property
    def may_go_on(self):
        """Whether what stands behind it is a request."""
        return self.is_complete and not self.is_wrong and not self.ends

    def stays_open(self):
        """Whether a further request may follow the last one."""
        _, version, flags = re.findall(r"headers complete method=(\d+) v=(\d/\d) flags=([0-9a-f]+)", "\n".join(self.log))[-1]
        is_kept, is_closed = int(flags, 16) & 1, int(flags, 16) & 2
        return bool(is_kept) if version == "1/0" else not is_closed

    @property
    def versions(self):
        """Of each request where its first line ends, and whether it has a Host."""
        found = []
        for line in self.log:
            if line.endswith("version complete"):
                found.append((int(re.match(r"off=(\d+)", line)[1]), False))
            elif re.search(r'span\[header_field\]="host"', line, re.I) and found:
                found[-1] = found[-1][0], True
        return found

    @property
    def begins_without_host(self):
        return bool(self.versions) and not self.versions[0][1]

    def with_host(self, host):
        """The bytes with a Host in each request that has none: without it, the gateway would look no further."""
        text = self.bytes
        for offset, has_host in reversed(self.versions):
            if not has_host:
                text = text[:offset] + b"\r\nHost: " + host.encode() + text[offset:]
        return text


def plain(text):
    """The bytes that a block stands for: the corpus' own rules, in their order."""
    text = re.sub(r"\\\n", "", text).replace("\n", "\r\n")
    for escape, character in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escape, character)
    text = re.sub(r"\\x([0-9a-fA-F]+)", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"\\([0-7]{1,3})", lambda found: chr(int(found[1], 8)), text)
    assert "${" not in text, "this block has JavaScript in it, which is not known here"
    return text.encode()


def cases(path):
    """The cases of one file."""
    text = path.read_text()
    found = []
    name, meta, request = "", None, None
    pattern = r"^#+ (?P<name>[^\n]*)$|^<!-- meta=(?P<meta>[^\n]*?) *-->$|^```(?P<kind>http|log)\n(?P<block>.*?)\n?```$"
    for part in re.finditer(pattern, text, re.M | re.S):
        if part["kind"] == "http":
            request = part["block"]
        elif part["kind"] == "log":
            found.append(Case(path.stem, name, meta, request, part["block"]))
        elif part["meta"]:
            meta = json.loads(part["meta"])
        else:
            name = part["name"]
    return found
