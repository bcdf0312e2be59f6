/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of interpreters: a process is read only if it has run since its last sample, whose rows are repeated else. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/host/thread_awake.h"
#include "daemon/profbpfd/interpreters/interpreters.h"

#define THREADS 2

struct other;

/* What the interpreter of this test and the receiver of its rows have seen. */
static struct {
	unsigned int samples, rows, first_stack;
	bool partial, fails, no_stack;
	uint64_t last_ns;
	uint32_t stacks[THREADS];
	unsigned int asked; /* number of threads whose state was read */
	uint32_t awake; /* the thread that is awake; 0 = none */
	const struct other *runs; /* the process that runs, and sleeps again, when a state has been read; NULL = none */
} seen;

static uint64_t word = 1;

static bool own_file(const char *path)
{
	return strstr(path, "test_interpreters") != NULL;
}

static void *own_look(struct interpreted *process, const struct process_map *map)
{
	(void)map;
	return process;
}

static void own_sample(void *known, struct interpreted *process)
{
	uint64_t value;

	(void)known;
	seen.samples++;
	assert_int_equal(interpreted_read(process, seen.fails ? 0 : (uintptr_t)&word, &value, sizeof(value)) != 0, seen.fails);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct stack_row row = { .ts_ns = process->now_ns, .tid = 100 + i, .stack = seen.no_stack ? 0 : seen.first_stack + i };

		interpreted_row(process, &row);
	}
	if (seen.partial)
		interpreted_partial(process);
}

static void own_free(void *known)
{
	(void)known;
}

static bool no_file(const char *path)
{
	(void)path;
	return false;
}

const struct interpreter interpreter_python = { .file = own_file, .look = own_look, .sample = own_sample, .free = own_free };
const struct interpreter interpreter_mindspore = { .file = no_file };

static void take_row(void *context, const struct stack_row *row)
{
	(void)context;
	assert_true(row->ts_ns >= seen.last_ns);
	seen.last_ns = row->ts_ns;
	seen.stacks[row->tid - 100] = row->stack;
	seen.rows++;
}

/* A process that runs when it gets a byte, and answers it before it sleeps again. */
struct other {
	pid_t pid;
	int ask, answer;
};

static void run_when_asked(int ask, int answer)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(ask, &byte, 1) == 1 && write(answer, &byte, 1) == 1)
		;
	_exit(0);
}

static struct other start_other(void)
{
	struct other other;
	int ask[2], answer[2];

	assert_int_equal(pipe(ask), 0);
	assert_int_equal(pipe(answer), 0);
	other.pid = fork();
	assert_true(other.pid >= 0);
	if (!other.pid)
		run_when_asked(ask[0], answer[1]);
	other.ask = ask[1];
	other.answer = answer[0];
	return other;
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec ts;

	assert_int_equal(clock_gettime((clockid_t)(~(unsigned int)pid << 3 | 2), &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool sleeps(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'S';
}

/* Until it sleeps again: a busy machine may keep it from that for long. */
static void let_run(const struct other *other)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	uint64_t before;
	char byte = 0;

	assert_int_equal(write(other->ask, &byte, 1), 1);
	assert_int_equal(read(other->answer, &byte, 1), 1);
	do {
		before = cpu_ns(other->pid);
		nanosleep(&pause, NULL);
	} while (!sleeps(other->pid) || cpu_ns(other->pid) != before);
}

/* The states of the threads, which are this test's. */
bool thread_awake(uint32_t pid, uint32_t tid)
{
	bool awake = tid == seen.awake;

	(void)pid;
	seen.asked++;
	if (seen.runs)
		let_run(seen.runs);
	return awake;
}

static void end_other(const struct other *other)
{
	kill(other->pid, SIGKILL);
	waitpid(other->pid, NULL, 0);
	close(other->ask);
	close(other->answer);
}

static struct interpreters *begin(const struct other *other)
{
	const struct interpreters_handler handler = { .row = take_row };
	struct interpreters *interpreters = interpreters_new(NULL, NULL, &handler);

	assert_non_null(interpreters);
	memset(&seen, 0, sizeof(seen));
	seen.first_stack = 1;
	let_run(other);
	interpreters_look(interpreters, other->pid);
	return interpreters;
}

/* Samples at the next time that is due. */
static void sample(struct interpreters *interpreters)
{
	interpreters_sample(interpreters, interpreters_next(interpreters));
}

static void test_not_read_until_it_has_run(void **state)
{
	struct other other = start_other();
	struct interpreters *interpreters = begin(&other);
	uint64_t first_ns;

	(void)state;
	sample(interpreters);
	assert_int_equal(seen.samples, 1);
	assert_int_equal(seen.rows, THREADS);
	first_ns = seen.last_ns;
	seen.first_stack = 11;
	memset(seen.stacks, 0, sizeof(seen.stacks));
	for (unsigned int i = 2; i < 6; i++) {
		sample(interpreters);
		assert_int_equal(seen.samples, 1);
		assert_int_equal(seen.rows, i * THREADS);
		assert_int_equal(seen.stacks[0], 1);
		assert_int_equal(seen.stacks[1], 2);
		assert_true(seen.last_ns > first_ns);
	}
	let_run(&other);
	sample(interpreters);
	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.rows, 6 * THREADS);
	assert_int_equal(seen.stacks[0], 11);
	sample(interpreters);
	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.rows, 7 * THREADS);
	interpreters_free(interpreters);
	end_other(&other);
}

/* Something was missing that may be there the next time. */
static void test_what_is_partial_is_read_again(void **state)
{
	bool *const reasons[] = { &seen.partial, &seen.fails, &seen.no_stack };
	struct other other = start_other();

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct interpreters *interpreters = begin(&other);

		*reasons[i] = true;
		for (unsigned int n = 1; n < 4; n++) {
			sample(interpreters);
			assert_int_equal(seen.samples, n);
			assert_int_equal(seen.rows, n * THREADS);
		}
		*reasons[i] = false;
		sample(interpreters);
		sample(interpreters);
		assert_int_equal(seen.samples, 4);
		assert_int_equal(seen.rows, 5 * THREADS);
		interpreters_free(interpreters);
	}
	end_other(&other);
}

/* A thread that has just woken and runs: its clock stands still until the next tick, but its stack is another one. */
static void test_read_while_a_thread_is_awake(void **state)
{
	struct other other = start_other();
	struct interpreters *interpreters = begin(&other);

	(void)state;
	sample(interpreters);
	for (unsigned int i = 0; i < THREADS; i++) {
		seen.awake = 100 + i;
		seen.first_stack = 11 + 10 * i;
		sample(interpreters);
		assert_int_equal(seen.samples, 2 + i);
		assert_int_equal(seen.stacks[i], seen.first_stack + i);
	}
	seen.awake = 0;
	sample(interpreters);
	assert_int_equal(seen.samples, 1 + THREADS);
	assert_int_equal(seen.rows, (2 + THREADS) * THREADS);
	interpreters_free(interpreters);
	end_other(&other);
}

/* A thread may run and sleep again while the states are read: then its clock has moved. */
static void test_read_if_it_runs_while_states_are_read(void **state)
{
	struct other other = start_other();
	struct interpreters *interpreters = begin(&other);

	(void)state;
	sample(interpreters);
	seen.runs = &other;
	sample(interpreters);
	assert_int_equal(seen.samples, 2);
	assert_int_equal(seen.asked, THREADS);
	/* No state is needed: the clock has moved since. */
	sample(interpreters);
	assert_int_equal(seen.samples, 3);
	assert_int_equal(seen.asked, THREADS);
	interpreters_free(interpreters);
	end_other(&other);
}

static bool lost(const struct right *right, pid_t pid)
{
	(void)right;
	(void)pid;
	return false;
}

static bool kept(const struct right *right, pid_t pid)
{
	(void)right;
	(void)pid;
	return true;
}

/* Rows are repeated only as long as their owner may see the process. */
static void test_not_repeated_without_the_right(void **state)
{
	struct right right = { .uid = 1000, .ask = kept };
	struct other other = start_other();
	struct interpreters *interpreters = begin(&other);

	(void)state;
	interpreters_limit(interpreters, &right);
	sample(interpreters);
	sample(interpreters);
	assert_int_equal(seen.samples, 1);
	right.ask = lost;
	seen.fails = true; /* memory_pages.h returns nothing of it, either */
	sample(interpreters);
	assert_int_equal(seen.samples, 2);
	interpreters_free(interpreters);
	end_other(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_read_until_it_has_run),
		cmocka_unit_test(test_what_is_partial_is_read_again),
		cmocka_unit_test(test_read_while_a_thread_is_awake),
		cmocka_unit_test(test_read_if_it_runs_while_states_are_read),
		cmocka_unit_test(test_not_repeated_without_the_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
