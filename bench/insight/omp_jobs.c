/* SPDX-License-Identifier: Apache-2.0 */
/* omp_jobs KIND faulty|healthy TASK_US PERCENT SECONDS: faults in parallel regions of OpenMP, in the main thread. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

static void compute(uint64_t ns)
{
	uint64_t end = native_cpu_ns() + ns;
	volatile double sum = 0;

	while (native_cpu_ns() < end)
		for (int i = 0; i < 20000; i++)
			sum += i;
}

/* The last of two threads has nearly all of the work, and the main thread waits for it at the end. */
static void make_item(uint64_t small_ns, uint64_t large_ns)
{
#pragma omp parallel for schedule(static) num_threads(2)
	for (int part = 0; part < 2; part++) {
		if (omp_get_thread_num() == 0) {
			compute(small_ns);
			continue;
		}
		native_begin();
		compute(large_ns);
		native_end(PLANT_CPU);
	}
}

int main(int argc, char **argv)
{
	int faulty = argc > 5 && !strcmp(argv[2], "faulty");
	uint64_t task_ns = argc > 5 ? strtoull(argv[3], NULL, 10) * 1000 : 1;
	uint64_t item_ns = faulty ? task_ns * strtoull(argv[4], NULL, 10) / 100 : task_ns / 8;
	int rounds;

	if (argc < 6)
		return 2;
	rounds = (int)(strtod(argv[5], NULL) * 1e9 / (double)(item_ns > task_ns ? item_ns : task_ns));
	plant_open(task_ns);
	make_item(task_ns / 8, task_ns / 8); /* the threads are there when the recording begins */
	native_go();
	for (int i = 0; i <= rounds; i++) {
		plant_wait_room();
		make_item(task_ns / 8, item_ns);
		plant_submit(0);
	}
	native_done("causes=user_code\nwhere=compute|make_item|gomp\nremedy=equal part|cheaper\n"
		    "spins=waiting for other threads by spinning");
}
