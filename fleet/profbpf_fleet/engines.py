# SPDX-License-Identifier: Apache-2.0
"""engines.py - DuckDB and Apache Spark behind one interface; their SQL differs only in how files are read.

An engine has make(name, select): makes a table from the rows of a query; rows(select): returns them as a list of dicts;
read(table): returns a table of the lake as SQL behind FROM, or None if the lake has none; left_out: files that could
not be read; look_for_damage(): reads all files to their ends and returns whether it found one that was not known to be
damaged; begin_anew(): removes all tables, so that the caller makes them again without damaged files; version; close();
complete: the lake is complete, and nobody has compared the numbers of its ranks' steps yet.
"""

import glob
import os
import shutil
import tempfile


class Problem(Exception):
    """An error that is printed for the user without a traceback."""


def told(error):
    """A Problem with the first line of an engine's error."""
    return Problem(str(error).strip().split("\n")[0][:500])


def is_whole(path):
    """Whether the file begins and ends as Parquet does. A file that is being written, or was cut, does not."""
    try:
        with open(path, "rb") as file:
            begin = file.read(4)
            return file.seek(0, os.SEEK_END) >= 12 and file.seek(-4, os.SEEK_END) and begin == file.read(4) == b"PAR1"
    except OSError:
        return False


def files_of(lake, table, left_out, damaged=()):
    """The readable files of a table; the others, and those known to be damaged, are added to left_out."""
    files = sorted(glob.glob(os.path.join(glob.escape(lake), table, "*.parquet")))
    whole = [path for path in files if path not in damaged and is_whole(path)]
    left_out += sorted(set(files) - set(whole))
    return whole


class Damage:
    """Finds damage that is_whole() does not see, by reading whole files; used after a judgement has failed."""

    complete = True

    def __init__(self):
        self.left_out, self.known_damage, self.tables = [], set(), {}

    def files(self, table):
        self.tables[table] = files_of(self.lake, table, self.left_out, self.known_damage)
        return self.tables[table]

    def look_for_damage(self):
        found = {path for files in self.tables.values() for path in files if not self.is_readable(path)}
        self.known_damage |= found
        return bool(found)

    def begin_anew(self):
        self.left_out, self.tables = [], {}


class DuckDB(Damage):
    """DuckDB in this process: the default. It spills to a folder, which close() removes."""

    def __init__(self, lake, memory="800MB"):
        try:
            import duckdb
        except ImportError as error:
            raise Problem("DuckDB is not installed: pip install duckdb") from error
        super().__init__()
        self.lake, self.error, self.sql = lake, duckdb.Error, None
        self.connect, self.memory = duckdb.connect, memory
        self.spill = tempfile.mkdtemp(prefix="profbpf-fleet-")
        try:
            self.open()
        except Problem:
            self.close()
            raise
        self.version = f"DuckDB {duckdb.__version__}"

    def open(self):
        try:
            self.sql = self.connect(config={"memory_limit": self.memory, "preserve_insertion_order": False, "temp_directory": self.spill})
        except self.error as error:
            raise told(error) from error

    def begin_anew(self):
        super().begin_anew()
        self.sql.close()
        self.open()

    @staticmethod
    def source(files):
        names = ", ".join("'" + glob.escape(path).replace("'", "''") + "'" for path in files)
        return f"read_parquet([{names}], union_by_name = true)"

    def read(self, table):
        files = self.files(table)
        return self.source(files) if files else None

    def is_readable(self, path):
        """Reads the file to its last value."""
        try:
            self.sql.execute(f"SELECT count(COLUMNS(*)) FROM (SELECT hash(COLUMNS(*)) FROM {self.source([path])})").fetchall()
            return True
        except self.error:
            return False

    def execute(self, statement):
        try:
            return self.sql.execute(statement)
        except self.error as error:
            raise told(error) from error

    def view(self, name, select):
        self.execute(f"CREATE OR REPLACE VIEW {name} AS {select}")

    def columns(self, source):
        return [row[0] for row in self.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]

    def make(self, name, select):
        self.execute(f"CREATE OR REPLACE TABLE {name} AS {select}")

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


class Spark(Damage):
    """A Spark cluster, or local[N], for lakes too large for one machine. Tables are in the executors' memory or on
    their disks."""

    def __init__(self, lake, master="local[*]"):
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise Problem("Spark is not installed: pip install pyspark, and a Java 17 or 21") from error
        super().__init__()
        self.local = "://" not in lake
        self.lake = os.path.abspath(lake) if self.local else lake
        builder = SparkSession.builder.master(master).appName("profbpf-fleet").config("spark.ui.showConsoleProgress", "false")
        try:
            self.session = builder.getOrCreate()
        except Exception as error:  # from Java, Spark or the pipe between: in each case Spark is missing
            raise Problem(f"Spark does not start: {told(error)}") from error
        self.session.sparkContext.setLogLevel("ERROR")
        self.version = f"Apache Spark {self.session.version}"

    def read(self, table):
        from pyspark.errors import AnalysisException
        where = [f"{self.lake}/{table}"]
        if self.local:
            before = len(self.left_out)
            files = self.files(table)
            where = files if len(self.left_out) > before else where
            if not where:
                return None
        try:
            frame = self.session.read.option("mergeSchema", "true").option("pathGlobFilter", "*.parquet").parquet(*where)
        except AnalysisException:
            return None
        frame.createOrReplaceTempView(f"file_{table}")
        return f"file_{table}"

    def is_readable(self, path):
        try:
            self.session.read.parquet(path).write.format("noop").mode("overwrite").save()
            return True
        except Exception:  # from Java, as below: in each case the file cannot be read
            return False

    def view(self, name, select):
        try:
            self.session.sql(select).createOrReplaceTempView(name)
        except Exception as error:
            raise told(error) from error

    def columns(self, source):
        return self.session.table(source).columns

    def make(self, name, select):
        """Computes the table now and drops its query plan: plans that contain plans would grow without bounds."""
        from pyspark import StorageLevel
        try:
            frame = self.session.sql(select).localCheckpoint(eager=True, storageLevel=StorageLevel.MEMORY_AND_DISK)
        except Exception as error:
            raise told(error) from error
        # Gives each column a new identifier in Spark: with the source table's identifiers the two could not be joined.
        frame.select([frame[column].alias(column) for column in frame.columns]).createOrReplaceTempView(name)

    def drop(self, name):
        self.session.catalog.dropTempView(name)

    def rows(self, select):
        try:
            return [row.asDict() for row in self.session.sql(select).collect()]
        except Exception as error:
            raise told(error) from error

    def close(self):
        self.session.stop()
