# SPDX-License-Identifier: Apache-2.0
"""messages.py - messages from a host: rows of a few seconds of its ranks, as files of a lake.

A message is a ZIP archive, uncompressed (Parquet is compressed), with a file TABLE.parquet for each table. Its name
makes a second copy recognisable: HOST-BOOT-SPOOL-NUMBER, with eight digits of the boot's and of the spool's id and ten
of its number in the spool. In a lake each of its files has that name, so writing it again replaces the files.
"""

import io
import os
import re
import struct
import zipfile

from profbpf_fleet.engines import Problem

# The order in which their files are written to a lake. Readers look for steps first.
TABLES = ("hosts", "collectives", "idle", "operators", "pipeline", "progress", "steps")
# A host's name has at most 64 characters; a longer one could make file names too long.
NAME = re.compile(r"(?P<source>[A-Za-z0-9._]{1,64}-[0-9a-f]{8}-[0-9a-f]{8})-(?P<number>[0-9]{10})")


def name_of(source, number):
    return f"{source}-{number:010d}"


def parsed(name):
    """(source, number); None for other names, such as those of files from analyzer lake."""
    found = NAME.fullmatch(name)
    return (found["source"], int(found["number"])) if found else None


def pack(files):
    """The bytes of a message of {table: bytes of its Parquet file}; the same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for table in TABLES:
            if table in files:
                archive.writestr(zipfile.ZipInfo(f"{table}.parquet"), files[table])
    return out.getvalue()


def unpack(name, payload):
    """[(table, bytes)] in the order of TABLES; other entries, from a later release, are left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            present = {entry.filename: entry for entry in archive.infolist()}
            wanted = [(table, present[f"{table}.parquet"]) for table in TABLES if f"{table}.parquet" in present]
            # Compressed entries could unpack to any size.
            if any(entry.compress_type != zipfile.ZIP_STORED for _, entry in wanted):
                raise zipfile.BadZipFile("it is compressed")
            return [(table, archive.read(entry)) for table, entry in wanted]
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, NotImplementedError, struct.error) as error:
        raise Problem(f"message {name} is damaged: {error}") from error


def sync_folder(folder):
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(path, data):
    """Write the file completely or not at all, also across a power cut. The temporary name does not match *.parquet, so
    readers ignore it."""
    folder, base = os.path.split(path)
    temporary = os.path.join(folder, f".{base}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def write_to_lake(lake, name, payload):
    """Write the files of a message into a lake."""
    if not parsed(name):
        raise Problem(f"not a name of a message: {name!r}")
    for table, data in unpack(name, payload):
        os.makedirs(os.path.join(lake, table), exist_ok=True)
        write_file(os.path.join(lake, table, f"{name}.parquet"), data)
