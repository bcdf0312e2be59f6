# SPDX-License-Identifier: Apache-2.0
"""findings.py - other findings about a lake: clocks that were set, numbers of steps that differ, parts that could not be
judged and why."""

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


def counted(number, what):
    """"1 step", "2 steps"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def of_clocks(judgement):
    for step, ns, ranks in clock.settings(judgement.clocks, judgement.host_of, judgement.gap_ns):
        yield {"kind": "clock_set", "ranks": ranks, "step": step, "ns": round(ns),
               "text": f"The clock of {names(ranks)}{host_text(judgement, ranks)} was set by {ns / MS:+.1f} ms at step {step}; the judgement allows for this."}
    lost = sorted(set(judgement.host_of) - set(judgement.clocks))
    if lost and len(judgement.host_of) > 1 and "collectives" not in judgement.lacking:
        yield {"kind": "clock_unknown", "ranks": lost,
               "text": f"The clock of {names(lost)} cannot be compared with the other clocks, because no collective connects these ranks with the others. Their "
                       "computing and idle time is judged, their links are not."}


def of_numbers(judgement):
    """Ranks that count their steps from another start."""
    numbers = judgement.numbers
    if numbers and numbers.added:
        ranks = sorted(numbers.added)
        yield {"kind": "renumbered", "ranks": ranks, "added": [numbers.added[rank] for rank in ranks],
               "text": f"{names(ranks).capitalize()} {'counts its' if len(ranks) == 1 else 'count their'} steps from another start than rank {numbers.reference}; "
                       "all steps have the numbers of that rank here."}
    if numbers and numbers.unclear and not judgement.jobs and not judgement.twice:
        ranks = sorted(numbers.unclear)
        later = max(numbers.unclear.values(), key=abs)
        yield {"kind": "numbers_unclear", "ranks": ranks,
               "text": f"Steps of {names(ranks)} begin up to {abs(later) / 1e9:.1f} s {'later' if later > 0 else 'earlier'} than steps of rank {numbers.reference} "
                       "with the same number. Either the clocks differ, or the ranks count from different starts, and then different steps are compared."}


def of_jobs(judgement):
    if judgement.jobs:
        groups = [names(ranks) for ranks in judgement.jobs]
        yield {"kind": "two_jobs", "jobs": judgement.jobs,
               "text": f"There is no collective between {', '.join(groups[:-1])} and {groups[-1]}, and their steps differ in length: they are {len(groups)} jobs. "
                       "Give each job a lake of its own."}


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
                   "text": f"The links of communicator {row['communicator']} are also slow, by {row['ns'] / MS:.1f} ms per step, in {row['steps']} steps."}


def of_operators(judgement, result):
    """Operators that are slower than on other ranks, on ranks that hold the job back by computing."""
    ranks = {holder["rank"] for holder in result["holders"] if holder["why"] == "compute" and "rank" in holder}
    for row in judgement.operators:
        more = row["ns"] - row["usual_ns"]
        if row["rank"] in ranks and row["usual_ns"] > 0 and more > 0.05 * row["usual_ns"] and more > 0.005 * result["usual_step_ms"] * MS:
            yield {"kind": "slow_operator", "rank": row["rank"], "operator": row["name"], "ns": round(row["ns"]), "usual_ns": round(row["usual_ns"]),
                   "text": f"{row['name']} takes {row['ns'] / MS:.2f} ms of a step on rank {row['rank']}, and usually {row['usual_ns'] / MS:.2f} ms on other ranks."}


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
    texts = {"joined": "{0} {1} no steps before step {2}.", "left": "{0} {1} no steps after step {2}.",
             "missing": "{0} {3} {4} in between; in these the links of their communicators are not judged."}
    for (kind, number), ranks in sorted(groups.items()):
        one = len(ranks) == 1
        yield {"kind": kind, "ranks": ranks, "step" if kind != "missing" else "steps": number,
               "text": texts[kind].format(names(ranks).capitalize(), "has" if one else "have", number, "lacks" if one else "lack", counted(number, "step"))}


def of_tables(judgement):
    lost = {"collectives": "clocks and links are not judged, and it is not known whether ranks wait for each other", "idle": "the causes of idle time are not known",
            "operators": "it is not known which operators are slow"}
    for table in judgement.lacking:
        missing = judgement.unfit.get(table)
        what = f"The lake's table {table} has no column {', '.join(missing)}, and is not used" if missing else f"The lake has no table {table}"
        if table in lost:
            yield {"kind": "no_table", "table": table, "text": f"{what}: {lost[table]}."}
    if "collectives" not in judgement.lacking and any(row["communicator"] == "" for row in judgement.members):
        yield {"kind": "no_communicator", "text": "The communicator of some collectives is not known; only the others are used to judge links."}


def of_files(judgement):
    """Damaged files, steps that are there more than once, figures that no file has."""
    damaged = judgement.engine.left_out
    if damaged:
        more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
        yield {"kind": "damaged", "files": damaged,
               "text": f"These files are damaged, incomplete or not Parquet, and were left out: {', '.join(damaged[:3])}{more}."}
    if judgement.unusable:
        yield {"kind": "unusable", "rows": judgement.unusable,
               "text": f"{counted(judgement.unusable, 'row')} of the table steps whose rank or length is negative or too large {'was' if judgement.unusable == 1 else 'were'} left out."}
    if judgement.without_steps:
        yield {"kind": "no_steps", "ranks": judgement.without_steps,
               "text": f"{names(judgement.without_steps).capitalize()} {'has' if len(judgement.without_steps) == 1 else 'have'} collectives, but no steps, and "
                       f"{'is' if len(judgement.without_steps) == 1 else 'are'} not judged."}
    if judgement.twice:
        ranks, steps = [row["rank"] for row in judgement.twice], sum(row["steps"] for row in judgement.twice)
        yield {"kind": "twice", "ranks": ranks, "steps": steps,
               "text": f"{counted(steps, 'step')} of {names(ranks)} {'is' if steps == 1 else 'are'} in the lake more than once, because it has two jobs, or two runs of "
                       "one job. Nobody is named in these steps. Give each job, and each of its runs, a lake of its own."}
    unknown = {"compute_ns": "it is not known how long devices computed, and nobody is named for computing longer",
               "exposed_communication_ns": "it is not known how long ranks waited for each other, and so not who makes the others wait",
               "idle_ns": "it is not known how long devices were idle, and nobody is named for that"}
    for column, text in unknown.items():
        if judgement.known["steps"] and not judgement.known[column]:
            yield {"kind": "no_column", "table": "steps", "column": column, "text": f"The lake's steps have no {column}: {text}."}


def findings_of(judgement, result):
    return (list(of_jobs(judgement)) + list(of_numbers(judgement)) + list(of_clocks(judgement)) + list(of_links(judgement, result)) + list(of_operators(judgement, result)) +
            list(of_presence(judgement)) + list(of_tables(judgement)) + list(of_files(judgement)))
