# SPDX-License-Identifier: Apache-2.0
"""hangs.py - ranks that end no more steps, and hosts that send no more messages.

A host reports every few seconds, by its own clock, the time of the report and the end of the last step of each of its
ranks: the difference needs no other clock, and does not grow while messages are delayed.
"""

import statistics

from profbpf_fleet.findings import names

AHEAD = 2  # a rank more than this many steps ahead goes on; another rank may hang without a report of it yet
STEPS = 10  # a hang lasts at least this many usual steps, however short the option is
MS = 1e6
MOST_HOSTS = 6  # named in a sentence
APART_NS = 20e6  # the first rank to stop is named if it stopped this much before the others


def quiet_ns(known):
    return known.at_ns - known.end_ns if known.at_ns is not None and known.end_ns is not None else 0


def first_to_stop(progress, offsets):
    """The rank whose device ended its last task well before all other devices; None if that is not clear."""
    ends = sorted((known.last_ns - offsets.get(rank, 0), rank) for rank, known in progress.items() if known.last_ns is not None)
    if len(ends) < 3 or (offsets and len(offsets) < len(ends)):
        return None
    apart = ends[1][0] - ends[0][0]
    return ends[0][1] if apart > APART_NS and apart > 2 * (statistics.median(end for end, _ in ends) - ends[1][0]) else None


def hang_of(progress, usual_ns, after_s, clocks):
    """The finding of a hang, or None. clocks: {rank: offset_ns}, from judge.py."""
    bound_ns = max(after_s * 1e9, STEPS * usual_ns)
    quiet = {rank: known for rank, known in progress.items() if quiet_ns(known) > bound_ns}
    if not quiet:
        return None
    seconds = max(quiet_ns(known) for known in quiet.values()) / 1e9
    step = max((known.step for known in quiet.values() if known.step is not None), default=0)
    finding = {"kind": "hang", "ranks": sorted(quiet), "since_step": step, "why": "hang", "silent_s": round(seconds, 1)}
    ahead = [rank for rank, known in progress.items() if rank not in quiet and known.step is not None and known.step > step + AHEAD]
    if ahead:
        finding["sentence"] = f"{names(quiet).capitalize()} {'makes' if len(quiet) == 1 else 'make'} no progress since step {step}, for {seconds:.1f} s; {len(ahead)} other ranks do."
        if len(quiet) == 1:
            finding |= {"rank": min(quiet), "host": quiet[min(quiet)].host}
        return finding
    behind = [rank for rank, known in quiet.items() if known.step is not None and known.step < step]
    rank = behind[0] if len(behind) == 1 else first_to_stop(quiet, clocks)
    finding["sentence"] = f"The job hangs since step {step}: no rank of {len(progress)} ended another step for {seconds:.1f} s; "
    if rank is None:
        finding["sentence"] += "it is not known which of them stopped first."
    else:
        finding |= {"rank": rank, "host": quiet[rank].host}
        finding["sentence"] += f"rank {rank} on {quiet[rank].host} stopped first."
    return finding


def silent_of(heard, now, after_s):
    """The finding of hosts that sent messages and send no more, or None."""
    silent = sorted(host for host, at in heard.items() if now - at > after_s)
    if not silent:
        return None
    more = f" and {len(silent) - MOST_HOSTS} more" if len(silent) > MOST_HOSTS else ""
    who = f"any of {len(silent)} hosts" if 1 < len(silent) == len(heard) else f"host {silent[0]}" if len(silent) == 1 else f"hosts {', '.join(silent[:MOST_HOSTS])}{more}"
    return {"kind": "silent", "why": "silent", "hosts": silent,
            "sentence": f"No message arrived from {who} for {after_s:.0f} s: the machine, its publisher or the network between does not work."}
