# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kernels.sh - Debian's kernels, fetched through an apt state of its own; nothing is installed.
# Sourced by vmtests/run, which sets VM (the folder for everything) and die().

SUITES=(bullseye bookworm bookworm-backports trixie trixie-backports sid)
readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg LISTS_DAYS=1

# "CODENAME URI" of what this machine itself installs from, as far as it is Debian's.
machine_sources() {
	# shellcheck disable=SC2016 # for apt-get
	apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -F '|' '$1 ~ /^Debian/ { print $2, $3 }' | sort -u
}

write_apt_state() {
	local sources codename uri signed='' suite
	sources=$(machine_sources)
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	uri=$(awk -v codename="$codename" '$1 == codename { print $2 }' <<<"$sources" | head -n 1)
	[ -n "$uri" ] || die "this machine's apt sources name no Debian archive" \
		"run apt-get update; kernels can be had on Debian only"
	[ ! -r "$KEYRING" ] || signed="[signed-by=$KEYRING] "
	mkdir -p "$VM/apt/lists/partial" "$VM/apt/archives/partial"
	: >"$VM/apt/status"
	for suite in "${SUITES[@]}"; do
		sources+=$'\n'"$suite $uri"
	done
	sort -u <<<"$sources" | while read -r suite uri; do
		printf 'deb %s%s %s main\n' "$signed" "$uri" "$suite"
	done >"$VM/apt/sources.list"
	cat >"$VM/apt/apt.conf" <<CONF
Dir::State "$VM/apt";
Dir::State::status "$VM/apt/status";
Dir::Cache "$VM/apt";
Dir::Etc::sourcelist "$VM/apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
CONF
}

vm_apt() {
	local program=$1
	shift
	APT_CONFIG=$VM/apt/apt.conf "$program" "$@"
}

# Fetches the package lists unless they are fresh. A suite that the archive lacks costs its kernels only.
apt_ready() {
	[ -z "${APT_READY:-}" ] || return 0
	if [ -z "$(find "$VM/apt/updated" -mtime "-$LISTS_DAYS" 2>/dev/null)" ]; then
		write_apt_state
		vm_apt apt-get update >"$VM/apt/update.log" 2>&1 ||
			printf 'vmtests: not every package list could be fetched, see %s\n' "$VM/apt/update.log" >&2
		: >"$VM/apt/updated"
	fi
	APT_READY=yes
}

# fetch_package PACKAGE FOLDER: unpacks it there
fetch_package() {
	local downloads=$VM/downloads/$1
	rm -rf "$downloads" && mkdir -p "$downloads" "$2"
	(cd "$downloads" && vm_apt apt-get download "$1") >"$VM/download.log" 2>&1 || return 1
	dpkg -x "$downloads"/*.deb "$2"
	rm -rf "$downloads"
}

# resolve_kernel KERNEL: prints the newest release that begins with it ("newest": of all) and
# the kind of package that holds its image. Newer packages come apart into -binary and -modules.
resolve_kernel() {
	local wanted=$1
	vm_apt apt-cache pkgnames linux- |
		sed -nE "s/^linux-(image|binary)-([0-9]+\.[0-9]+\.[0-9].*)-cloud-$ARCHITECTURE\$/\2 \1/p" |
		sort -k1,1Vr -k2,2 |
		awk -v wanted="$wanted" '
		wanted == "newest" || index($1, wanted ".") == 1 || index($1, wanted "-") == 1 ||
		index($1, wanted "+") == 1 || $1 == wanted { print; exit }'
}

# fetch_kernel KERNEL: sets RELEASE and VMLINUZ; returns 1 if the archive has no such kernel.
fetch_kernel() {
	local folder=$VM/kernels/$1 kind image
	if [ -n "${REFRESH:-}" ] || [ ! -s "$folder/release" ]; then
		apt_ready
		read -r RELEASE kind < <(resolve_kernel "$1") || return 1
		rm -rf "$folder"
		printf 'vmtests: fetching linux-%s-%s-cloud-%s\n' "$kind" "$RELEASE" "$ARCHITECTURE"
		fetch_package "linux-$kind-$RELEASE-cloud-$ARCHITECTURE" "$folder/unpacked" || return 1
		image=$(find "$folder/unpacked" -type f -name 'vmlinuz*' | head -n 1)
		[ -n "$image" ] || return 1
		mv "$image" "$folder/vmlinuz"
		rm -rf "$folder/unpacked"
		printf '%s\n' "$RELEASE" >"$folder/release"
	fi
	RELEASE=$(<"$folder/release")
	# shellcheck disable=SC2034 # for vmtests/run
	VMLINUZ=$folder/vmlinuz
}

# fetch_busybox: sets BUSYBOX, a static program
fetch_busybox() {
	local unpacked=$VM/busybox-unpacked
	BUSYBOX=$VM/busybox
	[ ! -x "$BUSYBOX" ] || return 0
	apt_ready
	fetch_package busybox-static "$unpacked" || die "could not fetch busybox-static" "see $VM/download.log"
	mv "$(find "$unpacked" -path "*bin/busybox" -type f | head -n 1)" "$BUSYBOX"
	rm -rf "$unpacked"
}
