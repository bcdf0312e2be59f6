# SPDX-License-Identifier: Apache-2.0
# Programs of tests/victims: make -f tests/victims/victims.mk B=build [native fibers sanitized rust go java]
# Each word needs a different compiler; tests/e2e/victims.sh requests those that are installed.

V := tests/victims
O := $(B)/tests/victims
# Probes see ends of calls at the stack protector's comparison, or at returns without the feature early-exits (rungs.sh).
FLAGS := -O2 -g -fstack-protector-all -Wall -Wextra -Werror -Wno-unused-parameter -I$(V)
C := $(CC) -D_GNU_SOURCE -std=gnu11 $(FLAGS)
CPP := $(CXX) -std=c++17 $(FLAGS)
LINK := -L$(O) -Wl,-rpath,'$$ORIGIN' -lvictim -pthread
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac)))

native: $(O)/native $(O)/libvictim_plugin.so
fibers: $(O)/fibers
sanitized: $(O)/sanitized
rust: $(O)/panic
go: $(O)/go_callback
java: $(O)/Victim.class $(O)/libvictim_jni.so

$(O)/libvictim_count.o: $(V)/libvictim_count.c $(V)/victim.h
	@mkdir -p $(@D)
	$(C) -fPIC -c -o $@ $<

# -fnon-call-exceptions: the handler of a fault throws an exception.
$(O)/libvictim.so: $(V)/libvictim.cpp $(O)/libvictim_count.o
	$(CPP) -fPIC -fnon-call-exceptions -shared -Wl,-soname,libvictim.so -o $@ $^ -pthread

$(O)/libvictim_plugin.so: $(V)/libvictim_plugin.cpp $(O)/libvictim.so
	$(CPP) -fPIC -shared -o $@ $<

NATIVE := $(patsubst %,$(V)/%.cpp,native unwinding jumps stacks processes)
$(O)/native: $(NATIVE) $(V)/cases.h $(V)/victim.h $(O)/libvictim.so
	$(CPP) -o $@ $(NATIVE) $(LINK) -ldl

$(O)/fibers: $(V)/fibers.cpp $(O)/libvictim.so
	$(CPP) -o $@ $< $(LINK) -lboost_context

$(O)/sanitized: $(V)/sanitized.cpp $(O)/libvictim.so
	$(CPP) -fsanitize=address -fno-omit-frame-pointer -o $@ $< $(LINK)

$(O)/panic: $(V)/panic.rs
	@mkdir -p $(@D)
	MAKEFLAGS= rustc -O -o $@ $<

$(O)/go_callback: $(wildcard $(V)/go/*) $(O)/libvictim.so
	cd $(V)/go && GO111MODULE=off CGO_ENABLED=1 GOCACHE=$(abspath $(B))/go-cache CGO_CFLAGS="-O2 -g -I$(abspath $(V))" \
		CGO_LDFLAGS="-L$(abspath $(O)) -Wl,-rpath,\$$ORIGIN" go build -o $(abspath $@) .

$(O)/Victim.class: $(V)/java/Victim.java
	@mkdir -p $(@D)
	javac -d $(@D) $<

$(O)/libvictim_jni.so: $(V)/java/victim_jni.c $(O)/libvictim.so
	$(C) -fPIC -shared -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/linux -o $@ $< $(LINK)

.PHONY: native fibers sanitized rust go java
