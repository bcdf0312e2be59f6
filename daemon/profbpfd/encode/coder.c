/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/coder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 256

int coder_start(struct coder *coder, size_t keys)
{
	size_t capacity = SLOTS_MIN;

	while (capacity < keys * 2)
		capacity *= 2;
	if (capacity > coder->capacity) {
		/* The content is not needed any more. */
		free(coder->slots);
		coder->slots = calloc(capacity, sizeof(*coder->slots));
		coder->capacity = coder->slots ? capacity : 0;
		coder->batch = 0;
		if (!coder->slots)
			return -ENOMEM;
	}
	coder->count = 0;
	if (++coder->batch == 0) {
		memset(coder->slots, 0, coder->capacity * sizeof(*coder->slots));
		coder->batch = 1;
	}
	return 0;
}

void coder_free(struct coder *coder)
{
	free(coder->slots);
	*coder = (struct coder){ 0 };
}
