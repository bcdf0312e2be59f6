# SPDX-License-Identifier: Apache-2.0
"""directory.py - a directory that all hosts see as the way of messages: a lake that grows. It needs nothing else.

A destination has send(name, payload), which returns once the message is safe and raises Waiting if it is to be tried
again; a source has poll(): [(table, path)] of files that are new, and forget(paths). Both have close().
"""

import os
import re
import time

from profbpf_fleet.engines import Problem
from profbpf_fleet.lake import TABLES as JUDGED
from profbpf_fleet.messages import parsed, write_to_lake

WATCHED = (*(table for table in JUDGED if table != "steps"), "progress", "steps")
WITH_STEPS = ("collectives", "idle", "operators")  # of a message they count from when its steps are there
FLOORS = 4096  # publishers' spools of which it is known what is not taken again; those that were silent longest are forgotten
SEEN_OF_A_SOURCE = 1000  # messages of one publisher whose names are known one by one; they come in the order of their numbers
FIRST_LOOK_S = 600  # of what was there before anybody watched, as much as lies within this of the newest


def number_of(file):
    """(source, number) of a file of a message, else None."""
    return parsed(re.sub(r"\.parquet$", "", file))


class Waiting(Exception):
    """Not now: why."""


class DirectoryDestination:
    def __init__(self, folder):
        self.folder = folder

    def send(self, name, payload):
        # It is not made here: what is to be mounted there is not mounted yet, and would hide what was written below.
        if not os.path.isdir(self.folder):
            raise Waiting(f"{self.folder}: no such directory")
        try:
            write_to_lake(self.folder, name, payload)
        except OSError as error:
            raise Waiting(f"{self.folder}: {error.strerror or error}") from error

    def close(self):
        pass


class Nowhere:
    """For who wants the metrics of steps only."""

    def send(self, name, payload):
        pass

    def close(self):
        pass


class DirectorySource:
    """Files of a lake in the order in which they came.

    A message that was removed for its age is not taken again; nor one whose number is SEEN_OF_A_SOURCE and more below its
    publisher's newest, so that what is known of each file has a bound: of other files it is known as long as they are there.
    """

    def __init__(self, folder, state, keep_s=None):
        self.folder, self.keep_s = folder, keep_s
        self.seen, self.floors = {}, state.setdefault("floors", {})
        self.started, self.raised = False, False

    def raise_floor(self, source, number):
        """What is not above it is not taken again."""
        if number <= self.floors.get(source, 0):
            return
        self.floors.pop(source, None)
        self.floors[source] = number
        while len(self.floors) > FLOORS:
            del self.floors[next(iter(self.floors))]
        self.raised = True

    def floors_raised(self):
        """Since it was asked last: the state is to be written."""
        raised, self.raised = self.raised, False
        return raised

    def listing(self):
        """{(table, name): time of change}. Steps are listed first, and are written last: what a message has besides is there."""
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
        """Of numbers that are far below their publisher's newest only the highest is kept."""
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
            # Nobody looks at hosts and pipeline, which a message has beside its steps.
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
