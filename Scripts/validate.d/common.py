"""What the parts of Scripts/validate share: the program, the recordings, a table."""

import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
RECORDINGS = os.environ.get("FEEDBRIDGE_RECORDINGS", os.path.join(ROOT, os.pardir, "shared", "recordings"))
PROGRAM = os.environ.get("FEEDBRIDGE", os.path.join(ROOT, ".build", "release", "feedbridge"))


def recording(*parts):
    return os.path.join(RECORDINGS, *parts)


def replay(path, derive, *options):
    """Everything that `feedbridge replay` prints: the samples by their stream, and the summary."""
    result = subprocess.run(
        [PROGRAM, "replay", path, "--derive", derive, *options], capture_output=True, text=True
    )
    if result.returncode != 0:
        sys.exit(f"validate: replay of {path} failed: {result.stderr.strip()}")
    streams = {}
    summary = {}
    for line in result.stdout.splitlines():
        sample = json.loads(line)
        if "summary" in sample:
            summary = sample["summary"]
        else:
            streams.setdefault(sample["stream"], []).append(sample)
    return streams, summary


def summary(path, derive, *options):
    return replay(path, derive, *options, "--summary")[1]


class Table:
    """Rows in Markdown; a row whose target is missed says so."""

    def __init__(self, *columns):
        self.columns = [*columns, "target", ""]
        self.rows = []
        self.missed = 0

    def row(self, *cells, target="", met=None):
        verdict = "" if met is None else ("met" if met else "**MISSED**")
        if met is False:
            self.missed += 1
        self.rows.append([*(str(cell) for cell in cells), target, verdict])

    def show(self):
        widths = [max(len(row[i]) for row in [self.columns, *self.rows]) for i in range(len(self.columns))]
        for place, row in enumerate([self.columns, ["-" * width for width in widths], *self.rows]):
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        print()
        sys.stdout.flush()


def finish(*tables):
    for table in tables:
        table.show()
    sys.exit(1 if any(table.missed for table in tables) else 0)
