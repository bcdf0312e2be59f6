# SPDX-License-Identifier: Apache-2.0
# The simulated Ascend: `make ascend-sim` builds its libraries and the example jobs into build/ascend-sim.

SIM := $(B)/ascend-sim
SIM_SRC := examples/ascend-sim
# Not the project's flags: these libraries replace third-party ones, and have symbols like them.
SIM_CFLAGS := -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra $(WERROR_FLAG) -Wno-unused-parameter -fPIC -fvisibility=hidden
SIM_LINK = $(CC) $(SIM_CFLAGS) -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.c,$^) -L$(SIM) -pthread

ascend-sim: $(patsubst %,$(SIM)/lib%.so,ascend_hal runtime ascendcl hccl mspti) $(SIM)/job $(SIM)/layers $(SIM)/storm

$(SIM)/libascend_hal.so: $(SIM_SRC)/device.c $(SIM_SRC)/counter.c $(SIM_SRC)/profile.c $(SIM_SRC)/sim.h
	@mkdir -p $(@D)
	$(SIM_LINK)
$(SIM)/libruntime.so: $(SIM_SRC)/runtime.c $(wildcard $(SIM_SRC)/*.h) | $(SIM)/libascend_hal.so
	$(SIM_LINK) -lascend_hal
$(SIM)/libascendcl.so: $(SIM_SRC)/acl.c $(SIM_SRC)/tdt.c $(wildcard $(SIM_SRC)/*.h) | $(SIM)/libruntime.so
	$(SIM_LINK) -lruntime -lascend_hal
$(SIM)/libhccl.so: $(SIM_SRC)/hccl.c $(wildcard $(SIM_SRC)/*.h) | $(SIM)/libruntime.so
	$(SIM_LINK) -lruntime -lascend_hal
$(SIM)/libmspti.so: $(SIM_SRC)/sim_mspti.c $(SIM_SRC)/sim.h device/mspti.h | $(SIM)/libascend_hal.so
	$(SIM_LINK) -I. -lascend_hal
$(SIM)/job $(SIM)/layers: $(SIM)/%: $(SIM_SRC)/%.c $(SIM)/libascendcl.so $(SIM)/libhccl.so
	$(CC) $(SIM_CFLAGS) -o $@ $< -L$(SIM) -Wl,-rpath,'$$ORIGIN' -Wl,-rpath-link,$(SIM) \
		-lascendcl -lhccl -lruntime -pthread
$(SIM)/storm: $(SIM_SRC)/storm.c $(SIM)/libascendcl.so
	$(CC) $(SIM_CFLAGS) -o $@ $< -L$(SIM) -Wl,-rpath,'$$ORIGIN' -Wl,-rpath-link,$(SIM) -lascendcl -pthread

test-programs: ascend-sim
.PHONY: ascend-sim
