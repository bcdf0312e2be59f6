/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/repeated_bodies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int repeated_bodies_add(struct repeated_bodies *bodies, const struct item *item)
{
	struct repeated_body *body = malloc(sizeof(*body) + item->size);

	if (!body)
		return -ENOMEM;
	body->next = NULL;
	body->kind = item->body;
	body->size = item->size;
	memcpy(body->data, item->data, item->size);
	if (bodies->last)
		bodies->last->next = body;
	else
		bodies->first = body;
	bodies->last = body;
	return 0;
}

void repeated_bodies_free(struct repeated_bodies *bodies)
{
	while (bodies->first) {
		struct repeated_body *next = bodies->first->next;

		free(bodies->first);
		bodies->first = next;
	}
	bodies->last = NULL;
}
