#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the answers of MindInsight's pages of several ranks about a job.

usage: mindinsight_pages.py FOLDER JOB

Run with the Python that has MindInsight; FOLDER/JOB/profiler has the files. Prints a line for each page: its name, the
status, the answer. Starts no server, but calls the pages as a server would.
"""
import json
import os
import sys
import tempfile
from urllib.parse import urlencode

folder, job = sys.argv[1:]
os.environ["MINDINSIGHT_WORKSPACE"] = tempfile.mkdtemp()
os.environ["MINDINSIGHT_SUMMARY_BASE_DIR"] = os.path.abspath(folder)
from mindinsight.conf import settings  # noqa: E402
settings.refresh()
from mindinsight.backend.application import APP  # noqa: E402
from werkzeug.test import EnvironBuilder, run_wsgi_app  # noqa: E402

PAGES = {"devices": None, "cluster-step-trace-summary": {}, "cluster-flops": None, "search-cluster-communication": {},
         "search-cluster-link": {}, "communication-data": None, "summary/cluster-propose": None, "flops-summary": None,
         "flops-scope": None, "marey-graph/overview-time": None, "marey-graph/timeline": None,
         "parallel-strategy/graphs": None}
for page, body in PAGES.items():
    question = urlencode({"train_id": "./" + job, "profile": "profiler", "device_id": "0", "device_type": "ascend"})
    request = EnvironBuilder(path="/v1/mindinsight/profile/" + page, query_string=question,
                             method="GET" if body is None else "POST", data=None if body is None else json.dumps(body))
    parts, status, _ = run_wsgi_app(APP, request.get_environ())
    print(page, status.split()[0], b"".join(parts).decode().replace("\n", " "))
