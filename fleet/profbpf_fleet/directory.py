# SPDX-License-Identifier: Apache-2.0
"""directory.py - messages through a directory that all hosts see: a lake that grows. It needs nothing else.

A destination has send(name, payload), which returns once the message is safe and raises Waiting if the caller must try
again; a source has poll(), which returns [(table, path)] of new files, and floors_raised(). Both have close().
"""

import os
import re
import time

from profbpf_fleet.engines import Problem
from profbpf_fleet.lake import TABLES as JUDGED
from profbpf_fleet.messages import parsed, write_to_lake

WATCHED = (*(table for table in JUDGED if table != "steps"), "progress", "steps")
WITH_STEPS = ("collectives", "idle", "operators")  # rows of a message that are read once its steps are there
FLOORS = 4096  # spools with a known floor, the highest number that is not taken again; the longest silent are forgotten
SEEN_OF_A_SOURCE = 1000  # messages of a publisher that are remembered one by one, in the order of their numbers
FIRST_LOOK_S = 600  # files from before the first poll: those whose time lies within this of the newest


def number_of(file):
    """(source, number) of a message's file; None for other files."""
    return parsed(re.sub(r"\.parquet$", "", file))


class Waiting(Exception):
    """The message cannot be sent now; the text is the reason."""


class DirectoryDestination:
    def __init__(self, folder):
        self.folder = folder

    def send(self, name, payload):
        # The folder is not made here: it may be a mount point whose mount would hide files that were written before.
        if not os.path.isdir(self.folder):
            raise Waiting(f"{self.folder}: no such directory")
        try:
            write_to_lake(self.folder, name, payload)
        except OSError as error:
            raise Waiting(f"{self.folder}: {error.strerror or error}") from error

    def close(self):
        pass


class Nowhere:
    """The destination of publishers that only write the metrics of steps."""

    def send(self, name, payload):
        pass

    def close(self):
        pass


class DirectorySource:
    """Files of a lake in the order in which they came.

    A message that was removed for its age is not taken again, nor one whose number is SEEN_OF_A_SOURCE or more below
    its publisher's newest, so the memory for names has a bound. Other files are remembered as long as they exist.
    """

    def __init__(self, folder, state, keep_s=None):
        self.folder, self.keep_s = folder, keep_s
        self.seen, self.floors = {}, state.setdefault("floors", {})
        self.started, self.raised = False, False

    def raise_floor(self, source, number):
        """Messages of the source up to this number are not taken again."""
        if number <= self.floors.get(source, 0):
            return
        self.floors.pop(source, None)
        self.floors[source] = number
        while len(self.floors) > FLOORS:
            del self.floors[next(iter(self.floors))]
        self.raised = True

    def floors_raised(self):
        """Whether a floor was raised since the last call: then the state must be written."""
        raised, self.raised = self.raised, False
        return raised

    def listing(self):
        """{(table, name): time of change} of new files. Steps are listed first and written last: if they are listed,
        the other files of the message are, too."""
        found, there = {}, set()
        for table in reversed(WATCHED):
            try:
                with os.scandir(os.path.join(self.folder, table)) as entries:
                    for entry in entries:
                        if entry.name.endswith(".parquet") and not self.is_old(entry.name):
                            there.add((table, entry.name))
                            if (table, entry.name) not in self.seen:
                                found[table, entry.name] = entry.stat().st_mtime
            except FileNotFoundError:
                continue
            except OSError as error:
                raise Problem(f"{self.folder}/{table}: {error.strerror}") from error
        self.seen = {key: changed for key, changed in self.seen.items() if key in there}
        return {key: changed for key, changed in found.items() if key[0] not in WITH_STEPS or not number_of(key[1]) or
                ("steps", key[1]) in found or ("steps", key[1]) in self.seen}

    def is_old(self, name):
        known = number_of(name)
        return known is not None and known[1] <= self.floors.get(known[0], 0)

    def poll(self):
        if not os.path.isdir(self.folder):
            raise Problem(f"{self.folder}: no such directory")
        found = self.listing()
        newest = max(found.values(), default=0)
        news = [key for key in sorted(found, key=lambda key: (found[key], WATCHED.index(key[0]), key[1]))
                if self.started or found[key] >= newest - FIRST_LOOK_S]
        self.seen |= found
        self.started = True
        if self.keep_s is None:
            self.forget_old()
        self.remove_old()
        return [(table, os.path.join(self.folder, table, name)) for table, name in news]

    def forget_old(self):
        """Remember only the highest (the floor) of the numbers that are far below their publisher's newest."""
        newest = {}
        for _, name in self.seen:
            if known := number_of(name):
                newest[known[0]] = max(known[1], newest.get(known[0], 0))
        for source, number in newest.items():
            self.raise_floor(source, number - SEEN_OF_A_SOURCE)
        self.seen = {key: changed for key, changed in self.seen.items() if not self.is_old(key[1])}

    def remove_old(self):
        if self.keep_s is None:
            return
        before = time.time() - self.keep_s
        for (table, name), changed in list(self.seen.items()):
            if changed >= before:
                continue
            known = number_of(name)
            if known:
                self.raise_floor(*known)
            # Nothing reads the tables hosts and pipeline of a message; they are removed with its steps.
            for removed in ("hosts", "pipeline", table) if table == "steps" else (table,):
                self.remove(removed, name)
            del self.seen[table, name]

    def remove(self, table, name):
        try:
            os.unlink(os.path.join(self.folder, table, name))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Problem(f"{self.folder}/{table}/{name}: {error.strerror}; watch without --keep leaves it there") from error

    def close(self):
        pass
