#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the manual page of the tables, from the output of `analyzer query --schema --format json`.

usage: man_of_tables.py <SCHEMA.json >profbpf-tables.7
"""
import json
import sys

HEAD = """.\\" SPDX-License-Identifier: Apache-2.0
.\\" Made by docs/man_of_tables.py of what analyzer query --schema says: make docs
.Dd November 25, 2026
.Dt PROFBPF-TABLES 7
.Os profbpf
.Sh NAME
.Nm profbpf-tables
.Nd tables of a recording, and what their columns mean
.Sh DESCRIPTION
What
.Nm analyzer Cm query
and
.Nm analyzer Cm export Fl -to Cm csv , sqlite No and Cm parquet
know.
Instants are nanoseconds of the traced host's CLOCK_MONOTONIC, as in the JSON report; what is unknown is NULL.
A column that is called like a table
.Pq Li thread
holds the number of a row of it.
Types are those of SQLite."""
TAIL = """.Sh SEE ALSO
.Xr analyzer 1"""


def words(text):
    """The text escaped for roff, so that no line is taken for a request."""
    text = text.replace("\\", "\\e")
    return ("\\&" if text[:1] in (".", "'") else "") + text


def main():
    print(HEAD)
    for table in json.load(sys.stdin):
        print(".Ss %s\nA row: %s.\n.Bl -tag -width Ds" % (table["name"], words(table["meaning"])))
        for column in table["columns"]:
            kind = " , ".join([column["type"], *filter(None, [column.get("unit")])])
            print(".It Li %s Pq %s\n%s" % (column["name"], kind, words(column["meaning"])))
        print(".El")
    print(TAIL)


main()
