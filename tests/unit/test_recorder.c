/* SPDX-License-Identifier: Apache-2.0 */
/* Records become batches; calls wait for their strings, which arrive in any order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/session/recorder.h"

struct fixture {
	struct item_queue *queue;
	struct texts *texts;
	struct recorder *recorder;
	int forgotten; /* number of times that strings were forgotten */
};

static void texts_forgotten(void *context)
{
	struct fixture *f = context;

	f->forgotten++;
}

static int set_up(void **state)
{
	static struct fixture fixture;
	struct recorder_events events = { .texts_forgotten = texts_forgotten, .context = &fixture };

	memset(&fixture, 0, sizeof(fixture));
	fixture.queue = item_queue_new(64 << 20);
	fixture.texts = texts_new();
	fixture.recorder = recorder_new(2, fixture.queue, fixture.texts, &events);
	*state = &fixture;
	return fixture.recorder ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	recorder_free(f->recorder);
	texts_free(f->texts);
	item_queue_free(f->queue);
	return 0;
}

static void call(struct fixture *f, uint32_t cpu, uint64_t text)
{
	struct rec_call record = { .header = { .type = REC_CALL, .cpu = cpu }, .text = text };

	if (text)
		record.header.flags = CALL_HAS_STRING;
	recorder_handle(f->recorder, &record.header);
}

static void string(struct fixture *f, uint64_t key, const char *text)
{
	struct rec_string record = { .header = { .type = REC_STRING }, .key = key };

	record.len = (uint32_t)snprintf(record.str, sizeof(record.str), "%s", text);
	recorder_handle(f->recorder, &record.header);
}

/* The string was sent first, but into a ring that had been read before. */
static void tells_of_missing_strings(void **state)
{
	struct fixture *f = *state;
	char text[REC_STRING_LEN];

	call(f, 0, 0);
	assert_false(recorder_texts_missing(f->recorder));
	call(f, 1, 5);
	assert_true(recorder_texts_missing(f->recorder));
	assert_false(recorder_texts_missing(f->recorder));
	string(f, 5, "five");
	call(f, 0, 5);
	call(f, 1, 5);
	assert_false(recorder_texts_missing(f->recorder));
	assert_int_equal(texts_get(f->texts, 5, text, sizeof(text)), 4);
	assert_string_equal(text, "five");
	assert_int_equal(recorder_used(f->recorder, SOURCE_TASK), 1);
}

/* A sender that sends each string once is notified when strings are dropped. */
static void has_forgotten_strings_sent_again(void **state)
{
	struct fixture *f = *state;

	for (uint64_t key = 1; key <= TEXTS_MAX; key++)
		string(f, key, "text");
	assert_int_equal(f->forgotten, 0);
	string(f, TEXTS_MAX + 1, "text");
	assert_int_equal(f->forgotten, 1);
	call(f, 0, 1);
	assert_true(recorder_texts_missing(f->recorder));
	call(f, 0, TEXTS_MAX);
	assert_false(recorder_texts_missing(f->recorder));
}

/* Full batches are passed on at once, others on request; each belongs to one CPU. */
static void hands_over_batches(void **state)
{
	struct fixture *f = *state;
	struct item *item;

	for (int i = 0; i < RECORDER_BATCH; i++)
		call(f, 1, 0);
	call(f, 0, 0);
	recorder_pass(f->recorder, false);
	item = item_queue_pop(f->queue);
	assert_non_null(item);
	assert_int_equal(item->count, RECORDER_BATCH);
	assert_int_equal(item->cpu, 1);
	item_free(item);
	recorder_pass(f->recorder, true);
	item = item_queue_pop(f->queue);
	assert_non_null(item);
	assert_int_equal(item->count, 1);
	assert_int_equal(item->cpu, 0);
	item_free(item);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A process that executes "cat" with @argument when @start gets a byte; and when that has happened, "cat" answers. */
struct program {
	pid_t pid;
	int start, answer;
};

static struct program program(void)
{
	struct program program;
	int start[2], answer[2];
	char byte;

	assert_int_equal(pipe(start), 0);
	assert_int_equal(pipe(answer), 0);
	program.pid = fork();
	assert_true(program.pid >= 0);
	if (!program.pid) {
		if (read(start[0], &byte, 1) == 1 && dup2(start[0], 0) == 0 && dup2(answer[1], 1) == 1) {
			close(start[1]);
			execlp("cat", "cat", "-", "-", (char *)NULL);
		}
		_exit(1);
	}
	close(start[0]);
	close(answer[1]);
	program.start = start[1];
	program.answer = answer[0];
	return program;
}

static void execute(const struct program *program)
{
	char byte = 0;

	assert_int_equal(write(program->start, &byte, 1), 1);
	assert_int_equal(write(program->start, &byte, 1), 1);
	assert_int_equal(read(program->answer, &byte, 1), 1);
}

static void end(const struct program *program)
{
	kill(program->pid, SIGKILL);
	waitpid(program->pid, NULL, 0);
	close(program->start);
	close(program->answer);
}

/* Returns the command line in the row of a record of that time; to be freed. */
static char *command_at(struct fixture *f, const struct program *program, uint32_t event, uint64_t ts_ns)
{
	struct rec_task record = { .header = { .type = REC_TASK, .ts_ns = ts_ns }, .tid = (uint32_t)program->pid,
				   .tgid = (uint32_t)program->pid, .event = event };
	const struct task_row *row;
	struct item *item;
	char *command;

	recorder_handle(f->recorder, &record.header);
	recorder_pass(f->recorder, true);
	item = item_queue_pop(f->queue);
	assert_non_null(item);
	assert_int_equal(item->count, 1);
	row = (const void *)item->data;
	assert_int_equal(!row->exe, !row->cmdline);
	command = row->cmdline ? strdup(row->cmdline) : NULL;
	item_free(item);
	return command;
}

static void expect_command(struct fixture *f, const struct program *program, uint32_t event, uint64_t ts_ns, const char *words)
{
	char *command = command_at(f, program, event, ts_ns);

	assert_non_null(command);
	assert_non_null(strstr(command, words));
	free(command);
}

/* A command line holds for records from before it was read; a later one has a program of its own. */
static void reads_a_command_once(void **state)
{
	struct program first = program();
	struct fixture *f = *state;
	uint64_t seen_ns = now_ns(), executed_ns;

	expect_command(f, &first, TASK_SEEN, seen_ns, "test_recorder");
	execute(&first);
	executed_ns = now_ns();
	/* It was read after that time, before the program began: */
	expect_command(f, &first, TASK_FORK, seen_ns, "test_recorder");
	expect_command(f, &first, TASK_EXEC, executed_ns, "cat - -");
	end(&first);
	expect_command(f, &first, TASK_EXEC, executed_ns, "cat - -");
	assert_null(command_at(f, &first, TASK_EXEC, now_ns()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tells_of_missing_strings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(has_forgotten_strings_sent_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hands_over_batches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_a_command_once, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
