#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs and device layers are hardened like Debian's packages and contain no folder name of the build
# machine; flags of the user are added to the project's.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_command readelf make

files=("$BUILD"/{profbpfd,profctl,analyzer} "$BUILD"/libprofbpf-*.so)
! readelf -d "$BUILD/profctl" | grep -q 'libasan' || skip "sanitised programs: they are not for use"

# gcc records its options for each source; clang does not.
case "$(uname -m)" in
x86_64) told=(-fstack-protector-strong -fstack-clash-protection -fcf-protection) ;;
aarch64) told=(-fstack-protector-strong -fstack-clash-protection -mbranch-protection=standard) ;;
*) told=(-fstack-protector-strong) ;;
esac

# check_sources FILE: each source was compiled with all hardening options
check_sources() {
	local sources flag
	readelf --debug-dump=info --dwarf-depth=1 --wide "$1" 2>/dev/null |
		sed -n 's/.*DW_AT_producer.*: \(GNU C[0-9]* .*\)/\1/p' >"$WORK/producers"
	sources=$(wc -l <"$WORK/producers")
	[ "$sources" -gt 0 ] || { note "$1: its compiler does not say how it was called" && return; }
	for flag in "${told[@]}"; do
		assert_eq "$1: sources compiled with $flag" "$sources" "$(grep -c -e "$flag" "$WORK/producers")"
	done
}

# check_file FILE
check_file() {
	local calls
	readelf --wide --file-header --dynamic --program-headers --dyn-syms "$1" >"$WORK/elf" 2>/dev/null
	assert_contains "$1: can be loaded anywhere" "$WORK/elf" '^ *Type: *DYN '
	assert_contains "$1: relocations become read-only" "$WORK/elf" '^ *GNU_RELRO '
	assert_contains "$1: all of them, at its start" "$WORK/elf" '\(FLAGS_1\).*\bNOW\b'
	assert_contains "$1: its stack is not executable" "$WORK/elf" '^ *GNU_STACK .* RW  *0x'
	assert_contains "$1: its stack is guarded" "$WORK/elf" ' __stack_chk_fail@'
	assert_lacks "$1: its code is shared" "$WORK/elf" '\(TEXTREL\)'
	assert_lacks "$1: no folder of its own for libraries" "$WORK/elf" '\((RPATH|RUNPATH)\)'
	calls=$(grep -cE ' __[a-z]+_chk@' "$WORK/elf") || :
	assert_between "$1: C library functions that check bounds" 1 1000 "$calls"
	assert_eq "$1: names of build folders" 0 "$(grep -acF -e "$ROOT/" -e "$BUILD/" "$1" || :)"
	check_sources "$1"
}

for file in "${files[@]}"; do
	check_file "$file"
	case "$file" in
	*.so) ;;
	*) assert_contains "$file: it is a program" "$WORK/elf" '\(FLAGS_1\).*\bPIE\b' ;;
	esac
done

# Control flow protection is left out: the C library's start files in Debian are not marked, so no program is.
if command -v hardening-check >/dev/null; then
	assert_status "hardening-check" 0 hardening-check --nocfprotection "${files[@]}"
else
	note "no hardening-check here (Debian: devscripts): only what readelf tells was checked"
fi
if [ "$(uname -m)" = x86_64 ]; then
	for file in "$BUILD"/libprofbpf-*.so; do
		readelf --notes --wide "$file" >"$WORK/notes" 2>/dev/null
		assert_contains "$file: leaves the shadow stack on" "$WORK/notes" 'x86 feature: .*SHSTK'
	done
fi

# ---- the flags of the user

# build_layer NAME [WORD...]: builds a layer in a separate folder, named "layer"
build_layer() {
	local folder=$WORK/$1
	shift
	make -s WERROR=1 B="$folder" "$@" "$folder/libprofbpf-mspti.so"
	mv "$folder/libprofbpf-mspti.so" "$WORK/layer"
	check_file "$WORK/layer"
	assert_eq "names of its build folder" 0 "$(grep -acF -e "$WORK" "$WORK/layer" || :)"
}

build_layer line CFLAGS=-O1 LDFLAGS=-Wl,--build-id=0x11223344
assert_contains "CFLAGS of the command line come last" "$WORK/producers" ' -O2 -O1( |$)'
readelf --notes "$WORK/layer" >"$WORK/notes" 2>/dev/null
assert_contains "LDFLAGS of the command line" "$WORK/notes" 'Build ID: 11223344'

CFLAGS='-O3 -fno-stack-clash-protection' CPPFLAGS=-D_FORTIFY_SOURCE=2 LDFLAGS=-Wl,--build-id=0x55667788 \
	make -s WERROR=1 B="$WORK/environment" "$WORK/environment/libprofbpf-mspti.so"
readelf --notes --debug-dump=info --dwarf-depth=1 --wide "$WORK/environment/libprofbpf-mspti.so" >"$WORK/notes" 2>/dev/null
assert_contains "LDFLAGS of the environment" "$WORK/notes" 'Build ID: 55667788'
assert_contains "CFLAGS of the environment" "$WORK/notes" 'DW_AT_producer.* -O3 '
assert_contains "a flag taken back by the environment" "$WORK/notes" 'DW_AT_producer.* -fno-stack-clash-protection'

if command -v dpkg-buildflags >/dev/null; then
	eval "$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --export=sh)"
	note "with $CPPFLAGS $CFLAGS $LDFLAGS"
	build_layer debian
	unset CPPFLAGS CFLAGS LDFLAGS
fi

# Only options that need an optimizing compiler may be missing in such a build.
make -s WERROR=1 B="$WORK/debugging" CFLAGS=-O0 "$WORK/debugging/libprofbpf-mspti.so"
