#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Parallel sessions each see everything also if they do not share the scheduler's events: a rung of rungs.sh, but run
# alone, because it requires that no ring is full.
. "$(dirname "$0")/lib.sh"
need_root

PROFBPF_WITHOUT_FEATURES=gate exec "$ROOT/tests/e2e/truth_beside.sh"
