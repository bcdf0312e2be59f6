#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindData of MindSpore 2.0: the pipeline of pipeline_minddata.sh, with the same exactness.
# timeout: 2400
# long: an older release
ROOT=$(readlink -f "$(dirname "$0")/../..")
MINDSPORE_VENV=$ROOT/build/venv-mindspore20
export MINDSPORE_VENV MINDSPORE_INSTALL="make venv-mindspore20"
exec "$(dirname "$0")/pipeline_minddata.sh"
