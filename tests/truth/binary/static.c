/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - a statically linked program: its functions are in its own .symtab only. Argument: number of calls. */
#include "tests/truth/truth.h"

int binary_static(int value);

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 0;

	truth_ready();
	for (int i = 0; i < calls; i++)
		binary_static(i);
	truth_done();
	return 0;
}
