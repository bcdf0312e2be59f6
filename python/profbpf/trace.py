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
    """What analyzer said when it could not do what it was asked for."""


def open(*traces, devices=(), start=None, end=None, pids=(), analyzer=None):
    """A Trace of .pbt files, of other profilers' device files, or of both.

    traces: paths of .pbt files, of one boot of one machine.
    devices: paths as of --device: files or folders that other profilers wrote of devices.
    start, end: the part of the time, since the recording's start, as of --from and --to: "1.5s", "200ms".
    pids: only these processes.
    analyzer: the program; without it that of $PROFBPF_ANALYZER, else of PATH.

    Nothing is read yet: a file that is not there is an AnalyzerError of the first method that is called.
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
    """One recording. Made by profbpf.open(); its files are read again by each method but table() and frame()."""

    def __init__(self, program, inputs, start=None, end=None):
        self._program = program
        self._inputs = inputs
        self._start = start
        self._end = end
        self._folder = None  # a TemporaryDirectory with all tables as Parquet, once one was asked for

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Remove the temporary copies of tables. What was returned stays valid."""
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
            # Without rows JSON has no names: who filters goes on with the columns of an empty frame.
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
        """--to of export is the format."""
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
