/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt_names.h - names of the interrupts that wake threads. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H

#include <stdint.h>

#include "lib/base/strings.h"

#define INTERRUPT_NUMBERS 4096 /* hardware interrupts with larger numbers have no name */

/* All zeros at first. */
struct interrupt_names {
	char *hardware[INTERRUPT_NUMBERS]; /* by number; NULL = not looked up yet */
};

/*
 * interrupt_name - the name for a rec_wake.source: an id of @strings, 0 if unknown
 *
 * "NET_RX" for a software interrupt; for a hardware interrupt its drivers' name from
 * /proc/interrupts, else "irq 27".
 */
uint32_t interrupt_name(struct interrupt_names *names, uint32_t source,
			struct string_table *strings);
void interrupt_names_free(struct interrupt_names *names);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H */
