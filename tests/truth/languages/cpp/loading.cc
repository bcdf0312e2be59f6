// SPDX-License-Identifier: Apache-2.0
/*
 * loading.cc - loads libraries whose constructors work as soon as they are mapped, in a known chain of calls without
 * frame pointers, as those of large frameworks do.
 *
 * To be compiled with -O2 -fomit-frame-pointer; with -DLIBRARY it is such a library, whose constructor works for
 * 40 ms of CPU time. As in truth.h; the arguments are the libraries.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef LIBRARY
#include "spin.h"

NOIPA static void loaded_chain(int depth, uint64_t until_ns)
{
	volatile char room[120];

	room[depth] = 1;
	if (depth > 1)
		loaded_chain(depth - 1, until_ns);
	else
		spin(until_ns);
	sink = room[depth];
}

__attribute__((constructor)) static void work()
{
	loaded_chain(3, cpu_ns() + 40000000);
	sink = 1;
}
#else
int main(int argc, char **argv)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	getchar();
	for (int i = 1; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW))
			return 1;
	printf("done\n");
	fflush(stdout);
	getchar();
	return 0;
}
#endif
