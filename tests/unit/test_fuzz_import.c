/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of all formats that importers read, with thousands of changes, through tests/fuzz/fuzz_import.c: the importer
 * never crashes, and rows refer only to existing rows. The changes are the same in every run; `make fuzz` looks for
 * others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>

#include <cmocka.h>

#define SEEDS "tests/fuzz/import_seeds/*"
#define SIZE_MAX_OF_INPUT 8192
#define SEEDS_MAX 96
#define CHANGED 250 /* number of inputs made from each seed */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	uint8_t data[SIZE_MAX_OF_INPUT];
	size_t size;
};

static uint64_t random_state = 88172645463325252ull;

static size_t random_below(size_t end)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return end ? random_state % end : 0;
}

static void read_seed(const char *path, struct bytes *seed)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	seed->size = fread(seed->data, 1, sizeof(seed->data), file);
	fclose(file);
	assert_true(seed->size > 1 && seed->size < sizeof(seed->data));
}

/* Replaces [at, at + without) of @bytes with bytes [from, from + count) of @source. */
static void splice(struct bytes *bytes, size_t at, size_t without, const struct bytes *source,
		   size_t from, size_t count)
{
	struct bytes copy = *source;

	if (bytes->size - without + count > sizeof(bytes->data))
		return;
	memmove(bytes->data + at + count, bytes->data + at + without, bytes->size - at - without);
	memcpy(bytes->data + at, copy.data + from, count);
	bytes->size += count - without;
}

static void change(struct bytes *bytes, const struct bytes *other)
{
	static const char *const numbers[] = { "-1", "18446744073709551615", "9223372036854775807",
					       "1e308", "0.0000001", "N/A", "\"", "]", "{" };
	size_t at = random_below(bytes->size), from, left = bytes->size - at;
	struct bytes number;

	switch (random_below(5)) {
	case 0: bytes->data[at] ^= 1u << random_below(8); break;
	case 1: bytes->data[at] = (uint8_t)random_below(256); break;
	case 2: splice(bytes, at, random_below(left < 40 ? left : 40), bytes, 0, 0); break;
	case 3:
		from = random_below(other->size);
		splice(bytes, at, 0, other, from, random_below(other->size - from));
		break;
	default:
		number.size = (size_t)snprintf((char *)number.data, 32, "%s",
					       numbers[random_below(9)]);
		splice(bytes, at, left < 2 ? 0 : random_below(3), &number, 0, number.size);
		break;
	}
}

static void seeds_and_changes_of_them(void **state)
{
	static struct bytes seeds[SEEDS_MAX], input;
	glob_t paths;
	size_t count;

	assert_int_equal(glob(SEEDS, 0, NULL, &paths), 0);
	count = paths.gl_pathc;
	assert_true(count >= 8 && count <= SEEDS_MAX);
	for (size_t i = 0; i < count; i++)
		read_seed(paths.gl_pathv[i], &seeds[i]);
	globfree(&paths);
	for (size_t i = 0; i < count; i++) {
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
		for (int n = 0; n < CHANGED; n++) {
			input = seeds[i];
			for (size_t times = 1 + random_below(6); times; times--)
				change(&input, &seeds[random_below(count)]);
			LLVMFuzzerTestOneInput(input.data, input.size);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_and_changes_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
