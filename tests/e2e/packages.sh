#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packages built from make dist's archive in fresh Debian 12 and 13 roots pass lintian and rpmlint; in other fresh roots
# they are installed, used, upgraded and purged, and leave nothing. In virtual machines the service runs under systemd:
# attach, reload, kill -9, watchdog, sandbox, stop, purge. The container image records from a container.
# long: two Debians to build in, two to install in, two machines to boot: half an hour
# timeout: 7200
. "$(dirname "$0")/lib.sh"
need_root
need_command git mmdebstrap dpkg-deb python3 jq
. tests/bare/root.sh
. tests/bare/machine.sh
. ./setup
set -E
[ -s "$ROOT/third_party/echarts/echarts.min.js" ] || skip "ECharts was not fetched: ./setup fetches it"
read_distribution
entry=$(source_of "$CODENAME")
[ -n "$entry" ] || skip "apt has no source for $DISTRIBUTION to find Debian beside"
BUILT_WITH=debhelper,lintian,build-essential,fakeroot,python3,rpm,rpmlint,debugedit,elfutils,cpio

version=$("$ANALYZER" --version)
version=${version##* }
git clone -q --no-local . "$WORK/clone"
cp -r third_party "$WORK/clone/"
make -s -C "$WORK/clone" dist MAKEFLAGS= >/dev/null
archive=$WORK/clone/build/profbpf-$version.tar.gz
note "packages of the last commit, $(git log -1 --format='%h %s')"

# The package also contains Kubernetes' schema.
tests/tools/make-venv spdx >"$WORK/venv.log" 2>&1 || leave_out "no spdx-tools can be had: SPDX documents are not validated"

# check_kubernetes: the resources by Kubernetes' schema, and by kubeconform, with the same schema
check_kubernetes() {
	local conform=build/tools/kubeconform
	build/venv-spdx/bin/kubernetes-validate --strict packaging/kubernetes/*.yaml >"$WORK/out" 2>&1 || fail "$(cat "$WORK/out")"
	assert_eq "resources that Kubernetes' schema takes" 5 "$(grep -c ' passed for resource ' "$WORK/out")"
	[ -x $conform ] || GOBIN=$(readlink -m build/tools) go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0 >"$WORK/go.log" 2>&1 || {
		leave_out "no kubeconform can be built (needs Go): its check of packaging/kubernetes is left out"
		return 0
	}
	build/venv-spdx/bin/python tests/tools/kubernetes_schemas.py "$WORK/schemas" >"$WORK/out" || fail "no schemas for kubeconform"
	conforms() { $conform -strict -summary -schema-location "$WORK/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json" "$@"; }
	conforms packaging/kubernetes/*.yaml >"$WORK/out" 2>&1 || fail "kubeconform: $(cat "$WORK/out")"
	assert_contains "kubeconform" "$WORK/out" 'Valid: 5, Invalid: 0, Errors: 0, Skipped: 0'
	sed 's/hostPID:/hostPid:/' packaging/kubernetes/debug-pod.yaml >"$WORK/wrong.yaml"
	! conforms "$WORK/wrong.yaml" >"$WORK/out" 2>&1 || fail "kubeconform takes what is wrong: $(cat "$WORK/out")"
}
[ ! -e build/venv-spdx/.complete ] || check_kubernetes

# debian RELEASE FOLDER PACKAGES: makes a minimal Debian in FOLDER with PACKAGES; for 12, libbpf comes from backports
debian() {
	local release=$1 folder=$2 sources=$WORK/$1.sources
	derive_suite "$entry" "$release" >"$sources"
	if [ "$release" = bookworm ]; then
		echo >>"$sources"
		derive_suite "$entry" "$release-backports" >>"$sources"
	fi
	printf 'Package: libbpf-dev libbpf1 bpftool\nPin: release n=bookworm-backports\nPin-Priority: 600\n' >"$WORK/pin"
	# shellcheck disable=SC2016 # mmdebstrap's own argument
	mmdebstrap --mode=root --variant=minbase --include="$3" --aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
		--setup-hook='mkdir -p "$1/etc/apt/preferences.d"' --setup-hook="cp $WORK/pin \"\$1/etc/apt/preferences.d/backports\"" \
		"$release" "$folder" "$sources" >"$WORK/$release.log" 2>&1 || {
		tail -n 5 "$WORK/$release.log"
		skip "no $release can be made of this machine's archive"
	}
}

# inside FOLDER COMMAND...: runs in that root; its output is shown if it fails
inside() {
	in_root "$1" env DEBIAN_FRONTEND=noninteractive "${@:2}" >"$WORK/out" 2>&1 </dev/null || {
		tail -n 40 "$WORK/out"
		fail "${*:2} in a Debian"
	}
}

# build_rpm FOLDER: builds RPMs from the same archive, in that Debian
build_rpm() {
	inside "$1" sh -c "cd /root/b && profbpf-$version/packaging/make-rpm profbpf-$version.tar.gz rpm"
	inside "$1" sh -c "cd /root/b && rpmlint -r profbpf-$version/packaging/profbpf.rpmlintrc rpm/*.rpm rpm/profbpf.spec"
	assert_contains "rpmlint" "$WORK/out" ' 0 errors, 0 warnings'
	inside "$1" sh -c 'cd /root/b && rpm -qpl $(ls rpm/profbpf-[0-9]*.rpm | grep -v src.rpm)'
	assert_contains "the RPM's files" "$WORK/out" '^/usr/lib/systemd/system/profbpfd.service$'
	check_pages "the RPM's"
	check_sboms "$1/root/b/rpm"
}

# check_pages WHOSE: the list of a package's files in $WORK/out has the manual pages of each language, except the
# wheel's
check_pages() {
	local page
	for page in man1/profctl.1 man8/profbpfd.8 zh_CN/man1/profctl.1 zh_CN/man8/profbpfd.8; do
		assert_contains "$1 manual pages" "$WORK/out" "/usr/share/man/${page//./\\.}(\\.gz)?\$"
	done
	assert_contains "$1 words of the report in Chinese" "$WORK/out" '/usr/share/locale/zh_CN/LC_MESSAGES/profbpf\.mo$'
	assert_eq "$1 pages of the wheel's program" "" "$(grep profbpf-fleet "$WORK/out" || :)"
}

# check_sboms FOLDER: what its packages hold, by SPDX's own tool
check_sboms() {
	local file packages
	mapfile -t packages < <(find "$1" -name 'profbpf*.spdx.json')
	[ ${#packages[@]} -ge 2 ] || fail "packages without an SPDX document in $1"
	for file in "${packages[@]}"; do
		if [ -e build/venv-spdx/.complete ]; then
			build/venv-spdx/bin/pyspdxtools -i "$file" >"$WORK/out" 2>&1 || fail "$file: $(cat "$WORK/out")"
			note "valid: ${file##*/}"
		fi
	done
}

# build RELEASE: builds its packages in $WORK/RELEASE-packages
build() {
	local folder=$WORK/$1-build start=$SECONDS
	debian "$1" "$folder" "$BUILT_WITH"
	mkdir "$folder/root/b"
	cp "$archive" "$folder/root/b/"
	tar xzf "$archive" -C "$folder/root/b"
	cp -r "$folder/root/b/profbpf-$version/packaging/debian" "$folder/root/b/profbpf-$version/debian"
	inside "$folder" sh -c "apt-get -q update && cd /root/b && apt-get -q -y build-dep ./profbpf-$version"
	inside "$folder" sh -c "cd /root/b && DEB_BUILD_OPTIONS=parallel=$(nproc) profbpf-$version/packaging/make-deb profbpf-$version.tar.gz deb"
	note "$1: packages built after $((SECONDS - start)) s"
	inside "$folder" sh -c "cd /root/b/deb && lintian --allow-root --fail-on error,warning *.changes"
	assert_eq "lintian on $1" "" "$(grep -v '^N:' "$WORK/out" || :)"
	[ "$1" != trixie ] || build_rpm "$folder"
	mv "$folder/root/b/deb" "$WORK/$1-packages"
	dpkg-deb -c "$WORK/$1-packages"/profbpf_*.deb >"$WORK/out"
	check_pages "the Debian package's"
	check_sboms "$WORK/$1-packages"
	rm -rf --one-file-system "$folder"
}

# older PACKAGE.deb FOLDER: makes a package of an earlier release, with a file that the new one lacks
older() {
	local tree=$WORK/older
	rm -rf "$tree"
	dpkg-deb -R "$1" "$tree"
	sed -i 's/^Version: .*/Version: 0.0.1-1/' "$tree/DEBIAN/control"
	[ ! -d "$tree/usr/share/profbpf" ] || echo '# gone later' >"$tree/usr/share/profbpf/catalog/old.catalog"
	dpkg-deb -b "$tree" "$2/$(basename "${1%%_*}")_0.0.1.deb" >/dev/null
}

# files FOLDER: lists each file, link and folder, and the content of files in /etc, without the data of apt, dpkg and
# logs
files() {
	(cd "$1" && find . -xdev \( -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log -o \
		-path ./root -o -path ./run -o -path ./tmp -o -path './etc/*-' -o -path ./etc/ld.so.cache -o \
		-path ./etc/resolv.conf -o -path ./etc/hosts \) -prune -o -print | sort
	find ./var/lib/dpkg -name '*profbpf*'
	find etc -type f ! -name '*-' ! -name ld.so.cache ! -name resolv.conf ! -name hosts -exec sha256sum {} + | sort -k 2)
}

# packages_in FOLDER: the names of the installed packages
packages_in() {
	# shellcheck disable=SC2016 # dpkg's own variable
	in_root "$1" dpkg-query -W -f '${Package}\n' | sort
}

# installed FOLDER VERSION: that version is installed, traces and reports
installed() {
	inside "$1" profctl --version
	assert_eq "version in a $release" "profctl $version" "$(cat "$WORK/out")"
	# shellcheck disable=SC2016 # dpkg's own variable
	inside "$1" dpkg-query -W -f '${Version} ${db:Status-Abbrev}\n' profbpf profbpf-device
	assert_eq "both are of $2" "$2 ii " "$(sort -u "$WORK/out")"
	inside "$1" sh -c 'cd /root && analyzer report every.pbt && analyzer report every.pbt --format html -o /root/page.html && grep -q echarts /root/page.html'
	inside "$1" sh -c 'cd /root && rm -f new.pbt && profctl record -o new.pbt -- sh -c "sleep 0.1; echo done" && analyzer info new.pbt'
	inside "$1" sh -c 'for layer in /usr/lib/profbpf/*.so; do LD_PRELOAD=$layer sh -c : 2>&1; done'
	assert_eq "what the loader says of the layers" "" "$(cat "$WORK/out")"
	inside "$1" systemctl is-enabled profbpfd
}

# use RELEASE: install, use, upgrade, purge
use() {
	local release=$1 folder=$WORK/$1-use packages=$WORK/$1-packages others
	debian "$release" "$folder" systemd
	mkdir "$folder/root/packages"
	cp "$packages"/profbpf_*.deb "$packages"/profbpf-device_*.deb "$folder/root/packages/"
	for package in "$folder"/root/packages/*.deb; do older "$package" "$folder/root/packages"; done
	cp tests/data/traces/every.pbt "$folder/root/"
	inside "$folder" apt-get -q update
	files "$folder" >"$WORK/before"
	packages_in "$folder" >"$WORK/packages-before"

	inside "$folder" sh -c 'apt-get -q -y install /root/packages/*_0.0.1.deb'
	installed "$folder" 0.0.1-1
	[ -e "$folder/usr/share/profbpf/catalog/old.catalog" ] || fail "the older package lacks its file"
	inside "$folder" sh -c 'apt-get -q -y install /root/packages/*-1_*.deb'
	installed "$folder" "$version-1"
	[ ! -e "$folder/usr/share/profbpf/catalog/old.catalog" ] || fail "the upgrade left a file of the older package"
	inside "$folder" getent group profbpf

	# A disabled service stays disabled after an upgrade.
	inside "$folder" systemctl disable profbpfd
	inside "$folder" sh -c 'apt-get -q -y --allow-downgrades install /root/packages/*_0.0.1.deb && apt-get -q -y install /root/packages/*-1_*.deb'
	assert_eq "disabled, and so after an upgrade" disabled "$(in_root "$folder" systemctl is-enabled profbpfd 2>&1 || :)"

	inside "$folder" apt-get -q -y purge profbpf profbpf-device
	# Also purges packages installed as dependencies, including those that other packages recommend.
	mapfile -t others < <(packages_in "$folder" | comm -13 "$WORK/packages-before" -)
	[ ${#others[@]} -eq 0 ] || inside "$folder" apt-get -q -y purge "${others[@]}"
	files "$folder" >"$WORK/after"
	# The group stays, as usual for Debian's packages.
	sed -i -E '/ etc\/g?shadow$| etc\/group$/d' "$WORK/before" "$WORK/after"
	assert_eq "left on $release by purge" "" "$(diff "$WORK/before" "$WORK/after" || :)"
	rm -rf --one-file-system "$folder"
}

# contained: the image of trixie's packages records a job in another container, with only the capabilities of the unit
contained() {
	local folder=$WORK/podman
	debian trixie "$folder" podman,buildah,runc,mmdebstrap,dpkg-dev,containernetworking-plugins,netavark
	mkdir -p "$folder/root/profbpf/tests"
	cp -r packaging "$folder/root/profbpf/"
	cp -r tests/bare "$folder/root/profbpf/tests/"
	cp -r "$WORK/trixie-packages" "$folder/root/packages"
	cp "$WORK/trixie.sources" "$folder/root/"
	inside "$folder" /root/profbpf/tests/bare/in_podman /root/packages /root/trixie.sources /root/out
	assert_between "MB of the image" 10 80 "$(($(stat -c %s "$folder/root/out/image.tar") / 1000000))"
	assert_eq "the image's architecture" "$(dpkg --print-architecture)" \
		"$(tar xOf "$folder/root/out/image.tar" "$(tar xOf "$folder/root/out/image.tar" manifest.json | jq -r '.[0].Config')" | jq -r .architecture)"
	assert_eq "the container of what was traced" "$(cat "$folder/root/out/id")" \
		"$(jq -r '[.processes[] | select(.target) | .container] | unique | join(" ")' "$folder/root/out/report.json")"
	assert_eq "its name and its image" "$(cat "$folder/root/out/names")" \
		"$(jq -r '[.processes[] | select(.target) | "\(.container_name) \(.image)"] | unique | join(" ")' "$folder/root/out/report.json")"
	rm -rf --one-file-system "$folder"
}

# booted RELEASE KERNEL: tests the service under systemd in a virtual machine
booted() {
	local release=$1 folder=$WORK/$1-boot line
	type -P qemu-system-x86_64 >/dev/null || { leave_out "no QEMU, to boot a $release in"; return 0; }
	[ "$(dpkg --print-architecture)" = amd64 ] || { leave_out "machines to boot a $release in are for amd64"; return 0; }
	fetch_machine_busybox
	[ -d "$folder" ] || debian "$release" "$folder" systemd,systemd-sysv,dbus,procps
	mkdir -p "$folder/root/packages"
	cp "$WORK/$release-packages"/profbpf_*.deb "$WORK/$release-packages"/profbpf-device_*.deb "$folder/root/packages/"
	inside "$folder" sh -c 'apt-get -q update && apt-get -q -y install /root/packages/*.deb'
	boot_machine "$folder" "$2" tests/bare/in_machine "$WORK/$release.results"
	sed -i 's/\r$//' "$WORK/$release.results"
	while read -r line; do note "$release: $line"; done <"$WORK/$release.results"
	[ "$(tail -n 1 "$WORK/$release.results")" = end ] || fail "the machine ended before its time: $(tail -n 20 "$WORK/$release.results.console" "$WORK/$release.results.qemu")"
	assert_eq "what failed in a booted $release" "" "$(grep '^FAIL' "$WORK/$release.results" || :)"
	rm -rf --one-file-system "$folder"
}

# Arguments: only these releases.
[ $# -gt 0 ] || set -- bookworm trixie
for release; do
	build "$release"
	use "$release"
	if [ "$release" = trixie ]; then booted trixie 6.12; else booted bookworm 6.1; fi
	[ "$release" != trixie ] || contained
done
