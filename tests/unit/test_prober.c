/* SPDX-License-Identifier: Apache-2.0 */
/* A process that gets the id of another one is scanned, although a scan for that one had not begun yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "daemon/profbpfd/probe/prober.h"

#define FIRST 7
#define REUSED 8

static sem_t go, done;
static char did[16]; /* a letter for each thing that was done: s scanned, f forgot */
static size_t count;
static uint64_t last_began_ns, last_ended_ns;

static void note(char what)
{
	if (count < sizeof(did) - 1)
		did[count++] = what;
}

/* ---- The table of probes; the first scan waits for the test, so that the rest is in the list together. */

int probes_follow(struct probes *probes, pid_t pid, uint64_t mapped_ns, uint64_t began_ns)
{
	(void)probes;
	(void)mapped_ns;
	last_began_ns = began_ns;
	if (pid == FIRST)
		sem_wait(&go);
	else
		note('s');
	return 0;
}

void probes_ended(struct probes *probes, pid_t pid, uint64_t ended_ns)
{
	(void)probes;
	(void)pid;
	last_ended_ns = ended_ns;
	note('f');
}

void probes_tail(struct probes *probes, pid_t pid, uint64_t address, uint32_t probe)
{
	(void)probe;
	(void)probes;
	(void)pid;
	(void)address;
	sem_post(&done);
}

void probes_missed(struct probes *probes, pid_t pid, uint64_t since_ns)
{
	(void)probes;
	(void)pid;
	(void)since_ns;
}

void probes_look(struct probes *probes)
{
	(void)probes;
}

uint32_t probes_functions(const struct probes *probes)
{
	(void)probes;
	return 0;
}

uint32_t probes_files(const struct probes *probes)
{
	(void)probes;
	return 0;
}

void code_names_resolve(struct code_names *names)
{
	(void)names;
}

/* ---- Tests */

static struct prober *begin(void)
{
	struct prober *prober;

	memset(did, 0, sizeof(did));
	count = 0;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	prober = prober_new(NULL, NULL);
	assert_non_null(prober);
	prober_scan(prober, FIRST, true, 1);
	return prober;
}

static void finish(struct prober *prober)
{
	prober_tail(prober, FIRST, 1, 0);
	sem_post(&go);
	sem_wait(&done);
	prober_free(prober);
}

static void one_scan_serves_many_requests(void **state)
{
	struct prober *prober = begin();

	(void)state;
	for (int i = 0; i < 5; i++)
		prober_scan(prober, REUSED, false, 1);
	finish(prober);
	assert_string_equal(did, "s");
}

static void a_later_process_is_scanned(void **state)
{
	struct prober *prober = begin();

	(void)state;
	prober_scan(prober, REUSED, true, 1);
	prober_forget(prober, REUSED, 2);
	prober_scan(prober, REUSED, true, 3);
	prober_scan(prober, REUSED, false, 4);
	finish(prober);
	assert_string_equal(did, "sfs");
	assert_int_equal(last_ended_ns, 2);
	assert_int_equal(last_began_ns, 3);
}

/* A scan that was asked for before the process began serves it, too; the time of its begin is not lost. */
static void the_latest_begin_counts(void **state)
{
	struct prober *prober = begin();

	(void)state;
	prober_scan(prober, REUSED, false, 2);
	prober_scan(prober, REUSED, true, 3);
	prober_scan(prober, REUSED, false, 4);
	finish(prober);
	assert_string_equal(did, "s");
	assert_int_equal(last_began_ns, 3);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The CPU time of requests for this many processes: two for each, before any of them was scanned. */
static uint64_t requests_take(int processes)
{
	struct prober *prober = begin();
	uint64_t before = cpu_ns(), taken;

	for (int i = 0; i < 2 * processes; i++)
		prober_scan(prober, REUSED + i % processes, false, 1);
	for (int i = 0; i < processes; i++)
		prober_forget(prober, REUSED + i, 2);
	taken = cpu_ns() - before;
	finish(prober);
	return taken;
}

/* Eight times the processes take some ten times the time; it would be sixty if each were compared with all others. */
static void many_processes_take_little_time(void **state)
{
	uint64_t few = requests_take(4000), again = requests_take(4000);

	(void)state;
	assert_true(requests_take(32000) < 30 * (few < again ? few : again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_scan_serves_many_requests),
		cmocka_unit_test(a_later_process_is_scanned),
		cmocka_unit_test(the_latest_begin_counts),
		cmocka_unit_test(many_processes_take_little_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
