# SPDX-License-Identifier: Apache-2.0
# What the compiler and the linker are told. CPPFLAGS, CFLAGS and LDFLAGS are the user's: from the
# environment or the command line, they come after ours, so that they win. What is compiled depends on
# this file, not on theirs: `sudo make install` builds nothing anew.

# The version is here and nowhere else; CHANGELOG.md says what is new in it.
VERSION := 0.2.0

comma := ,

# make itself sets CC to "cc" where nobody does.
ifeq ($(origin CC),default)
CC := gcc
endif

# A newer compiler's new warnings stop nobody's build but that of who asks for it, as ./setup check does.
WERROR ?= 0
WERROR_FLAG := $(if $(filter 1,$(WERROR)),-Werror)

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wundef -Wformat-security \
	-Wno-unused-parameter -Wno-missing-field-initializers $(WERROR_FLAG)

# No path of this machine gets into what is built, wherever $(B) is.
PATH_MAP := -ffile-prefix-map=$(CURDIR)=. $(if $(filter /%,$(B)),-ffile-prefix-map=$(B)=build)

OUR_CPPFLAGS := -D_GNU_SOURCE -DPROFBPF_VERSION='"$(VERSION)"' -I. -I$(G)
BASE_CFLAGS := -std=gnu11 -O2 -g $(PATH_MAP)

# known = flag: that flag, if this compiler takes it for this architecture with what the user gave, and
# the C library has no objection
known = $(shell $(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -Werror $(1) -include stdlib.h -x c -S -o /dev/null \
	/dev/null >/dev/null 2>&1 && echo '$(1)')

# What Debian's packages are built with, and a little more. The level of _FORTIFY_SOURCE is the user's
# if she names one; it needs an optimizing compiler, and hides from AddressSanitizer what it looks for.
HARDEN_CFLAGS := $(foreach flag,-fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-mbranch-protection=standard,$(call known,$(flag)))
ifeq ($(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(SANFLAGS),)
FORTIFY := $(call known,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
ifeq ($(FORTIFY),)
FORTIFY := $(call known,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
HARDEN_CFLAGS += $(FORTIFY)
endif
HARDEN_LDFLAGS := -Wl,-z,relro,-z,now
# One library without this mark turns the shadow stack of the program that loads it off. The linker
# gives none by itself where the start files of the C library have none, as Debian's; these keep to it.
LAYER_LDFLAGS := $(if $(filter -fcf-protection,$(HARDEN_CFLAGS)),-Wl$(comma)-z$(comma)shstk) -Wl,-z,nodelete,-z,defs

# For programs, the objects of programs, and layers.
OUR_CFLAGS := $(BASE_CFLAGS) $(HARDEN_CFLAGS)
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) -fPIE $(WARN) $(SANFLAGS) $(CFLAGS)
LINK = $(CC) $(OUR_CFLAGS) -pie $(SANFLAGS) $(CFLAGS) $(HARDEN_LDFLAGS) $(LDFLAGS)
LAYER = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(WARN) -fPIC -shared -fvisibility=hidden $(CFLAGS) \
	$(HARDEN_LDFLAGS) $(LAYER_LDFLAGS) $(LDFLAGS)
