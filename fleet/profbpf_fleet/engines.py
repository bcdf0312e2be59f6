# SPDX-License-Identifier: Apache-2.0
"""engines.py - DuckDB and Apache Spark behind one face; nothing but the reading of files differs in their SQL.

An engine has make(name, select): the rows of a query become a table of that name; rows(select): as a list of dicts;
read(table): a table of the lake, as SQL behind FROM, or None if the lake has none; version; close().
"""

import glob
import os


class Problem(Exception):
    """What a user is told instead of a traceback."""


class DuckDB:
    """In this process: the default."""

    def __init__(self, lake, memory="800MB", threads=None):
        try:
            import duckdb
        except ImportError as error:
            raise Problem("DuckDB is not installed: pip install duckdb") from error
        self.lake = lake
        self.sql = duckdb.connect(config={"memory_limit": memory, "preserve_insertion_order": False})
        if threads:
            self.sql.execute(f"SET threads = {int(threads)}")
        self.version = f"DuckDB {duckdb.__version__}"

    def read(self, table):
        if not glob.glob(os.path.join(glob.escape(self.lake), table, "*.parquet")):
            return None
        pattern = os.path.join(glob.escape(self.lake), table, "*.parquet").replace("'", "''")
        return f"read_parquet('{pattern}', union_by_name = true)"

    def view(self, name, select):
        self.sql.execute(f"CREATE VIEW {name} AS {select}")

    def columns(self, source):
        return [row[0] for row in self.sql.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]

    def make(self, name, select):
        self.sql.execute(f"CREATE TABLE {name} AS {select}")

    def drop(self, name):
        self.sql.execute(f"DROP TABLE {name}")

    def rows(self, select):
        found = self.sql.execute(select)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]

    def close(self):
        self.sql.close()


class Spark:
    """A cluster, or local[N]: what outgrows one machine. Tables are kept in the executors' memory, on their disks if need be."""

    def __init__(self, lake, master="local[*]"):
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise Problem("Spark is not installed: pip install pyspark, and a Java 17 or 21") from error
        self.lake = os.path.abspath(lake) if "://" not in lake else lake
        parts = os.environ.get("PROFBPF_FLEET_PARTITIONS")
        builder = SparkSession.builder.master(master).appName("profbpf-fleet").config("spark.ui.showConsoleProgress", "false")
        if parts:
            builder = builder.config("spark.sql.shuffle.partitions", parts)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.version = f"Apache Spark {self.session.version}"

    def read(self, table):
        from pyspark.errors import AnalysisException
        try:
            frame = self.session.read.option("mergeSchema", "true").option("pathGlobFilter", "*.parquet").parquet(f"{self.lake}/{table}")
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
