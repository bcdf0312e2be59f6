#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the analysis of MindSpore 2.10 itself on files of MindData's profiler, exported or original.

usage: own_analysis.py FOLDER OUT

Its parser reads FOLDER, and its viewers write minddata_pipeline_raw_0.csv and minddata_pipeline_summary_0.json and .csv
into OUT. Exits with a message if the parser finds no data.
"""
import os
import sys

from mindspore.profiler.analysis.parser.ms_minddata_parser import MindDataParser
from mindspore.profiler.analysis.viewer import ms_minddata_viewer as viewers
from mindspore.profiler.common.log import ProfilerLogger


def main(folder, out):
    os.makedirs(out, exist_ok=True)
    ProfilerLogger.init(out)
    # The same calls as those of its profiler at the end of a job.
    settings = {"activities": ["CPU"], "rank_id": "0", "device_id": "0", "framework_path": folder,
                "ascend_ms_dir": out, "ascend_profiler_output_path": out}
    parsed = MindDataParser(**settings)._parse({})
    for part in ("pipeline_info", "cpu_util_info"):
        if not parsed.get(part):
            sys.exit(f"own_analysis.py: MindSpore's parser finds no {part} in {folder}")
    for viewer in (viewers.MindDataPipelineRawViewer, viewers.MindDataPiplineSummaryViewer):
        viewer(**settings).save(parsed)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
