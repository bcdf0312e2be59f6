/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - a program without any library: what it calls is known by its own .symtab. Argument: calls. */
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
