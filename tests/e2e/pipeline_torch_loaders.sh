#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Loaders of one PyTorch job are reported separately, each with the batches and ends that the job itself counted.
# timeout: 1800
# longer: every kind of batch and way to start workers
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_jobs_lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-torch/bin/python
JOB=$ROOT/tests/workloads/torch/loaders.py
[ -e "$ROOT/build/venv-torch/.complete" ] || skip "PyTorch is not installed: make venv-torch"

# expect NAME [OPTION...]: runs the job with these options. Loaders are in the order of their first request.
expect() {
	local name=$1 told found
	shift
	begin_job "$name" "$JOB" --go "$WORK/$name.go" --batches 24 "$@"
	wait_for_line "$WORK/$name.out" '^ready$' 60
	attach_in_background "$JOB_PID" "$WORK/$name.pbt" --standalone
	touch "$WORK/$name.go"
	end_job 60 || fail "the job failed: $(tail -n 5 "$WORK/$name.err")"
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	"$ANALYZER" report "$WORK/$name.pbt" --section capture,pipeline,steps --top 0 --format json >"$WORK/$name.json"
	told=$(grep '^{' "$WORK/$name.out" | jq -sc '[.[] | [.batches, .ends]] | sort')
	found=$(jq -c '[.pipeline[].fetches | [.count, .ends_of_data]] | sort' "$WORK/$name.json")
	note "$name ($*): batches and ends of each loader $told, found $found"
	# Tolerates a difference of one: a mark made while the first probe was attached
	jq -ne --argjson a "$told" --argjson b "$found" \
		'($a | length) == ($b | length) and ([$a, $b] | transpose | all(transpose | all(.[0] - .[1] | fabs <= 1)))' >"$WORK/same" ||
		fail "$name: $(jq -c '[.pipeline[] | {fetches, operators: [.operators[] | {name, workers, elements}]}]' "$WORK/$name.json")"
	# The steps are the training's, though an evaluation inside fetches more batches; the last one has no end.
	[[ $name != inside* ]] || assert_between "$name: steps" 1 "$(grep '^{' "$WORK/$name.out" | jq -s '.[0].batches + 1')" "$(jq '.steps.rows | length' "$WORK/$name.json")"
}

start_jobs "$PYTHON" numpy torch torch._dynamo torch.utils.data
expect inside0 --workers 0 --how sleep --ms 3 --evaluate inside
expect after2 --workers 2 --evaluate after --epochs 2
expect inside1pin --workers 1 --pin --evaluate inside --epochs 2
expect persistent4 --workers 4 --persistent --evaluate after --epochs 2
expect spawn2 --workers 2 --method spawn --kind text --epochs 2
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	expect after0 --workers 0 --how sleep --ms 3 --evaluate after --epochs 2
	expect pin2 --workers 2 --pin --persistent --evaluate after --epochs 2
	expect text1 --workers 1 --persistent --kind text --evaluate after --epochs 2
	expect number4 --workers 4 --kind number --epochs 2
	expect dict4 --workers 4 --method forkserver --kind dict --evaluate after
	expect one1 --workers 1 --method spawn --kind one --epochs 2 --persistent
	expect plain2 --workers 2 --plain --epochs 2
	expect array2 --workers 2 --kind array --evaluate inside
fi
