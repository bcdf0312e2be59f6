/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/input.h"

#include <stdlib.h>

void check(bool ok)
{
	if (!ok)
		abort();
}

uint8_t input_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

struct input input_take(struct input *in, size_t size)
{
	struct input part = { in->data, size < in->size ? size : in->size };

	in->data += part.size;
	in->size -= part.size;
	return part;
}

uint64_t input_number(struct input *in, unsigned int bytes)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < bytes; i++)
		number |= (uint64_t)input_byte(in) << (8 * i);
	return number;
}
