# SPDX-License-Identifier: Apache-2.0
"""judge.py - runs the SQL over a lake and combines its rows to the answer that --format json prints.

The SQL files run in the order of their numbers; the rows of each become a table of its name, without the number. Two
tables are made between them: tree, before differences, and clocks, before arrivals (clocks.py). The table doubled is
made first: the ranks' steps that are in the lake more than once.
"""

import collections
import pathlib
import re
import statistics

from profbpf_fleet import clocks as clock
from profbpf_fleet.engines import Problem
from profbpf_fleet.findings import findings_of, of_files
from profbpf_fleet.lake import Lake
from profbpf_fleet.same_steps import numbers_of
from profbpf_fleet.sentences import sentence_of

SCHEMA = "profbpf.fleet/1"
CHRONIC = 0.5  # share of its steps
OTHER_JOB = 0.1  # the steps of groups of ranks are longer by more than this share if the groups are different jobs
MS = 1e6


def statements():
    """[(name, SELECT)] in order, from the files of the package or of the checkout."""
    here = pathlib.Path(__file__).parent
    folder = here / "sql" if (here / "sql").is_dir() else here.parent
    return [(re.sub(r"^\d+_", "", path.stem), path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[0-9][0-9]_*.sql"))]


class Judgement:
    """The rows of a lake's tables that the answer needs."""

    def __init__(self, engine, first_step, last_step, with_map):
        self.engine = engine
        self.with_map = with_map
        lake = Lake(engine)
        self.lacking, self.unfit, self.unusable = lake.lacking, lake.unfit, lake.unusable()
        self.numbers = numbers_of(engine, dict(statements())["members"]) if engine.complete else None
        self.range = engine.rows("SELECT min(step) AS first, max(step) AS last FROM steps")[0]
        lake.show((first_step, last_step), self.numbers and self.numbers.added)
        self.host_of = {row["rank"]: row["host"] for row in engine.rows("SELECT rank, max(host) AS host FROM steps GROUP BY rank")}
        self.known = engine.rows("SELECT count(*) AS steps, count(compute_ns) AS compute_ns, count(exposed_communication_ns) AS "
                                 "exposed_communication_ns, count(idle_ns) AS idle_ns FROM steps")[0]
        engine.make("doubled", "SELECT rank, step FROM steps GROUP BY rank, step HAVING count(*) > 1")
        self.twice = engine.rows("SELECT rank, count(*) AS steps FROM doubled GROUP BY rank ORDER BY rank")
        self.doubled_steps = engine.rows("SELECT count(DISTINCT step) AS steps FROM doubled")[0]["steps"]
        self.compared_steps = engine.rows("SELECT count(*) AS steps FROM (SELECT step FROM steps GROUP BY step HAVING count(DISTINCT rank) > 1) s")[0]["steps"]
        self.origin, self.without_steps, self.jobs = None, [], []
        if self.host_of:
            self.run()

    def run(self):
        for name, select in statements():
            if name == "differences":
                self.make_tree()
            if name == "arrivals":
                self.make_clocks()
            if name != "map" or self.with_map:
                self.engine.make(name, select)
            if name == "links":
                self.engine.drop("arrivals")
        rows = self.engine.rows
        self.jobs = self.jobs_of(rows("SELECT rank, median(step_ns) AS ns FROM steps GROUP BY rank"))
        self.origin = rows("SELECT * FROM origin")[0]
        self.bounds = {row["kind"]: row for row in rows("SELECT * FROM bounds")}
        # Times of steps that a rank has more than once are sums: they do not show which rank is slow.
        once = "step NOT IN (SELECT step FROM doubled)"
        self.held = rows(f"SELECT kind, rank, communicator, host, step, why, cause, who, ns FROM holders WHERE place = 1 AND {once} ORDER BY step")
        self.suspected = rows(f"SELECT kind, rank, communicator, host, why, cause, count(*) AS steps FROM holders WHERE {once} "
                              "GROUP BY kind, rank, communicator, host, why, cause")
        self.slow_links = rows("SELECT communicator, count(*) AS steps, median(ns) AS ns FROM suspects WHERE kind = 'link' "
                               "GROUP BY communicator ORDER BY communicator")
        self.operators = rows("SELECT rank, name, ns, usual_ns, place FROM operators_of_suspects ORDER BY rank, place")
        self.order = {row["step"]: row["i"] for row in rows("SELECT step, i FROM numbered")}
        self.presence = rows("SELECT * FROM presence ORDER BY rank")
        self.link_steps = {row["communicator"]: row["steps"] for row in
                           rows("SELECT communicator, count(*) AS steps FROM links GROUP BY communicator")}

    def make_tree(self):
        members = self.engine.rows("SELECT * FROM members ORDER BY communicator, rank")
        # A rank without steps is not judged, and its host is not known.
        self.members = [row for row in members if row["rank"] in self.host_of]
        self.without_steps = sorted({row["rank"] for row in members} - set(self.host_of))
        self.root, self.tree = clock.tree_of(self.members, self.host_of)
        self.engine.make("tree", clock.relation_of_tree(self.tree))

    def jobs_of(self, lengths):
        """[[ranks]]: the jobs in the lake if it has more than one: groups of ranks that no collective connects, and whose
        steps differ in length, as those of ranks that wait for each other do not."""
        usual = {row["rank"]: row["ns"] for row in lengths}
        groups = clock.groups_of(self.members)
        lengths = [statistics.median(usual[rank] for rank in group) for group in groups]
        return groups if len(groups) > 1 and max(lengths) > (1 + OTHER_JOB) * min(lengths) else []

    def gap_ns(self, rank, step):
        """The time from the end of a rank's step before this one to the begin of this one, by its own clock."""
        found = self.engine.rows(f"SELECT start_ns, step_ns FROM steps WHERE rank = {rank} AND step <= {step} ORDER BY step DESC LIMIT 2")
        return found[0]["start_ns"] - found[1]["start_ns"] - found[1]["step_ns"] if len(found) == 2 else 0

    def make_clocks(self):
        self.clocks = clock.chain(self.root, self.tree, self.engine.rows("SELECT * FROM fits ORDER BY rank, epoch"), self.host_of)
        self.engine.make("clocks", clock.relation_of(self.clocks or {min(self.host_of): [clock.Part(clock.FIRST, 0.0, 1.0, 0.0)]}))


def key_of(row):
    return row["kind"], row["rank"], row["communicator"], row["host"] if row["kind"] == "rank" else "", row["why"], row["cause"]


def operator_of(judgement, rank, host):
    """The operator with the largest excess time on a rank, or on the ranks of a host."""
    ranks = [rank] if rank >= 0 else [r for r, name in judgement.host_of.items() if name == host]
    more = collections.Counter()
    for row in judgement.operators:
        if row["rank"] in ranks and row["place"] == 1 and row["ns"] > row["usual_ns"]:
            more[row["name"]] += row["ns"] - row["usual_ns"]
    return more.most_common(1)[0][0] if more else None


def ranges_of(judgement, steps):
    """[[first, last]]: ranges of steps that are consecutive in the lake."""
    ranges = []
    for step in steps:
        if ranges and judgement.order[step] == judgement.order[ranges[-1][1]] + 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    return ranges


def holder_of(judgement, key, rows, suspected):
    kind, rank, communicator, host, why, cause = key
    present = {row["rank"]: row["steps"] for row in judgement.presence}
    of_host = [present[r] for r, name in judgement.host_of.items() if name == host]
    steps = judgement.link_steps[communicator] if kind == "link" else present[rank] if rank >= 0 else max(of_host)
    held = statistics.median(row["ns"] for row in rows) / MS
    holder = {"rank": rank if kind == "rank" and rank >= 0 else None, "host": host or None, "communicator": communicator or None,
              "why": why, "cause": cause or None, "who": collections.Counter(row["who"] for row in rows).most_common(1)[0][0] or None,
              "operator": operator_of(judgement, rank, host) if why == "compute" else None,
              "steps": len(rows), "first_step": rows[0]["step"], "last_step": rows[-1]["step"], "held_ms_per_step": round(held, 3),
              "chronic": suspected[key] >= CHRONIC * steps, "in_steps": ranges_of(judgement, [row["step"] for row in rows])}
    return {name: value for name, value in holder.items() if value is not None}


def holders_of(judgement):
    """The holders, in descending order of their cost; a holder of fewer than three steps is left out."""
    by_key, suspected = collections.defaultdict(list), collections.Counter()
    for row in judgement.held:
        by_key[key_of(row)].append(row)
    for row in judgement.suspected:
        suspected[key_of(row)] += row["steps"]
    holders = [holder_of(judgement, key, rows, suspected) for key, rows in sorted(by_key.items()) if len(rows) >= 3]
    return sorted(holders, key=lambda holder: -holder["steps"] * holder["held_ms_per_step"])


def judge(engine, first_step, last_step, with_map):
    """Returns a judgement; while files turn out to be damaged, it judges again without them."""
    while True:
        try:
            return Judgement(engine, first_step, last_step, with_map)
        except Problem as problem:
            if not engine.look_for_damage():
                raise Problem(str(problem) if str(problem).startswith(engine.lake) else f"{engine.lake}: {problem}") from problem
        engine.begin_anew()


def answer(engine, first_step=None, last_step=None, with_map=False):
    """The whole judgement as a dict for JSON."""
    judgement = judge(engine, first_step, last_step, with_map)
    result = {"schema": SCHEMA, "engine": engine.version, "ranks": len(judgement.host_of), "steps": 0, "holders": [], "clocks": [], "findings": []}
    if judgement.origin:
        result["steps"] = judgement.origin["steps"]
        if "rank" in judgement.bounds:
            result["usual_step_ms"] = round(judgement.bounds["rank"]["usual_step_ns"] / MS, 3)
        result["named_from_ms"] = {kind: round(row["ns"] / MS, 3) for kind, row in sorted(judgement.bounds.items())}
        result["holders"] = [] if judgement.jobs else holders_of(judgement)
        result["clocks"] = clock.told(judgement.clocks)
        result["findings"] = findings_of(judgement, result)
    else:
        result["findings"] = list(of_files(judgement))
    result["verdict"] = verdict_of(result, judgement)
    if with_map and judgement.origin:
        result["map"] = engine.rows("SELECT line, field, first_rank, first_step, ns FROM map ORDER BY line, field")
        result["last_step"], result["last_rank"] = max(judgement.order), max(judgement.host_of)
    return result


def verdict_of(result, judgement):
    verdict = {"sentence": sentence_of(result, judgement)}
    if result["holders"]:
        verdict |= {name: value for name, value in result["holders"][0].items() if name in ("rank", "host", "communicator", "why", "cause")}
    return verdict
