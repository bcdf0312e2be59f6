#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every function and option that the advice about a framework's operators names exists in that framework.
# timeout: 2400
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"

checked=0
while read -r framework venv; do
	python=$ROOT/build/$venv/bin/python
	if [ ! -e "$ROOT/build/$venv/.complete" ]; then
		leave_out "$framework is not in build/$venv (./setup check installs it)"
		continue
	fi
	"$python" "$ROOT/tests/truth/advice_names.py" analyzer/analyse/pipeline/operator_advice.c "$framework" \
		>"$WORK/$venv.out" 2>"$WORK/$venv.err" || fail "$framework: $(grep 'NOT THERE' "$WORK/$venv.out" || tail -n 5 "$WORK/$venv.err")"
	cat "$WORK/$venv.out"
	assert_contains "$framework" "$WORK/$venv.out" "^$framework: [1-9][0-9]* sentences, [1-9][0-9]* names, 0 wrong"
	checked=$((checked + 1))
done <<'END'
MindData venv-mindspore
torch venv-torch
tf.data venv-tensorflow
MegEngine venv-megengine
END
[ "$checked" -gt 0 ] || skip "none of the frameworks is installed (./setup check installs them)"
