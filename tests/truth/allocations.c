/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - allocates and frees device and host memory through two layers of a runtime, with a known
 * peak, known leaks, failures, and an allocation before the recording.
 */
#include <dlfcn.h>
#include <string.h>

#include "tests/truth/runtimes.h"
#include "tests/truth/truth.h"

#define BLOCKS 200
#define LEAKS 3
#define LEAK_BYTES 4096
#define ROUNDS 5

static int (*p_malloc)(void **, size_t, int);
static int (*p_free)(void *);
static int (*p_malloc_host)(void **, size_t);
static int (*p_free_host)(void *);

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return symbol;
}

static void load(const char *program)
{
	const char *slash = strrchr(program, '/');
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%.*s/libacl_truth.so", slash ? (int)(slash - program) : 1,
		 slash ? program : ".");
	library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		printf("%s\n", dlerror());
		exit(1);
	}
	p_malloc = find(library, "aclrtMalloc");
	p_free = find(library, "aclrtFree");
	p_malloc_host = find(library, "aclrtMallocHost");
	p_free_host = find(library, "aclrtFreeHost");
}

/* Allocates blocks of 1 to BLOCKS KiB, then frees them all; leaks one block in each of the first rounds. */
static void round_of_blocks(int round)
{
	void *blocks[BLOCKS], *leak;

	for (size_t i = 0; i < BLOCKS; i++)
		p_malloc(&blocks[i], (i + 1) * 1024, 0);
	if (round < LEAKS)
		p_malloc(&leak, LEAK_BYTES, 0);
	for (size_t i = 0; i < BLOCKS; i++)
		p_free(blocks[i]);
}

int main(int argc, char **argv)
{
	uint64_t round_bytes = 1024ull * BLOCKS * (BLOCKS + 1) / 2;
	void *before, *none, *host;

	load(argv[0]);
	p_malloc(&before, 1 << 20, 0);
	truth_ready();
	for (int round = 0; round < ROUNDS; round++)
		round_of_blocks(round);
	p_malloc(&none, 1ull << 50, 0);
	p_free(before);
	p_malloc_host(&host, 12345);
	p_free_host(host);
	printf("allocations=%d\nfrees=%d\n", ROUNDS * BLOCKS + LEAKS, ROUNDS * BLOCKS);
	printf("allocated=%llu\n", (unsigned long long)(ROUNDS * round_bytes + LEAKS * LEAK_BYTES));
	/* The third round has its own leak and the leaks of the two rounds before. */
	printf("peak=%llu\nleaked=%d\n", (unsigned long long)(round_bytes + LEAKS * LEAK_BYTES),
	       LEAKS * LEAK_BYTES);
	truth_done();
	return 0;
}
