/* SPDX-License-Identifier: Apache-2.0 */
/* A process's tables are built before a session has its programs, which know them at once. Needs root. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/unwinder.h"

#define LONG_NS 60000000000ull

static int process_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, "processes", sizeof(uint32_t), sizeof(struct unwind_process), 16,
			      &options);
}

/* Returns the number of this process's mappings with a table in @map; -1: the process is unknown there. */
static int mappings_with_tables(int map)
{
	struct unwind_process *process = calloc(1, sizeof(*process));
	uint32_t key = (uint32_t)getpid();
	int count = -1;

	assert_non_null(process);
	if (!bpf_map_lookup_elem(map, &key, process)) {
		count = 0;
		for (uint32_t i = 0; i < process->count; i++)
			count += process->mapping[i].pages > 0;
	}
	free(process);
	return count;
}

struct scene {
	struct unwinder *unwinder;
	struct unwinder_session *session;
	int map;
};

static struct scene begin(void)
{
	struct scene scene = { .unwinder = unwinder_new(), .map = process_map() };

	if (scene.map < 0 && errno == EPERM)
		skip();
	assert_true(scene.map >= 0);
	scene.session = unwinder_join(scene.unwinder);
	assert_non_null(scene.session);
	return scene;
}

static void end(struct scene *scene)
{
	unwinder_leave(scene->session);
	unwinder_free(scene->unwinder);
	close(scene->map);
}

static void what_is_prepared_is_known_from_the_beginning(void **state)
{
	struct scene scene = begin();

	unwinder_prepare(scene.session, getpid());
	unwinder_wait(scene.session, LONG_NS);
	assert_int_equal(mappings_with_tables(scene.map), -1);
	unwinder_begin(scene.session, scene.map, NULL);
	unwinder_wait(scene.session, LONG_NS);
	assert_in_range(mappings_with_tables(scene.map), 2, UNWIND_MAPPINGS);
	assert_int_equal(unwinder_left_out(scene.session).processes, 0);
	end(&scene);
}

/* However far the thread has got. */
static void a_session_that_begins_meanwhile_knows_it_too(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct scene scene = begin();

		unwinder_prepare(scene.session, getpid());
		usleep((useconds_t)i * 200);
		unwinder_begin(scene.session, scene.map, NULL);
		unwinder_wait(scene.session, LONG_NS);
		assert_in_range(mappings_with_tables(scene.map), 2, UNWIND_MAPPINGS);
		end(&scene);
	}
}

static void a_session_may_leave_before_it_begins(void **state)
{
	struct scene scene = begin();

	unwinder_prepare(scene.session, getpid());
	end(&scene);
}

static void waiting_ends(void **state)
{
	struct scene scene = begin();

	unwinder_begin(scene.session, scene.map, NULL);
	unwinder_wait(scene.session, LONG_NS);
	unwinder_look(scene.session, getpid(), false);
	unwinder_wait(scene.session, 0);
	unwinder_wait(scene.session, LONG_NS);
	assert_in_range(mappings_with_tables(scene.map), 2, UNWIND_MAPPINGS);
	unwinder_forget(scene.session, getpid());
	assert_int_equal(mappings_with_tables(scene.map), -1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_prepared_is_known_from_the_beginning),
		cmocka_unit_test(a_session_that_begins_meanwhile_knows_it_too),
		cmocka_unit_test(a_session_may_leave_before_it_begins),
		cmocka_unit_test(waiting_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
