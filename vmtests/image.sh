# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# image.sh - the initial RAM disk: profbpf as built, its tests, and the commands and libraries they need.
# Sourced by vmtests/run, which sets VM and die().
#
# Files for the machine's own architecture come from this machine, for another from ROOT_FOLDER (cross.sh).

# Commands of the end-to-end scripts. Everything else comes from busybox.
GUEST_COMMANDS=(bash env cat chmod cp cut date dd dirname basename find findmnt grep head jq losetup ls mkdir mkfifo
	mktemp mount mv od pgrep printf readlink rm sed seq setpriv sleep sort stat tail test timeout tr true truncate umount
	uniq unshare wc bpftool)

# add_file FILE PATH-IN-IMAGE
add_file() {
	mkdir -p "$IMAGE/$(dirname "$2")"
	cp -L "$1" "$IMAGE/$2"
}

# find_library NAME: its path in the other architecture's root
find_library() {
	find "$ROOT_FOLDER/usr/lib/$TRIPLET" "$ROOT_FOLDER/usr/lib" -maxdepth 1 -name "$1" | head -n 1
}

# add_foreign_libraries FILE: adds its loader and libraries, recursively
add_foreign_libraries() {
	local name file
	for name in $(readelf -d -l "$1" 2>/dev/null |
		sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p; s/.*program interpreter: .*\/([^/]*)\]/\1/p'); do
		[ ! -e "$IMAGE/usr/lib/$TRIPLET/$name" ] || continue
		[[ $name != lib*truth*.so && $name != libvictim*.so ]] || continue
		file=$(find_library "$name")
		[ -n "$file" ] || die "there is no $name for $1 among the packages of $ARCHITECTURE" \
			"add its package to ROOT_PACKAGES in vmtests/cross.sh"
		add_file "$file" "/usr/lib/$TRIPLET/$name"
		[[ $name != ld-linux* ]] || ln -sfn "$TRIPLET/$name" "$IMAGE/usr/lib/$name"
		add_foreign_libraries "$file"
	done
}

# Libraries are stored where the loader looks for them: under the names that it prints.
add_own_libraries() {
	local library
	while read -r library; do
		[ -e "$IMAGE$library" ] || add_file "$library" "$library"
	done < <(ldd "$1" 2>/dev/null | sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x.*/\2/p' | grep -v "^$BUILD/")
}

add_libraries() {
	if [ "$ARCHITECTURE" = "$OWN_ARCHITECTURE" ]; then
		add_own_libraries "$1"
	else
		add_foreign_libraries "$1"
	fi
}

# command_path NAME
command_path() {
	local folder
	if [ "$ARCHITECTURE" = "$OWN_ARCHITECTURE" ]; then
		# "type -P" finds files only, no builtins.
		PATH=$PATH:/usr/sbin:/sbin type -P "$1"
		return
	fi
	for folder in usr/bin usr/sbin; do
		[ ! -e "$ROOT_FOLDER/$folder/$1" ] || { printf '%s\n' "$ROOT_FOLDER/$folder/$1" && return 0; }
	done
	return 1
}

add_commands() {
	local command path
	for command in "${GUEST_COMMANDS[@]}"; do
		path=$(command_path "$command") ||
			die "there is no command $command for $ARCHITECTURE" "./setup check installs what tests need"
		add_file "$path" "/usr/bin/$command"
		add_libraries "$path"
	done
	ln -s bash "$IMAGE/usr/bin/sh"
	path=$(command_path mawk || command_path awk)
	add_file "$path" /usr/bin/awk
	add_libraries "$path"
	add_file "$BUSYBOX" /usr/bin/busybox
}

# add_python: Debian's CPython with the library modules that the scripts need; without it they are skipped
add_python() {
	local root='' program library name file
	[ "$ARCHITECTURE" = "$OWN_ARCHITECTURE" ] || root=$ROOT_FOLDER
	program=$(find "$root/usr/bin" -maxdepth 1 -name 'python3.[0-9]*' ! -name '*-*' ! -type l | sort -V | tail -n 1)
	[ -n "$program" ] || return 0
	name=${program##*/}
	library=/usr/lib/$name
	add_file "$program" "/usr/bin/$name"
	ln -s "$name" "$IMAGE/usr/bin/python3"
	add_libraries "$program"
	mkdir -p "$IMAGE$library"
	find "$root$library" -maxdepth 1 -name '*.py' -exec cp -L -t "$IMAGE$library" {} +
	for name in asyncio collections concurrent encodings importlib logging re; do
		[ ! -d "$root$library/$name" ] || cp -rL "$root$library/$name" "$IMAGE$library/"
	done
	for file in "$root$library"/lib-dynload/_{asyncio,contextvars,hashlib}.*.so; do
		[ -e "$file" ] || continue
		add_file "$file" "$library/lib-dynload/${file##*/}"
		add_libraries "$file"
	done
	find "$IMAGE$library" -name __pycache__ -prune -exec rm -rf {} +
}

add_profbpf() {
	local file
	for file in profbpfd profctl analyzer bench/syscall_target $(cd "$BUILD" && find tests/truth -type f ! -name '*.d'); do
		[ -x "$BUILD/$file" ] || die "$BUILD/$file is not built" "run make vmtest"
		add_file "$BUILD/$file" "/profbpf/build/$file"
		add_libraries "$BUILD/$file"
	done
	cp -r catalog bench "$IMAGE/profbpf/"
	mkdir -p "$IMAGE/profbpf/tests/victims" "$IMAGE/profbpf/tests/truth"
	cp -r tests/e2e tests/catalog "$IMAGE/profbpf/tests/"
	cp tests/truth/*.py "$IMAGE/profbpf/tests/truth/"
	add_victims
}

# add_victims: the victims in C and C++ if they are built (else the test is skipped), then those in Rust and Go
add_victims() {
	local file
	cp -r tests/victims/run tests/victims/catalog "$IMAGE/profbpf/tests/victims/"
	for file in native libvictim.so libvictim_plugin.so; do
		[ -e "$BUILD/tests/victims/$file" ] || return 0
	done
	for file in native libvictim.so libvictim_plugin.so panic go_callback; do
		[ -e "$BUILD/tests/victims/$file" ] || continue
		add_file "$BUILD/tests/victims/$file" "/profbpf/build/tests/victims/$file"
		add_libraries "$BUILD/tests/victims/$file"
	done
}

pack() { (cd "$1" && find . | "$PACKER" cpio -o -H newc) 2>"$VM/cpio.log" || die "could not pack $1" "see $VM/cpio.log"; }

# build_image: builds the image for ARCHITECTURE and sets INITRD
build_image() {
	local folder
	IMAGE=$VM/image INITRD=$VM/initrd-$ARCHITECTURE.img
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
	add_python
	add_profbpf
	install -m 755 vmtests/guest "$IMAGE/init"
	pack "$IMAGE" >"$INITRD"
	rm -rf "$IMAGE"
}

# kernel_initrd FILE: sets MACHINE_INITRD, the image followed by this kernel's modules; kernels accept several archives
kernel_initrd() {
	local folder=$1.folder
	MACHINE_INITRD=$1
	rm -rf "$folder" && mkdir -p "$folder/modules"
	cp "$KERNEL_FOLDER"/modules/* "$folder/modules/" 2>/dev/null || :
	{ cat "$INITRD" && pack "$folder"; } >"$MACHINE_INITRD"
	rm -rf "$folder"
}
