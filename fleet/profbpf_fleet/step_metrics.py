# SPDX-License-Identifier: Apache-2.0
"""step_metrics.py - metrics with the sums of step times of a host's ranks and of their devices' idle time by cause.

The sums are part of the publisher's state, which is written with the message of the steps, so each step counts once,
whenever the publisher is killed. The sums of a rank begin and end with its process.
"""

from profbpf_fleet.exposition import Exposition

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100)
RANKS_MAX = 128  # further ranks have no metrics
CAUSES_MAX = 32  # for each rank; the analyzer knows fewer
OF_NEW_STEPS = "JOIN moves m ON m.in_lake = t.rank AND t.step BETWEEN m.first AND m.last"


def begun(pid):
    return {"pid": pid, "buckets": [0] * (len(BOUNDS_S) + 1), "seconds": 0.0, "busy": None, "exposed": None, "idle": {}}


def kept(sums, ranks):
    """The sums of ranks whose process is the same, new sums for other ranks; ranks: {rank: {"pid"}}. Keys are strings,
    as in JSON."""
    found = {}
    for rank, known in sorted(ranks.items())[:RANKS_MAX]:
        before = sums.get(str(rank))
        found[str(rank)] = before if before and before["pid"] == known["pid"] else begun(known["pid"])
    return found


def add(of, name, seconds):
    """Add to a sum. Unknown values are not counted; a sum without any known value stays None."""
    if seconds is not None:
        of[name] = (of[name] or 0.0) + seconds


def count_steps(sums, rows):
    """rows: (rank, step_ns, idle_ns, exposed_communication_ns)"""
    for rank, step_ns, idle_ns, exposed_ns in rows:
        of = sums.get(str(rank))
        if of is None or step_ns is None:
            continue
        seconds = step_ns / 1e9
        of["buckets"][next((at for at, bound in enumerate(BOUNDS_S) if seconds <= bound), len(BOUNDS_S))] += 1
        of["seconds"] += seconds
        add(of, "busy", None if idle_ns is None else (step_ns - idle_ns) / 1e9)
        add(of, "exposed", None if exposed_ns is None else exposed_ns / 1e9)


def count_idle(sums, rows):
    """rows: (rank, cause, ns)"""
    for rank, cause, ns in rows:
        of = sums.get(str(rank))
        if of is not None and (cause in of["idle"] or len(of["idle"]) < CAUSES_MAX):
            of["idle"][cause] = of["idle"].get(cause, 0.0) + ns / 1e9


def take(sql, lake, tables, sums):
    """Count the steps of a snapshot's lake that the table moves names; tables: the tables of the lake."""
    if "steps" in tables:
        count_steps(sums, sql.execute("SELECT m.rank, t.step_ns, t.idle_ns, t.exposed_communication_ns "
                                      f"FROM read_parquet('{lake}/steps/*.parquet') t {OF_NEW_STEPS}").fetchall())
    if "idle" in tables:
        count_idle(sums, sql.execute("SELECT m.rank, coalesce(t.cause, 'unknown'), CAST(sum(t.ns) AS BIGINT) "
                                     f"FROM read_parquet('{lake}/idle/*.parquet') t {OF_NEW_STEPS} GROUP BY ALL").fetchall())


def histogram(sums, host):
    for rank, of in sums.items():
        labels, below = {"rank": rank, "host": host}, 0
        for bound, count in zip((*BOUNDS_S, "+Inf"), of["buckets"]):
            below += count
            yield {**labels, "le": bound}, below, "_bucket"
        yield labels, of["seconds"], "_sum"
        yield labels, below, "_count"


def exposition_of(state, host):
    """The metrics as an Exposition; state: the publisher's."""
    sums, ranks = state.get("sums", {}), {str(rank): known for rank, known in state.get("ranks", {}).items()}
    out = Exposition("profbpf_rank_")

    def of_each(name):
        return [({"rank": rank, "host": host}, of[name]) for rank, of in sums.items() if of[name] is not None]

    out.metric("step_seconds", "histogram", "Lengths of the steps of a rank.", histogram(sums, host))
    out.metric("device_busy_seconds_total", "counter", "Time of these steps in which the rank's device ran tasks.", of_each("busy"))
    out.metric("exposed_communication_seconds_total", "counter", "Time of these steps in which only collectives ran.", of_each("exposed"))
    out.metric("idle_seconds_total", "counter", "Time of these steps in which the device was idle, by what was at the end of all waiting.",
               [({"rank": rank, "host": host, "cause": cause}, seconds) for rank, of in sums.items() for cause, seconds in sorted(of["idle"].items())])
    out.metric("last_step", "gauge", "The last step that has ended.",
               [({"rank": rank, "host": host}, ranks[rank]["step"]) for rank in sums if ranks.get(rank, {}).get("step") is not None])
    return out
