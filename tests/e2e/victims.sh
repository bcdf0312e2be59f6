#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that leave probed functions in every way that there is do, traced, what they do untraced.
# timeout: 1200
exec "$(dirname "$0")/../victims/run"
