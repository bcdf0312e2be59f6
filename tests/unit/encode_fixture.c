/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/encode_fixture.h"

#include <stdlib.h>

int encode_fixture_setup(void **state)
{
	struct encode_fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->encode = encode_new();
	f->strings = string_table_new();
	f->texts = texts_new();
	f->random = 42;
	*state = f;
	return f->encode && f->strings && f->texts ? 0 : -1;
}

int encode_fixture_teardown(void **state)
{
	struct encode_fixture *f = *state;

	encode_free(f->encode);
	string_table_free(f->strings);
	texts_free(f->texts);
	free(f);
	return 0;
}
