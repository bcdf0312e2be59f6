# SPDX-License-Identifier: Apache-2.0
"""Recordings of profbpf as Arrow tables and pandas frames.

    trace = profbpf.open("run.pbt")
    trace.table("idle_roots").to_pandas()

All values in the tables come from `analyzer`; nothing is computed here.
"""

from .trace import AnalyzerError, Trace, open

__all__ = ["AnalyzerError", "Trace", "open"]
