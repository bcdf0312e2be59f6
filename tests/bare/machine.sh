# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# machine.sh - a Debian's root as a machine's: booted under QEMU, by its own systemd, with a kernel of its release.
# Sourced by tests that have lib.sh's functions.

# boot_machine ROOT KERNEL SCRIPT RESULTS: ROOT's systemd runs SCRIPT, whose lines on the second serial line are then in
# RESULTS; the console is RESULTS.console. The root is in memory. Without KVM, as in vmtests/. skip() where it can't be had.
boot_machine() {
	local root=$1 initrd=$WORK/machine.img kernel
	kernel=$(fetch_machine_kernel "$2") || skip "$kernel"
	install -m 755 "$3" "$root/root/in_machine"
	cat >"$root/etc/systemd/system/in-machine.service" <<END
[Unit]
After=profbpfd.service
[Service]
Type=oneshot
ExecStart=/root/in_machine
ExecStopPost=/usr/bin/systemctl --no-block --force --force poweroff
[Install]
WantedBy=multi-user.target
END
	in_root "$root" systemctl enable in-machine >/dev/null 2>&1
	ln -sfn /lib/systemd/systemd "$root/init"
	rm -rf "$root"/var/cache/apt "$root"/var/lib/apt/lists "$root"/usr/share/{doc,locale,man} "$root"/root/packages
	(cd "$root" && find . -xdev | "$BUSYBOX" cpio -o -H newc 2>/dev/null) | gzip -1 >"$initrd"
	note "an image of $(($(stat -c %s "$initrd") / 1000000)) MB"
	setpriv --pdeathsig TERM timeout --kill-after=5 2400 qemu-system-x86_64 -machine q35 -cpu max -accel tcg,thread=multi \
		-smp 2 -m 3072 -nodefaults -no-reboot -display none -monitor none -serial "file:$4.console" -serial "file:$4" \
		-kernel "$kernel" -initrd "$initrd" -append "console=ttyS0 quiet panic=-1 tsc=reliable rdinit=/init systemd.show_status=0" \
		>"$4.qemu" 2>&1 </dev/null || note "the machine ended with $?"
	rm -f "$initrd"
}

# fetch_machine_kernel VERSION: prints its path; 1 and why not. By vmtests' own functions, into its folder. BUSYBOX is set
# by the caller: vmtests' too.
fetch_machine_kernel() (
	VM=$(readlink -m build/vm) PACKER=$BUSYBOX REFRESH=''
	die() { printf '%s; %s\n' "$1" "$2" && exit 1; }
	lack() { die "$@"; }
	. vmtests/kernels.sh
	mkdir -p "$VM"
	fetch_kernel "$1" amd64 >&2 || die "no kernel $1" "Debian's archive has none"
	printf '%s\n' "$KERNEL_FOLDER/vmlinuz"
)

# fetch_machine_busybox: sets BUSYBOX
fetch_machine_busybox() {
	BUSYBOX=$(
		VM=$(readlink -m build/vm)
		lack() { exit 1; }
		. vmtests/kernels.sh
		mkdir -p "$VM"
		fetch_busybox amd64 >&2 && printf '%s\n' "$BUSYBOX"
	) || skip "no busybox can be fetched"
}
