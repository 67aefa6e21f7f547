#!/usr/bin/env python3
# Answers the command «contacts» from a vCard file (RFC 6350), such as an address book exports: [{name, phones, emails}], of all, or of
# those in whose name, number or address the words are. The file is read at each call.
# With python3-quickconnect, or from the sources:  PYTHONPATH=clients/python python3 Examples/python/contacts.py contacts.vcf
import re
import sys

import quickconnect


def cards(text):
    """The cards of a file, with their properties as (NAME, value)."""
    # A line that begins with a space continues the one before.
    lines = re.sub(r"\r?\n[ \t]", "", text).splitlines()
    card = None
    for line in lines:
        head, _, value = line.partition(":")
        name = head.split(";")[0].rpartition(".")[2].upper()
        if name == "BEGIN":
            card = []
        elif name == "END" and card is not None:
            yield card
            card = None
        elif card is not None:
            card.append((name, re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value)))


def contact(card):
    values = lambda name: [value.removeprefix("tel:").removeprefix("mailto:") for key, value in card if key == name]
    return {"name": (values("FN") + [""])[0], "phones": values("TEL"), "emails": values("EMAIL")}


def contacts(path, words):
    if not isinstance(words, (str, type(None))):
        raise quickconnect.Error("invalid", "contacts takes words of a name, a number or an address")
    try:
        with open(path, encoding="utf-8") as file:
            all = [contact(card) for card in cards(file.read())]
    except (OSError, UnicodeDecodeError) as error:
        raise quickconnect.Error("unavailable", f"the contacts cannot be read: {error}") from None
    text = lambda one: " ".join([one["name"], *one["phones"], *one["emails"]]).casefold()
    return [one for one in all if (words or "").casefold() in text(one)]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: contacts.py FILE.vcf")
    with quickconnect.Client() as device:
        device.handle("contacts", lambda data, call: contacts(sys.argv[1], next(iter(call.parameters), None)))
        for _ in device.events("never"):
            pass
