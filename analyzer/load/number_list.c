/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/number_list.h"

#include <stdlib.h>

#define FIRST 256 /* bytes of a new list */
#define LARGE (1u << 20) /* larger lists grow by a quarter: they may be moved without being copied */

bool number_list_grow(struct number_list *list)
{
	size_t want = list->capacity < LARGE ? 2 * list->capacity : list->capacity + list->capacity / 4;
	uint8_t *grown;

	want = want < FIRST ? FIRST : want;
	grown = realloc(list->data, want);
	if (!grown)
		return false;
	list->data = grown;
	list->capacity = want;
	return true;
}

void number_list_free(struct number_list *list)
{
	free(list->data);
	*list = (struct number_list){ 0 };
}
