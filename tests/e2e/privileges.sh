#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user attaches to her own processes, which gain other privileges while the attach begins, or later,
# in many ways: her file has nothing of their activity with these privileges, and everything from before.
# PRIVILEGE_TRIES: number of processes that gain others, half of them while the attach begins (56; 1,000 take 4 minutes).
# PRIVILEGE_SPANS: within which ms these do ("300 2000").
# timeout: 7200
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq setpriv setcap unshare

TRIES=${PRIVILEGE_TRIES:-56} CROWD=56 HOW=(ask follow)
read -ra SPANS <<<"${PRIVILEGE_SPANS:-300 2000}"
USER_ID=65534 OTHER_ID=65533
# An array, not a function, which would run in a subshell for background commands.
AS_USER=(setpriv "--reuid=$USER_ID" "--regid=$USER_ID" --clear-groups)
AS_OTHER=(setpriv "--reuid=$OTHER_ID" "--regid=$OTHER_ID" --clear-groups)

mount | grep -q "on ${TMPDIR:-/tmp} .*nosuid" && skip "needs a ${TMPDIR:-/tmp} that honours set-user-id"
"${AS_USER[@]}" unshare --user true 2>/dev/null || skip "needs user namespaces for ordinary users"

folder=$WORK/public
mkdir -m 1777 "$folder"
cp "$PROFCTL" "$folder"
# Under a name of its own: root's flight recorder of another test, with the same catalog, would probe it everywhere.
cp "$TRUTH/libtruth.so" "$folder/libprivileges.so"
mkdir "$folder/catalog"
sed 's/^library libtruth\.so$/library libprivileges.so/' "$ROOT/tests/catalog/truth.catalog" >"$folder/catalog/truth.catalog"
for name in plain setuid setgid capable hidden; do cp "$TRUTH/privileges" "$folder/$name"; done
chmod 4755 "$folder/setuid"
chgrp 42 "$folder/setgid" && chmod 2755 "$folder/setgid"
chmod 0711 "$folder/hidden"
setcap cap_net_admin+ep "$folder/capable" 2>/dev/null || skip "needs a ${TMPDIR:-/tmp} that keeps file capabilities"
# The kernel passes the rest of the line as one argument, then the script's path.
printf '#!%s/setuid call-script\n' "$folder" >"$folder/script"
chmod 755 "$folder/script"
mkfifo -m 622 "$folder/map"
"$folder/plain" mapper "$folder" $USER_ID $OTHER_ID &
MAPPER_PID=$!

start_daemon
secrets=0 tries=0 late_lost=0 refused=0 sessions=0

# one_session follow|ask SPAN_MS: attaches to a crowd, through its parent or to each process, while the processes take
# their ways; adds to the counts above
one_session() {
	local how=$1 span=$2 pid pids trace=$folder/trace.pbt json=$WORK/trace.json leaks late way
	# Output of the session before could be mistaken for this session's.
	rm -f "$folder/end" "$trace" "$WORK/crowd.in" "$WORK/profctl.err" "$WORK/bystander.out" "$WORK/crowd.out"
	mkfifo "$WORK/crowd.in"
	"${AS_USER[@]}" "$folder/plain" crowd "$folder" "$CROWD" "$span" <"$WORK/crowd.in" >"$WORK/crowd.out" 2>"$WORK/crowd.err" &
	pid=$!
	exec {CROWD_IN}>"$WORK/crowd.in"
	wait_for_line "$WORK/crowd.out" '^ready' 10
	pids=$pid
	[ "$how" = follow ] || pids=$(sed -n 's/^early //p' "$WORK/crowd.out" | paste -sd, - | sed "s/^/$pid,/")
	"${AS_USER[@]}" env --default-signal=INT "$folder/profctl" attach --pid "$pids" -o "$trace" \
		--catalog "$folder/catalog" --topics "${TOPICS:-api,ioctl,sched,account,irq,stack,fault,io}" \
		2>"$WORK/profctl.err" </dev/null &
	PROFCTL_PID=$! # for stop_attach
	sessions=$((sessions + 1))
	# The processes have been checked once the session is in the log, or if none of them may be traced.
	[ "$how" = follow ] || wait_for_line "$WORK/profbpfd.log" "session $sessions: " 20
	echo >&"$CROWD_IN"
	wait_for_line "$WORK/profctl.err" '^tracing' 30
	"${AS_OTHER[@]}" "$folder/plain" bystander "$folder" >"$WORK/bystander.out" &
	BYSTANDER_PID=$!
	wait_for_line "$WORK/bystander.out" '^ready' 10
	sleep 0.3
	echo >&"$CROWD_IN"
	sleep 1
	stop_attach
	touch "$folder/end"
	exec {CROWD_IN}>&-
	wait_for_end "$pid" 20 || fail "the crowd failed: $(cat "$WORK/crowd.err")"
	wait_for_end "$BYSTANDER_PID" 20 || fail "the bystander failed"
	[ ! -s "$WORK/crowd.err" ] || fail "the crowd says: $(head -5 "$WORK/crowd.err")"
	assert_eq "changes of another user's code" "changed=0" "$(grep changed "$WORK/bystander.out")"

	"$ANALYZER" export "$trace" --to chrome -o "$json"
	# Counts each text, and the calls of truth_make, which has no text and is called only with privileges.
	jq -r '.[] | select(.ph == "X") | if .name == "truth_make" then "secret-unnamed" else .args.text // empty end' \
		"$json" | sort | uniq -c >"$WORK/texts"
	leaks=$(grep -c ' secret-' "$WORK/texts" || :)
	[ "$leaks" -gt 0 ] || leaks=$(grep -c 'secret-' "$json" || :)
	[ "$leaks" -eq 0 ] || note "leaked: $(grep ' secret-' "$WORK/texts" | tr -s ' \n' ' ')"
	secrets=$((secrets + leaks))
	# All odd children.
	late=$(grep -c '^ *20 late-' "$WORK/texts" || :)
	late_lost=$((late_lost + CROWD / 2 - late))
	while read -r way; do
		grep -q " allowed-$way$" "$WORK/texts" || refused=$((refused + 1))
	done < <(sed -n 's/^way \(.*\) allowed$/\1/p' "$WORK/crowd.out")
	tries=$((tries + CROWD))
}

for ((i = 0; tries < TRIES; i++)); do
	one_session "${HOW[i % 2]}" "${SPANS[i / 2 % ${#SPANS[@]}]}"
	note "$tries tries, $secrets leaks"
done
kill $MAPPER_PID
wait_for_end $MAPPER_PID 10 || :
stop_daemon
assert_eq "leaks in $tries tries" 0 "$secrets"
assert_eq "processes of which calls before are missing" 0 "$late_lost"
assert_eq "ways that stay the user's own, and are not recorded" 0 "$refused"
