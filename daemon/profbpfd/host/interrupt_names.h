/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt_names.h - what the interrupts are called that wake threads. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H

#include <stdint.h>

#include "lib/base/strings.h"

#define INTERRUPT_NUMBERS 4096 /* of hardware interrupts; names of those above are not kept */

/* All zeros at first. */
struct interrupt_names {
	char *hardware[INTERRUPT_NUMBERS]; /* by number; NULL = not looked up yet */
};

/*
 * interrupt_name - of rec_wake.source: an id of @strings, 0 if it is not known
 *
 * "NET_RX" of a software interrupt; of a hardware interrupt what its drivers call it, as
 * /proc/interrupts shows it, else "irq 27".
 */
uint32_t interrupt_name(struct interrupt_names *names, uint32_t source,
			struct string_table *strings);
void interrupt_names_free(struct interrupt_names *names);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_INTERRUPT_NAMES_H */
