/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/driver_message.h"

#include <stdlib.h>

#include "daemon/profbpfd/encode/trace_values.h"
#include "daemon/profbpfd/host/drivers.h"

#define DRIVER_COMMANDS_MAX 1024

static struct item *pack(const Profbpf__Drivers *message)
{
	struct item *item = item_new(ITEM_BODY, profbpf__drivers__get_packed_size(message) + 1);

	if (!item)
		return NULL;
	item->body = PROFBPF__PACKET__KIND__DRIVERS;
	item->size = profbpf__drivers__pack(message, item->data);
	return item;
}

struct item *driver_message(const struct catalogs *catalogs, uint32_t rdev)
{
	const struct catalog_command *found[DRIVER_COMMANDS_MAX];
	Profbpf__Drivers m = PROFBPF__DRIVERS__INIT;
	Profbpf__Driver driver, *one = &driver;
	Profbpf__Command *commands, **pointers;
	struct driver_names names;
	struct item *item;
	size_t count;

	driver_lookup(rdev, &names);
	count = catalogs_commands(catalogs, (const char *[]){ names.driver, names.module, names.device }, 3, found,
				  DRIVER_COMMANDS_MAX);
	commands = calloc(count + 1, sizeof(*commands));
	pointers = calloc(count + 1, sizeof(*pointers));
	profbpf__driver__init(&driver);
	driver.rdev = trace_device_number(rdev);
	driver.driver = names.driver;
	driver.module = names.module;
	driver.device = names.device;
	for (size_t i = 0; commands && pointers && i < count; i++) {
		profbpf__command__init(&commands[i]);
		commands[i].value = found[i]->value;
		commands[i].mask = found[i]->mask;
		commands[i].name = found[i]->name;
		pointers[driver.n_command++] = &commands[i];
	}
	driver.command = pointers;
	m.n_driver = 1;
	m.driver = &one;
	item = pack(&m);
	free(pointers);
	free(commands);
	return item;
}
