# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# root.sh - commands in a Debian of their own, on this machine's kernel.

# in_root ROOT COMMAND...: ROOT is the command's root as it is a machine's, by pivot_root(2): some tests find out what
# a process's root is, which chroot(2) leaves half as it was. It sees this machine's kernel, devices and BPF; mounts
# made in there end with it. The machine's certificates and proxy settings are carried in, as an administrator would.
# shellcheck disable=SC2016 # expanded by the inner shell, from its arguments
in_root() {
	unshare --mount bash -euc '
		root=$1
		shift
		# A root that is a mount of its own, as that of every real machine.
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		if [ -r /etc/ssl/certs/ca-certificates.crt ]; then
			mkdir -p "$root/run/machine-certificates"
			cp /etc/ssl/certs/ca-certificates.crt "$root/run/machine-certificates/"
			certificates=/run/machine-certificates/ca-certificates.crt
		fi
		cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
		cd "$root"
		pivot_root . mnt
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		hash -r
		umount -l mnt
		cd /
		exec env -i PATH="$PATH" HOME=/root TERM=dumb CI="${CI:-}" ${WERROR:+WERROR="$WERROR"} \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			${certificates:+PIP_CERT="$certificates" NODE_EXTRA_CA_CERTS="$certificates"} "$@"
	' in_root "$@"
}
