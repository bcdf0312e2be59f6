# SPDX-License-Identifier: Apache-2.0
"""clocks.py - every rank's clock against one: from rank to rank, through communicators that they share.

A clock is a line for each part of the job in which it was not set: what it shows, less the lake's begin, is shift + rate
times what the lowest rank's clock shows, less the same. Lines of neighbours (05_fits.sql) are put one behind the other.
"""

import collections
import math

SIGMAS = 3  # of the error that is told
TRUSTED_NS = 1e6  # ends that scatter by more are not those of one collective
FIRST, LAST = -(1 << 62), 1 << 62

Part = collections.namedtuple("Part", "from_step shift rate variance")


def tree_of(members, hosts):
    """[(rank, parent, communicator)]: each rank by as few others as can be from the one with most steps, which is the root."""
    by_communicator, steps = collections.defaultdict(list), collections.Counter()
    for row in members:
        by_communicator[row["communicator"]].append((row["rank"], row["steps"]))
        steps[row["rank"]] = max(steps[row["rank"]], row["steps"])
    of_rank = collections.defaultdict(list)
    for communicator, ranks in by_communicator.items():
        for rank, _ in ranks:
            of_rank[rank].append(communicator)
    root = min(hosts, key=lambda rank: (-steps[rank], rank))
    reached, used, todo, tree = {root}, set(), collections.deque([root]), []
    while todo:
        parent = todo.popleft()
        for communicator in sorted(of_rank[parent], key=lambda name: (name == "", -len(by_communicator[name]), name)):
            if communicator in used:
                continue
            used.add(communicator)
            for rank, _ in sorted(by_communicator[communicator]):
                if rank not in reached:
                    reached.add(rank)
                    todo.append(rank)
                    tree.append((rank, parent, communicator))
    return root, tree


def parts_of_fits(fits):
    """{rank: [Part]} of the lines against the parents' clocks; None where ends do not fit together."""
    by_rank = collections.defaultdict(list)
    for row in sorted(fits, key=lambda row: (row["rank"], row["epoch"])):
        by_rank[row["rank"]].append(row)
    lines = {}
    for rank, rows in by_rank.items():
        if min(row["sigma"] for row in rows) > TRUSTED_NS:
            continue
        longest = max(rows, key=lambda row: row["n"])
        parts = []
        for number, row in enumerate(rows):
            drift = row["drift"] or longest["drift"]
            # The shift was found with the row's own drift: turned about the middle of its points where another is taken.
            shift = row["shift"] + (row["drift"] - drift) * row["middle"]
            at_middle = 1.2533 * row["sigma"] / math.sqrt(row["n"])
            slope = row["sigma"] / (row["spread"] * math.sqrt(row["n"])) if row["spread"] and row["drift"] else 0
            parts.append(Part(FIRST if number == 0 else row["first_step"], shift, 1 + drift, at_middle**2 + (slope * row["middle"])**2))
        lines[rank] = parts
    return lines


def part_at(parts, step):
    return [part for part in parts if part.from_step <= step][-1]


def chained(outer, inner):
    """What a rank's clock shows against the root's: its parent's against the root's, then its own against its parent's."""
    found = []
    for step in sorted({part.from_step for part in outer + inner}):
        a, b = part_at(outer, step), part_at(inner, step)
        found.append(Part(step, b.shift + b.rate * a.shift, a.rate * b.rate, a.variance + b.variance))
    return found


def against(parts, base):
    """The same against another clock than the root's."""
    found = []
    for step in sorted({part.from_step for part in parts + base}):
        a, b = part_at(parts, step), part_at(base, step)
        rate = a.rate / b.rate
        found.append(Part(step, a.shift - rate * b.shift, rate, a.variance + b.variance))
    return found


def chain(root, tree, fits, hosts):
    """{rank: [Part]} of every rank that can be reached, against the lowest rank's clock; ranks of one host share its clock."""
    lines, known = parts_of_fits(fits), {root: [Part(FIRST, 0.0, 1.0, 0.0)]}
    for rank, parent, _ in tree:
        if rank in lines and parent in known:
            known[rank] = chained(known[parent], lines[rank])
    of_host = {}
    for rank in sorted(known):
        of_host.setdefault(hosts[rank], known[rank])
    for rank, host in hosts.items():
        if host and rank not in known and host in of_host:
            known[rank] = of_host[host]
    lowest = min(hosts)
    if lowest not in known:
        return {}
    base = known[lowest]
    return {lowest: [Part(FIRST, 0.0, 1.0, 0.0)]} | {rank: against(parts, base) for rank, parts in known.items() if rank != lowest}


def relation_of(clocks):
    """SELECT of the table clocks."""
    rows = []
    for rank, parts in sorted(clocks.items()):
        ends = [part.from_step for part in parts[1:]] + [LAST]
        rows += [f"({rank}, {part.from_step}, {end}, {part.shift!r}, {part.rate!r})" for part, end in zip(parts, ends)]
    return ("SELECT CAST(rank AS INT) AS rank, CAST(from_step AS BIGINT) AS from_step, CAST(to_step AS BIGINT) AS to_step, "
            f"CAST(shift AS DOUBLE) AS shift, CAST(rate AS DOUBLE) AS rate FROM (VALUES {', '.join(rows)}) AS v(rank, from_step, to_step, shift, rate)")


def told(clocks):
    """The clocks as JSON has them: at the lake's first instant."""
    return [{"rank": rank, "offset_ns": round(parts[0].shift), "drift_ppb": round((parts[0].rate - 1) * 1e9),
             "error_ns": round(SIGMAS * math.sqrt(parts[0].variance))} for rank, parts in sorted(clocks.items())]


def settings(clocks, hosts):
    """[(step, ns, [ranks])]: when whose clock was set, and by how much: of the lowest rank where all others seem to have been."""
    jumps = collections.defaultdict(list)
    for rank, parts in sorted(clocks.items()):
        for before, after in zip(parts, parts[1:]):
            if abs(after.shift - before.shift) > TRUSTED_NS:
                jumps[after.from_step].append((after.shift - before.shift, rank))
    found, lowest = [], min(hosts)
    for step, moved in sorted(jumps.items()):
        if len(moved) > 1 and 2 * len(moved) > len(clocks):
            usual = sorted(ns for ns, _ in moved)[len(moved) // 2]
            same = [rank for rank, host in hosts.items() if host == hosts[lowest] and rank in clocks and rank not in [r for _, r in moved]]
            found.append((step, -usual, same or [lowest]))
            moved = [(ns - usual, rank) for ns, rank in moved if abs(ns - usual) > TRUSTED_NS]
        by_host = collections.defaultdict(list)
        for ns, rank in moved:
            by_host[hosts[rank] or rank].append((ns, rank))
        found += [(step, values[0][0], [rank for _, rank in values]) for values in by_host.values()]
    return found
