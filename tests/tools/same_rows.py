#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_rows.py LAKE OTHER: checks that two lakes have the same rows, each the same number of times; prints
differences."""

import sys

import duckdb

first, second = sys.argv[1:]
told, wrong = [], False
for table in ("steps", "collectives", "idle", "operators"):
    try:
        columns = ", ".join(row[0] for row in duckdb.execute(f"DESCRIBE SELECT * FROM '{first}/{table}/*.parquet'").fetchall())
        a, b = (f"SELECT {columns} FROM '{lake}/{table}/*.parquet'" for lake in (first, second))
        count, less, more = (duckdb.execute(f"SELECT count(*) FROM ({rows})").fetchone()[0]
                             for rows in (a, f"{a} EXCEPT ALL {b}", f"{b} EXCEPT ALL {a}"))
    except duckdb.Error as error:
        sys.exit(f"{table}: {str(error).splitlines()[0]}")
    told.append(f"{table}: {count} rows, {less} lost, {more} too many")
    wrong |= less + more > 0
print("; ".join(told))
sys.exit(wrong)
