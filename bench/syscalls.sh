# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# syscalls.sh - measures the cost of system calls while ioctls are recorded: of the calls of an untraced process, and
# of the ioctls of the traced process; with each method to see ioctls that this kernel allows.

SYSCALL_KINDS=(getppid read ioctl)
SYSCALL_METHODS=(function kprobe tracepoint)

syscalls_on() {
	# Read by the daemon, which profctl starts.
	[ "$1" = untraced ] || PROFBPF_IOCTLS=$1 profbpf_on "${TARGET_PID[traced]}" ioctl
}

syscalls_take() {
	local kind answer
	for kind in "${SYSCALL_KINDS[@]}"; do
		answer=$(ask bystander "$kind" "$CALLS")
		take "$1" "$2" "$kind" "$answer"
	done
	answer=$(ask traced ioctl "$CALLS")
	take "$1" "$2" traced "$answer"
}

syscalls_off() { [ "$1" = untraced ] || profbpf_off "$1" ioctl; }

# added STATE SUBJECT: nanoseconds that the state adds, as the median over the passes
added() {
	awk -v state="$1" -v subject="$2" '$3 == subject { ns[$1, $2] = $4; passes[$1] }
		END { for (p in passes) if ((p, state) in ns && (p, "untraced") in ns) print ns[p, state] - ns[p, "untraced"] }' \
		"$WORK/samples" | sort -n | middle '%.1f'
}

# can_see METHOD: whether status reports that ioctls are seen with this method alone
can_see() {
	PROFBPF_IOCTLS=$1 "$PROFCTL" status --format json 2>/dev/null |
		jq -e '[.features[] | select(.name == "ioctl function hooks" or .name == "ioctl kprobes" or
			.name == "system call tracepoints") | .available] | any' >/dev/null
}

bench_syscalls() {
	local state kind states=(untraced)
	for state in "${SYSCALL_METHODS[@]}"; do
		if can_see "$state"; then
			states+=("$state")
		else
			printf 'bench/run: ioctls cannot be seen by way of "%s" here: left out\n' "$state" >&2
		fi
	done
	start_target bystander "$BENCH/syscall_target"
	start_target traced "$BENCH/syscall_target"
	measure syscalls "${states[@]}"
	# The target that was started last holds the other's input open.
	stop_target traced
	stop_target bystander
	heading "A system call while another process' ioctls are recorded, CPU nanoseconds: $PASSES passes of 5 x $CALLS calls"
	printf '%-11s' 'seen by'
	printf ' %9s %7s %6s' "${SYSCALL_KINDS[0]}" added ratio "${SYSCALL_KINDS[1]}" added ratio "${SYSCALL_KINDS[2]}" added ratio traced added ratio
	printf '\n'
	for state in "${states[@]}"; do
		printf '%-11s' "$state"
		for kind in "${SYSCALL_KINDS[@]}" traced; do
			printf ' %9s %7s %6s' "$(median "$state" "$kind")" "$(added "$state" "$kind")" "$(ratio "$state" untraced "$kind")"
		done
		printf '\n'
	done
	printf '\nThe last three columns are ioctls of the process that is traced; the others are of one that is not.\n'
}
