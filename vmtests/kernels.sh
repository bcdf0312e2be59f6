# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kernels.sh - fetches Debian's packages for any architecture, with a separate apt state; nothing is installed.
# Sourced by vmtests/run, which sets VM (the folder for everything), PACKER (a busybox of this machine) die() and lack().

SUITES=(bullseye bookworm bookworm-backports trixie trixie-backports sid)
readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg LISTS_DAYS=1
# Modules to load, in this order: for character devices and for disks. Newer kernels have fuse built in.
readonly MODULES=(fuse cuse loop)
declare -A APT_READY=()

debian_codename() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

# "CODENAME URI" of the Debian archives in this machine's own apt sources.
machine_sources() {
	# shellcheck disable=SC2016 # for apt-get
	apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -F '|' '$1 ~ /^Debian/ { print $2, $3 }' | sort -u
}

# write_apt_state ARCHITECTURE
write_apt_state() {
	local sources codename uri signed='' suite apt=$VM/apt-$1
	sources=$(machine_sources)
	codename=$(debian_codename)
	uri=$(awk -v codename="$codename" '$1 == codename { print $2 }' <<<"$sources" | head -n 1)
	[ -n "$uri" ] || lack "this machine's apt sources name no Debian archive" \
		"run apt-get update; kernels can be had on Debian only"
	[ ! -r "$KEYRING" ] || signed="[signed-by=$KEYRING] "
	mkdir -p "$apt/lists/partial" "$apt/archives/partial"
	: >"$apt/status"
	for suite in "${SUITES[@]}"; do
		sources+=$'\n'"$suite $uri"
	done
	sort -u <<<"$sources" | while read -r suite uri; do
		printf 'deb %s%s %s main\n' "$signed" "$uri" "$suite"
	done >"$apt/sources.list"
	cat >"$apt/apt.conf" <<CONF
APT::Architecture "$1";
APT::Architectures { "$1"; };
APT::Default-Release "$codename";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::Check-Valid-Until "false";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
CONF
}

# vm_apt ARCHITECTURE PROGRAM [ARG...]
vm_apt() {
	local architecture=$1 program=$2
	shift 2
	APT_CONFIG=$VM/apt-$architecture/apt.conf "$program" "$@"
}

# apt_ready ARCHITECTURE: fetches the package lists unless they are fresh. A suite that the archive lacks
# only makes its kernels unavailable.
apt_ready() {
	local apt=$VM/apt-$1
	[ -z "${APT_READY[$1]:-}" ] || return 0
	if [ -z "$(find "$apt/updated" -mtime "-$LISTS_DAYS" 2>/dev/null)" ]; then
		printf 'vmtests: fetching the package lists for %s\n' "$1"
		write_apt_state "$1"
		vm_apt "$1" apt-get update >"$apt/update.log" 2>&1 ||
			printf 'vmtests: not every package list could be fetched, see %s\n' "$apt/update.log" >&2
		[ -n "$(vm_apt "$1" apt-cache pkgnames linux-image)" ] ||
			lack "no package list for $1 could be fetched" "see $apt/update.log"
		: >"$apt/updated"
	fi
	APT_READY[$1]=yes
}

# unpack_package FILE FOLDER [PATTERN...]: unpacks all files, or the matching ones. Links to folders in FOLDER are kept.
unpack_package() {
	local file=$1 folder=$2
	shift 2
	mkdir -p "$folder"
	dpkg-deb --fsys-tarfile "$file" | tar -x -C "$folder" --keep-directory-symlink --no-same-owner \
		${1:+--wildcards} "$@"
}

# fetch_package ARCHITECTURE PACKAGE: prints the file's name; on failure download.log has the reason
fetch_package() {
	local downloads=$VM/downloads/$2_$1
	apt_ready "$1" >&2
	rm -rf "$downloads" && mkdir -p "$downloads"
	(cd "$downloads" && vm_apt "$1" apt-get download "$2") >"$VM/download.log" 2>&1 || return 1
	find "$downloads" -name '*.deb'
}

# resolve_kernel KERNEL ARCHITECTURE: prints the newest release that begins with it ("newest": of all) and
# the kind of package with its image. Newer packages are split into -binary and -modules.
resolve_kernel() {
	local wanted=$1
	vm_apt "$2" apt-cache pkgnames linux- |
		sed -nE "s/^linux-(image|binary)-([0-9]+\.[0-9]+\.[0-9].*)-cloud-$2\$/\2 \1/p" |
		sort -k1,1Vr -k2,2 |
		awk -v wanted="$wanted" '
		found { next }
		wanted == "newest" || index($1, wanted ".") == 1 || index($1, wanted "-") == 1 ||
		index($1, wanted "+") == 1 || $1 == wanted { print; found = 1 }'
}

# shellcheck disable=SC2034 # KERNEL_FOLDER is for the others
# fetch_kernel KERNEL ARCHITECTURE: sets RELEASE and KERNEL_FOLDER, which holds vmlinuz and modules/;
# returns 1 if the archive has no such kernel.
fetch_kernel() {
	local folder=$VM/kernels/$2/$1 kind file part parts
	KERNEL_FOLDER=$folder
	if [ -n "${REFRESH:-}" ] || [ "$(cat "$folder/kept" 2>/dev/null)" != "${MODULES[*]}" ]; then
		apt_ready "$2"
		read -r RELEASE kind < <(resolve_kernel "$1" "$2") || return 1
		rm -rf "$folder"
		parts=("$kind")
		[ "$kind" = image ] || parts+=(modules)
		for part in "${parts[@]}"; do
			printf 'vmtests: fetching linux-%s-%s-cloud-%s\n' "$part" "$RELEASE" "$2"
			file=$(fetch_package "$2" "linux-$part-$RELEASE-cloud-$2") ||
				lack "could not fetch linux-$part-$RELEASE-cloud-$2" "see $VM/download.log"
			unpack_package "$file" "$folder/unpacked"
			rm -rf "$(dirname "$file")"
		done
		keep_kernel "$folder"
		printf '%s\n' "$RELEASE" >"$folder/release"
		printf '%s\n' "${MODULES[*]}" >"$folder/kept"
	fi
	RELEASE=$(<"$folder/release")
}

# keep_kernel FOLDER: keeps the image and the modules of the unpacked package
keep_kernel() {
	local image module
	image=$(find "$1/unpacked" -type f -name 'vmlinuz*' | head -n 1)
	[ -n "$image" ] || die "the kernel's package holds no vmlinuz" "report it: Debian changed its packages"
	mv "$image" "$1/vmlinuz"
	mkdir -p "$1/modules"
	for module in "${MODULES[@]}"; do
		find "$1/unpacked" -type f -name "$module.ko*" -exec mv -t "$1/modules" {} +
	done
	find "$1/modules" -name '*.xz' -exec "$PACKER" unxz {} \;
	rm -rf "$1/unpacked"
}

# fetch_busybox ARCHITECTURE: sets BUSYBOX, a static program of that architecture
fetch_busybox() {
	local file
	BUSYBOX=$VM/busybox-$1
	[ ! -x "$BUSYBOX" ] || return 0
	apt_ready "$1"
	file=$(fetch_package "$1" busybox-static) || lack "could not fetch busybox-static" "see $VM/download.log"
	unpack_package "$file" "$VM/busybox-unpacked"
	mv "$(find "$VM/busybox-unpacked" -path "*bin/busybox" -type f | head -n 1)" "$BUSYBOX"
	rm -rf "$VM/busybox-unpacked" "$(dirname "$file")"
}
