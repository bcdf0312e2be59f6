#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make install puts everything in the expected places, systemd accepts the unit without a
# warning, and make uninstall leaves nothing behind.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"

tree=$WORK/tree
make -s install DESTDIR="$tree" PREFIX=/usr

for file in bin/profbpfd bin/profctl bin/analyzer lib/profbpf/libprofbpf-opencl.so \
	share/profbpf/catalog/opencl.catalog lib/systemd/system/profbpfd.service lib/sysusers.d/profbpf.conf \
	share/man/man1/profctl.1 share/man/zh_CN/man1/profctl.1 share/man/zh_CN/man8/profbpfd.8 \
	share/profbpf/systemd/profbpf-publish.service share/profbpf/systemd/profbpf-watch.service share/doc/profbpf/LICENSE share/doc/profbpf/GPL-2.0-only.txt; do
	[ -s "$tree/usr/$file" ] || fail "make install left out $file"
done
assert_status "installed analyzer --help" 0 "$tree/usr/bin/analyzer" --help

# Every option that a file may have is in the example, and each of its lines is accepted once uncommented (but
# that of a file which has to be this kernel's).
example=$tree/usr/share/profbpf/profbpfd.conf
assert_eq "options in the example" \
	"$("$tree/usr/bin/profbpfd" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+\[?=' | grep -oE '[a-z][a-z-]+' | grep -vxE 'config|check-config' | sort -u)" \
	"$(sed -n 's/^#\([a-z-]*\) = .*/\1/p' "$example" | sort -u)"
mkdir "$WORK/catalog"
sed -e '/^#btf/d' -e 's/^#\([a-z-]* = \)/\1/' -e "s,/etc/profbpf/catalog,$WORK/catalog," "$example" >"$WORK/example.conf"
assert_status "the example, uncommented" 0 "$tree/usr/bin/profbpfd" --check-config="$WORK/example.conf"

unit=$tree/usr/lib/systemd/system/profbpfd.service
assert_contains "the unit starts the installed daemon" "$unit" '^ExecStart=/usr/bin/profbpfd$'

if command -v systemd-analyze >/dev/null; then
	mkdir "$WORK/units"
	sed -E "s,/usr/bin/prof(bpfd|ctl),$tree&," "$unit" >"$WORK/units/profbpfd.service"
	# Unknown settings are reported on standard error only.
	assert_status "systemd-analyze verify" 0 systemd-analyze verify --man=no "$WORK/units/profbpfd.service"
	assert_eq "complaints about the unit" "" "$(cat "$WORK/err")"
	systemd-analyze security --offline=true "$WORK/units/profbpfd.service" >"$WORK/security"
	score=$(sed -n 's/.*Overall exposure level for .*: \([0-9.]*\) .*/\1/p' "$WORK/security")
	assert_between "exposure of the unit, 10 is worst" 0 3 "$score"
	for name in publish watch; do
		# The program belongs to a wheel.
		sed -E 's|^ExecStart=\S+|ExecStart=/bin/true|' "$tree/usr/share/profbpf/systemd/profbpf-$name.service" >"$WORK/units/profbpf-$name.service"
		assert_status "systemd-analyze verify, $name" 0 systemd-analyze verify --man=no "$WORK/units/profbpf-$name.service"
		assert_eq "complaints about the unit" "" "$(cat "$WORK/err")"
	done
else
	leave_out "no systemd-analyze here: the unit is not verified"
fi

make -s uninstall DESTDIR="$tree" PREFIX=/usr
assert_eq "files left by make uninstall" "" "$(find "$tree" ! -type d)"
