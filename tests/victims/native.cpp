// SPDX-License-Identifier: Apache-2.0
// native CASE: one victim of C or C++; without a case it lists them.
#include <cstdio>
#include <cstring>

#include "cases.h"

static const victim_case *const tables[] = { unwinding_cases, jump_cases, stack_cases,
					     process_cases };

static const victim_case *find(const char *name)
{
	for (const victim_case *table : tables)
		for (const victim_case *one = table; one->name; one++)
			if (strcmp(one->name, name) == 0)
				return one;
	return nullptr;
}

static bool run(const victim_case *one)
{
	bool ok;

	if (one->whole)
		return one->run();
	ok = one->run();
	victim_gate();
	do {
		ok &= one->run();
	} while (victim_again());
	return ok;
}

int main(int argc, char **argv)
{
	const victim_case *one = argc > 1 ? find(argv[1]) : nullptr;
	bool ok;

	if (!one) {
		for (const victim_case *table : tables)
			for (one = table; one->name; one++)
				puts(one->name);
		return argc > 1 ? 2 : 0;
	}
	ok = run(one);
	if (one->last && ok)
		one->last();
	victim_print(one->name, ok);
	return ok ? 0 : 1;
}
