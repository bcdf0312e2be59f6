/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_slot.h - what a line of a catalog says of an argument. */
#ifndef PROFBPF_TESTS_UNIT_CATALOG_SLOT_H
#define PROFBPF_TESTS_UNIT_CATALOG_SLOT_H

#include "daemon/catalog/catalog.h"

/* The running test fails unless argument @slot of @function has this role and comes from there. */
void expect_slot(const struct catalog_function *function, int slot,
		 Profbpf__Function__Role role, int position, int width, int deref);

#endif /* PROFBPF_TESTS_UNIT_CATALOG_SLOT_H */
