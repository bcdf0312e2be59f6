/* SPDX-License-Identifier: Apache-2.0 */
/* A name of code is valid from the first call on that passed its address, in whatever order calls arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/probe/code_names.h"
#include "proto/trace.pb-c.h"

#define PROBE 5
#define SLOT 1

struct scene {
	struct item_queue *queue;
	struct code_names *names;
};

static void begin(struct scene *scene)
{
	scene->queue = item_queue_new(1 << 20);
	assert_non_null(scene->queue);
	scene->names = code_names_new(scene->queue);
	assert_non_null(scene->names);
	code_names_watch(scene->names, PROBE, SLOT);
}

static void end(struct scene *scene)
{
	code_names_free(scene->names);
	item_queue_free(scene->queue);
}

/* A function of this program stands for the kernel. */
static void launch(struct scene *scene, uint64_t ts_ns)
{
	struct rec_call call = { .header.ts_ns = ts_ns, .tgid = (uint32_t)getpid(), .probe = PROBE };

	call.args[SLOT] = (uint64_t)(uintptr_t)begin;
	code_names_see(scene->names, &call);
}

/* Expects a new name, valid from this instant on. */
static void expect_name_from(struct scene *scene, uint64_t from_ns)
{
	Profbpf__CodeNames *names;
	struct item *item;

	assert_true(code_names_waiting(scene->names));
	code_names_resolve(scene->names);
	item = item_queue_pop(scene->queue);
	assert_non_null(item);
	names = profbpf__code_names__unpack(NULL, item->size, item->data);
	assert_non_null(names);
	assert_int_equal(names->n_name, 1);
	assert_int_equal(names->name[0]->from_ns, from_ns);
	assert_int_equal(names->name[0]->address, (uint64_t)(uintptr_t)begin);
	assert_string_equal(names->name[0]->symbol, "begin");
	profbpf__code_names__free_unpacked(names, NULL);
	item_free(item);
}

static void from_the_first_call_on(void **state)
{
	struct scene scene;

	begin(&scene);
	launch(&scene, 200);
	expect_name_from(&scene, 200);
	launch(&scene, 200);
	launch(&scene, 300);
	assert_false(code_names_waiting(scene.names));
	/* A call from another CPU, whose records are read later. */
	launch(&scene, 100);
	expect_name_from(&scene, 100);
	launch(&scene, 150);
	assert_false(code_names_waiting(scene.names));
	end(&scene);
}

/* The new program may have other code at the address. */
static void anew_after_exec(void **state)
{
	struct scene scene;

	begin(&scene);
	launch(&scene, 200);
	expect_name_from(&scene, 200);
	code_names_forget(scene.names, getpid());
	launch(&scene, 300);
	expect_name_from(&scene, 300);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_the_first_call_on),
		cmocka_unit_test(anew_after_exec),
	};

	return cmocka_run_group_tests_name("code_names", tests, NULL, NULL);
}
