# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# image.sh - the initial RAM disk: profbpf as built, its tests, and what of this machine they need.
# Sourced by vmtests/run, which sets VM, BUILD, BUSYBOX and die().

# Commands of the end-to-end scripts. Everything else comes from busybox.
GUEST_COMMANDS=(bash sh env cat chmod cp cut date dd dirname basename grep head jq ls mkdir mkfifo
	mktemp mv nm od printf readlink rm sed seq setpriv sleep sort stat tail test timeout tr uniq wc awk)

# add_file FILE PATH-IN-IMAGE
add_file() {
	mkdir -p "$IMAGE/$(dirname "$2")"
	cp -L "$1" "$IMAGE/$2"
}

# Libraries go where the loader looks for them: under the names it prints.
add_libraries() {
	local library
	while read -r library; do
		[ -e "$IMAGE$library" ] || add_file "$library" "$library"
	done < <(ldd "$1" 2>/dev/null | sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x.*/\2/p' | grep -v "^$BUILD/")
}

add_commands() {
	local command path
	for command in "${GUEST_COMMANDS[@]}"; do
		# "type -P" knows files only, no builtins.
		path=$(type -P "$command") || die "there is no command $command here" "./setup check installs what tests need"
		add_file "$path" "/usr/bin/$command"
		add_libraries "$path"
	done
	add_file "$BUSYBOX" /usr/bin/busybox
}

add_profbpf() {
	local file
	for file in profbpfd profctl analyzer; do
		[ -x "$BUILD/$file" ] || die "$BUILD/$file is not built" "run make vmtest"
		add_file "$BUILD/$file" "/profbpf/build/$file"
		add_libraries "$BUILD/$file"
	done
	for file in calls follow schedule ioctls threads libtruth.so libtruth2.so; do
		[ -e "$BUILD/tests/truth/$file" ] || die "$BUILD/tests/truth/$file is not built" "run make vmtest"
		add_file "$BUILD/tests/truth/$file" "/profbpf/build/tests/truth/$file"
	done
	cp -r catalog "$IMAGE/profbpf/"
	mkdir -p "$IMAGE/profbpf/tests"
	cp -r tests/e2e tests/catalog "$IMAGE/profbpf/tests/"
}

# build_image: sets INITRD
build_image() {
	local folder
	IMAGE=$VM/image INITRD=$VM/initrd.img
	rm -rf "$IMAGE"
	for folder in dev proc sys tmp run etc root usr/bin usr/lib usr/lib64; do
		mkdir -p "$IMAGE/$folder"
	done
	for folder in bin lib lib64; do
		ln -s "usr/$folder" "$IMAGE/$folder"
	done
	ln -s usr/bin "$IMAGE/sbin"
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$IMAGE/etc/passwd"
	add_commands
	add_profbpf
	install -m 755 vmtests/guest "$IMAGE/init"
	(cd "$IMAGE" && find . | "$BUSYBOX" cpio -o -H newc) >"$INITRD" 2>"$VM/cpio.log" ||
		die "could not pack $INITRD" "see $VM/cpio.log"
	rm -rf "$IMAGE"
}
