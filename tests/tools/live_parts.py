#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""live_parts.py FOLDER: unit tests of profbpf-fleet publish and watch: numbering, spool, hangs, alerts, directories."""

import argparse
import http.client
import io
import os
import pathlib
import sys
import threading
import unittest
import unittest.mock
import zipfile

from profbpf_fleet import alerts, directory, hangs, main, messages, numbering, publish, spool, step_metrics, watch
from profbpf_fleet.engines import Problem
from profbpf_fleet.window import Progress, Window

FOLDER = pathlib.Path(sys.argv.pop(1))
MS = 1_000_000


def steps(first, count, start_ns, length_ns=100 * MS):
    return [(first + i, start_ns + i * length_ns, length_ns) for i in range(count)]


class Numbering(unittest.TestCase):
    def test_found_steps_go_on(self):
        shift, fresh = numbering.news(steps(0, 10, 0), False, None)
        self.assertEqual((shift, [row[0] for row in fresh]), (0, list(range(1, 9))))
        # The next snapshot begins with the former step 5, and counts from 0.
        shift, fresh = numbering.news(steps(0, 10, 503 * MS), False, {"step": 8, "start_ns": 800 * MS})
        self.assertEqual([row[0] + shift for row in fresh], [9, 10, 11, 12, 13])

    def test_nothing_twice_nothing_left_out(self):
        """Overlapping snapshots of any length: each step comes once, with one number."""
        told, last = [], None
        for begin in range(0, 4000, 370):
            rows = [(i, start, length) for i, (_, start, length) in enumerate(row for row in steps(0, 60, 0)
                                                                              if begin * MS <= row[1] < (begin + 900) * MS)]
            shift, fresh = numbering.news(rows, False, last)
            told += [(row[0] + shift, row[1]) for row in fresh]
            if fresh:
                last = {"step": fresh[-1][0] + shift, "start_ns": fresh[-1][1]}
        self.assertEqual([number for number, _ in told], list(range(told[0][0], told[0][0] + len(told))))
        self.assertEqual([start for _, start in told], [told[0][1] + i * 100 * MS for i in range(len(told))])

    def test_a_gap_counts_the_steps_that_fit(self):
        shift, fresh = numbering.news(steps(0, 5, 3000 * MS), False, {"step": 8, "start_ns": 800 * MS})
        self.assertEqual(fresh[0][0] + shift, 31)

    def test_marked_steps_keep_their_numbers(self):
        self.assertEqual(numbering.news(steps(70, 4, 0), True, {"step": 70, "start_ns": 0}), (0, steps(71, 2, 100 * MS)))

    def test_a_step_after_a_short_one_is_not_left_out(self):
        rows = [(0, 0, 100 * MS), (1, 100 * MS, 20 * MS), (2, 120 * MS, 100 * MS), (3, 220 * MS, 100 * MS), (4, 320 * MS, 100 * MS)]
        for marked in (True, False):
            last = {"step": 1, "start_ns": 100 * MS, "end_ns": 120 * MS}
            shift, fresh = numbering.news(rows, marked, last)
            self.assertEqual((shift, [row[0] for row in fresh]), (0, [2, 3]))

    def test_ranks_that_count_from_elsewhere(self):
        reference = [row[:2] for row in steps(40, 20, 0)]
        for first, offset in ((0, 30 * MS), (900, -40 * MS), (7, 500 * MS), (7, 4000 * MS)):
            rows = [row[:2] for row in steps(first, 10, offset)]
            self.assertEqual(numbering.shift_to(rows, reference, 100 * MS), 40 + round(offset / (100 * MS)) - first)


class Spools(unittest.TestCase):
    def test_a_message_whose_number_was_not_taken_goes(self):
        kept = spool.Spool(FOLDER / "killed", 1000, "host1")
        kept.add(b"one", {"at": 1})
        # As if killed between writing message and state.
        messages.write_file(str(kept.path_of(2)), b"two")
        kept.close()
        again = spool.Spool(FOLDER / "killed", 1000)
        self.assertEqual((again.waiting(), again.next, again.state, again.source), ([1], 2, {"at": 1}, kept.source))
        again.add(b"other", {"at": 2})
        self.assertEqual(again.message(2), (messages.name_of(kept.source, 2), b"other"))
        with self.assertRaises(Problem):
            spool.Spool(FOLDER / "killed", 1000)

    def test_what_is_not_its_own_stays(self):
        folder = FOLDER / "home"
        (folder / "project").mkdir(parents=True)
        (folder / "round-killed").mkdir()
        for name in (".profile", "a.message", ".0000000001.message.77", ".spool.json.77"):
            (folder / name).write_bytes(b"")
        kept = spool.Spool(folder, 1000)
        self.assertEqual((sorted(path.name for path in folder.iterdir()), kept.waiting()), ([".profile", "a.message", "lock", "project"], []))

    def test_it_is_bounded(self):
        kept = spool.Spool(FOLDER / "full", 100)
        gone = [kept.add(bytes(30), {}) for _ in range(6)]
        self.assertEqual((gone, kept.waiting(), kept.given_up), ([0, 0, 0, 1, 1, 1], [4, 5, 6], 3))

    def test_what_is_not_acknowledged_is_sent_again_by_the_same_name(self):
        class Way:
            taken, up = [], False

            def send(self, name, payload):
                if not self.up:
                    raise directory.Waiting("down")
                self.taken.append((name, payload))
        kept, way = spool.Spool(FOLDER / "sent", 1000), Way()
        sender = publish.Sender(kept, way)
        kept.add(b"one", {})
        self.assertEqual((sender.flush(), kept.waiting()), (0, [1]))
        kept.add(b"two", {})
        way.up = True
        self.assertEqual((sender.flush(), kept.waiting(), [payload for _, payload in way.taken]), (2, [], [b"one", b"two"]))


class Files(unittest.TestCase):
    def test_a_message_counts_once_and_from_its_steps_on(self):
        lake, name = str(FOLDER / "lake"), messages.name_of("host1-00000000-11111111", 5)
        source = directory.DirectorySource(lake, {})
        with self.assertRaises(Problem):
            source.poll()
        messages.write_to_lake(lake, name, messages.pack({"idle": b"i"}))
        self.assertEqual(source.poll(), [])
        messages.write_to_lake(lake, name, messages.pack({"idle": b"i", "steps": b"s"}))
        self.assertEqual([table for table, _ in source.poll()], ["idle", "steps"])
        messages.write_to_lake(lake, name, messages.pack({"idle": b"i", "steps": b"s"}))
        self.assertEqual(source.poll(), [])

    def test_what_was_removed_for_its_age_is_not_taken_again(self):
        lake, name, state = str(FOLDER / "old"), messages.name_of("host1-00000000-11111111", 5), {}
        messages.write_to_lake(lake, name, messages.pack({"hosts": b"h", "steps": b"s"}))
        source = directory.DirectorySource(lake, state, keep_s=60)
        path = source.poll()[0][1]
        os.utime(path, (1, 1))
        source.seen["steps", f"{name}.parquet"] = 1
        source.poll()
        self.assertFalse(os.path.exists(path))
        self.assertEqual(os.listdir(f"{lake}/hosts"), [])
        messages.write_to_lake(lake, name, messages.pack({"steps": b"s"}))
        self.assertEqual(directory.DirectorySource(lake, state, keep_s=60).poll(), [])

    def test_what_is_known_of_files_has_a_bound(self):
        lake, state = str(FOLDER / "many"), {}
        source = directory.DirectorySource(lake, state)
        os.makedirs(f"{lake}/steps")
        pathlib.Path(f"{lake}/steps/other.parquet").write_bytes(b"")
        taken = []
        with unittest.mock.patch.object(directory, "SEEN_OF_A_SOURCE", 20):
            for number in range(1, 101):
                name = messages.name_of("host1-00000000-11111111", number)
                messages.write_to_lake(lake, name, messages.pack({"idle": b"i", "steps": b"s"}))
                if number % 5 == 0:
                    taken += [path for _, path in source.poll()]
                    self.assertEqual(source.poll(), [])
        self.assertEqual(len(taken), len(set(taken)), "a file is taken twice")
        self.assertEqual(len(taken), 201, "files are left out")
        self.assertLessEqual(len(source.seen), 2 * 20 + 1)
        # A restarted source does not take messages far behind the newest, either.
        self.assertEqual(len(directory.DirectorySource(lake, state).poll()), len(source.seen))
        os.unlink(f"{lake}/steps/other.parquet")
        source.poll()
        self.assertNotIn(("steps", "other.parquet"), source.seen)

    def test_floors_have_a_bound_and_are_written(self):
        source = directory.DirectorySource(str(FOLDER / "floors"), {})
        with unittest.mock.patch.object(directory, "FLOORS", 3):
            for host in "abcda":
                source.raise_floor(host, 5 + ord(host))
            source.raise_floor("c", 1)
            source.raise_floor("c", 1000)
        self.assertEqual(source.floors, {"d": 105, "a": 102, "c": 1000})
        self.assertTrue(source.floors_raised())
        self.assertFalse(source.floors_raised())

    def test_one_watch_at_a_time_has_a_state(self):
        folder = FOLDER / "locked"
        first = watch.State(folder, "a")
        with self.assertRaisesRegex(Problem, "another profbpf-fleet watch"):
            watch.State(folder, "a")
        first.lock.close()
        watch.State(folder, "a").lock.close()

    def test_a_directory_that_is_not_mounted_waits(self):
        name, payload = messages.name_of("host1-00000000-11111111", 1), messages.pack({"steps": b"s"})
        destination = directory.DirectoryDestination(str(FOLDER / "mounted"))
        with self.assertRaises(directory.Waiting):
            destination.send(name, payload)
        (FOLDER / "mounted").mkdir(parents=True)
        destination.send(name, payload)
        self.assertEqual(os.listdir(FOLDER / "mounted" / "steps"), [f"{name}.parquet"])

    def test_names_and_damage(self):
        for name in ("../../etc-00000000-11111111-0000000001", "h" * 250 + "-00000000-11111111-0000000001", "h-00000000-11111111-\u0661000000001"):
            self.assertIsNone(messages.parsed(name))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("steps.parquet", bytes(1000))
        good = messages.name_of("h-00000000-11111111", 1)
        for name, payload in (("x", messages.pack({})), (good, b"no archive"), (good, packed.getvalue())):
            with self.assertRaises(Problem):
                messages.write_to_lake(str(FOLDER / "none"), name, payload)


class Windows(unittest.TestCase):
    def setUp(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.window = Window(80)
        self.addCleanup(self.window.close)

    def file(self, name, select):
        path = str(FOLDER / f"{name}.parquet")
        self.window.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
        return "steps", path

    def test_damaged_files_are_left_out(self):
        good = self.file("good", "SELECT 3 AS rank, 'h' AS host, 7 AS step, 1000 AS start_ns, 100 AS step_ns")
        # The footer of the damaged file is intact, and its rows can be counted.
        bad = self.file("bad", "SELECT 'x' AS rank, 'h' AS host, 8 AS step, 1100 AS start_ns, 100 AS step_ns")
        self.assertTrue(self.window.ingest([bad, good]))
        self.assertEqual(self.window.rows("SELECT rank, step FROM live_steps"), [{"rank": 3, "step": 7}])
        self.assertEqual(len(self.window.damaged), 1)
        self.assertFalse(self.window.ingest([bad, bad]))

    def test_old_steps_go(self):
        self.window.execute("INSERT INTO live_steps SELECT 0, 'h', range, 1000 * range, 1000, 0, 0, 0 FROM range(100)")
        self.window.forget_before(10)
        self.assertEqual(self.window.rows("SELECT min(step) AS step, count(*) AS n FROM live_steps"), [{"step": 0, "n": 100}])
        self.window.forget_before(30)
        self.assertEqual(self.window.rows("SELECT min(step) AS step, count(*) AS n FROM live_steps"), [{"step": 30, "n": 70}])


def progress(quiet_s, last_s=None, step=7):
    return Progress("host1", 100 * 10**9, step, int((100 - quiet_s) * 1e9), int((100 - (last_s or quiet_s)) * 1e9), True)


class Hangs(unittest.TestCase):
    def test_all_stand(self):
        self.assertIsNone(hangs.hang_of({rank: progress(4.5) for rank in range(4)}, 100 * MS, 5, {}))
        self.assertIsNone(hangs.hang_of({rank: progress(9) for rank in range(4)}, 1000 * MS, 5, {}))
        found = hangs.hang_of({rank: progress(6, 5.5 if rank != 2 else 5.9) for rank in range(8)}, 100 * MS, 5, {})
        self.assertEqual((found["rank"], found["since_step"]), (2, 7))
        self.assertNotIn("rank", hangs.hang_of({rank: progress(6, 5.5) for rank in range(8)}, 100 * MS, 5, {}))
        self.assertEqual(hangs.hang_of({rank: progress(6, step=7 - (rank == 3)) for rank in range(8)}, 100 * MS, 5, {})["rank"], 3)

    def test_one_stands(self):
        found = hangs.hang_of({rank: progress(9) if rank == 1 else progress(0.1, step=90) for rank in range(4)}, 100 * MS, 5, {})
        self.assertEqual((found["rank"], found["ranks"]), (1, [1]))

    def test_silence(self):
        self.assertIsNone(hangs.silent_of({"a": 40, "b": 50}, 60, 30))
        self.assertEqual(hangs.silent_of({"a": 0, "b": 50}, 60, 30)["hosts"], ["a"])
        self.assertIn("any of 2 hosts", hangs.silent_of({"a": 0, "b": 5}, 60, 30)["sentence"])


class Alerts(unittest.TestCase):
    def test_begins_changes_ends_once(self):
        state, told = {}, []
        kept = alerts.Alerts(state, [told.append])
        slow = {"kind": "holder", "rank": 3, "why": "unknown", "since_step": 20, "held_ms_per_step": 4.0, "usual_step_ms": 100.0}
        for finding in (slow, slow, slow | {"why": "compute", "since_step": 30}, slow | {"why": "compute", "since_step": 40}):
            kept.update("holder", [dict(finding)])
        kept = alerts.Alerts(state, [told.append])
        for _ in range(3):
            kept.update("holder", [])
        self.assertEqual([(t["state"], t["why"], t["since_step"]) for t in told], [("begins", "unknown", 20), ("changes", "compute", 20), ("ends", "compute", 20)])
        self.assertIn("since step 20", told[2]["sentence"])

    def test_silence_is_of_no_step(self):
        told = []
        kept = alerts.Alerts({}, [told.append])
        for hosts in (["a"], ["a", "b"]):
            kept.update("silent", [{"kind": "silent", "why": "silent", "hosts": hosts, "sentence": ""}])
        self.assertEqual([("since_step" in t, t["state"]) for t in told], [(False, "begins"), (False, "changes")])


class Watches(unittest.TestCase):
    def test_who_is_silent_is_so_after_a_restart(self):
        told, state = [], {}
        options = argparse.Namespace(window=80, memory="200MB", silent_after=30, hang_after=5)
        for begin in (1000, 2000):
            with unittest.mock.patch.object(watch.time, "monotonic") as clock:
                clock.return_value = begin
                watched = watch.Watch(None, state, options, [told.append])
                self.addCleanup(watched.window.close)
                for after, heard in ((1, ("a", "b")), (20, ("b",)), (40, ("b",))):
                    clock.return_value = begin + after
                    if begin == 2000:
                        heard = set(heard) - {"a"}
                    watched.window.heard |= {host: begin + after for host in heard}
                    watched.look_at_progress()
        self.assertEqual([(t["state"], t["hosts"]) for t in told], [("begins", ["a"])])


class Webhooks(unittest.TestCase):
    def test_it_goes_on_whatever_answers(self):
        said, taken = [], threading.Event()

        class Hook(alerts.Webhook):
            def post(self, finding):
                if finding["sentence"] == "one":
                    raise http.client.BadStatusLine("no HTTP")
                taken.set()
        with unittest.mock.patch.object(alerts.time, "sleep"):
            hook = Hook("http://127.0.0.1/", {}, said.append)
            for sentence in ("one", "two"):
                hook({"sentence": sentence})
            self.assertTrue(taken.wait(20))
        hook.finish(20)
        self.assertEqual((len(said), hook.pending), (1, []))
        self.assertIn("given up: one", said[0])


class Ranks(unittest.TestCase):
    def test_devices_without_a_rank_are_counted_as_the_lake_does(self):
        class Told(publish.Recorder):
            def run(self, *command):
                return ""

            def ask(self, trace, query):
                return [{"device": number, "rank": rank, "source": None} for number, rank in enumerate((7, None, None))]
        self.assertEqual([device["in_lake"] for device in Told(5).take("/nowhere")[1]], [7, 0, 1])

    def test_environment(self):
        self.assertEqual(publish.rank_in(b"A=1\0RANK=12\0LOCAL_RANK=4\0"), 12)
        self.assertEqual(publish.rank_in(b"RANK=x\0SLURM_PROCID=3\0"), 3)
        self.assertIsNone(publish.rank_in(b"PATH=/bin\0"))
        self.assertIsNone(publish.rank_in(b"RANK=99999999999\0"))

    def test_metrics_count_what_is_known(self):
        sums = step_metrics.kept({}, {rank: {"pid": 70 + rank} for rank in (0, 1)})
        step_metrics.count_steps(sums, [(0, 60 * MS, 20 * MS, None), (0, 200_000 * MS, None, None), (5, MS, 0, 0), (0, None, None, None)])
        step_metrics.count_idle(sums, [(0, "data_wait", 15 * MS), (0, "lock", 5 * MS), (0, "lock", 5 * MS), (5, "lock", MS)])
        lines = step_metrics.exposition_of({"ranks": {0: {"step": 8}, 1: {"step": None}}, "sums": sums}, "a").text().splitlines()
        for line in ('step_seconds_bucket{rank="0",host="a",le="0.05"} 0', 'step_seconds_bucket{rank="0",host="a",le="0.1"} 1',
                     'step_seconds_bucket{rank="0",host="a",le="100"} 1', 'step_seconds_bucket{rank="0",host="a",le="+Inf"} 2',
                     'step_seconds_count{rank="0",host="a"} 2', 'step_seconds_count{rank="1",host="a"} 0',
                     'device_busy_seconds_total{rank="0",host="a"} 0.04', 'idle_seconds_total{rank="0",host="a",cause="lock"} 0.01',
                     'last_step{rank="0",host="a"} 8'):
            self.assertIn(f"profbpf_rank_{line}", lines)
        # Values that were never known have no metric.
        self.assertFalse([line for line in lines if line.startswith(("profbpf_rank_exposed", 'profbpf_rank_device_busy_seconds_total{rank="1"',
                                                                     'profbpf_rank_last_step{rank="1"'))])

    def test_metrics_begin_anew_with_a_process(self):
        sums = step_metrics.kept({}, {0: {"pid": 7}, 1: {"pid": 8}})
        step_metrics.count_steps(sums, [(0, MS, 0, 0), (1, MS, 0, 0)])
        after = step_metrics.kept(sums, {0: {"pid": 7}, 1: {"pid": 9}})
        self.assertEqual([sum(after[rank]["buckets"]) for rank in ("0", "1")], [1, 0])
        self.assertEqual(list(step_metrics.kept(sums, {0: {"pid": 7}})), ["0"])
        self.assertEqual(len(step_metrics.kept({}, {rank: {"pid": rank + 1} for rank in range(1000)})), step_metrics.RANKS_MAX)

    def test_metrics_alone_need_no_place_to_send_to(self):
        with unittest.mock.patch("sys.stderr", io.StringIO()), self.assertRaises(SystemExit):
            main.arguments(["publish"])
        self.assertIsNone(main.arguments(["publish", "--metrics", "FILE"]).dir)


unittest.main()
