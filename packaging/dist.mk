# SPDX-License-Identifier: Apache-2.0
# make dist: an archive of the committed sources, with the library that draws the page's charts and its licences, so that
# it builds without npm. The same commit gives the same bytes.

DIST := $(B)/profbpf-$(VERSION)
DIST_TIME = $(shell git log -1 --format=%ct)

dist:
	@test -n "$(ECHARTS)" || { echo "make dist: there is no third_party/echarts; run ./setup" >&2; false; }
	@mkdir -p $(B)
	git -c tar.umask=0022 archive --format=tar --prefix=profbpf-$(VERSION)/ -o $(DIST).tar HEAD
	TAR_OPTIONS= tar --append -f $(DIST).tar --sort=name --mtime=@$(DIST_TIME) --owner=0 --group=0 --numeric-owner \
		--mode=u=rwX,go=rX --transform='s,^,profbpf-$(VERSION)/,' third_party/echarts
	gzip -9nf $(DIST).tar
	@echo "$(DIST).tar.gz"

# Debian's packages, of that archive, in a clean folder; lintian, where it is, may say nothing.
deb: dist
	packaging/make-deb $(DIST).tar.gz $(B)/deb
	! command -v lintian >/dev/null || lintian --fail-on error,warning $(B)/deb/*.changes

# The same as RPMs, where rpmbuild is; rpmlint may say nothing.
rpm: dist
	packaging/make-rpm $(DIST).tar.gz $(B)/rpm
	! command -v rpmlint >/dev/null || rpmlint -r packaging/profbpf.rpmlintrc $(B)/rpm/*.rpm $(B)/rpm/profbpf.spec

# An image of the packages, on Debian 13, whose libraries it has; needs root.
IMAGE_SOURCES ?= $(wildcard /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources)
image: deb
	packaging/container/make-image $(B)/deb trixie $(B)/profbpf-image.tar $(IMAGE_SOURCES)

.PHONY: dist deb rpm image
