#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# If tracing is impossible or limited, status and every failure print the reason and the remedy.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command setpriv unshare jq

sleep 1000 &
target=$!
# without LIST COMMAND...: runs the command without these capabilities
without() {
	local list=$1
	shift
	setpriv --bounding-set="$list" "$@"
}
# status_says WHAT PATTERN COMMAND...: the command runs profctl status, whose output must match
status_says() {
	local what=$1 pattern=$2
	shift 2
	assert_status "status $what" 0 "$@" "$PROFCTL" status
	assert_contains "status $what" "$WORK/out" "$pattern"
}
# refused WHAT PATTERN COMMAND...: an attach fails with this message, and leaves no file
refused() {
	local what=$1 pattern=$2
	shift 2
	assert_status "attach $what" 1 "$@" "$PROFCTL" attach --pid "$target" --duration 100ms -o "$WORK/out.pbt"
	assert_contains "attach $what" "$WORK/err" "$pattern"
	[ ! -e "$WORK/out.pbt" ] || fail "attach $what: it left a file behind"
}
# warned WHAT PATTERN COMMAND...: an attach works, and warns about its limits
warned() {
	local what=$1 pattern=$2
	shift 2
	assert_status "attach $what" 0 "$@" "$PROFCTL" attach --pid "$target" --duration 100ms -o "$WORK/out.pbt"
	assert_contains "attach $what" "$WORK/err" "$pattern"
	rm "$WORK/out.pbt"
}

# ---- All is well

assert_status "status" 0 "$PROFCTL" status
assert_contains "status" "$WORK/out" '^tracing +possible$'
if grep -E '^  (because|but)' "$WORK/out"; then skip "this machine has obstacles of its own"; fi

# ---- Capabilities

lost=-sys_admin,-perfmon
status_says "without CAP_PERFMON" 'because +tracing needs root.*profbpfd lacks CAP_PERFMON: run it as root; in a container' \
	without $lost
refused "without CAP_PERFMON" 'missing here: CAP_PERFMON\)' without $lost
assert_status "a daemon without CAP_PERFMON" 1 without $lost "$PROFBPFD"
assert_contains "a daemon without CAP_PERFMON" "$WORK/err" 'missing here: CAP_PERFMON\)'
lost=-sys_admin,-bpf,-sys_ptrace
status_says "without two" 'lacks CAP_BPF, CAP_SYS_PTRACE:' without $lost
refused "without two" 'missing here: CAP_BPF, CAP_SYS_PTRACE\)' without $lost
status_says "without CAP_SYS_PTRACE" 'but +without CAP_SYS_PTRACE the libraries' without -sys_ptrace
as_nobody "$PROFBPFD" --version >/dev/null
assert_status "an ordinary user's status" 0 as_nobody "$PROFCTL" status --format json
assert_eq "an ordinary user's status" "false CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE" "$(
	jq -r '"\(.tracing.possible) \(.tracing.obstacles[0] | capture("lacks (?<what>[A-Z_, ]*):").what)"' "$WORK/out")"

# ---- Containers: namespaces, mounts, refused system calls

if unshare --user --map-root-user true 2>/dev/null; then
	status_says "in a user namespace" 'because +profbpfd runs in a user namespace' unshare --user --map-root-user
	refused "in a user namespace" 'profbpfd runs in a user namespace' unshare --user --map-root-user
fi
cat >"$WORK/hide" <<'END'
mount -t tmpfs none "$1"
shift
exec "$@"
END
hide() { unshare --mount bash -e "$WORK/hide" "$@"; }
# libbpf also looks for the kernel's types in these files.
if [ ! -e "/boot/vmlinux-$(uname -r)" ] && [ ! -e "/lib/modules/$(uname -r)/build/vmlinux" ]; then
	status_says "without BTF" 'because +a mount hides /sys/kernel/btf.*unmount it' hide /sys/kernel/btf
	refused "without BTF" 'a mount hides /sys/kernel/btf' hide /sys/kernel/btf
	status_says "without sysfs" 'because +/sys is not a sysfs.*mount sysfs' hide /sys
fi
if ! grep -q ' /sys/kernel/debug ' /proc/mounts; then
	PROFBPF_IOCTLS=tracepoint status_says "without tracefs" 'but +ioctls are not recorded: no tracefs.*mount -t tracefs' hide /sys/kernel/tracing
	PROFBPF_IOCTLS=tracepoint warned "without tracefs" 'warning: .*tracefs' hide /sys/kernel/tracing
fi
case $(uname -m) in
x86_64) bpf=321 perf=298 ;;
aarch64) bpf=280 perf=241 ;;
*) skip "needs the numbers of bpf and perf_event_open on $(uname -m)" ;;
esac
for errno in 1 38; do
	status_says "without bpf(), error $errno" 'because +a seccomp filter refuses the system call bpf' \
		"$BUILD/tests/truth/refused" "$bpf" $errno
done
refused "without bpf()" 'a seccomp filter refuses the system call bpf .*seccomp=unconfined' \
	"$BUILD/tests/truth/refused" "$bpf" 1
status_says "without perf_event_open()" 'but +(libraries loaded later are not traced|API calls are not traced)(, nor are ioctls)?: a seccomp filter' \
	"$BUILD/tests/truth/refused" "$perf" 1
# If probes are perf events, none works; otherwise everything else works.
if ! "$PROFCTL" status | grep -q '^probes *perf'; then
	warned "without perf_event_open()" 'warning: libraries loaded later are not traced: a seccomp filter' \
		"$BUILD/tests/truth/refused" "$perf" 1
	if "$BUILD/tests/truth/refused" "$perf" 1 "$PROFCTL" status | grep -q 'nor are ioctls'; then
		warned "without perf_event_open()" 'warning: ioctls are not recorded: a seccomp filter' \
			"$BUILD/tests/truth/refused" "$perf" 1
	fi
fi

# ---- A running daemon reports the same to its clients

"$BUILD/tests/truth/refused" "$bpf" 1 "$PROFBPFD" >"$WORK/profbpfd.log" 2>&1 &
DAEMON_PID=$!
wait_until 20 test -S "$PROFBPF_SOCKET" || fail "profbpfd did not open $PROFBPF_SOCKET"
status_says "of a daemon without bpf()" 'because +a seccomp filter' env
refused "to a daemon without bpf()" '^profctl: a seccomp filter refuses' env
stop_daemon
