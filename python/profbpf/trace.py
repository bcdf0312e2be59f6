# SPDX-License-Identifier: Apache-2.0
"""A recording, read by the program analyzer."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

import pyarrow
import pyarrow.parquet


class AnalyzerError(RuntimeError):
    """An error of analyzer, with its message."""


def open(*traces, devices=(), start=None, end=None, pids=(), analyzer=None):
    """A Trace of .pbt files, of other profilers' device files, or of both.

    traces: paths of .pbt files, of one boot of one machine.
    devices: paths as for --device: files or folders with device data of other profilers.
    start, end: the part of the recording, in time since its start, as for --from and --to: "1.5s", "200ms".
    pids: only these processes.
    analyzer: the program; by default $PROFBPF_ANALYZER, else the one in PATH.

    Nothing is read yet: for a missing file the first method call raises AnalyzerError.
    """
    if not traces and not devices:
        raise ValueError("which recording? Give the path of a .pbt file, or devices=[PATH]")
    inputs = [os.fspath(path) for path in traces]
    for path in devices:
        inputs += ["--device", os.fspath(path)]
    if pids:
        inputs += ["--pid", ",".join(str(pid) for pid in pids)]
    program = os.fspath(analyzer or os.environ.get("PROFBPF_ANALYZER") or "analyzer")
    return Trace(program, inputs, start, end)


class Trace:
    """One recording, made by profbpf.open(). Each method except table() and frame() reads its files again."""

    def __init__(self, program, inputs, start=None, end=None):
        self._program = program
        self._inputs = inputs
        self._start = start
        self._end = end
        self._folder = None  # a TemporaryDirectory with all tables as Parquet, made for the first table

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Remove the temporary copies of tables. Returned tables stay valid."""
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def tables(self):
        """{name: meaning of a row} of all tables."""
        rows = json.loads(self._run("query", "--schema", "--format", "json", inputs=False))
        return {row["name"]: row["meaning"] for row in rows}

    def table(self, name):
        """A table as a pyarrow.Table, with the types of docs/tables.md; times are integers of nanoseconds."""
        path = pathlib.Path(self._exported()) / f"{name}.parquet"
        if not path.exists():
            raise KeyError(f"there is no table {name!r}; tables() lists them")
        return pyarrow.parquet.read_table(path)

    def frame(self, name):
        """The same as a pandas.DataFrame; integers that may be unknown have the type Int64."""
        return _frame(self.table(name))

    def query(self, sql):
        """The rows of one SELECT over the tables (analyzer query) as a pandas.DataFrame."""
        rows = json.loads(self._run("query", "--format", "json", last=[sql]))
        if not rows:
            # JSON without rows has no column names; callers expect the columns in an empty frame, too.
            names = next(csv.reader([self._run("query", "--format", "csv", last=[sql])]), [])
            return _frame(pyarrow.table({name: pyarrow.nulls(0) for name in names}))
        return _frame(pyarrow.Table.from_pylist(rows))

    def report(self, sections=None):
        """The JSON report (docs/report.md) as a dict; sections: only these, which takes less time."""
        chosen = ["--section", ",".join(sections)] if sections else []
        return json.loads(self._run("report", "--format", "json", "--top", "0", *chosen))

    def _exported(self):
        if not self._folder:
            folder = tempfile.TemporaryDirectory(prefix="profbpf-")
            tables = os.path.join(folder.name, "tables")
            try:
                self._run("export", "--to", "parquet", "-o", tables)
            except BaseException:
                folder.cleanup()
                raise
            self._folder = folder
        return os.path.join(self._folder.name, "tables")

    def _part(self, command):
        """The options for start and end; for export the end is --until, because its --to is the format."""
        words = ["--from", self._start] if self._start else []
        if self._end:
            words += ["--until" if command == "export" else "--to", self._end]
        return words

    def _run(self, command, *words, inputs=True, last=()):
        line = [self._program, command, *words]
        if inputs:
            line += self._part(command) + self._inputs
        try:
            done = subprocess.run([*line, *last], capture_output=True, text=True)
        except FileNotFoundError:
            raise AnalyzerError(
                f"there is no program {self._program!r}; install profbpf, or name it with analyzer= or "
                "PROFBPF_ANALYZER"
            ) from None
        if done.returncode:
            raise AnalyzerError(done.stderr.strip() or f"{self._program} ended with status {done.returncode}")
        return done.stdout


def _frame(table):
    import pandas

    integers = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.uint64(): pandas.UInt64Dtype()}
    return table.to_pandas(types_mapper=integers.get)
