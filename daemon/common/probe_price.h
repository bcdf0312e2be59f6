/* SPDX-License-Identifier: Apache-2.0 */
/* probe_price.h - the expected cost of recording a call. */
#ifndef PROFBPF_DAEMON_COMMON_PROBE_PRICE_H
#define PROFBPF_DAEMON_COMMON_PROBE_PRICE_H

#include <stdint.h>

#include "lib/elf/instruction.h"

/*
 * probe_price - CPU time of the calling thread that recording one call takes, in nanoseconds
 *
 * The figures were measured on a virtual machine (Xeon, Linux 6.18, one thread);
 * the ratios between the classes hold on other machines, too. @calibrated_ns is the
 * cost of an emulated instruction that a session measured on its machine
 * (calibrate.h), by which the figures are scaled; 0: not scaled. Single steps scale
 * differently: they are most expensive in a virtual machine.
 */
uint32_t probe_price(enum instruction_class class, uint32_t calibrated_ns);

#endif /* PROFBPF_DAEMON_COMMON_PROBE_PRICE_H */
