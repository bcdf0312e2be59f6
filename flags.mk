# SPDX-License-Identifier: Apache-2.0
# Options for the compiler and the linker. CPPFLAGS, CFLAGS and LDFLAGS are the user's: from the
# environment or the command line, they come after ours, so they take precedence. Objects depend on
# this file, but not on the user's flags: `sudo make install` rebuilds nothing.

# The only place of the version; CHANGELOG.md lists its changes.
VERSION := 0.2.0

comma := ,

# make itself sets CC to "cc" if it is not set.
ifeq ($(origin CC),default)
CC := gcc
endif

# New warnings of a newer compiler must not stop a user's build; ./setup check sets WERROR=1.
WERROR ?= 0
WERROR_FLAG := $(if $(filter 1,$(WERROR)),-Werror)

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wundef -Wformat-security \
	-Wno-unused-parameter -Wno-missing-field-initializers $(WERROR_FLAG)

# The built files contain no path of this machine, wherever $(B) is.
PATH_MAP := -ffile-prefix-map=$(CURDIR)=. $(if $(filter /%,$(B)),-ffile-prefix-map=$(B)=build)

OUR_CPPFLAGS := -D_GNU_SOURCE -DPROFBPF_VERSION='"$(VERSION)"' -I. -I$(G)
BASE_CFLAGS := -std=gnu11 -O2 -g $(PATH_MAP)

# $(call known,flag): the flag if this compiler accepts it for this architecture together with the user's flags, and the C
# library gives no warning
known = $(shell $(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -Werror $(1) -include stdlib.h -x c -S -o /dev/null \
	/dev/null >/dev/null 2>&1 && echo '$(1)')

# The hardening options of Debian's packages, and a few more. A level of _FORTIFY_SOURCE in the user's flags
# is kept; the option needs optimization, and hides errors from AddressSanitizer.
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
# A library without this mark disables the shadow stack of the program that loads it. The linker does not
# set the mark if the C library's start files lack it, as Debian's do; the layers comply with it.
LAYER_LDFLAGS := $(if $(filter -fcf-protection,$(HARDEN_CFLAGS)),-Wl$(comma)-z$(comma)shstk) -Wl,-z,nodelete,-z,defs

# For programs, their objects, and layers.
OUR_CFLAGS := $(BASE_CFLAGS) $(HARDEN_CFLAGS)
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) -fPIE $(WARN) $(SANFLAGS) $(CFLAGS)
LINK = $(CC) $(OUR_CFLAGS) -pie $(SANFLAGS) $(CFLAGS) $(HARDEN_LDFLAGS) $(LDFLAGS)
LAYER = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(WARN) -fPIC -shared -fvisibility=hidden $(CFLAGS) \
	$(HARDEN_LDFLAGS) $(LAYER_LDFLAGS) $(LDFLAGS)
