#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An Nsight Systems database: NVTX, calls of libraries, sampled metrics, page faults, and tables that are not imported.

    tests/foreign/nsys_host.py ANALYZER FOLDER
"""
import sqlite3

import sums

EPOCH = 1700000000000000000
PID = 77
THREAD = (PID << 24) | 80
PROCESS = PID << 24

SCHEMA = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, memoryBandwidth INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER,
    rootRank INTEGER, size INTEGER);
CREATE TABLE CUBLAS_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER,
    address INTEGER, numberOfPageFaults INTEGER, faultAccessType INTEGER);
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER);
CREATE TABLE ETW_EVENTS (timestamp INTEGER, textId INTEGER);
CREATE TABLE VULKAN_API (start INTEGER, end INTEGER);
"""


def make(db):
    db.executescript(SCHEMA)
    names = ["cudaLaunchKernel_v7000", "void gemm<float>", "MPI_Allreduce", "cublasSgemm_v2", "registered range"]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names, 1))
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (EPOCH,))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (1, 'H200', 0)")
    db.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, ?, '')", (PID,))
    nvtx = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId) VALUES (?, ?, ?, ?, ?, ?, ?)"
    db.execute(nvtx, (0, None, 75, "NCCL", THREAD, None, 2))
    at, number = 1000000, 0
    for step in range(5):
        begin = at
        db.execute(nvtx, (at, at + 300000, 60, "enumerate(DataLoader)", THREAD, None, 0))
        at += 310000
        db.execute(nvtx, (at, at + 400000, 59, None, THREAD, 5, 0))
        for i in range(4):
            number += 1
            launch = at + 20000 + i * 90000
            db.execute("INSERT INTO CUBLAS_EVENTS VALUES (?, ?, 0, ?, 4)", (launch - 2000, launch + 9000, THREAD))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1, 0)", (launch, launch + 5000, THREAD, number))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 2, 2, NULL)",
                       (launch + 12000, launch + 42000 + step * 1000, number, PROCESS))
        at += 400000
        db.execute(nvtx, (at, at + 90000, 59, "ncclAllReduce", THREAD, None, 2))
        db.execute("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (?, ?, ?, 3, 1, 0, 1024)", (at + 10000, at + 80000, THREAD))
        at += 100000
        db.execute(nvtx, (begin, at, 59, "step %d" % (step + 3), THREAD, None, 0))
        at += 5000
    for metric, name in ((1, "GPC Clock Frequency [MHz]"), (7, "SMs Active [Throughput %]")):
        db.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 0, 'GH100', ?, ?)", (0x1100000001, metric, name))
        db.executemany("INSERT INTO GPU_METRICS VALUES (?, ?, ?, ?)",
                       [(i * 100000, 0x1100000001, metric, (metric * 13 + i * 7) % 101) for i in range(37)])
    db.executemany("INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (?, ?, ?, 0, 4096, ?, 1)",
                   [(1500000 + i * 1000, 1500400 + i * 1000, PROCESS, i + 1) for i in range(9)])
    db.executemany("INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (?, ?, 4096)", [(i, PROCESS) for i in range(6)])
    db.execute("INSERT INTO ETW_EVENTS VALUES (5, 1)")
    db.commit()


path = sums.path("report.sqlite")
connection = sqlite3.connect(path)
make(connection)
report = sums.report(path)


def rows(query):
    return connection.execute(query).fetchall()


ranges = rows("""SELECT CASE WHEN domainId = 2 THEN 'NCCL:' ELSE '' END || coalesce(text, value), count(*), sum(end - start)
    FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE eventType IN (59, 60) AND coalesce(text, '') NOT LIKE 'step %'
    GROUP BY 1""")
sums.same("ranges", {row["name"]: (row["count"], row["total_ns"]) for row in report["host_scopes"]},
          {row[0]: (row[1], row[2]) for row in ranges})
sums.same("kinds", {row["name"]: row["kind"] for row in report["host_scopes"]},
          {"enumerate(DataLoader)": "data loader", "registered range": "range", "NCCL:ncclAllReduce": "range"})
for table, function in (("MPI_COLLECTIVES_EVENTS", "MPI_Allreduce"), ("CUBLAS_EVENTS", "cublasSgemm_v2")):
    sums.same(function, [(row["count"], row["total_ns"]) for row in report["api"] if row["function"] == function],
              rows("SELECT count(*), sum(end - start) FROM %s" % table))
steps = rows("SELECT CAST(substr(text, 6) AS INTEGER) FROM NVTX_EVENTS WHERE text LIKE 'step %' ORDER BY start")
sums.same("steps", [row["index"] for row in report["steps"]["rows"]], [row[0] for row in steps])
facts = {(row.get("device"), row["name"]): row["value"] for row in report["device_facts"]}
for name, mean, most in rows("""SELECT metricName, avg(value), max(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS
        USING (typeId, metricId) GROUP BY metricId"""):
    sums.same(name, [round(facts[1, name + ", mean"], 3), facts[1, name + ", maximum"]], [round(mean, 3), most])
groups, faults, ns = rows("SELECT count(*), sum(numberOfPageFaults), sum(end - start) FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS")[0]
sums.same("faults", [facts.get((1, name)) for name in ("fault groups", "page faults", "time in fault groups")], [groups, faults, ns])
sums.same("faults of CPUs", facts.get((None, "page faults of CPUs")), rows("SELECT count(*) FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS")[0][0])
info = sums.analyzer("info", "--device", path)
sums.same("what is not taken", [line.strip() for line in info.splitlines() if "not taken" in line], ["not taken: the table ETW_EVENTS"])

# Idle time within a step before its first launch is due to the data loader: 4 of 5 gaps between steps have all of it.
loader = sum(row["ns"] for row in report["idle"]["roots"] if row["cause"] == "pipeline")
sums.same("the loader", loader, rows("""SELECT sum(n.end - max(n.start, k.last)) FROM NVTX_EVENTS n, (SELECT step.start AS s,
    (SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < step.start) AS last FROM NVTX_EVENTS step
    WHERE step.text LIKE 'step %') k WHERE n.eventType = 60 AND n.start = k.s AND k.last IS NOT NULL""")[0][0])


def check_graphs(graph_ns, told):
    """Kernels, and a graph without its kernels: the device's busy time is known only if the graph took next to no time."""
    name = sums.path("graphs_%d.sqlite" % graph_ns)
    db = sqlite3.connect(name)
    make(db)
    db.execute("""CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER,
        graphId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER)""")
    last = db.execute("SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 0, 3, 7, 900, ?)", (last + 1000, last + 1000 + graph_ns, PROCESS))
    db.commit()
    report = sums.report(name)
    device = report["devices"][0]
    steps = [row for of in report["steps"].get("devices", []) for row in of["rows"]]
    sums.same("graph of %d: busy in steps" % graph_ns, any("device_busy_ns" in row for row in steps), told and bool(steps))
    tasks = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end FROM"
                       " CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchall()
    sums.same("graph of %d: busy" % graph_ns, device.get("busy_ns"), sums.length(tasks) if told else None)
    sums.same("graph of %d: idle at least" % graph_ns, device["idle_ns"], device["window_ns"] - sums.length(tasks))
    sums.same("graph of %d: says so" % graph_ns, "--cuda-graph-trace=node" in sums.analyzer("info", "--device", name), True)


def check_copies():
    """Copies by direction, one longer than all kernels; the profiler's own messages about missing data; a host without wake-ups."""
    name = sums.path("copies.sqlite")
    db = sqlite3.connect(name)
    make(db)
    db.executescript("""CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
        correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
        CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);
        CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);
        INSERT INTO ProcessStreams VALUES (1, 1, 1);
        CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
        INSERT INTO StringIds VALUES (50, 'poll');""")
    db.execute("INSERT INTO OSRT_API VALUES (1000000, 1200000, ?, 50)", (THREAD,))
    first, last = db.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    copy = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 9, ?, ?, 4096, ?)"
    for kind in range(14):
        db.execute(copy, (first + kind * 9000, first + kind * 9000 + 5000 + kind, 500 + kind, PROCESS, kind))
    db.execute(copy, (first, last * 20, 600, PROCESS, 1))
    db.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (?, 0, 0, ?, ?, 0)",
                   [(5, 1, "fine"), (6, 2, "Not all CUDA events\nmight have been collected."), (7, 3, "An error."), (8, 2, "No NVTX events collected. Why?")])
    db.commit()
    report = sums.report(name)
    labels = ["Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device",
              "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer", "Unified Host-to-Device", "Unified Device-to-Host",
              "Unified Device-to-Device"]
    wanted = {"[CUDA memcpy%s]" % (" " + labels[kind - 1] if kind else ""): total for kind, total in
              db.execute("SELECT copyKind, sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1")}
    sums.same("copies", {row["name"]: row["total_ns"] for row in report["operators"] if "memcpy" in row["name"]}, wanted)
    words = [line.strip() for line in sums.analyzer("info", "--device", name).splitlines()]
    sums.same("warnings", [line for line in words if line.startswith("Nsight Systems: ")],
              ["Nsight Systems: An error.", "Nsight Systems: Not all CUDA events might have been collected."])
    sums.same("calls without a schedule", any("--cpuctxsw=process-tree" in line for line in words), True)
    sums.same("tables", [line for line in words if "not taken: the table" in line], ["not taken: the table ETW_EVENTS"])
    sums.same("a device that copies is not healthy", (report["verdict"]["state"], report["verdict"]["copies_percent"] > 90), ("device", True))

    # The file does not have the instants of wake-ups: the time in which threads were ready is unknown.
    db.execute("CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER)")
    db.executemany("INSERT INTO SCHED_EVENTS VALUES (?, 0, ?, ?)", [(1000000 + i * 50000, i % 2, THREAD) for i in range(40)])
    db.commit()
    report = sums.report(name)
    process = [row for row in report["processes"] if row["pid"] == PID][0]
    sums.same("ready", ("run_ns" in process, "runnable_ns" in process), (True, False))


check_copies()
check_graphs(500000, False)
check_graphs(5000, True)
sums.end()
