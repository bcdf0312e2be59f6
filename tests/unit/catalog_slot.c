/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/catalog_slot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

void expect_slot(const struct catalog_function *function, int slot,
		 Profbpf__Function__Role role, int position, int width, int deref)
{
	struct probe_conf conf;

	catalog_probe_conf(function, &conf);
	assert_int_equal(function->roles[slot], role);
	assert_int_equal(conf.args[slot].position, position);
	assert_int_equal(conf.args[slot].width, width);
	assert_int_equal(conf.args[slot].deref, deref);
}
