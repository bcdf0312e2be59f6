#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profctl attach --cgroup and --container find the processes of a control group, and the report names the container; by
# the name that its runtime gave it, except in recordings of ordinary users.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq
make_group profbpf-attach

digits() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
id=$(digits)
uid=12345678-9abc-def0-1234-56789abcdef0
pod=$GROUP/kubepods-pod${uid//-/_}.slice
container=$pod/cri-containerd-$id.scope
mkdir "$pod"
mkdir "$container"
# The innermost group is removed first.
GROUPS_MADE=("$container" "$pod" "${GROUPS_MADE[@]}")

# begin GROUP NAME: starts a process of that name in the group, which computes and starts another; sets STARTED
begin() {
	cp "$(readlink -f /bin/bash)" "$WORK/$2"
	# shellcheck disable=SC2016 # of the shell that is started
	"$WORK/$2" -c 'echo $$ >"$1/cgroup.procs" && echo ready && while :; do "$0" -c ":"; done' "$WORK/$2" "$1" >"$WORK/$2.ready" &
	STARTED=$!
	wait_for_line "$WORK/$2.ready" ready 10
}
begin "$container" inside
inside=$STARTED
begin "$GROUP" beside
beside=$STARTED

# targets FILE: the process ids of the targets
targets() { "$ANALYZER" report "$1" --format json | jq -r '[.processes[] | select(.target) | .pid] | sort | map(tostring) | join(" ")'; }
# has WHICH FILE PID: 1 if it is a target there
has() { targets "$1" | tr ' ' '\n' | grep -cx "$2" || :; }

"$PROFCTL" attach --container "${id:0:12}" --duration 300ms -o "$WORK/container.pbt" 2>"$WORK/messages" || fail "$(cat "$WORK/messages")"
assert_eq "by the container: what is in it" 1 "$(has "$WORK/container.pbt" "$inside")"
assert_eq "by the container: what is beside it" 0 "$(has "$WORK/container.pbt" "$beside")"
"$PROFCTL" attach --cgroup "$GROUP" --duration 300ms -o "$WORK/group.pbt" 2>"$WORK/messages" || fail "$(cat "$WORK/messages")"
assert_eq "by the group: what is in a group in it" 1 "$(has "$WORK/group.pbt" "$inside")"
assert_eq "by the group: what is in it" 1 "$(has "$WORK/group.pbt" "$beside")"

"$ANALYZER" report "$WORK/container.pbt" --format json >"$WORK/report.json"
assert_eq "the container and the pod in the report" "$id $uid" \
	"$(jq -r --argjson pid "$inside" '.processes[] | select(.pid == $pid) | "\(.container) \(.pod)"' "$WORK/report.json")"
"$ANALYZER" report "$WORK/container.pbt" --section processes >"$WORK/report"
assert_contains "the report's text" "$WORK/report" "^ *$inside .* ${id:0:12} in pod $uid"
"$ANALYZER" report "$ROOT/tests/data/traces/every-2.pbt" --section processes >"$WORK/report"
assert_contains "the report's text, with names" "$WORK/report" '^10 .* trainer in pod research/train-0 +registry\.example/llm:3 '

# State as CRI-O has it, of a container that nobody else has.
state=/run/containers/storage/overlay-containers/$id
FOLDERS_MADE+=("$state")
mkdir -p "$state/userdata"
echo '{ "annotations": { "io.kubernetes.container.name": "trainer", "io.kubernetes.cri-o.ImageName": "llm:3",
	"io.kubernetes.pod.name": "train-0", "io.kubernetes.pod.namespace": "research" } }' >"$state/userdata/config.json"
# names FILE PID: by which the report calls its container
names() { "$ANALYZER" report "$1" --format json | jq -r --argjson pid "$2" '.processes[] | select(.pid == $pid)
	| [.container[0:12], .container_name, .image, .pod_name, .pod_namespace] | join(" ")'; }
start_daemon
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 &
user=$!
sleeps() { [ "$(cat "/proc/$user/comm")" = sleep ]; }
wait_until 10 sleeps || fail "no user's process"
echo $user >"$container/cgroup.procs"
"$PROFCTL" attach --pid $user --duration 300ms -o "$WORK/named.pbt" 2>"$WORK/messages" || fail "$(cat "$WORK/messages")"
as_nobody "$PROFCTL" attach --pid $user --duration 300ms -o - >"$WORK/user.pbt" 2>"$WORK/messages" || fail "$(cat "$WORK/messages")"
assert_eq "names in root's recording" "${id:0:12} trainer llm:3 train-0 research" "$(names "$WORK/named.pbt" $user)"
assert_eq "names in the user's" "${id:0:12}" "$(names "$WORK/user.pbt" $user | sed 's/ *$//')"
stop_daemon
kill $user
wait $user || :

kill "$inside"
wait "$inside" || :
# Its last child ends by itself. cgroup.procs has no file size that could be tested.
is_empty() { ! grep -q . "$container/cgroup.procs"; }
wait_until 10 is_empty || fail "processes stay in the group: $(cat "$container/cgroup.procs")"
assert_status "an empty container" 1 "$PROFCTL" attach --container "${id:0:12}" --duration 1s -o "$WORK/none.pbt"
assert_contains "is told" "$WORK/err" "container '${id:0:12}' has no processes"
assert_status "an unknown unit" 1 "$PROFCTL" attach --unit "nobody-$$" --duration 1s -o "$WORK/none.pbt"
assert_contains "is told" "$WORK/err" "there is no unit 'nobody-$$'"
kill "$beside"
