# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# cross.sh - builds programs for another architecture: with a root of Debian's packages, the types of
# one of its kernels, and the ordinary Makefile.
# Sourced by vmtests/run after kernels.sh.

# Packages in the machine beside busybox; libraries and headers are those that ./setup installs for the build.
ROOT_PACKAGES=(bash coreutils findutils grep jq libstdc++6 mawk mount procps python3 sed util-linux)
# The kernel for the BTF types: the oldest that all programs can be built against.
readonly TYPES_KERNEL=6.12

# build_packages: prints the package of each library that ./setup installs for the build, and bpftool
build_packages() {
	bash -c '. ./setup; needs_table' |
		awk '$1 == "build" && ($3 ~ /^hdr:/ || $3 == "pkg" || $2 == "bpftool") { print $2 }'
}

# with_suite PACKAGE: adds the suite if this release's own package is too old
with_suite() {
	case "$(debian_codename) $1" in
	"bookworm libbpf-dev" | "bookworm bpftool") printf '%s/bookworm-backports\n' "$1" ;;
	*) printf '%s\n' "$1" ;;
	esac
}

# make_root ARCHITECTURE: sets ROOT_FOLDER, a Debian of that architecture, unpacked but not set up
make_root() {
	local package packages=() wanted folder file
	ROOT_FOLDER=$VM/root-$1
	for package in "${ROOT_PACKAGES[@]}" $(build_packages); do
		packages+=("$(with_suite "$package")")
	done
	wanted="$(debian_codename) ${packages[*]}"
	if [ -e "$ROOT_FOLDER/.packages" ] && [ "$(<"$ROOT_FOLDER/.packages")" = "$wanted" ]; then
		return 0
	fi
	apt_ready "$1"
	printf 'vmtests: fetching the libraries and commands of %s\n' "$1"
	vm_apt "$1" apt-get -y --download-only install "${packages[@]}" >"$VM/download.log" 2>&1 ||
		lack "could not fetch the packages of $1" "see $VM/download.log"
	rm -rf "$ROOT_FOLDER"
	mkdir -p "$ROOT_FOLDER"/usr/{bin,sbin,lib}
	for folder in bin sbin lib; do
		ln -s "usr/$folder" "$ROOT_FOLDER/$folder"
	done
	for file in "$VM/apt-$1/archives"/*.deb; do
		unpack_package "$file" "$ROOT_FOLDER"
	done
	rm -f "$VM/apt-$1/archives"/*.deb
	printf '%s\n' "$wanted" >"$ROOT_FOLDER/.packages"
}

# fetch_root ARCHITECTURE: fetches the packages that cross_build() needs
fetch_root() {
	make_root "$1"
	fetch_kernel "$TYPES_KERNEL" "$1" || lack "the archive has no kernel $TYPES_KERNEL" "see $VM/apt-$1"
}

# number FILE OFFSET: prints four little-endian bytes as a number
number() { od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '; }

# kernel_types IMAGE OUTPUT: the BTF within an uncompressed kernel image. Its header is magic 0xeb9f, version 1,
# flags, length 24, then offset and length of types and strings, counted from the header's end (linux/btf.h).
kernel_types() {
	local offset size best=0 found=0
	while IFS=: read -r offset _; do
		size=$((24 + $(number "$1" $((offset + 16))) + $(number "$1" $((offset + 20)))))
		if [ "$size" -gt "$best" ] && [ "$size" -lt 100000000 ]; then
			best=$size found=$offset
		fi
	done < <(LC_ALL=C grep -obUaP '\x9f\xeb\x01\x00\x18\x00\x00\x00' "$1")
	[ "$best" -gt 1000000 ] || return 1
	head -c "$((found + best))" "$1" | tail -c "$best" >"$2"
}

# cross_build ARCHITECTURE: builds the programs and sets BUILD to their folder
cross_build() {
	local compiler=aarch64-linux-gnu-gcc victims=yes types=$VM/types-$1
	BUILD=$VM/build-$1
	make_root "$1"
	if [ ! -s "$BUILD/gen/vmlinux.h" ]; then
		fetch_kernel "$TYPES_KERNEL" "$1"
		kernel_types "$KERNEL_FOLDER/vmlinuz" "$types" ||
			die "no type information in the kernel $RELEASE of $1" "its image may be compressed now: see vmtests/cross.sh"
		mkdir -p "$BUILD/gen"
		bpftool btf dump file "$types" format c >"$BUILD/gen/vmlinux.h.new" ||
			die "bpftool can't read the types of kernel $RELEASE" "see $types"
		mv "$BUILD/gen/vmlinux.h.new" "$BUILD/gen/vmlinux.h"
	fi
	# Without a compiler for C++ there are no victims, and their test is skipped.
	command -v "${compiler%gcc}g++" >/dev/null || victims=no
	printf 'vmtests: building for %s\n' "$1"
	make -s -j"$(nproc)" vm-programs VM_VICTIMS="$victims" VM_LANGUAGES= B="$BUILD" ARCH="$1" CFLAGS=-g0 \
		CC="$compiler --sysroot=$ROOT_FOLDER" \
		CXX="${compiler%gcc}g++ --sysroot=$ROOT_FOLDER" >"$VM/build-$1.log" 2>&1 ||
		die "building for $1 failed: $(grep -m 1 -E 'error|Error|cannot find' "$VM/build-$1.log")" "see $VM/build-$1.log"
}
