#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the answers of MindInsight's web backend about a job.

usage: mindinsight_backend.py VENV WORKSPACE FOLDER JOB

FOLDER/JOB/profiler has the files. Starts the backend of the virtual environment VENV on a free local port,
sends the queries of its pages, stops it, and prints the answers as one JSON object.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

START_SECONDS = 300


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(url, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def jobs(url, name):
    """Waits for the job: the backend looks for jobs after its start."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        found = [job for job in ask(f"{url}/datavisual/train-jobs")["train_jobs"] if job["train_id"] == name]
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.5)


def main():
    venv, workspace, folder, job = sys.argv[1:]
    program = [f"{venv}/bin/python", f"{venv}/bin/mindinsight"]
    port = str(free_port())
    environment = dict(os.environ, PATH=f"{pathlib.Path(venv).resolve()}/bin:{os.environ['PATH']}")
    subprocess.run(program + ["start", "--workspace", workspace, "--summary-base-dir", folder, "--port", port],
                   env=environment, stdout=sys.stderr, check=True, timeout=START_SECONDS)
    try:
        url = f"http://127.0.0.1:{port}/v1/mindinsight"
        of = f"train_id=./{job}&profile=profiler&device_id=0"
        device = {"device_id": "0"}
        json.dump({
            "jobs": jobs(url, f"./{job}"),
            "devices": ask(f"{url}/profile/devices?{of}"),
            "cpu": ask(f"{url}/profile/minddata-cpu-utilization-summary?{of}", device),
            "operators": ask(f"{url}/profile/minddata-pipeline/op-queue?{of}", device),
            "summary": ask(f"{url}/profile/process_summary?{of}"),
            "queue": ask(f"{url}/profile/queue_info?{of}&type=device_queue"),
            "waits": ask(f"{url}/profile/minddata_op?{of}&type=device_queue"),
        }, sys.stdout)
    finally:
        subprocess.run(program + ["stop", "--port", port], env=environment, stdout=sys.stderr, check=False,
                       timeout=START_SECONDS)


if __name__ == "__main__":
    main()
