# SPDX-License-Identifier: Apache-2.0
"""same_steps.py - finds ranks of a lake whose steps are numbered from another start than those of the other ranks.

A recording without marks of steps counts them from its own begin. Such a rank's steps run at the same time as steps with
other numbers of the reference, the rank with most steps. But so they seem to if clocks differ by more than half a step,
so the ends of common collectives decide: with the right numbers they differ by the offset of the clocks, which is nearly
the same in each step; with wrong ones also by the lengths of steps, which are not.
"""

import collections
import statistics

from profbpf_fleet import clocks as clock
from profbpf_fleet.numbering import shift_to

SAMPLE = 16  # steps of a rank that are looked at first
NEAR = 2  # numbers besides the one by time are tried up to this far: clocks may differ by some steps, too
TIGHTER = 4  # the ends scatter less by this factor with the right numbers

Numbers = collections.namedtuple("Numbers", "reference added unclear")  # unclear: {rank: ns}, later than equal numbers


def by_time(engine, reference):
    """{rank: (added, ns)} of ranks whose steps run at the time of steps with other numbers of the reference: what would
    be added to their numbers, and how much later their steps begin than those of the same number."""
    rows = engine.rows(f"SELECT step, start_ns, step_ns FROM steps WHERE rank = {reference} ORDER BY start_ns")
    starts = [(row["step"], row["start_ns"]) for row in rows]
    usual_ns = statistics.median(row["step_ns"] for row in rows)
    samples = collections.defaultdict(list)
    for row in engine.rows(f"""SELECT rank, step, start_ns FROM (SELECT rank, step, start_ns, row_number() OVER (PARTITION BY rank ORDER BY step) - 1 AS i,
            count(*) OVER (PARTITION BY rank) AS n FROM steps WHERE rank <> {reference}) s
            WHERE i % CAST(greatest(1, floor(n / {SAMPLE})) AS INT) = 0 ORDER BY rank, start_ns"""):
        samples[row["rank"]].append((row["step"], row["start_ns"]))
    found = {}
    for rank, sample in samples.items():
        added = shift_to(sample, starts, usual_ns)
        middle_ns = statistics.median(start_ns for _, start_ns in sample)
        if added and starts[0][1] - usual_ns <= middle_ns <= starts[-1][1] + usual_ns:
            found[rank] = added, round(added * usual_ns)
    return found


def scatter(ends, parents, added):
    """The usual change from step to step of the difference between the ends of two ranks, ns; None if they have fewer
    than four common steps. ends, parents: {step: ns}."""
    differences = [ends[step] - parents[step + added] for step in sorted(ends) if step + added in parents]
    if len(differences) < 4:
        return None
    return statistics.median(abs(b - a) for a, b in zip(differences, differences[1:]))


def relative(ends, parents, by_clock):
    """What is added to a rank's numbers for them to be its parent's; None if the ends do not show it."""
    usual = scatter(ends, parents, 0)
    others = [added for added in range(by_clock - NEAR, by_clock + NEAR + 1) if added]
    tried = [(value, added) for added in others if (value := scatter(ends, parents, added)) is not None]
    best = min(tried, default=None)
    if usual is not None and best and usual * TIGHTER <= best[0]:
        return 0
    if best and (best[0] * TIGHTER <= usual if usual is not None else best[0] <= clock.TRUSTED_NS):
        return best[1]
    return None


def by_collectives(engine, candidates, hosts):
    """{rank: added} of the ranks for which the ends of collectives decide; those with 0 have the reference's numbers."""
    root, tree = clock.tree_of(engine.rows("SELECT * FROM members ORDER BY communicator, rank"), hosts)
    engine.make("tree", clock.relation_of_tree(tree))
    ends = collections.defaultdict(dict)
    for row in engine.rows("SELECT c.rank, c.communicator, c.step, max(c.end_ns) AS end_ns FROM collectives c JOIN (SELECT rank, communicator FROM tree "
                           "UNION SELECT parent AS rank, communicator FROM tree) t ON t.rank = c.rank AND t.communicator = c.communicator "
                           "WHERE c.sequence = 0 GROUP BY c.rank, c.communicator, c.step"):
        ends[row["rank"], row["communicator"]][row["step"]] = row["end_ns"]
    decided = {root: 0}
    for rank, parent, communicator in tree:
        if parent not in decided:
            continue
        if rank not in candidates and parent not in candidates:
            decided[rank] = 0
            continue
        by_clock = candidates.get(rank, (0, 0))[0] - decided[parent]
        found = relative(ends[rank, communicator], ends[parent, communicator], by_clock)
        if found is not None:
            decided[rank] = found + decided[parent]
    return decided


def numbers_of(engine, members):
    """Which ranks have other numbers than the reference. members: the SELECT of that table."""
    rows = engine.rows("SELECT rank, max(host) AS host, count(*) AS steps FROM steps GROUP BY rank ORDER BY 3 DESC, 1")
    if len(rows) < 2:
        return Numbers(None, {}, {})
    reference, hosts = rows[0]["rank"], {row["rank"]: row["host"] for row in rows}
    candidates = by_time(engine, reference)
    if not candidates:
        return Numbers(reference, {}, {})
    engine.make("members", members)
    decided = by_collectives(engine, candidates, hosts)
    base = decided.get(reference, 0)
    added, unclear = {}, {}
    for rank, (by_clock, later_ns) in candidates.items():
        if rank in decided:
            added[rank] = decided[rank] - base
        elif hosts[rank] and hosts[rank] == hosts[reference]:
            added[rank] = by_clock  # they have one clock
        else:
            unclear[rank] = later_ns
    return Numbers(reference, {rank: number for rank, number in added.items() if number}, unclear)
