/* SPDX-License-Identifier: Apache-2.0 */
/* Every link is closed once, by another thread, before the closer is freed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "daemon/profbpfd/probe/link_closer.h"

#define LINKS 1000

struct probe_link {
	atomic_int closed;
	pthread_t by;
};

/* A gate at which the closer waits while it closes; the tests use it to block the closer. */
static sem_t gate;

/* Replaces the function of probe_link.c. */
void probe_link_free(struct probe_link *link)
{
	sem_wait(&gate);
	link->by = pthread_self();
	atomic_fetch_add(&link->closed, 1);
}

static void closes_each_link_once(void **state)
{
	static struct probe_link links[LINKS];
	struct link_closer *closer = link_closer_new();

	(void)state;
	assert_non_null(closer);
	sem_init(&gate, 0, 0);
	for (int i = 0; i < LINKS; i++)
		link_closer_add(closer, &links[i]);
	/* Adding a link does not wait for the close. */
	for (int i = 0; i < LINKS; i++)
		assert_int_equal(atomic_load(&links[i].closed), 0);
	for (int i = 0; i < LINKS; i++)
		sem_post(&gate);
	link_closer_free(closer);
	for (int i = 0; i < LINKS; i++) {
		assert_int_equal(atomic_load(&links[i].closed), 1);
		assert_false(pthread_equal(links[i].by, pthread_self()));
	}
	sem_destroy(&gate);
}

static void has_nothing_to_do(void **state)
{
	struct link_closer *closer = link_closer_new();

	(void)state;
	assert_non_null(closer);
	link_closer_add(closer, NULL);
	link_closer_free(closer);
	link_closer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closes_each_link_once),
		cmocka_unit_test(has_nothing_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
