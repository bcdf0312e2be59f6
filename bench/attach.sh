# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # variables are shared with the other files
# attach.sh - measures the time to attach to many functions, and to detach.

. bench/calls.sh # file_offset

# make_many COUNT: makes a library of COUNT functions, and its catalog
make_many() {
	local i
	mkdir -p "$WORK/many"
	{
		printf '\t.text\n'
		for ((i = 0; i < $1; i++)); do
			printf '\t.balign 16\n\t.globl many_%d\n\t.type many_%d, @function\nmany_%d:\n\tpush %%rbp\n\tpop %%rbp\n\tret\n\t.size many_%d, 3\n' $i $i $i $i
		done
		printf '\t.section .note.GNU-stack, "", @progbits\n'
	} >"$WORK/many/libmany.S"
	"${CC:-gcc}" -shared -nostdlib -o "$WORK/many/libmany.so" "$WORK/many/libmany.S"
	{
		printf 'runtime many\nlibrary libmany.so\n\n'
		for ((i = 0; i < $1; i++)); do printf 'many_%d other 1\n' $i; done
	} >"$WORK/many/many.catalog"
}

now_ms() { printf '%s\n' $((${EPOCHREALTIME/[.,]/} / 1000)); }

attach_on() { make_many "$1" && LIBRARY=$WORK/many/libmany.so && start_target many "$BENCH/call_target" "$LIBRARY"; }
attach_off() { stop_target many; }

# The state is the number of functions.
attach_take() {
	local i first offsets=()
	first=$(file_offset many_0)
	for ((i = 0; i < $2; i++)); do offsets+=($((first + 16 * i))); done
	floor_on calls "${TARGET_PID[many]}" "$LIBRARY" "${offsets[@]}"
	floor_off
	awk -v pass="$1" -v n="$2" '{ print pass, n, "floor_" $1, $NF / 1e6 }' "$WORK/floor.out" >>"$WORK/samples"
	time_profbpf "$1" "$2"
}

# Times from the command to its line "tracing", and from Ctrl-C to its end.
time_profbpf() {
	local start line fd
	start=$(now_ms)
	exec {fd}< <(exec env --default-signal=INT "PROFBPF_CATALOG_DIR=$WORK/many" "$PROFCTL" attach --pid "${TARGET_PID[many]}" \
		--topics api -o "$WORK/run.pbt" 2>&1 </dev/null)
	TRACER_PID=$! TRACER_PIDS=$!
	while read -r line <&"$fd" && [[ $line != tracing* ]]; do :; done
	[[ $line == *" $2 function"* ]] || die "profbpf did not probe $2 functions: $line"
	take "$1" "$2" profbpf_attached "$(($(now_ms) - start))"
	start=$(now_ms)
	kill -INT "$TRACER_PID"
	while read -r line <&"$fd"; do :; done
	take "$1" "$2" profbpf_detached "$(($(now_ms) - start))"
	exec {fd}<&-
	TRACER_PID='' TRACER_PIDS=''
}

bench_attach() {
	local n state
	measure attach 1 500 3000
	heading "Attaching to N functions of one library: milliseconds, median (range) of $PASSES passes"
	printf '%-10s %18s %18s %22s %22s\n' '' 'kernel: attach' 'kernel: detach' 'profctl to "tracing"' 'Ctrl-C to its end'
	for n in 1 500 3000; do
		printf '%-10s' "$n"
		for state in floor_attached floor_detached; do
			printf ' %18s' "$(median "$n" "$state") ($(range "$n" "$state"))"
		done
		for state in profbpf_attached profbpf_detached; do
			printf ' %22s' "$(median "$n" "$state") ($(range "$n" "$state"))"
		done
		printf '\n'
	done
}
