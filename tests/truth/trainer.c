/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trainer.c - fetches batches from a worker process as PyTorch's trainers do, and measures its waits: trainer TURNS.
 *
 * Its functions have the names of PyTorch functions in the catalog: marks around each fetch, a tensor in shared memory
 * that the worker makes and the trainer opens. Prints inner_ns (the time between the marks' calls), outer_ns (including
 * these calls), and turns.
 */
#include <sys/prctl.h>

#include "tests/truth/truth.h"

#define FETCH_NS 8000000ull
#define TRAIN_NS 4000000ull

/* A std::string begins with the address of its characters. */
struct text {
	const char *characters;
};

void enter(void *result, const struct text *name) __asm__("_ZN5torch8autograd8profiler25record_function_enter_newERKNSt");
void leave(void *mark) __asm__("_ZN5torch8autograd8profilerL24record_function_exit_newERKN3c10");
void tensor(void *self) __asm__("_ZN2at12MapAllocatorC1ENS_6WithFdEv");

__attribute__((noipa)) void enter(void *result, const struct text *name)
{
	__asm__ volatile("" : : "r"(result), "r"(name) : "memory");
}

__attribute__((noipa)) void leave(void *mark)
{
	__asm__ volatile("" : : "r"(mark) : "memory");
}

__attribute__((noipa)) void tensor(void *self)
{
	__asm__ volatile("" : : "r"(self) : "memory");
}

/* Makes one tensor for each byte that it reads; ends with the trainer. */
static void work(int wanted, int made)
{
	char byte;

	prctl(PR_SET_NAME, "pt_data_worker");
	while (read(wanted, &byte, 1) == 1) {
		sleep_ns(FETCH_NS);
		tensor(&byte);
		if (write(made, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int main(int argc, char **argv)
{
	const struct text name = { "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" };
	int turns = argc > 1 ? atoi(argv[1]) : 100, wanted[2], made[2];
	uint64_t inner_ns = 0, outer_ns = 0, mark = 0;
	char byte = 0;

	if (pipe(wanted) || pipe(made))
		return 1;
	if (!fork()) {
		close(wanted[1]);
		close(made[0]);
		work(wanted[0], made[1]);
	}
	close(wanted[0]);
	close(made[1]);
	truth_ready();
	for (int i = 0; i < turns; i++) {
		uint64_t before = now(), begun, over;

		enter(&mark, &name);
		begun = now();
		if (write(wanted[1], &byte, 1) != 1 || read(made[0], &byte, 1) != 1)
			return 1;
		tensor(&mark);
		over = now();
		leave(&mark);
		outer_ns += now() - before;
		inner_ns += over - begun;
		sleep_ns(TRAIN_NS);
	}
	printf("inner_ns=%llu\nouter_ns=%llu\nturns=%d\n", (unsigned long long)inner_ns, (unsigned long long)outer_ns,
	       turns);
	truth_done();
	return 0;
}
