/* SPDX-License-Identifier: Apache-2.0 */
/* The order of jobs, and how many may wait. */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/profbpfd/control/job_queue.h"

#define ONE 1000
#define ANOTHER 1001
#define THIRD 1002

struct test_job {
	struct job job;
	int number;
	sem_t *begun, *go; /* to block the thread; NULL = done at once */
};

static size_t dropped;

static void work(struct job *job)
{
	struct test_job *t = (struct test_job *)job;

	if (!t->go)
		return;
	sem_post(t->begun);
	sem_wait(t->go);
}

static void drop(struct job *job)
{
	dropped++;
}

static int add(struct job_queue *queue, struct test_job *t, int number, uid_t user, bool trusted)
{
	t->job = (struct job){ .work = work, .user = user, .trusted = trusted };
	t->number = number;
	return job_queue_add(queue, &t->job);
}

/* Keeps the thread for all users busy until @go is posted. */
static void hold_up(struct job_queue *queue, struct test_job *t, sem_t *begun, sem_t *go)
{
	sem_init(begun, 0, 0);
	sem_init(go, 0, 0);
	t->begun = begun;
	t->go = go;
	assert_int_equal(add(queue, t, 0, ONE, false), 0);
	sem_wait(begun);
}

static int next_number(struct job_queue *queue)
{
	struct pollfd fd = { .fd = job_queue_fd(queue), .events = POLLIN };
	struct job *job;

	while (!(job = job_queue_done(queue)))
		assert_int_equal(poll(&fd, 1, 60000), 1);
	return ((struct test_job *)job)->number;
}

static void test_order(void **state)
{
	struct test_job held = { 0 }, job[8] = { 0 };
	struct job_queue *queue = job_queue_new();
	sem_t begun, go;

	assert_non_null(queue);
	hold_up(queue, &held, &begun, &go);
	assert_int_equal(add(queue, &job[1], 1, ONE, false), 0);
	assert_int_equal(add(queue, &job[2], 2, ONE, false), 0);
	assert_int_equal(add(queue, &job[3], 3, ONE, false), 0);
	assert_int_equal(add(queue, &job[4], 4, ANOTHER, false), 0);
	assert_int_equal(add(queue, &job[5], 5, ANOTHER, false), 0);
	assert_int_equal(add(queue, &job[6], 6, THIRD, false), 0);
	/* The trusted user's job is done while the first one is still in progress. */
	assert_int_equal(add(queue, &job[7], 7, 0, true), 0);
	assert_int_equal(next_number(queue), 7);
	assert_null(job_queue_done(queue));
	sem_post(&go);
	assert_int_equal(next_number(queue), 0);
	/* Each user in turn; the user served last comes last. */
	assert_int_equal(next_number(queue), 4);
	assert_int_equal(next_number(queue), 6);
	assert_int_equal(next_number(queue), 1);
	assert_int_equal(next_number(queue), 5);
	assert_int_equal(next_number(queue), 2);
	assert_int_equal(next_number(queue), 3);
	assert_null(job_queue_done(queue));
	job_queue_free(queue, drop);
}

static void test_limits(void **state)
{
	static struct test_job held, job[JOB_QUEUE_MAX + 2];
	struct job_queue *queue = job_queue_new();
	size_t count = 1, used = 0;
	sem_t begun, go;

	assert_non_null(queue);
	hold_up(queue, &held, &begun, &go);
	for (; count < JOB_QUEUE_PER_USER; count++)
		assert_int_equal(add(queue, &job[used++], 1, ONE, false), 0);
	assert_int_equal(add(queue, &job[used], 1, ONE, false), -EBUSY);
	for (; count < JOB_QUEUE_MAX; count++)
		assert_int_equal(add(queue, &job[used++], 1, 2000 + (uid_t)(count / 4), false), 0);
	assert_int_equal(add(queue, &job[used], 1, THIRD, false), -EAGAIN);
	assert_int_equal(add(queue, &job[used], 2, 0, true), 0);
	assert_int_equal(next_number(queue), 2);
	sem_post(&go);
	for (; count; count--)
		assert_in_range(next_number(queue), 0, 1);
	/* A user whose jobs are done may add new ones. */
	assert_int_equal(add(queue, &job[0], 3, ONE, false), 0);
	assert_int_equal(next_number(queue), 3);
	job_queue_free(queue, drop);
}

/* A user who adds jobs again and again does not delay one who has waited longer. */
static void test_newcomers(void **state)
{
	struct test_job held = { 0 }, job[5] = { 0 }, again = { 0 };
	struct job_queue *queue = job_queue_new();
	sem_t begun, go;

	assert_non_null(queue);
	hold_up(queue, &held, &begun, &go);
	assert_int_equal(add(queue, &job[1], 1, ANOTHER, false), 0);
	assert_int_equal(add(queue, &again, 2, THIRD, false), 0);
	sem_post(&go);
	assert_int_equal(next_number(queue), 0);
	assert_int_equal(next_number(queue), 1);
	assert_int_equal(next_number(queue), 2);
	held.go = NULL;
	hold_up(queue, &held, &begun, &go);
	assert_int_equal(add(queue, &job[3], 3, ANOTHER, false), 0);
	assert_int_equal(add(queue, &again, 4, THIRD, false), 0);
	sem_post(&go);
	assert_int_equal(next_number(queue), 0);
	assert_int_equal(next_number(queue), 3);
	assert_int_equal(next_number(queue), 4);
	job_queue_free(queue, drop);
}

static void test_end(void **state)
{
	struct test_job held = { 0 }, job[3] = { 0 };
	struct job_queue *queue = job_queue_new();
	sem_t begun, go;

	assert_non_null(queue);
	hold_up(queue, &held, &begun, &go);
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(queue, &job[i], i, ANOTHER, false), 0);
	dropped = 0;
	sem_post(&go);
	job_queue_free(queue, drop);
	assert_int_equal(dropped, 4);
	job_queue_free(NULL, drop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_newcomers),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
