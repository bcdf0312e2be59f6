/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, and the gate. The counts are in shared memory, so that child processes count with their parents. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "victim.h"

struct counts {
	long entered[2];
	long returned[2];
};

struct book {
	int epoch;
	struct counts of[VICTIM_IDS];
};

static struct book *book;

__attribute__((constructor)) static void make_book(void)
{
	book = mmap(NULL, sizeof(*book), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (book == MAP_FAILED)
		abort();
}

int victim_enters(enum victim_id id)
{
	int epoch = __atomic_load_n(&book->epoch, __ATOMIC_RELAXED);

	__atomic_add_fetch(&book->of[id].entered[epoch], 1, __ATOMIC_RELAXED);
	return epoch;
}

void victim_returns(enum victim_id id, int epoch)
{
	__atomic_add_fetch(&book->of[id].returned[epoch], 1, __ATOMIC_RELAXED);
}

static bool looping(void)
{
	return getenv("VICTIM_LOOP");
}

static void read_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

void victim_gate(void)
{
	static const char ready[] = "ready\n";

	if (write(STDERR_FILENO, ready, sizeof(ready) - 1) < 0)
		abort();
	read_line();
	book->epoch = 1;
}

bool victim_again(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return looping() && poll(&in, 1, 0) == 0;
}

int victim_rounds(void)
{
	const char *rounds = getenv("VICTIM_ROUNDS");

	return rounds ? atoi(rounds) : 200;
}

void victim_print(const char *name, bool ok)
{
#define NAME(name) "victim_" #name,
	static const char *const names[] = { VICTIM_FUNCTIONS(NAME) };

	printf("%s %s\n", name, ok ? "ok" : "failed");
	for (int i = 0; i < VICTIM_IDS && !looping(); i++) {
		const struct counts *of = &book->of[i];

		if (of->entered[0] + of->entered[1])
			printf("calls %s %ld %ld %ld %ld\n", names[i], of->entered[0],
			       of->returned[0], of->entered[1], of->returned[1]);
	}
	fflush(stdout);
}
