/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What MindData's threads work for, read from a simulated process: only the thread's own role, and only from memory
 * that is present.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/interpreters/interpreter.h"
#include "lib/base/present_memory.h"
#include "proto/trace.pb-c.h"

/*
 * A fuzz seed that begins with a library that has the variable: three bytes of the fuzzer's own, then as many as the
 * first two say.
 */
#define SEED "tests/fuzz/memory_seeds/tasks"
#define SEED_HEAD 3
#define MODULE_WORD 0x3f8 /* place of the module's number, which the loader writes, followed by the variable's offset */
#define MODULE 1

#define TID 77
#define NAME "MapOp(ID:2)"

struct scene {
	char folder[32], path[64];
	uint8_t *library;
	size_t size;
	uint64_t thread[2], dtv[4], block[1]; /* in memory */
	uint8_t *pages; /* three pages; the Task begins in the first one */
	uint8_t *task;
};

static uint64_t page;

/* As in MindSpore 2.0. */
static void make_task(struct scene *s, uint8_t *task, const char *name)
{
	uint64_t text = (uintptr_t)name;
	int32_t id = 2, tid = TID;

	s->task = task;
	s->block[0] = (uintptr_t)task;
	memcpy(task + 0x68, &text, sizeof(text));
	memcpy(task + 0x70, &id, sizeof(id));
	memcpy(task + 0x74, &tid, sizeof(tid));
}

static void map_library(struct scene *s)
{
	uint8_t head[SEED_HEAD], bytes[8192];
	uint64_t words[2] = { MODULE, 0 };
	FILE *file = fopen(SEED, "re");

	assert_non_null(file);
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	s->size = head[0] | (size_t)head[1] << 8;
	assert_int_equal(fread(bytes, 1, s->size, file), s->size);
	fclose(file);
	strcpy(s->folder, "/tmp/profbpf-roles.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	snprintf(s->path, sizeof(s->path), "%s/_c_dataengine.so", s->folder);
	file = fopen(s->path, "w+e");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, s->size, file), s->size);
	assert_int_equal(fflush(file), 0);
	s->library = mmap(NULL, s->size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	assert_ptr_not_equal(s->library, MAP_FAILED);
	fclose(file);
	memcpy(s->library + MODULE_WORD, words, sizeof(words));
}

static uint8_t *map_pages(void)
{
	uint8_t *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise(pages, 3 * page, MADV_NOHUGEPAGE);
	return pages;
}

static int make_scene(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	map_library(s);
	s->pages = map_pages();
	s->thread[1] = (uintptr_t)s->dtv;
	s->dtv[2 * MODULE] = (uintptr_t)s->block;
	*state = s;
	return 0;
}

static int end_scene(void **state)
{
	struct scene *s = *state;

	munmap(s->library, s->size);
	munmap(s->pages, 3 * page);
	unlink(s->path);
	rmdir(s->folder);
	free(s);
	return 0;
}

/* Returns the name read for the thread; NULL: none. */
static char *told(const struct scene *s)
{
	struct thread_pointer thread = { .tid = TID, .tgid = (uint32_t)getpid(), .address = (uintptr_t)s->thread };
	const char *problem;
	struct item *item = interpreter_mindspore.roles(getpid(), &thread, 1, &problem);
	Profbpf__ThreadRoles *roles;
	char *name;

	if (!item)
		return NULL;
	roles = profbpf__thread_roles__unpack(NULL, item->size, item->data);
	assert_non_null(roles);
	assert_int_equal(roles->n_name, 1);
	assert_int_equal(roles->tid[0], TID);
	assert_int_equal(roles->operator_id[0], 2);
	name = strdup(roles->name[0]);
	profbpf__thread_roles__free_unpacked(roles, NULL);
	item_free(item);
	return name;
}

static void assert_told(const struct scene *s, const char *expected)
{
	char *name = told(s);

	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

static void assert_absent(const void *at)
{
	struct present_memory here;

	present_memory_open(&here, getpid());
	assert_false(present_memory_has(&here, (uintptr_t)at, 1));
	present_memory_close(&here);
}

static void a_task_in_memory_is_told(void **state)
{
	struct scene *s = *state;

	make_task(s, s->pages, NAME);
	assert_told(s, NAME);
	s->thread[1] = (uintptr_t)s->pages + page;
	assert_told(s, NULL);
	assert_absent(s->pages + page);
}

static void a_task_that_is_not_there_is_left_so(void **state)
{
	struct scene *s = *state;

	make_task(s, s->pages, NAME);
	/* Its number lies in an absent page. */
	s->block[0] = (uintptr_t)s->pages + 2 * page - 0x70;
	assert_told(s, NULL);
	assert_absent(s->pages + page);
	s->block[0] = (uintptr_t)s->pages + page;
	assert_told(s, NULL);
	assert_absent(s->pages + page);
}

static void a_name_may_end_where_memory_ends(void **state)
{
	struct scene *s = *state;
	char *end = (char *)s->pages + page;

	memcpy(end - sizeof(NAME), NAME, sizeof(NAME));
	make_task(s, s->pages, end - sizeof(NAME));
	assert_told(s, NAME);
	assert_absent(end);
	/* A name that continues in the absent page is not returned, and reading does not create the page. */
	memset(end - sizeof(NAME), 'A', sizeof(NAME));
	assert_told(s, NULL);
	assert_absent(end);
	memcpy(end, "Op", 3);
	assert_told(s, "AAAAAAAAAAAAOp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_task_in_memory_is_told, make_scene, end_scene),
		cmocka_unit_test_setup_teardown(a_task_that_is_not_there_is_left_so, make_scene, end_scene),
		cmocka_unit_test_setup_teardown(a_name_may_end_where_memory_ends, make_scene, end_scene),
	};

	page = (uint64_t)sysconf(_SC_PAGESIZE);
#if !defined(__x86_64__)
	puts("only known for x86-64");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
