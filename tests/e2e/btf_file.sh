#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernel types from a file: the right file works where the kernel's own types are hidden; any other gives an error
# message.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq unshare
types=/sys/kernel/btf/vmlinux
[ -r "$types" ] || skip "this kernel does not show its types"

cp "$types" "$WORK/good"
head -c $(($(stat -c %s "$types") / 2)) "$types" >"$WORK/half"
echo "no types" >"$WORK/text"
: >"$WORK/empty"
# Changed names of the same length, so that all else stays unchanged: types of another kernel, and of another CPU.
LC_ALL=C sed 's/\x00sched_info\x00/\x00sched_inf0\x00/' "$types" >"$WORK/changed"
case $(uname -m) in
x86_64) register=orig_ax ;;
*) register=syscallno ;;
esac
LC_ALL=C sed "s/\\x00$register\\x00/\\x00${register%?}Z\\x00/g" "$types" >"$WORK/foreign"

# refused FILE PATTERN: profctl refuses the file as an option, also with a private daemon, which leaves no trace
refused() {
	assert_status "a daemon with --btf $1" 1 "$PROFBPFD" --btf "$WORK/$1"
	assert_contains "--btf $1" "$WORK/err" "^profbpfd: --btf $WORK/$1: $2"
	PROFBPF_BTF=$WORK/$1 assert_status "profctl with $1" 1 "$PROFCTL" record -o "$WORK/out.pbt" -- true
	assert_contains "profctl with $1" "$WORK/err" "--btf $WORK/$1: $2"
	[ ! -e "$WORK/out.pbt" ] || fail "a trace was left with $1"
	PROFBPF_BTF=$WORK/$1 "$PROFCTL" status >"$WORK/status"
	assert_contains "status with $1" "$WORK/status" "because +--btf $WORK/$1: $2"
}
refused missing 'No such file'
refused half 'no complete BTF in the file'
refused text 'no complete BTF in the file'
refused empty 'no complete BTF in the file'
refused changed 'the file describes another kernel'
refused foreign '.*another CPU architecture'
# A BPF object has types, too, but not those of a kernel.
if objects=$(find "$BUILD/bpf" -name '*.bpf.o' 2>/dev/null | head -n 1) && [ -n "$objects" ]; then
	cp "$objects" "$WORK/object"
	refused object 'the file does not describe a kernel'
fi

# traced WHAT [COMMAND...]: checks exact counts, and that the scheduler's programs are loaded
traced() {
	local what=$1 r=$WORK/traced.json
	shift
	rm -f "$WORK/traced.pbt"
	"$@" "$PROFCTL" record --catalog "$ROOT/tests/catalog" -o "$WORK/traced.pbt" -- "$TRUTH/calls" \
		<<<"" >"$WORK/calls.out" 2>"$WORK/err" || fail "$what: $(cat "$WORK/err")"
	report_json "$WORK/traced.pbt" "$r"
	assert_loss_accounted "$r"
	assert_complete "$r"
	[ "$("$PROFCTL" status --format json | jq -r .tracing.method)" = none ] ||
		assert_eq "$what: calls" 30000 "$(api_count "$r" truth_noop)"
	assert_between "$what: switches" 1 1000000000 "$(jq '[.capture.sources[] | select(.name == "sched") | .produced] | add' "$r")"
}

cat >"$WORK/hide" <<'END'
mount -t tmpfs none /sys/kernel/btf
[ ! -d /boot ] || mount -t tmpfs none /boot
exec "$@"
END
hidden() { unshare --mount bash -e "$WORK/hide" "$@"; }
export PROFBPF_BTF=$WORK/good
traced "with the file"
traced "with the file alone" hidden
unset PROFBPF_BTF
start_daemon --btf "$WORK/good"
traced "by a daemon with --btf"
"$PROFCTL" status >"$WORK/status"
assert_contains "status" "$WORK/status" 'kernel type information +the file given by --btf'
stop_daemon
PROFBPF_BTF=$WORK/half assert_status "hidden, with half of it" 1 hidden "$PROFCTL" record -o "$WORK/out.pbt" -- true
# Since 5.11 the kernel also offers its BTF by id; before, only ids of tracepoints can be compared.
if "$PROFCTL" status --format json | jq -e '.features[] | select(.name == "typed current thread") | .available' >/dev/null; then
	PROFBPF_BTF=$WORK/changed assert_status "hidden, with another kernel's" 0 hidden "$PROFCTL" status
	assert_contains "hidden, with another kernel's" "$WORK/out" 'because +--btf .*the file describes another kernel'
fi
