/* SPDX-License-Identifier: Apache-2.0 */
/* encode_fixture.h - the common fixture of the tests of the daemon's encoder. */
#ifndef PROFBPF_TESTS_UNIT_ENCODE_FIXTURE_H
#define PROFBPF_TESTS_UNIT_ENCODE_FIXTURE_H

#include <stdint.h>

#include "daemon/profbpfd/encode/encode.h"

struct encode_fixture {
	struct encode *encode;
	struct string_table *strings;
	struct texts *texts;
	uint64_t random; /* state of pbt_stream_random(); the same in each run */
};

int encode_fixture_setup(void **state);
int encode_fixture_teardown(void **state);

/* A test whose *state is a struct encode_fixture. */
#define ENCODE_TEST(test) \
	cmocka_unit_test_setup_teardown(test, encode_fixture_setup, encode_fixture_teardown)

#endif /* PROFBPF_TESTS_UNIT_ENCODE_FIXTURE_H */
