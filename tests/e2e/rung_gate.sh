#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions beside each other see as much each where they do not share the scheduler's events, too: a rung of rungs.sh, but
# alone, for it judges that no ring is full.
. "$(dirname "$0")/lib.sh"
need_root

PROFBPF_WITHOUT_FEATURES=gate exec "$ROOT/tests/e2e/truth_beside.sh"
