#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Jobs that are slow for a reason that was planted: what the report says first, beside the truth.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

with_bpf || {
	verdict skip plants "no BPF: nobody sees what the host does meanwhile"
	exit 0
}

truth_of() {
	case "$1" in
	loader) echo "the trainer waits for its data" ;;
	copy) echo "a large copy from pageable memory in each step" ;;
	tiny) echo "hundreds of tiny kernels in each step" ;;
	sync | item) echo "a value is fetched from the device after each of many pieces of work" ;;
	thief) echo "others have the training's CPU" ;;
	gil) echo "another thread holds the interpreter's lock" ;;
	esac
}

# The report's own first words on why the device was idle, and its first advice.
first_lines() { sed -n '/was idle/,/^Most of all/p; /^Advice/,$p' "$1" | grep -v '^-*$' | head -n 5; }

# plant FRAMEWORK NAME COMMAND...
plant() {
	local label=$1-$2 name=$2
	shift 2
	record "$label" "$@" || return 0
	{
		printf -- '-- %s\ntruth: %s\n' "$label" "$(truth_of "$name")"
		first_lines "$WORK/$label.txt"
	} | tee -a "$WORK/verdicts.txt"
	run_compare "$label" plant "$name" "$REPORT"
}

if [ "$DRY" = yes ]; then
	SECONDS_EACH=0.5 CUDA_PLANTS=(loader copy tiny) TORCH_PLANTS=()
else
	SECONDS_EACH=2 CUDA_PLANTS=(loader copy tiny sync) TORCH_PLANTS=(loader copy tiny item thief gil)
fi
if known_is_built; then
	for name in "${CUDA_PLANTS[@]}"; do
		plant CUDA "$name" "$OUT/known" -w "$SETTLE_MS" -l "$SECONDS_EACH" -t 1 -p "$name"
	done
fi
if with_torch; then
	for name in "${TORCH_PLANTS[@]}"; do
		plant PyTorch "$name" "$PYTHON" "$HERE/job.py" --settle "$SETTLE_S" --seconds "$SECONDS_EACH" --plant "$name"
	done
else
	verdict skip "plants in PyTorch" "no PyTorch with a device"
fi
exit 0
