# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# machine.sh - the virtual machines. Sourced by vmtests/run, which sets VM, die() and lack().

triplet() {
	case "$1" in
	amd64) echo x86_64-linux-gnu ;;
	arm64) echo aarch64-linux-gnu ;;
	esac
}

# check_machine: checks that this machine has the programs for ARCHITECTURE. Sets QEMU.
check_machine() {
	local version package=qemu-system-x86 remedy
	QEMU=qemu-system-x86_64
	if [ "$ARCHITECTURE" = arm64 ]; then
		QEMU=qemu-system-aarch64 package=qemu-system-arm
		type -P aarch64-linux-gnu-gcc >/dev/null || lack "there is no aarch64-linux-gnu-gcc" \
			"run ./setup check, or as root: apt-get install gcc-aarch64-linux-gnu"
	fi
	remedy="run ./setup check, or as root: apt-get install --no-install-recommends $package (on Debian 12: -t bookworm-backports)"
	type -P "$QEMU" >/dev/null || lack "there is no $QEMU" "$remedy"
	# Under QEMU 7.2 kernels from 6.12 on crash at random unless the CPU lacks cmpxchg16b; but without it
	# the newest kernels (seen on 7.3) have no memory for BPF programs.
	version=$("$QEMU" --version | sed -nE 's/^QEMU emulator version ([0-9]+).*/\1/p')
	((${version:-0} >= QEMU_MIN)) || lack "QEMU ${version:-of unknown version} is too old, $QEMU_MIN is needed" "$remedy"
}

# boot RELEASE RESULTS CONSOLE TESTS: without KVM, because CI machines lack its privileges and hardware. The counters of
# emulated CPUs are equal; a kernel that doubts this uses clocks that stand still while a CPU gets no time. Neither may it
# test its timer: if this machine is so busy that no interrupt arrives in time, it takes another one, which never comes.
# Returns SILENT if it had to end the machine because no test began.
boot() {
	local options console report clock= status=0 machine watcher
	case "$ARCHITECTURE" in
	amd64) options=(-machine q35 -cpu max) console=ttyS0 report=/dev/ttyS1 clock=" tsc=reliable no_timer_check" ;;
	arm64) options=(-machine "virt,gic-version=3" -cpu cortex-a57) console=ttyAMA0 report=/dev/ttyAMA1 ;;
	esac
	: >"$2"
	setpriv --pdeathsig TERM timeout --kill-after=5 "$SECONDS_VM" "$QEMU" "${options[@]}" \
		-accel tcg,thread=multi -smp 2 -m "$MEMORY_VM" \
		-nodefaults -no-reboot -display none -monitor none -serial "file:$3" -serial "file:$2" \
		-kernel "$KERNEL_FOLDER/vmlinuz" -initrd "$MACHINE_INITRD" \
		-append "console=$console quiet panic=-1$clock VMTESTS=$4 VMTEST_PROBES=$(expected_probes "$1") VMTEST_REPORT=$report${BRIEF:+ PROFBPF_TEST_BRIEF=yes}" \
		>"$3.qemu" 2>&1 </dev/null &
	machine=$!
	end_if_silent "$machine" "$2" &
	watcher=$!
	wait "$machine" || status=$?
	kill "$watcher" 2>/dev/null || :
	wait "$watcher" || [ $? -ne "$SILENT" ] || status=$SILENT
	return "$status"
}

# end_if_silent PID RESULTS: ends a machine that has not begun with its tests; returns SILENT then. It must not outlive the
# machine, as it would when vmtests/run is interrupted: PID might be another process by then.
end_if_silent() {
	local i
	for ((i = 0; i < SECONDS_BOOT; i++)); do
		if [ -s "$2" ] || ! kill -0 "$1" 2>/dev/null; then
			return 0
		fi
		sleep 1
	done
	kill "$1" 2>/dev/null || :
	return "$SILENT"
}
