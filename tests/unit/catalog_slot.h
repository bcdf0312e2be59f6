/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_slot.h - checks how a catalog line describes an argument of a function. */
#ifndef PROFBPF_TESTS_UNIT_CATALOG_SLOT_H
#define PROFBPF_TESTS_UNIT_CATALOG_SLOT_H

#include "daemon/catalog/catalog.h"

/* Fails the running test unless argument @slot of @function has this role, position, width and dereference. */
void expect_slot(const struct catalog_function *function, int slot,
		 Profbpf__Function__Role role, int position, int width, int deref);

#endif /* PROFBPF_TESTS_UNIT_CATALOG_SLOT_H */
