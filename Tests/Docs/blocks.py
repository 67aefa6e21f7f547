"""The code blocks of a page, and what the comments above them say of them.

A block is fenced with its language, or indented by four columns. Comments of HTML directly above it, which readers do not see, may say

    <!-- not run: WHY -->             why nothing runs it
    <!-- tested: SUITE -->            the test that runs or compares it
    <!-- before: … -->                what has to stand before it, in the same language (for programs: lines of the shell)
    <!-- while: COMMAND -->           what the shell does again and again while the program of the block runs
    <!-- as: KIND -->                 what it is, where its language does not tell: script, page, procedure, calls, …

`<!-- tested: SUITE: LANGUAGE … -->` speaks for all blocks of these languages that follow without a comment of their own.
"""
import dataclasses
import re
import textwrap


@dataclasses.dataclass
class Block:
    page: str
    line: int
    section: str
    above: str
    language: str  # "" where it is indented
    text: str
    comments: dict

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks(page, text):
    """All blocks, in their order."""
    lines, found = text.split("\n"), []
    section, above, comments, everywhere, number = "", "", {}, {}, 0

    def block(line, language, content):
        nonlocal comments
        if not comments and language in everywhere:
            comments = {"tested": everywhere[language]}
        found.append(Block(page, line, section, above, language, textwrap.dedent("\n".join(content)).strip("\n") + "\n", comments))
        comments = {}

    while number < len(lines):
        line, start = lines[number], number
        fence = re.fullmatch(r" *(```+)(\S*) *", line)
        if fence:
            number += 1
            while number < len(lines) and lines[number].strip() != fence[1]:
                number += 1
            block(start + 1, fence[2] or "?", lines[start + 1:number])
        elif line.startswith("    ") and (start == 0 or not lines[start - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            number -= 1
            block(start + 1, "", lines[start:number + 1])
        elif line.strip().startswith("<!--"):
            while "-->" not in lines[number]:
                number += 1
            word, _, value = "\n".join(lines[start:number + 1]).strip()[4:-3].strip().partition(":")
            suite, _, languages = value.strip().partition(": ")
            if word == "tested" and languages:
                everywhere.update(dict.fromkeys(languages.split(), suite))
            else:
                comments[word] = textwrap.dedent(value).strip()
        elif line.strip():
            above, comments = line.strip(), {}
            if line.startswith("## "):
                section = line[3:].strip()
        number += 1
    return found
