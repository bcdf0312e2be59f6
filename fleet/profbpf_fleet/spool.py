# SPDX-License-Identifier: Apache-2.0
"""spool.py - keeps messages on disk until they are acknowledged, and the publisher's state for its next start.

    SPOOL/spool.json      source, number of the next message, count of dropped messages, and the publisher's own state
    SPOOL/NUMBER.message  a message that is not acknowledged yet
    SPOOL/round-...       a snapshot that is being read

add() writes the message and then spool.json, which takes its number. After a kill between the two the next publisher
finds a message whose number is not taken, and removes it: its rows are not in the publisher's state and come again. So
each number belongs to one message only, whenever the publisher is killed, and no message is sent before its number is
taken.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import secrets
import shutil
import socket

from profbpf_fleet.engines import Problem
from profbpf_fleet.messages import name_of, sync_folder, write_file


# Files that a killed publisher may leave; other files in the folder are not the spool's and are not touched.
ROUND = "round-"
UNFINISHED = re.compile(r"\.(\d+\.message|spool\.json)\.\d+")


def boot_id():
    with contextlib.suppress(OSError):
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    return secrets.token_hex(4)


def host_name():
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64] or "host"


class Spool:
    """A spool; only one process at a time can open it."""

    def __init__(self, folder, limit_bytes, host=None):
        self.folder, self.limit_bytes = pathlib.Path(folder), limit_bytes
        self.folder.mkdir(parents=True, exist_ok=True)
        # Stays open for the lock, which the kernel releases when the process ends.
        self.lock = open(self.folder / "lock", "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.lock.close()
            raise Problem(f"{folder}: another profbpf-fleet publish has this spool; give each its own with --spool") from error
        self.read(host or host_name())

    def read(self, host):
        path = self.folder / "spool.json"
        try:
            known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        except ValueError as error:
            raise Problem(f"{path}: {error}; remove the folder to begin anew") from error
        self.source = known.get("source") or f"{host}-{boot_id()}-{secrets.token_hex(4)}"
        self.next, self.given_up, self.state = known.get("next", 1), known.get("given_up", 0), known.get("state", {})
        for path in list(self.folder.iterdir()):
            if path.name.startswith(ROUND) and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif UNFINISHED.fullmatch(path.name):
                path.unlink()
        for number in self.waiting():
            if number >= self.next:
                self.path_of(number).unlink()

    def write_state(self):
        known = {"source": self.source, "next": self.next, "given_up": self.given_up, "state": self.state}
        write_file(str(self.folder / "spool.json"), json.dumps(known).encode())

    def path_of(self, number):
        return self.folder / f"{number:010d}.message"

    def waiting(self):
        """The numbers of the messages in the spool, the oldest first."""
        return sorted(int(path.stem) for path in self.folder.glob("*.message") if re.fullmatch("[0-9]{10}", path.stem))

    def add(self, payload, state):
        """Store a message together with the publisher's state: both or neither. Returns the number of old messages
        dropped for it."""
        gone = self.make_room(len(payload))
        write_file(str(self.path_of(self.next)), payload)
        self.next, self.state = self.next + 1, state
        self.given_up += gone
        self.write_state()
        return gone

    def make_room(self, size):
        sizes = {number: self.path_of(number).stat().st_size for number in self.waiting()}
        total, gone = sum(sizes.values()) + size, 0
        for number in sorted(sizes):
            if total <= self.limit_bytes:
                break
            self.path_of(number).unlink()
            total -= sizes[number]
            gone += 1
        return gone

    def message(self, number):
        """(name, bytes)"""
        return name_of(self.source, number), self.path_of(number).read_bytes()

    def acknowledged(self, number):
        """Remove a message. If a power cut undoes this, the message is sent again, and the receiver drops it."""
        self.path_of(number).unlink(missing_ok=True)

    def close(self):
        sync_folder(self.folder)
        self.lock.close()
