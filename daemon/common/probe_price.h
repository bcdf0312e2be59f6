/* SPDX-License-Identifier: Apache-2.0 */
/* probe_price.h - what a recorded call is expected to cost. */
#ifndef PROFBPF_DAEMON_COMMON_PROBE_PRICE_H
#define PROFBPF_DAEMON_COMMON_PROBE_PRICE_H

#include <stdint.h>

#include "lib/elf/instruction.h"

/*
 * probe_price - CPU time of the calling thread that recording one call takes, in nanoseconds
 *
 * The figures were measured on a virtual machine (Xeon, Linux 6.18, one thread);
 * by them the classes compare on other machines, too. @calibrated_ns is what a
 * session found there for an emulated instruction (calibrate.h): then they are
 * scaled by it; 0 leaves them as they are. Single steps do not scale quite like
 * the rest: a virtual machine pays for them most.
 */
uint32_t probe_price(enum instruction_class class, uint32_t calibrated_ns);

#endif /* PROFBPF_DAEMON_COMMON_PROBE_PRICE_H */
