/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/left_out.h"

#define ALL 1000 /* the value of shed_row.kept_permille if nothing is left out */

static void forget(struct item *now, uint32_t what)
{
	struct shed_row *row = now->data;
	uint32_t i = 0;

	while (i < now->count && row[i].what != what)
		i++;
	if (i == now->count)
		return;
	now->count--;
	now->size -= sizeof(*row);
	memmove(&row[i], &row[i + 1], (now->count - i) * sizeof(*row));
}

int left_out_note(struct item *now, const struct item *changes)
{
	const struct shed_row *change = changes->data;
	int err = 0;

	for (uint32_t i = 0; i < changes->count; i++, change++) {
		forget(now, change->what);
		if (change->kept_permille < ALL && item_append(now, change, sizeof(*change)))
			err = -ENOMEM;
	}
	return err;
}
