/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/ends.h"

/* A linear search: few functions are hot at the same time. */
static void forget(struct item *unseen, uint32_t function)
{
	struct ends_row *row = unseen->data;
	uint32_t i = 0;

	while (i < unseen->count && row[i].function != function)
		i++;
	if (i == unseen->count)
		return;
	unseen->count--;
	unseen->size -= sizeof(*row);
	memmove(&row[i], &row[i + 1], (unseen->count - i) * sizeof(*row));
}

int ends_note(struct item *unseen, const struct item *changes)
{
	const struct ends_row *change = changes->data;
	int err = 0;

	for (uint32_t i = 0; i < changes->count; i++, change++) {
		forget(unseen, change->function);
		if (!change->seen && item_append(unseen, change, sizeof(*change)))
			err = -ENOMEM;
	}
	return err;
}
