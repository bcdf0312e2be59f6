/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols are read once for all callers that need them at about the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/kernel_names.h"

#define SECOND 1000000000ull

struct source {
	const char *text;
	int times; /* number of reads */
};

static struct address_names *read_source(void *context)
{
	struct source *source = context;
	FILE *file = fmemopen((void *)source->text, strlen(source->text), "r");
	struct address_names *names = address_names_kernel(file);

	source->times++;
	fclose(file);
	return names;
}

static struct address_names *read_nothing(void *context)
{
	++*(int *)context;
	return NULL;
}

static void shared_for_a_minute(void **state)
{
	struct source source = { "ffffffff81000000 T start\nffffffff81001000 t next\n", 0 };
	struct kernel_names *n = kernel_names_new();
	struct address_names *a, *b, *c;
	bool shared;

	a = kernel_names_take(n, SECOND, read_source, &source, &shared);
	assert_false(shared);
	b = kernel_names_take(n, SECOND + KERNEL_NAMES_AGE_NS - 1, read_source, &source, &shared);
	assert_true(shared);
	assert_ptr_equal(a, b);
	assert_int_equal(source.times, 1);
	c = kernel_names_take(n, SECOND + KERNEL_NAMES_AGE_NS, read_source, &source, &shared);
	assert_false(shared);
	assert_ptr_not_equal(a, c);
	assert_int_equal(source.times, 2);
	/* The older table stays as long as a caller holds it. */
	kernel_names_give_back(n, a);
	assert_string_equal(address_names_find(b, 0xffffffff81001004), "next");
	kernel_names_give_back(n, b);
	/* The latest table is kept for other callers. */
	kernel_names_give_back(n, c);
	b = kernel_names_take(n, 2 * SECOND + KERNEL_NAMES_AGE_NS, read_source, &source, &shared);
	assert_true(shared);
	assert_string_equal(address_names_find(b, 0xffffffff81000004), "start");
	kernel_names_give_back(n, b);
	kernel_names_give_back(n, NULL);
	kernel_names_free(n);
}

/* A table that one caller could not read may be readable for another one. */
static void nothing_is_not_shared(void **state)
{
	struct source hidden = { "0000000000000000 T start\n", 0 };
	struct source source = { "ffffffff81000000 T start\n", 0 };
	struct kernel_names *n = kernel_names_new();
	struct address_names *a, *b;
	int failed = 0;
	bool shared;

	assert_null(kernel_names_take(n, SECOND, read_nothing, &failed, &shared));
	assert_int_equal(failed, 1);
	a = kernel_names_take(n, SECOND, read_source, &hidden, &shared);
	assert_false(shared);
	assert_int_equal(address_names_count(a), 0);
	b = kernel_names_take(n, SECOND, read_source, &source, &shared);
	assert_false(shared);
	assert_int_equal(address_names_count(b), 1);
	kernel_names_give_back(n, b);
	kernel_names_give_back(n, a);
	kernel_names_free(n);
}

static void programs_of_bpf(void **state)
{
	struct source source = { "ffffffff81000000 T bpf_prog_alloc\n"
				 "ffffffffc0000000 t bpf_prog_123_on_switch\t[bpf]\n"
				 "ffffffffc0100000 t nic_open\t[nic]\n", 0 };
	struct address_names *names = read_source(&source);

	assert_int_equal(address_names_count(names), 3);
	assert_false(address_names_is_bpf(names, 0xffffffff81000010));
	assert_true(address_names_is_bpf(names, 0xffffffffc0000010));
	assert_string_equal(address_names_find(names, 0xffffffffc0000010), "bpf_prog_123_on_switch");
	assert_false(address_names_is_bpf(names, 0xffffffffc0100010));
	assert_false(address_names_is_bpf(names, 0x1000));
	address_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_for_a_minute),
		cmocka_unit_test(nothing_is_not_shared),
		cmocka_unit_test(programs_of_bpf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
