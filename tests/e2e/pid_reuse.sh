#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process that gets the id of an exited target is not traced as that target; a user's own
# processes that run with another user's privileges are no targets of that user.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq setpriv pgrep
own_truth reuse

sleep 1000 &
other=$!
start_truth reuse "$TRUTH/libtruth.so"
# Two targets, so that the session goes on after the first has exited.
attach_in_background "$(truth_value child.pid),$other" "$WORK/reuse.pbt" --catalog "$ROOT/tests/catalog"
truth_go
stop_attach
child=$(truth_value child.pid)
[ "$(truth_value stranger.pid)" = "$child" ] || skip "this kernel lets nobody choose a process id"
report_json "$WORK/reuse.pbt" "$WORK/reuse.json"
assert_loss_accounted "$WORK/reuse.json"
assert_eq "calls of the child, without those of the stranger" "$(truth_value child.calls)" \
	"$(api_count "$WORK/reuse.json" truth_noop)"
truth_end

# The same if its parent is a target whose children are not followed.
start_truth reuse "$TRUTH/libtruth.so"
attach_in_background "$(truth_value child.pid),$TRUTH_PID" "$WORK/alone.pbt" --no-follow --catalog "$ROOT/tests/catalog"
truth_go
stop_attach
[ "$(truth_value stranger.pid)" = "$(truth_value child.pid)" ] || fail "the id was not used again"
report_json "$WORK/alone.pbt" "$WORK/alone.json"
assert_loss_accounted "$WORK/alone.json"
assert_eq "calls of the child, without those of a target's child that is not followed" "$(truth_value child.calls)" \
	"$(api_count "$WORK/alone.json" truth_noop)"
truth_end

# If they are followed, it is a target, and remains one: the daemon forgets exited targets after a second or two.
start_truth reuse "$TRUTH/libtruth.so" 3000
attach_in_background "$(truth_value child.pid),$TRUTH_PID" "$WORK/followed.pbt" --catalog "$ROOT/tests/catalog"
truth_go
stop_attach
[ "$(truth_value stranger.pid)" = "$(truth_value child.pid)" ] || fail "the id was not used again"
report_json "$WORK/followed.pbt" "$WORK/followed.json"
assert_loss_accounted "$WORK/followed.json"
assert_eq "calls of the child, and of a target's child with its id" \
	$(($(truth_value child.calls) + $(truth_value stranger.calls))) "$(api_count "$WORK/followed.json" truth_noop)"
truth_end

# An ordinary user's shell has a child that is root's.
start_daemon
chmod 711 "$WORK"
mkdir -m 1777 "$WORK/public"
cp "$PROFCTL" "$WORK/public/profctl"
cp "$(command -v sleep)" "$WORK/public/elevated"
cp "$(command -v sleep)" "$WORK/public/plain"
chmod 4755 "$WORK/public/elevated"
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
	"'$WORK/public/elevated' 1000 & '$WORK/public/plain' 1000 & wait" &
shell=$!
elevated() { pgrep -P "$shell" elevated; }
plain() { pgrep -P "$shell" plain; }
wait_until 10 elevated && wait_until 10 plain || fail "the shell did not start its children"
if grep -q '^Uid:[[:space:]]*65534[[:space:]]*65534' "/proc/$(elevated)/status"; then
	skip "files on $WORK give no rights (nosuid)"
fi
assert_status "the user's session" 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$WORK/public/profctl" \
	attach --pid "$shell" --duration 300ms -o "$WORK/public/user.pbt"
report_json "$WORK/public/user.pbt" "$WORK/user.json" --top 0
assert_eq "the plain child is a target" true "$(jq ".processes[] | select(.pid == $(plain)) | .target" "$WORK/user.json")"
assert_eq "root's child is none" 0 "$(jq "[.processes[] | select(.pid == $(elevated) and .target)] | length" "$WORK/user.json")"
stop_daemon
