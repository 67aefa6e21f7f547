"""Tables for readers, figures for programs, and the requirements."""

import json
import statistics


class Samples:
    """The figures of one contender in all rounds."""

    def __init__(self):
        self.rounds = []

    def add(self, figures):
        self.rounds.append(figures)

    def values(self, name):
        return [figures[name] for figures in self.rounds if name in figures]

    def median(self, name):
        return statistics.median(self.values(name))

    def lowest(self, name):
        return min(self.values(name))

    def highest(self, name):
        return max(self.values(name))


class Report:
    def __init__(self):
        self.rows = []
        self.requirements = []
        self.notes = []

    def say(self, text=""):
        print(text, flush=True)

    def note(self, text):
        """Something that readers of the figures must know."""
        self.notes.append(text)
        self.say(text)

    def title(self, text):
        self.say()
        self.say(text)

    def table(self, columns, lines):
        """The first column is text and is aligned left, the others right."""
        cells = [columns] + [[str(cell) for cell in line] for line in lines]
        widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
        for line in cells:
            rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
            self.say("  ".join([line[0].ljust(widths[0]), *rest]).rstrip())

    def keep(self, row, **figures):
        self.rows.append({"row": row, **figures})

    def require(self, row, what, value, bound, is_least=True):
        """One requirement. Without a value it could not be measured, so it is not met."""
        met = value is not None and (value >= bound if is_least else value <= bound)
        self.requirements.append(
            {"row": row, "what": what, "value": value, "bound": bound, "least": is_least, "met": met}
        )

    def print_requirements(self):
        self.title("Requirements")
        lines = []
        for entry in self.requirements:
            value = "not measured" if entry["value"] is None else f"{entry['value']:.2f}"
            bound = f"{'>=' if entry['least'] else '<='} {entry['bound']:g}"
            lines.append([f"{entry['row']}: {entry['what']}", value, bound, "met" if entry["met"] else "NOT MET"])
        self.table(["what", "measured", "required", ""], lines)

    def all_met(self):
        return all(entry["met"] for entry in self.requirements)

    def write_json(self, path, setting):
        with open(path, "w", encoding="utf8") as file:
            content = {"setting": setting, "notes": self.notes, "rows": self.rows, "requirements": self.requirements}
            json.dump(content, file, indent=2)
            file.write("\n")
