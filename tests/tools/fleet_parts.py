#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet_parts.py FOLDER: unit tests of profbpf-fleet report: lakes of odd shapes, each made from one of make_lake.py.

The job has eight ranks on two hosts, and 60 steps; rank 3 computes 16 ms longer.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import duckdb

from profbpf_fleet import engines, judge
from profbpf_fleet.text import text_of

FOLDER = pathlib.Path(sys.argv.pop(1))
MAKE = [sys.executable, str(pathlib.Path(__file__).with_name("make_lake.py"))]
OF_STEPS = ("steps", "collectives", "idle", "operators")


def make(name, *options):
    lake = FOLDER / name
    subprocess.run([*MAKE, str(lake), "--ranks", "8", "--steps", "60", "--collectives", "5", *options], check=True)
    return lake


def copied(name, lake):
    return pathlib.Path(shutil.copytree(lake, FOLDER / name))


def rewrite(lake, tables, columns, where="true", files="*"):
    """Each file again, with other columns or rows."""
    for table in tables:
        for path in glob.glob(f"{lake}/{table}/{files}.parquet"):
            duckdb.sql(f"COPY (SELECT {columns} FROM '{path}' WHERE {where}) TO '{path}.new' (FORMAT parquet)")
            os.rename(path + ".new", path)


def report(lake, first_step=None, last_step=None):
    engine = engines.DuckDB(str(lake))
    try:
        return judge.answer(engine, first_step, last_step)
    finally:
        engine.close()


def kinds(result):
    return [finding["kind"] for finding in result["findings"] if finding["kind"] != "slow_operator"]


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lake = make("slow", "--plant", "compute:rank=3,ms=16")
        cls.whole = report(cls.lake)

    def shaped(self, tables, columns, where="true"):
        lake = copied(self.id(), self.lake)
        rewrite(lake, tables, columns, where)
        return lake

    def refused(self, lake):
        with self.assertRaises(engines.Problem) as caught:
            report(lake)
        return str(caught.exception)

    def test_ranks_that_count_from_different_starts(self):
        for by in (7, 1000):
            lake = copied(f"{self.id()}.{by}", self.lake)
            rewrite(lake, OF_STEPS, f"* REPLACE (step + rank * {by} AS step)")
            result = report(lake)
            found = [finding for finding in result["findings"] if finding["kind"] == "renumbered"]
            self.assertEqual([(finding["ranks"], finding["added"]) for finding in found], [(list(range(1, 8)), [-by * rank for rank in range(1, 8)])])
            self.assertEqual(result["holders"], self.whole["holders"])
            self.assertEqual((result["steps"], result["clocks"]), (60, self.whole["clocks"]))
            self.assertEqual(report(lake, 10, 29)["holders"][0]["in_steps"], [[10, 29]])

    def test_ranks_whose_clock_is_wrong_keep_their_numbers(self):
        for seconds in (1, 7):
            lake = copied(f"{self.id()}.{seconds}", self.lake)
            rewrite(lake, ("steps",), f"* REPLACE (start_ns + {seconds}000000000 AS start_ns)", files="host001*")
            rewrite(lake, ("collectives",), f"* REPLACE (start_ns + {seconds}000000000 AS start_ns, end_ns + {seconds}000000000 AS end_ns)", files="host001*")
            result = report(lake)
            self.assertEqual((result["holders"], kinds(result)), (self.whole["holders"], []))

    def test_numbers_that_nothing_decides(self):
        lake = self.shaped(("steps",), "* REPLACE (start_ns + rank // 4 * 5000000000 AS start_ns)")
        shutil.rmtree(lake / "collectives")
        self.assertEqual(kinds(report(lake)), ["numbers_unclear", "no_table"])

    def test_steps_that_no_two_ranks_have(self):
        lake = self.shaped(("steps",), "* REPLACE (step + rank * 1000 AS step, start_ns + rank * 10000000000000 AS start_ns)")
        for table in OF_STEPS[1:]:
            shutil.rmtree(lake / table)
        self.assertIn("only 0 of 480 steps are steps of more than one rank", report(lake)["verdict"]["sentence"])

    def test_two_jobs_with_ranks_of_their_own(self):
        lake, other = copied(self.id(), self.lake), make(self.id() + ".other", "--step-ms", "90", "--seed", "9")
        rewrite(other, OF_STEPS + ("hosts",), "* REPLACE (rank + 8 AS rank)")
        rewrite(other, ("collectives",), "* REPLACE ('other' || communicator AS communicator)")
        for path in other.glob("*/*.parquet"):
            shutil.copy(path, lake / path.parent.name / f"other-{path.name}")
        result = report(lake)
        self.assertEqual((result["holders"], result["verdict"]["sentence"]), ([], "Nothing can be said of who holds the job back: the lake has 2 jobs."))
        self.assertEqual([finding["jobs"] for finding in result["findings"] if finding["kind"] == "two_jobs"], [[list(range(8)), list(range(8, 16))]])

    def test_a_restart_in_other_steps_is_the_same_job(self):
        lake, other = copied(self.id(), self.lake), make(self.id() + ".other", "--seed", "9")
        rewrite(other, OF_STEPS, "* REPLACE (step + 60 AS step)")
        for path in other.glob("*/*.parquet"):
            shutil.copy(path, lake / path.parent.name / f"other-{path.name}")
        result = report(lake)
        self.assertEqual([(holder["rank"], holder["in_steps"]) for holder in result["holders"]], [(3, [[0, 59]])])
        self.assertNotIn("renumbered", kinds(result))
        self.assertNotIn("numbers_unclear", kinds(result))

    def test_the_clock_of_one_of_two_hosts_was_set(self):
        for host, ranks in ((0, [0, 1, 2, 3]), (1, [4, 5, 6, 7])):
            result = report(make(f"{self.id()}.{host}", "--plant", f"set:host={host},step=20,ms=3600000"))
            found = [finding for finding in result["findings"] if finding["kind"] == "clock_set"]
            self.assertEqual([(finding["ranks"], finding["step"], round(finding["ns"] / 1e9)) for finding in found], [(ranks, 20, 3600)])

    def test_columns_without_which_a_table_is_no_use(self):
        for column in ("rank", "step", "start_ns", "step_ns"):
            lake = copied(f"{self.id()}.{column}", self.lake)
            rewrite(lake, ("steps",), f"* EXCLUDE ({column})")
            self.assertIn(f"steps: no column {column}: a lake of another program, or of another version", self.refused(lake))
        lake = self.shaped(("collectives",), "* EXCLUDE (sequence)")
        result = report(lake)
        self.assertEqual((result["verdict"]["rank"], kinds(result)), (3, ["no_table"]))
        self.assertIn("table collectives has no column sequence, and is not used", text_of(result))

    def test_columns_of_other_types(self):
        lake = self.shaped(("steps",), "* REPLACE ('r' || rank AS rank)")
        self.assertTrue(self.refused(lake).startswith(f"{lake}: "))
        lake = copied(self.id() + ".text", self.lake)
        rewrite(lake, ("steps",), "* REPLACE (CAST(rank AS VARCHAR) AS rank)", files="host000-0")
        self.assertEqual(report(lake)["holders"], self.whole["holders"])

    def test_rows_that_make_no_sense(self):
        lake = self.shaped(("steps",), "* REPLACE (CASE WHEN rank = 3 THEN -1 ELSE rank END AS rank, CASE WHEN step < 5 THEN -1 ELSE step_ns END AS step_ns)")
        result = report(lake)
        self.assertEqual((result["holders"], result["ranks"], result["steps"]), ([], 7, 55))
        self.assertEqual([finding["rows"] for finding in result["findings"] if finding["kind"] == "unusable"], [60 + 7 * 5])

    def test_numbers_that_their_types_do_not_hold(self):
        lake = self.shaped(("steps",), "* REPLACE (CASE WHEN rank = 3 AND step = 7 THEN 9223372036854775808 ELSE CAST(step_ns AS UBIGINT) END AS step_ns, "
                           "CASE WHEN rank = 5 THEN 4294967301 ELSE rank END AS rank)")
        result = report(lake)
        self.assertEqual(([holder["rank"] for holder in result["holders"]], result["ranks"]), ([3], 7))
        self.assertEqual([finding["rows"] for finding in result["findings"] if finding["kind"] == "unusable"], [60 + 1])
        lake = copied(self.id() + ".doubles", self.lake)
        rewrite(lake, ("collectives",), "* REPLACE (CASE WHEN rank = 0 THEN 1e300 ELSE start_ns END AS start_ns)")
        self.assertEqual([holder["rank"] for holder in report(lake)["holders"]], [3])

    def test_slow_ranks_without_a_host(self):
        longer = "CASE WHEN rank IN (0, 3) THEN 16000000 ELSE 0 END"
        lake = self.shaped(("steps",), f"* REPLACE (step_ns + {longer} AS step_ns, compute_ns + {longer} AS compute_ns, "
                           "CASE WHEN rank IN (0, 3) THEN NULL ELSE host END AS host)")
        result = report(lake)
        self.assertEqual([(holder["rank"], holder.get("host")) for holder in result["holders"]], [(3, None)])
        self.assertIn("Rank 3 holds the job back", result["verdict"]["sentence"])

    def test_what_is_said_without_collectives(self):
        lake = copied(self.id(), self.lake)
        shutil.rmtree(lake / "collectives")
        result = report(lake)
        self.assertIn("Rank 3 on host000 is slower than usual by 16.", result["verdict"]["sentence"])
        self.assertNotIn("clocks  ", text_of(result))

    def test_few_ranks_and_steps(self):
        self.assertIn("the lake has no such steps; it has steps 0 to 59", report(self.lake, 1000)["verdict"]["sentence"])
        self.assertIn("1 step is too little to judge by", report(self.lake, 4, 4)["verdict"]["sentence"])
        lake = self.shaped(OF_STEPS, "*", "rank = 3")
        text = text_of(report(lake))
        self.assertIn("the lake has one rank, which cannot be compared with others", text)
        self.assertIn("lake     1 rank, 60 steps", text)


if __name__ == "__main__":
    unittest.main()
