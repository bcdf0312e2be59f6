# SPDX-License-Identifier: Apache-2.0
"""engines.py - DuckDB and Apache Spark behind one face; nothing but the reading of files differs in their SQL.

An engine has make(name, select): the rows of a query become a table of that name; rows(select): as a list of dicts;
read(table): a table of the lake, as SQL behind FROM, or None if the lake has none; left_out: files that could not be read;
version; close().
"""

import glob
import os
import shutil
import tempfile


class Problem(Exception):
    """What a user is told instead of a traceback."""


def told(error):
    """The first line of what an engine says is wrong."""
    return Problem(str(error).strip().split("\n")[0][:500])


def is_whole(path):
    """Does the file begin and end as Parquet does? One that is being written, or was cut, does not."""
    try:
        with open(path, "rb") as file:
            begin = file.read(4)
            return file.seek(0, os.SEEK_END) >= 12 and file.seek(-4, os.SEEK_END) and begin == file.read(4) == b"PAR1"
    except OSError:
        return False


def files_of(lake, table, left_out):
    """Files of a table that can be read; others are added to left_out. A Problem if there are none but those."""
    files = sorted(glob.glob(os.path.join(glob.escape(lake), table, "*.parquet")))
    whole = [path for path in files if is_whole(path)]
    left_out += sorted(set(files) - set(whole))
    if files and not whole:
        raise Problem(f"{files[0]}: it is no Parquet file, or not a whole one")
    return whole


class DuckDB:
    """In this process: the default. What it has no memory for goes into a folder, which close() removes."""

    def __init__(self, lake, memory="800MB"):
        try:
            import duckdb
        except ImportError as error:
            raise Problem("DuckDB is not installed: pip install duckdb") from error
        self.lake, self.error, self.sql, self.left_out = lake, duckdb.Error, None, []
        self.spill = tempfile.mkdtemp(prefix="profbpf-fleet-")
        try:
            self.sql = duckdb.connect(config={"memory_limit": memory, "preserve_insertion_order": False, "temp_directory": self.spill})
        except duckdb.Error as error:
            self.close()
            raise told(error) from error
        self.version = f"DuckDB {duckdb.__version__}"

    def read(self, table):
        files = files_of(self.lake, table, self.left_out)
        if not files:
            return None
        names = ", ".join("'" + glob.escape(path).replace("'", "''") + "'" for path in files)
        return f"read_parquet([{names}], union_by_name = true)"

    def execute(self, statement):
        try:
            return self.sql.execute(statement)
        except self.error as error:
            raise told(error) from error

    def view(self, name, select):
        self.execute(f"CREATE VIEW {name} AS {select}")

    def columns(self, source):
        return [row[0] for row in self.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]

    def make(self, name, select):
        self.execute(f"CREATE TABLE {name} AS {select}")

    def drop(self, name):
        self.execute(f"DROP TABLE {name}")

    def rows(self, select):
        found = self.execute(select)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]

    def close(self):
        if self.sql:
            self.sql.close()
        shutil.rmtree(self.spill, ignore_errors=True)


class Spark:
    """A cluster, or local[N]: what outgrows one machine. Tables are kept in the executors' memory, on their disks if need be."""

    def __init__(self, lake, master="local[*]"):
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise Problem("Spark is not installed: pip install pyspark, and a Java 17 or 21") from error
        self.local, self.left_out = "://" not in lake, []
        self.lake = os.path.abspath(lake) if self.local else lake
        builder = SparkSession.builder.master(master).appName("profbpf-fleet").config("spark.ui.showConsoleProgress", "false")
        try:
            self.session = builder.getOrCreate()
        except Exception as error:  # of Java, of Spark, of the pipe between: all of them mean that there is no Spark
            raise Problem(f"Spark does not start: {told(error)}") from error
        self.session.sparkContext.setLogLevel("ERROR")
        self.version = f"Apache Spark {self.session.version}"

    def read(self, table):
        from pyspark.errors import AnalysisException
        where = [f"{self.lake}/{table}"]
        if self.local:
            before = len(self.left_out)
            files = files_of(self.lake, table, self.left_out)
            where = files if len(self.left_out) > before else where
        try:
            frame = self.session.read.option("mergeSchema", "true").option("pathGlobFilter", "*.parquet").parquet(*where)
        except AnalysisException:
            return None
        frame.createOrReplaceTempView(f"file_{table}")
        return f"file_{table}"

    def view(self, name, select):
        self.session.sql(select).createOrReplaceTempView(name)

    def columns(self, source):
        return self.session.table(source).columns

    def make(self, name, select):
        """Computed now, and without a memory of what it was made of: plans of plans would grow without bounds."""
        from pyspark import StorageLevel
        frame = self.session.sql(select).localCheckpoint(eager=True, storageLevel=StorageLevel.MEMORY_AND_DISK)
        # Each column under a new number of Spark's: one that has that of the table it came from cannot be joined with it.
        frame.select([frame[column].alias(column) for column in frame.columns]).createOrReplaceTempView(name)

    def drop(self, name):
        self.session.catalog.dropTempView(name)

    def rows(self, select):
        return [row.asDict() for row in self.session.sql(select).collect()]

    def close(self):
        self.session.stop()
