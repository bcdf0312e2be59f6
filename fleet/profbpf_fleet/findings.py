# SPDX-License-Identifier: Apache-2.0
"""findings.py - other findings about a lake: clocks that were set, parts that could not be judged and why."""

import collections

from profbpf_fleet import clocks as clock

MS = 1e6


def names(ranks, most=6):
    """"rank 3", "ranks 0 to 7", "ranks 1, 2, 9 and 4 more"."""
    ranks = sorted(ranks)
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if ranks == list(range(ranks[0], ranks[-1] + 1)):
        return f"ranks {ranks[0]} to {ranks[-1]}"
    more = len(ranks) - most
    return "ranks " + (", ".join(map(str, ranks[:most])) + f" and {more} more" if more > 0 else ", ".join(map(str, ranks[:-1])) + f" and {ranks[-1]}")


def of_clocks(judgement):
    for step, ns, ranks in clock.settings(judgement.clocks, judgement.host_of):
        yield {"kind": "clock_set", "ranks": ranks, "step": step, "ns": round(ns),
               "text": f"The clock of {names(ranks)}{host_text(judgement, ranks)} was set by {ns / MS:+.1f} ms at step {step}; it is taken into account."}
    lost = sorted(set(judgement.host_of) - set(judgement.clocks))
    if lost and len(judgement.host_of) > 1 and "collectives" not in judgement.lacking:
        yield {"kind": "clock_unknown", "ranks": lost,
               "text": f"The clock of {names(lost)} is not known: no collectives tie it to the others'. What they compute and idle is judged, their links are not."}


def host_text(judgement, ranks):
    hosts = {judgement.host_of[rank] for rank in ranks}
    return f" ({hosts.pop()})" if len(hosts) == 1 and "" not in hosts else ""


def of_links(judgement, result):
    """Slow communicators other than the one that is named as holder."""
    told = {holder.get("communicator") for holder in result["holders"]}
    slow = [row for row in judgement.slow_links if row["steps"] >= 3]
    if not told - {None}:
        return
    for row in slow:
        if row["communicator"] not in told:
            yield {"kind": "slow_link", "communicator": row["communicator"], "steps": row["steps"], "held_ms_per_step": round(row["ns"] / MS, 3),
                   "text": f"The links of communicator {row['communicator']} are slow, too: by {row['ns'] / MS:.1f} ms a step, in {row['steps']} steps."}


def of_operators(judgement, result):
    """Operators that are slower than on other ranks, on ranks that hold the job back by computing."""
    ranks = {holder["rank"] for holder in result["holders"] if holder["why"] == "compute" and "rank" in holder}
    for row in judgement.operators:
        more = row["ns"] - row["usual_ns"]
        if row["rank"] in ranks and row["usual_ns"] > 0 and more > 0.05 * row["usual_ns"] and more > 0.005 * result["usual_step_ms"] * MS:
            yield {"kind": "slow_operator", "rank": row["rank"], "operator": row["name"], "ns": round(row["ns"]), "usual_ns": round(row["usual_ns"]),
                   "text": f"{row['name']} takes {row['ns'] / MS:.2f} ms of a step on rank {row['rank']}, {row['usual_ns'] / MS:.2f} ms on the usual rank."}


def of_presence(judgement):
    first, last = min(row["first_step"] for row in judgement.presence), max(row["last_step"] for row in judgement.presence)
    groups = collections.defaultdict(list)
    for row in judgement.presence:
        if row["first_step"] > first:
            groups["joined", row["first_step"]].append(row["rank"])
        if row["last_step"] < last:
            groups["left", row["last_step"]].append(row["rank"])
        if row["steps"] < row["steps_meanwhile"]:
            groups["missing", row["steps_meanwhile"] - row["steps"]].append(row["rank"])
    texts = {"joined": "Of {} there is nothing before step {}.", "left": "Of {} there is nothing after step {}.",
             "missing": "Of {} {} steps are missing; links of their communicators are not judged in these."}
    for (kind, number), ranks in sorted(groups.items()):
        yield {"kind": kind, "ranks": ranks, "step" if kind != "missing" else "steps": number, "text": texts[kind].format(names(ranks), number)}


def of_tables(judgement):
    lost = {"collectives": "clocks and links are not judged", "idle": "what hosts idle for is not known", "operators": "which operators are slow is not known"}
    for table in judgement.lacking:
        if table in lost:
            yield {"kind": "no_table", "table": table, "text": f"The lake has no table {table}: {lost[table]}."}
    if "collectives" not in judgement.lacking and any(row["communicator"] == "" for row in judgement.members):
        yield {"kind": "no_communicator", "text": "Of some collectives the communicator is not known: links are judged by the others only."}


def of_files(judgement):
    """Damaged files, steps that are there more than once, figures that no file has."""
    damaged = judgement.engine.left_out
    if damaged:
        more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
        yield {"kind": "damaged", "files": damaged,
               "text": f"Left out, for they are damaged, or no whole Parquet files: {', '.join(damaged[:3])}{more}."}
    if judgement.without_steps:
        yield {"kind": "no_steps", "ranks": judgement.without_steps,
               "text": f"Of {names(judgement.without_steps)} there are collectives, but no steps: what they do is not judged."}
    if judgement.twice:
        ranks, steps = [row["rank"] for row in judgement.twice], sum(row["steps"] for row in judgement.twice)
        yield {"kind": "twice", "ranks": ranks, "steps": steps,
               "text": f"Of {names(ranks)} {steps} steps are there more than once: two jobs in one lake, or one that began anew. Their times are "
                       "added up, and nobody is named in these steps; give each job, and each of its runs, a lake of its own."}
    unknown = {"compute_ns": "how long devices computed is not known: nobody is named for computing longer",
               "exposed_communication_ns": "how long ranks waited for each other is not known: who makes the others wait cannot be told",
               "idle_ns": "how long devices were idle is not known: nobody is named for that"}
    for column, text in unknown.items():
        if judgement.known["steps"] and not judgement.known[column]:
            yield {"kind": "no_column", "table": "steps", "column": column, "text": f"The lake's steps have no {column}: {text}."}


def findings_of(judgement, result):
    return (list(of_clocks(judgement)) + list(of_links(judgement, result)) + list(of_operators(judgement, result)) +
            list(of_presence(judgement)) + list(of_tables(judgement)) + list(of_files(judgement)))
