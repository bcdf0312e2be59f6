# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # variables are shared with the other files
# target.sh - runs measured programs (target.h); several may run side by side, by name.

declare -A TARGET_FROM=() TARGET_TO=() TARGET_PID=() TARGET_PIDS=()

# start_target NAME COMMAND...: returns once it is ready. TARGET_PIDS[NAME] are its processes.
start_target() {
	local name=$1 from to ready pids
	shift
	mkfifo "$WORK/target.$name.in" "$WORK/target.$name.out"
	"$@" <"$WORK/target.$name.in" >"$WORK/target.$name.out" 2>"$WORK/target.$name.err" &
	TARGET_PID[$name]=$!
	exec {to}>"$WORK/target.$name.in" {from}<"$WORK/target.$name.out"
	rm "$WORK/target.$name.in" "$WORK/target.$name.out"
	TARGET_TO[$name]=$to TARGET_FROM[$name]=$from
	read -r -t 60 ready pids <&"$from" || ready=no
	[ "$ready" = ready ] || die "$1 did not start: $(tail -n 3 "$WORK/target.$name.err")"
	TARGET_PIDS[$name]=$pids
}

# ask NAME WORD...: prints the target's answer, numbers
ask() {
	local name=$1 answer
	shift
	printf '%s\n' "$*" >&"${TARGET_TO[$name]}"
	read -r -t 300 answer <&"${TARGET_FROM[$name]}" || answer="nothing: $(tail -n 3 "$WORK/target.$name.err")"
	[[ $answer =~ ^[0-9.\ ]+$ ]] || die "the target answered '$answer' to '$*'"
	printf '%s\n' "$answer"
}

# stop_target NAME: closes its input, which ends it
stop_target() {
	local name=$1 to=${TARGET_TO[$1]} from=${TARGET_FROM[$1]}
	exec {to}>&-
	wait "${TARGET_PID[$name]}" || die "the target failed: $(tail -n 3 "$WORK/target.$name.err")"
	exec {from}<&-
	unset "TARGET_TO[$name]" "TARGET_FROM[$name]" "TARGET_PID[$name]" "TARGET_PIDS[$name]"
}

targets_cleanup() {
	local to
	for to in "${TARGET_TO[@]}"; do exec {to}>&-; done
}
