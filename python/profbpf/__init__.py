# SPDX-License-Identifier: Apache-2.0
"""Recordings of profbpf as Arrow tables and pandas frames.

    trace = profbpf.open("run.pbt")
    trace.table("idle_roots").to_pandas()

What the tables hold is what `analyzer` says; nothing is computed here.
"""

from .trace import AnalyzerError, Trace, open

__all__ = ["AnalyzerError", "Trace", "open"]
