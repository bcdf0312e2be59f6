#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./setup derives backports from the machine's own sources, leaves out what would change the C library,
# tells an unknown distribution's user what to install, and rejects wrong usage.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"

# in_setup FUNCTION [ARG...]: a function of ./setup, in a shell of its own
in_setup() {
	bash -c '. "$0/setup"; CODENAME=bookworm KNOWN=yes LOG=$WORK/log APT_LOG=$WORK/apt.log; "$@"' "$ROOT" "$@"
}
export WORK

# ---- usage
assert_status "unknown word" 2 ./setup frobnicate
assert_contains "unknown word" "$WORK/err" '^usage: ./setup'
assert_status "unknown option" 2 ./setup --frobnicate
assert_status "unknown workload" 2 ./setup demo frobnicate
assert_status "help" 0 ./setup --help
assert_status "dry run" 0 ./setup --dry-run check
assert_contains "dry run" "$WORK/out" 'run make test-debian13, make vmtest-check and make test'

# ---- versions
for pair in 1.4:1.4 1.4.6-1~bpo12+1:1.4 1.10:1.4 7.10.0:7.5; do
	assert_status "${pair%:*} is at least ${pair#*:}" 0 in_setup at_least "${pair%:*}" "${pair#*:}"
done
for pair in 1.1.2-0+deb12u1:1.4 :1.4 7.1.0:7.5 '(none):1.4'; do
	assert_status "${pair%:*} is less than ${pair#*:}" 1 in_setup at_least "${pair%:*}" "${pair#*:}"
done

# ---- backports from a one-line source, with options
cat >"$WORK/sources.list" <<'END'
# the mirror of the house
deb [ arch=amd64,arm64  signed-by=/etc/apt/keyrings/house.gpg ] mirror+file:/etc/apt/mirrors bookworm main contrib # note
END
in_setup derive_suite "$WORK/sources.list:2" bookworm-backports >"$WORK/derived"
assert_eq "from a one-line source" "Types: deb
URIs: mirror+file:/etc/apt/mirrors
Suites: bookworm-backports
Components: main
architectures: amd64 arm64
signed-by: /etc/apt/keyrings/house.gpg" "$(cat "$WORK/derived")"

# ---- backports from the second stanza of a deb822 source
cat >"$WORK/house.sources" <<'END'
# only a comment

Types: deb
URIs: file:/first
Suites: bookworm-security
Components: main

Types: deb deb-src
URIs: file:/second
# in between
Suites: bookworm bookworm-updates
components: main non-free
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
END
in_setup derive_suite "$WORK/house.sources:2" bookworm-backports >"$WORK/derived"
assert_eq "from a deb822 source" "Types: deb
URIs: file:/second
Suites: bookworm-backports
components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----" "$(cat "$WORK/derived")"

# ---- ./setup first simulates apt. This fake apt is on a machine one point release behind: libc6-dev and packages that
# need it require the newest C library, but not if apt is told to keep the installed one; gdb exists in an older version
# that does not require it; frob removes a package; absent is in no archive.
mkdir "$WORK/bin"
cat >"$WORK/bin/apt-get" <<'END'
#!/bin/bash
kept=no simulated=no
[[ "$*" != *Dir::Etc::preferences=* ]] || kept=yes
for word in "$@"; do
	[ "$word" != -s ] || simulated=yes
done
while [ "$1" != install ]; do shift; done
shift
[ "$simulated" = yes ] || echo "$*" >>"$WORK/installed"
for package in "$@"; do
	case "$package" in
	libc6-dev | zlib1g-dev | gdb)
		[ "$kept" = no ] || { echo "E: Unable to correct problems" && exit 100; }
		echo 'Inst libc6 [2.36-9+deb12u9] (2.36-9+deb12u14 Debian:12.15/oldstable [amd64])' ;;
	frob) echo 'Remv nodejs [20.1]' ;;
	absent) echo "E: Unable to locate package" && exit 100 ;;
	esac
	echo "Inst $package (1.0 Debian:12.15/oldstable [amd64])"
done
END
cat >"$WORK/bin/apt-cache" <<'END'
#!/bin/sh
[ "$1 $2" != "madison gdb" ] || printf ' gdb | %s | somewhere bookworm/main amd64 Packages\n' 13.2-1 13.1-3
END
chmod +x "$WORK/bin"/apt-*

# install PACKAGE...: runs ./setup's installation; $WORK/installed has the calls of apt
install() {
	rm -f "$WORK/installed"
	PATH=$WORK/bin:$PATH bash -c '. "$0/setup"; CODENAME=bookworm KNOWN=yes LOG=$WORK/log APT_LOG=$WORK/apt.log
		APT_PREFERENCES=$WORK/preferences; libc_version() { echo 2.36-9+deb12u9; }; from_backports() { false; }
		install_packages "$@" && say_left_out' "$ROOT" "$@"
}
assert_status "harmless packages" 0 install gcc make
assert_eq "harmless packages: installed at once" "gcc make" "$(<"$WORK/installed")"
[ ! -e "$WORK/preferences" ] || fail "apt is told to keep the C library where nothing would change it"

assert_status "some want a newer C library" 0 install gcc gdb jq
assert_contains "some want a newer C library: said" "$WORK/out" '^    Inst libc6 '
assert_eq "some want a newer C library: in an older version" "gcc gdb=13.2-1 jq" "$(<"$WORK/installed")"
assert_contains "apt keeps the C library" "$WORK/preferences" '^Pin: version 2.36-9\+deb12u9$'

assert_status "the build wants a newer C library" 1 install gcc libc6-dev zlib1g-dev jq
assert_eq "the build wants a newer C library: the rest is installed" "gcc jq" "$(<"$WORK/installed")"
assert_contains "the build wants a newer C library" "$WORK/err" 'the build needs libc6-dev zlib1g-dev$'
assert_contains "the build wants a newer C library: what to do" "$WORK/err" 'apt-get upgrade'

assert_status "one removes a package, one can't be had" 0 install frob jq absent
assert_eq "one removes a package, one can't be had: the rest is installed" jq "$(<"$WORK/installed")"
assert_contains "one removes a package, one can't be had: said" "$WORK/err" 'left out.*: frob absent$'
assert_status "all remove packages" 0 install frob
assert_status "apt can do nothing at all" 1 install absent
[ ! -e "$WORK/installed" ] || fail "apt was called to install nothing"

# ---- an unknown system gets a list of what is really missing
unknown() {
	bash -c '. "$0/setup"; os_release() { echo "Frobnix 3"; }; header_found() { [ "$1" != zstd.h ]; }
		read_distribution; find_missing build; get_ready' "$ROOT"
}
assert_status "unknown system" 1 unknown
assert_contains "unknown system" "$WORK/err" '^setup: Frobnix 3 is not a system'
assert_contains "unknown system" "$WORK/err" '^    zstd \(header zstd.h; Debian calls it libzstd-dev\)'
assert_lacks "unknown system" "$WORK/err" 'zlib'

# ---- optional packages of a command are requested, but not required
optional() {
	bash -c '. "$0/setup"; KNOWN=no; present() { false; }; find_missing "$1"
		echo "needed: ${MISSING[*]}"; echo "wanted: ${OPTIONAL[*]}"' "$ROOT" "$1"
}
optional 'vmtest?' >"$WORK/optional"
assert_contains "a group that is optional" "$WORK/optional" '^needed: $'
assert_contains "a group that is optional" "$WORK/optional" '^wanted: .*qemu-system-arm'
optional vmtest >"$WORK/optional"
assert_contains "the same, needed" "$WORK/optional" '^needed: .*qemu-system-arm'

# ---- without QEMU no other kernel is booted: this is reported, by name, and an error only if it was requested
mkdir "$WORK/without-qemu"
for command in bash readlink dirname dpkg mkdir sed awk nproc paste; do
	path=$(type -P "$command") || skip "needs $command, which Debian has"
	ln -s "$path" "$WORK/without-qemu/$command"
done
boot_without_qemu() { PATH=$WORK/without-qemu vmtests/run "$@"; }
assert_status "no QEMU, if possible" 0 boot_without_qemu --if-possible 6.1
assert_contains "no QEMU, if possible" "$WORK/out" '[Ss]kip'
if [ "$(dpkg --print-architecture)" = amd64 ]; then
	assert_contains "no QEMU" "$WORK/out" '^skip  6.1: there is no qemu-system-x86_64; .*apt-get install'
	assert_status "no QEMU" 1 boot_without_qemu 6.1
fi
