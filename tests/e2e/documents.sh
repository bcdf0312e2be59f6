#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands in README and other documents (fences "```sh run") work as printed, from `git clone` on.
# timeout: 1800
# beside others: what it types measures nothing, and it has folders of its own
. "$(dirname "$0")/lib.sh"
need_root
need_command jq git ffmpeg python3 unshare
need_opencl_device
git rev-parse --git-dir >/dev/null 2>&1 || skip "needs a clone of the repository"

mapfile -t documents < <(find . -path ./build -prune -o -name '*.md' ! -path ./README.md -printf '%P\n' | sort)

# ---- A user's machine: a home and a /usr/local of its own, and a job that runs

# Replaces the place that README leaves out ("…"), and provides the commands.
mkdir -p "$WORK/home" "$WORK/bin" "$WORK/upper" "$WORK/overlay" "$WORK/hooks/hooks"
cat >"$WORK/home/.gitconfig" <<END
[url "file://$ROOT"]
	insteadOf = https://…/profbpf.git
[init]
	templateDir = $WORK/hooks
[safe]
	directory = *
END
# Existing build results of the same sources are reused: their files are newer than those of the clone. Also provides
# the user's own job.
cat >"$WORK/hooks/hooks/post-checkout" <<END
#!/bin/bash
echo 'print("trained")' >train.py
mkdir -p build
(cd "$BUILD" && cp -r obj gen bpf profbpfd profctl analyzer libprofbpf-*.so ascend-sim "\$OLDPWD/build/")
find build -type f -exec touch -d "@\$(date +%s.%N)" {} +
END
# sudo for root: only runs the command.
# shellcheck disable=SC2016 # for the program
printf '#!/bin/bash\n[ "$1" != -E ] || shift\nexec "$@"\n' >"$WORK/bin/sudo"
chmod +x "$WORK/bin/sudo" "$WORK/hooks/hooks/post-checkout"

cat >"$WORK/job.py" <<'END'
import time, zlib
while True:
    zlib.compress(bytes(100000))
    time.sleep(0.01)
END
python3 "$WORK/job.py" &
JOB=$!

# type_document NAME: runs its commands in a separate folder, in a shell that stops at the first failing command. PID is
# the job's. ./setup check contains this script, so it only prints what it would do.
type_document() {
	local folder=$WORK/typed/${1//\//-} status=0
	mkdir -p "$folder"
	tests/tools/typed.py run "$1" | sed -e "s/\\bPID\\b/$JOB/g" -e "/^sudo/s/setup check/setup --dry-run check/" >"$folder.sh"
	(cd "$folder" && "$ROOT/tests/tools/typed.py" files "$ROOT/$1")
	[ "$1" = README.md ] || ln -s "$WORK/typed/README.md/profbpf/"* "$folder/"
	note "---- $1"
	# shellcheck disable=SC2016 # for the shell in there
	(cd "$folder" && HOME=$WORK/home PATH="$WORK/bin:$PATH" SECONDS_TRACED=2 WORK=$WORK unshare --mount bash -euc '
		mount -t overlay overlay -o "lowerdir=/usr/local,upperdir=$WORK/upper,workdir=$WORK/overlay" /usr/local
		bash -eu "$1"
	' typed "$folder.sh") >"$folder.out" 2>&1 </dev/null || status=$?
	grep '^\$ ' "$folder.out" || :
	[ "$status" -eq 0 ] || fail "$1: the last of these commands ended with status $status:
$(tail -n 30 "$folder.out")"
}

for document in README.md "${documents[@]}"; do
	! grep -q '^```sh run$' "$document" || type_document "$document"
done

# ---- Results

typed=$WORK/typed/README.md
assert_contains "the demo says where the device's idle time went" "$typed.out" "^Where the device's idle time comes from"
assert_contains "what check would do" "$typed.out" 'run make .*make test'
[ -s "$typed/profbpf/run.pftrace" ] || fail "no timeline was exported"
report_json "$typed/profbpf/run.pbt" "$WORK/train.json"
assert_complete "$WORK/train.json"
assert_contains "zlib by its catalog" "$WORK/typed/CONTRIBUTING.md.out" '^zlib +deflate '
assert_contains "the simulated device" "$WORK/typed/examples-ascend-sim-README.md.out" 'tasks matched with their call'
[ -x "$WORK/upper/bin/profctl" ] || fail "make install installed no profctl"

# ---- Targets of make that documents only mention exist

# asked ARGUMENT...: runs make -n with all of them at once, because make needs a second to read its files
asked() {
	make -n "$@" >"$WORK/out" 2>"$WORK/err" || fail "make $*: $(tail -n 3 "$WORK/err")"
	note "make $*"
}

tests/tools/typed.py make README.md "${documents[@]}" | grep -v '[A-Z]*=[A-Z]' | sort -u >"$WORK/named"
mapfile -t targets < <(grep -v = "$WORK/named" | tr ' ' '\n' | sort -u)
asked "${targets[@]}"
while read -r arguments; do
	# shellcheck disable=SC2086 # words
	asked $arguments
done < <(grep = "$WORK/named")
