# SPDX-License-Identifier: Apache-2.0
"""Functions that the parts of the kit share: tasks from files, and verdicts.

A verdict is a line of "pass", "fail", "skip" or "note", the name of a check and a text, with tabs between.
"""
import csv
import json
import os
import re
from collections import namedtuple

# Times are CLOCK_MONOTONIC; Kineto's are CLOCK_REALTIME. called: the call is known.
Task = namedtuple("Task", "name kind stream start end enqueue called bytes")

KINDS = ["other", "kernel", "copy", "fill", "map", "sync", "communication"]
DUMPED = re.compile(r"task \d+ (?P<name>.*) (?P<kind>\d+) \d+ (?P<tid>\d+) (?P<stream>[0-9a-f]+) (?P<bytes>\d+) "
                    r"-?\d+ \d+ \d+ (?P<start>\d+) (?P<end>\d+) (?P<enqueue>\d+) \d+$")


class Verdicts:
    def __init__(self):
        self.failed = 0

    def say(self, verdict, check, text):
        self.failed += verdict == "fail"
        print("%s\t%s\t%s" % (verdict, check, " ".join(str(text).split())))

    def judge(self, check, good, text):
        self.say("pass" if good else "fail", check, text)
        return good

    def equal(self, check, expected, found):
        return self.judge(check, expected == found,
                          "%s" % (found,) if expected == found else "%s, should be %s" % (found, expected))

    def note(self, check, text):
        self.say("note", check, text)


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def exported_tasks(folder):
    """Tasks from `analyzer export --to csv`."""
    with open(os.path.join(folder, "tasks.csv"), encoding="utf-8", newline="") as file:
        return [Task(row["name"], row["kind"], row["stream"], int(row["start_ns"]), int(row["end_ns"]),
                     int(row["enqueue_ns"] or 0), row["call"] != "", int(row["bytes"] or 0))
                for row in csv.DictReader(file) if row["start_ns"] and row["end_ns"]]


def dumped_tasks(path):
    """Tasks from stream_dump, and its counts: {} if its output ends before them."""
    tasks, counts = [], {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("counts "):
                words = line.split()
                counts = {words[i]: int(words[i + 1]) for i in range(3, len(words) - 1, 2)}
            match = DUMPED.match(line.rstrip("\n"))
            if match:
                kind = int(match["kind"])
                tasks.append(Task(short_name(match["name"]), KINDS[kind] if kind < len(KINDS) else "other",
                                  match["stream"], int(match["start"]), int(match["end"]), int(match["enqueue"]),
                                  match["tid"] != "0" and match["enqueue"] != "0", int(match["bytes"])))
    return tasks, counts


def load_tasks(path):
    """Tasks from a folder of exported tables, or from the output of stream_dump."""
    return exported_tasks(path) if os.path.isdir(path) else dumped_tasks(path)[0]


def mangled_name(name):
    """The last part of a nested or plain mangled name; other names stay unchanged."""
    match = re.match(r"_ZN?K?", name)
    last, at = None, match.end() if match else 0
    while match:
        length = re.match(r"\d+", name[at:])
        if not length:
            break
        begin = at + length.end()
        last, at = name[begin:begin + int(length[0])], begin + int(length[0])
    return last or name


def short_name(name):
    """A kernel's name without the parts that depend on the demangler: returned type, parameters, template arguments."""
    if name.startswith("_Z"):
        return mangled_name(name)
    name = name.replace("(anonymous namespace)", "{anonymous}")
    out, depth = [], 0
    for character in name:
        depth += character in "<"
        if depth == 0:
            if character == "(":
                break
            out.append(character)
        depth -= character in ">" and depth > 0
    text = "".join(out).strip()
    if not text.startswith(("Memcpy", "Memset")) and " " in text and "operator" not in text:
        text = text.split(" ")[-1]
    return text.split("::")[-1] if text else name


def short_move(name):
    """The name of a copy without Kineto's additions: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)"."""
    return re.sub(r" \(.*\)$", "", name)


def busy_tasks(tasks):
    return [task for task in tasks if task.kind != "sync"]


def within(tasks, begin, end):
    """The tasks that lie completely in the window."""
    return [task for task in tasks if task.start >= begin and task.end <= end]


def by_name(tasks):
    """{name: [count, total ns]}"""
    table = {}
    for task in busy_tasks(tasks):
        name = short_move(task.name) if task.kind in ("copy", "fill") else short_name(task.name)
        entry = table.setdefault(name, [0, 0])
        entry[0] += 1
        entry[1] += task.end - task.start
    return table


def percent_off(expected, found):
    return abs(found - expected) * 100 / expected if expected else (0 if found == expected else float("inf"))


def median(numbers):
    """The median; the smallest installations of Python lack the module statistics."""
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
