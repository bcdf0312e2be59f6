# SPDX-License-Identifier: Apache-2.0
# make install, make uninstall: DESTDIR and PREFIX as usual.

PREFIX ?= /usr/local
INSTALL ?= install
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
# What the systemd of this release knows.
UNIT_TYPE ?= $(if $(shell systemctl --version 2>/dev/null | awk 'NR == 1 && $$2 >= 253'),notify-reload,notify)
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions

CATALOGS := $(wildcard catalog/*.catalog)
MAN1 := $(wildcard docs/man/*.1)
MAN7 := $(wildcard docs/man/*.7)
MAN8 := $(wildcard docs/man/*.8)
MAN_ZH1 := $(wildcard docs/man/zh_CN/*.1)
MAN_ZH7 := $(wildcard docs/man/zh_CN/*.7)
MAN_ZH8 := $(wildcard docs/man/zh_CN/*.8)
COMPLETIONS := packaging/completions
BASH_COMPLETIONS := $(wildcard $(COMPLETIONS)/*.bash)
ZSH_COMPLETIONS := $(wildcard $(COMPLETIONS)/_*)
FISH_COMPLETIONS := $(wildcard $(COMPLETIONS)/*.fish)
LICENCES := LICENSE NOTICE $(wildcard LICENSES/*)
ECHARTS_LICENCES := $(if $(ECHARTS),$(wildcard third_party/echarts/[LN]*))

# install_to = mode, folder, files: nothing where there are no files
install_to = $(if $(3),$(INSTALL) -d $(DESTDIR)$(2) && $(INSTALL) -m $(1) $(3) $(DESTDIR)$(2)/)
remove_from = $(if $(2),rm -f $(addprefix $(DESTDIR)$(1)/,$(notdir $(2))))

install: all
	$(call install_to,755,$(PREFIX)/bin,$(PROGRAMS))
	$(call install_to,644,$(PREFIX)/lib/profbpf,$(LAYERS))
	$(call install_to,644,$(PREFIX)/share/profbpf/catalog,$(CATALOGS))
	$(call install_to,644,$(PREFIX)/share/profbpf,packaging/profbpfd.conf)
	$(call install_to,644,$(PREFIX)/share/profbpf/prometheus,packaging/prometheus/profbpf.rules.yml)
	$(call install_to,644,$(PREFIX)/share/profbpf/grafana,packaging/grafana/profbpf.json)
	$(call install_to,644,$(PREFIX)/share/profbpf/systemd,packaging/profbpf-publish.service packaging/profbpf-watch.service)
	$(call install_to,644,$(PREFIX)/share/man/man1,$(MAN1))
	$(call install_to,644,$(PREFIX)/share/man/man7,$(MAN7))
	$(call install_to,644,$(PREFIX)/share/man/man8,$(MAN8))
	$(call install_to,644,$(PREFIX)/share/man/zh_CN/man1,$(MAN_ZH1))
	$(call install_to,644,$(PREFIX)/share/man/zh_CN/man7,$(MAN_ZH7))
	$(call install_to,644,$(PREFIX)/share/man/zh_CN/man8,$(MAN_ZH8))
	$(call install_to,644,$(PREFIX)/share/bash-completion/completions,$(BASH_COMPLETIONS))
	$(call install_to,644,$(ZSHDIR),$(ZSH_COMPLETIONS))
	$(call install_to,644,$(PREFIX)/share/fish/vendor_completions.d,$(FISH_COMPLETIONS))
	$(call install_to,644,$(PREFIX)/share/doc/profbpf,$(LICENCES))
	$(call install_to,644,$(PREFIX)/share/doc/profbpf/echarts,$(ECHARTS_LICENCES))
	$(call install_to,644,$(SYSUSERSDIR),packaging/sysusers.d/profbpf.conf)
	$(foreach mo,$(LOCALES),$(call install_to,644,$(patsubst $(B)/%,$(PREFIX)/share/%,$(dir $(mo))),$(mo)) &&) :
	$(INSTALL) -d $(DESTDIR)$(UNITDIR)
	sed -e 's|/usr/local/bin/|$(PREFIX)/bin/|' -e 's|^Type=notify$$|Type=$(UNIT_TYPE)|' packaging/profbpfd.service > $(DESTDIR)$(UNITDIR)/profbpfd.service
	chmod 644 $(DESTDIR)$(UNITDIR)/profbpfd.service

uninstall:
	$(call remove_from,$(PREFIX)/bin,$(PROGRAMS))
	$(call remove_from,$(PREFIX)/share/man/man1,$(MAN1))
	$(call remove_from,$(PREFIX)/share/man/man7,$(MAN7))
	$(call remove_from,$(PREFIX)/share/man/man8,$(MAN8))
	$(call remove_from,$(PREFIX)/share/man/zh_CN/man1,$(MAN_ZH1))
	$(call remove_from,$(PREFIX)/share/man/zh_CN/man7,$(MAN_ZH7))
	$(call remove_from,$(PREFIX)/share/man/zh_CN/man8,$(MAN_ZH8))
	$(call remove_from,$(PREFIX)/share/bash-completion/completions,$(BASH_COMPLETIONS))
	$(call remove_from,$(ZSHDIR),$(ZSH_COMPLETIONS))
	$(call remove_from,$(PREFIX)/share/fish/vendor_completions.d,$(FISH_COMPLETIONS))
	$(call remove_from,$(SYSUSERSDIR),profbpf.conf)
	$(call remove_from,$(UNITDIR),profbpfd.service)
	$(foreach mo,$(LOCALES),$(call remove_from,$(patsubst $(B)/%,$(PREFIX)/share/%,$(dir $(mo))),$(mo)) &&) :
	rm -rf $(DESTDIR)$(PREFIX)/lib/profbpf $(DESTDIR)$(PREFIX)/share/profbpf $(DESTDIR)$(PREFIX)/share/doc/profbpf

.PHONY: install uninstall
