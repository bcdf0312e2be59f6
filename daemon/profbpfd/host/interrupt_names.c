/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/interrupt_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/events.h"

static void read_actions(uint32_t number, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", number);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)size, f))
		name[0] = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	if (!name[0])
		snprintf(name, size, "irq %u", number);
}

static uint32_t hardware_name(struct interrupt_names *names, uint32_t number,
			      struct string_table *strings)
{
	bool kept = number < INTERRUPT_NUMBERS;
	char name[128];

	if (kept && names->hardware[number])
		return string_table_add_text(strings, names->hardware[number]);
	read_actions(number, name, sizeof(name));
	if (kept)
		names->hardware[number] = strdup(name);
	return string_table_add_text(strings, name);
}

uint32_t interrupt_name(struct interrupt_names *names, uint32_t source,
			struct string_table *strings)
{
	/* include/linux/interrupt.h; the same since 2.6.37 */
	static const char *const software[] = { "HI",	 "TIMER",   "NET_TX", "NET_RX",	 "BLOCK",
						"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };
	uint32_t id = 0;

	if (source & WAKE_IRQ)
		id = hardware_name(names, source & ~WAKE_IRQ, strings);
	else if (source && source <= sizeof(software) / sizeof(software[0]))
		id = string_table_add_text(strings, software[source - 1]);
	return id == STRING_NONE ? 0 : id;
}

void interrupt_names_free(struct interrupt_names *names)
{
	for (int i = 0; i < INTERRUPT_NUMBERS; i++)
		free(names->hardware[i]);
	memset(names, 0, sizeof(*names));
}
