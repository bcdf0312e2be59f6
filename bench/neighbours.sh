# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# neighbours.sh - measures the cost of other processes' sessions, all of one daemon, for an untraced process: the
# switches of two processes that play ping-pong through pipes. Also the time until many sessions that begin at once are
# live, and the memory of the daemon and its BPF programs and maps.

# State: sessions, their user, their topics; "-" is the default.
declare -A NEIGHBOURS=(
	[one]="1 root -"
	[four]="4 nobody -"
	[twenty]="20 root -"
	[sched]="1 root sched"
	[ioctl]="1 root ioctl"
	[api]="1 root api"
)
NEIGHBOURS_STATES=(untraced floor one four twenty sched ioctl api)
SERVICE_PID='' SESSION_PIDS=() SLEEPER_PIDS=() STARTED='' STARTED_MS=''

now_ms() { printf '%s\n' $((${EPOCHREALTIME/[.,]/} / 1000)); }

# as_user USER COMMAND...: replaces the calling shell
as_user() {
	local user=$1
	shift
	if [ "$user" = root ]; then exec "$@"; else exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"; fi
}

# service_on: starts a daemon of our own that all users may use
service_on() {
	local i
	"$BUILD/profbpfd" --socket "$PROFBPF_SOCKET" 2>"$WORK/service.err" &
	SERVICE_PID=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -S "$PROFBPF_SOCKET" ] || break
		sleep 0.05
	done
	[ -S "$PROFBPF_SOCKET" ] || die "the daemon does not listen: $(cat "$WORK/service.err")"
	chmod 711 "$WORK"
	chmod 666 "$PROFBPF_SOCKET"
	mkdir -p "$WORK/sessions"
	chmod 777 "$WORK/sessions"
}

service_off() {
	kill -TERM "$SERVICE_PID"
	wait "$SERVICE_PID" || :
	SERVICE_PID=
}

# start_sessions COUNT USER TOPICS: starts all at once, each for a sleeping process of its own
start_sessions() {
	local i options=() start pid
	[ "$3" = - ] || options=(--topics "$3")
	rm -rf "$WORK/sessions"/*
	for ((i = 0; i < $1; i++)); do
		as_user "$2" env --default-signal=INT sleep 1000 &
		SLEEPER_PIDS+=($!)
	done
	for pid in "${SLEEPER_PIDS[@]}"; do
		until [ "$(cat "/proc/$pid/comm")" = sleep ]; do sleep 0.01; done
	done
	start=$(now_ms)
	for ((i = 0; i < $1; i++)); do
		as_user "$2" env --default-signal=INT "$PROFCTL" attach --pid "${SLEEPER_PIDS[i]}" "${options[@]}" \
			-o "$WORK/sessions/$i.pbt" 2>"$WORK/sessions/$i.err" </dev/null &
		SESSION_PIDS+=($!)
	done
	for ((i = 0; i < $1; i++)); do
		until grep -qs '^tracing' "$WORK/sessions/$i.err"; do
			kill -0 "${SESSION_PIDS[i]}" 2>/dev/null || die "session $i: $(cat "$WORK/sessions/$i.err")"
			sleep 0.01
		done
	done
	STARTED_MS=$(($(now_ms) - start))
}

# daemon_kib: the daemon's own resident memory, and the kernel's memory for its BPF maps and programs, not for others'
daemon_kib() {
	{ cat "/proc/$SERVICE_PID/status" "/proc/$SERVICE_PID"/fdinfo/* 2>/dev/null || :; } | awk '$1 == "RssAnon:" { kib = $2 }
		$1 == "memlock:" { bytes = $2 }
		($1 == "map_id:" || $1 == "prog_id:") && !seen[$1 $2]++ { kib += bytes / 1024 }
		END { printf "%d\n", kib }'
}

end_sessions() {
	[ ${#SESSION_PIDS[@]} -eq 0 ] || kill -INT "${SESSION_PIDS[@]}" 2>/dev/null || :
	[ ${#SESSION_PIDS[@]} -eq 0 ] || wait "${SESSION_PIDS[@]}" || :
	[ ${#SLEEPER_PIDS[@]} -eq 0 ] || kill "${SLEEPER_PIDS[@]}" 2>/dev/null || :
	[ ${#SLEEPER_PIDS[@]} -eq 0 ] || wait "${SLEEPER_PIDS[@]}" 2>/dev/null || :
	SESSION_PIDS=() SLEEPER_PIDS=()
}

neighbours_cleanup() {
	end_sessions || :
	service_off || :
}

neighbours_on() {
	local count user topics
	case $1 in
	untraced) ;;
	floor) floor_on switches ;;
	*)
		read -r count user topics <<<"${NEIGHBOURS[$1]}"
		start_sessions "$count" "$user" "$topics"
		STARTED="$1 start $STARTED_MS"$'\n'"$1 memory $(daemon_kib)"
		;;
	esac
}

neighbours_take() {
	local answer
	answer=$(ask bystander "$CALLS")
	take "$1" "$2" switch "$answer"
	[ -z "$STARTED" ] || sed "s/^/$1 /" <<<"$STARTED" >>"$WORK/samples"
	STARTED=
}

# The kernel takes time to unload programs after a session's end.
neighbours_off() {
	case $1 in
	untraced) ;;
	floor) floor_off ;;
	*)
		end_sessions
		sleep 0.5
		;;
	esac
}

bench_neighbours() {
	local state states=()
	for state in "${NEIGHBOURS_STATES[@]}"; do ! is_wanted "$state" || states+=("$state"); done
	service_on
	start_target bystander "$BENCH/switch_target"
	measure neighbours "${states[@]}"
	stop_target bystander
	service_off
	heading "A bystander's context switch beside sessions of others: $PASSES passes of 5 x $CALLS switches"
	printf '%-10s %8s %11s %8s %10s %16s %12s\n' '' 'CPU ns' 'range' 'wall ns' '/untraced' 'live after, ms' 'memory, KiB'
	for state in "${states[@]}"; do
		printf '%-10s %8s %11s %8s %10s %16s %12s\n' "$state" "$(median "$state" switch)" "$(range "$state" switch)" \
			"$(wall_median "$state" switch)" "$(ratio "$state" untraced switch)" "$(median "$state" start)" \
			"$(median "$state" memory)"
	done
}
