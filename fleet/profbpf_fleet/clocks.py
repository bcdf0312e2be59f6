# SPDX-License-Identifier: Apache-2.0
"""clocks.py - relates the clock of every rank to one clock: from rank to rank, through communicators that they share.

A clock is a line for each part of the job in which it was not set: its time since the lake's begin is shift + rate
times the time since the lake's begin by the lowest rank's clock. Lines between neighbours (05_fits.sql) are chained.
"""

import collections
import math

SIGMAS = 3  # standard errors in the reported error
TRUSTED_NS = 1e6  # ends that scatter by more are not ends of one collective
DRIFT = 2e-4  # clocks drift by less
FIRST, LAST = -(1 << 62), 1 << 62

Part = collections.namedtuple("Part", "from_step shift rate variance")


def tree_of(members, hosts):
    """(root, [(rank, parent, communicator)]): the shortest path to each rank from the root, the rank with most
    steps."""
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


def groups_of(members):
    """[[ranks]]: the groups of two ranks or more that share communicators, directly or by way of others."""
    group_of = {}
    by_communicator = collections.defaultdict(set)
    for row in members:
        by_communicator[row["communicator"]].add(row["rank"])
    for ranks in by_communicator.values():
        whole = set().union(*(group_of.get(rank, {rank}) for rank in ranks))
        group_of |= dict.fromkeys(whole, whole)
    return sorted(sorted(group) for group in {id(group): group for group in group_of.values()}.values() if len(group) > 1)


def relation_of_tree(tree):
    """The SELECT that makes the table tree."""
    values = ", ".join(f"({rank}, {parent}, '{name.replace(chr(39), chr(39) * 2)}')" for rank, parent, name in tree)
    none = "" if tree else " WHERE 1 = 0"
    return ("SELECT CAST(rank AS INT) AS rank, CAST(parent AS INT) AS parent, communicator FROM "
            f"(VALUES {values or '(0, 0, chr(63))'}) AS v(rank, parent, communicator){none}")


def parts_of_fits(fits):
    """{rank: [Part]}: lines against the parents' clocks; without ranks whose ends scatter by more than TRUSTED_NS."""
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
            # The shift was fitted with the row's own drift; with another drift the line turns about the middle of its
            # points.
            shift = row["shift"] + (row["drift"] - drift) * row["middle"]
            at_middle = 1.2533 * row["sigma"] / math.sqrt(row["n"])
            slope = row["sigma"] / (row["spread"] * math.sqrt(row["n"])) if row["spread"] and row["drift"] else 0
            parts.append(Part(FIRST if number == 0 else row["first_step"], shift, 1 + drift, at_middle**2 + (slope * row["middle"])**2))
        lines[rank] = parts
    return lines


def part_at(parts, step):
    return [part for part in parts if part.from_step <= step][-1]


def chained(outer, inner):
    """A rank's clock against the root's: outer is its parent's against the root's, inner its own against its
    parent's."""
    found = []
    for step in sorted({part.from_step for part in outer + inner}):
        a, b = part_at(outer, step), part_at(inner, step)
        found.append(Part(step, b.shift + b.rate * a.shift, a.rate * b.rate, a.variance + b.variance))
    return found


def against(parts, base):
    """A clock against the clock base; both are given against the root's."""
    found = []
    for step in sorted({part.from_step for part in parts + base}):
        a, b = part_at(parts, step), part_at(base, step)
        rate = a.rate / b.rate
        found.append(Part(step, a.shift - rate * b.shift, rate, a.variance + b.variance))
    return found


def chain(root, tree, fits, hosts):
    """{rank: [Part]} of all ranks in reach, against the lowest rank's clock; the ranks of a host share its clock."""
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
    """The SELECT that makes the table clocks."""
    rows = []
    for rank, parts in sorted(clocks.items()):
        ends = [part.from_step for part in parts[1:]] + [LAST]
        rows += [f"({rank}, {part.from_step}, {end}, {part.shift!r}, {part.rate!r})" for part, end in zip(parts, ends)]
    return ("SELECT CAST(rank AS INT) AS rank, CAST(from_step AS BIGINT) AS from_step, CAST(to_step AS BIGINT) AS to_step, "
            f"CAST(shift AS DOUBLE) AS shift, CAST(rate AS DOUBLE) AS rate FROM (VALUES {', '.join(rows)}) AS v(rank, from_step, to_step, shift, rate)")


def told(clocks):
    """The clocks for the JSON answer: at the lake's first instant."""
    return [{"rank": rank, "offset_ns": round(parts[0].shift), "drift_ppb": round((parts[0].rate - 1) * 1e9),
             "error_ns": round(SIGMAS * math.sqrt(parts[0].variance))} for rank, parts in sorted(clocks.items())]


def settings(clocks, hosts, gap_ns):
    """[(step, ns, [ranks])]: clocks that were set, when and by how much. If most clocks seem to have been set, it was
    the clock of the lowest rank. If half of them do, gap_ns(rank, step) decides: the time between the end of the rank's
    step before and the begin of this one, by its own clock."""
    jumps = collections.defaultdict(list)
    for rank, parts in sorted(clocks.items()):
        for before, after in zip(parts, parts[1:]):
            if abs(after.shift - before.shift) > TRUSTED_NS:
                jumps[after.from_step].append((after.shift - before.shift, rank))
    found, lowest = [], min(hosts)
    for step, moved in sorted(jumps.items()):
        usual = sorted(ns for ns, _ in moved)[len(moved) // 2]
        if (len(moved) > 1 and 2 * len(moved) > len(clocks)) or (2 * len(moved) == len(clocks) and abs(gap_ns(lowest, step)) > abs(usual) / 2):
            same = [rank for rank, host in hosts.items() if host == hosts[lowest] and rank in clocks and rank not in [r for _, r in moved]]
            found.append((step, -usual, same or [lowest]))
            moved = [(ns - usual, rank) for ns, rank in moved if abs(ns - usual) > TRUSTED_NS + DRIFT * abs(usual)]
        by_host = collections.defaultdict(list)
        for ns, rank in moved:
            by_host[hosts[rank] or rank].append((ns, rank))
        found += [(step, values[0][0], [rank for _, rank in values]) for values in by_host.values()]
    return found
