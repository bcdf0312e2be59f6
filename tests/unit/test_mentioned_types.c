/* SPDX-License-Identifier: Apache-2.0 */
/* The selection of the kernel's types, and the reduced result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "daemon/profbpfd/capture/mentioned_types.h"

/* "task" has a pointer to "mm", a "list" and an array of "long"; the other types are unrelated to it. */
struct scene {
	struct btf *kernel, *programs;
	int number, list, mm, task;
};

static int make_struct(struct btf *btf, const char *name, uint32_t size)
{
	int id = btf__add_struct(btf, name, size);

	assert_true(id > 0);
	return id;
}

static void add_member(struct btf *btf, const char *name, int type, uint32_t byte)
{
	assert_int_equal(btf__add_field(btf, name, type, byte * 8, 0), 0);
}

static void make_scene(struct scene *s)
{
	int to_mm, array, of_list, flavor;

	s->kernel = btf__new_empty();
	s->programs = btf__new_empty();
	assert_non_null(s->kernel);
	assert_non_null(s->programs);
	s->number = btf__add_int(s->kernel, "long", 8, BTF_INT_SIGNED);
	make_struct(s->kernel, "stranger", 8);
	add_member(s->kernel, "x", s->number, 0);
	s->mm = make_struct(s->kernel, "mm", 8);
	add_member(s->kernel, "x", s->number, 0);
	to_mm = btf__add_ptr(s->kernel, s->mm);
	array = btf__add_array(s->kernel, s->number, s->number, 4);
	of_list = s->number + 6; /* comes after "task", which contains it */
	s->task = make_struct(s->kernel, "task", 56);
	add_member(s->kernel, "mm", to_mm, 0);
	add_member(s->kernel, "list", of_list, 8);
	add_member(s->kernel, "array", array, 24);
	s->list = make_struct(s->kernel, "list", 16);
	add_member(s->kernel, "next", to_mm, 0);
	assert_int_equal(s->list, of_list);
	flavor = make_struct(s->programs, "task___old_one", 0);
	assert_true(flavor > 0);
	make_struct(s->programs, "is_not_there", 4);
	make_struct(s->programs, "___stranger", 4);
}

static void free_scene(struct scene *s)
{
	btf__free(s->kernel);
	btf__free(s->programs);
}

static void contains_what_is_mentioned(void **state)
{
	struct scene s;
	const struct btf_type *task, *member;
	struct btf *picked;
	int id;

	make_scene(&s);
	picked = mentioned_types_pick(s.kernel, s.programs);
	assert_non_null(picked);
	assert_true(btf__find_by_name_kind(picked, "stranger", BTF_KIND_STRUCT) < 0);
	assert_true(btf__find_by_name_kind(picked, "mm", BTF_KIND_STRUCT) < 0);
	id = btf__find_by_name_kind(picked, "task", BTF_KIND_STRUCT);
	assert_true(id > 0);
	task = btf__type_by_id(picked, id);
	assert_int_equal(btf_vlen(task), 3);
	assert_int_equal(task->size, 56);
	member = btf__type_by_id(picked, btf_members(task)[0].type);
	assert_true(btf_is_ptr(member));
	assert_int_equal(member->type, 0);
	member = btf__type_by_id(picked, btf_members(task)[1].type);
	assert_string_equal(btf__name_by_offset(picked, member->name_off), "list");
	assert_int_equal(btf_member_bit_offset(task, 1), 64);
	member = btf__type_by_id(picked, btf_members(task)[2].type);
	assert_true(btf_is_array(member));
	assert_int_equal(btf_array(member)->nelems, 4);
	member = btf__type_by_id(picked, btf_array(member)->type);
	assert_string_equal(btf__name_by_offset(picked, member->name_off), "long");
	btf__free(picked);
	free_scene(&s);
}

/* libbpf can read the written file: no type refers to a missing one. */
static void can_be_read_from_its_file(void **state)
{
	struct mentioned_types types;
	struct scene s;
	struct btf *read;
	char path[40];

	make_scene(&s);
	make_struct(s.kernel, "file", 8);
	assert_int_equal(mentioned_types_take(&types, s.kernel, s.programs), 0);
	assert_true(types.fd > 0);
	assert_int_equal(types.file, s.list + 1);
	assert_int_equal(types.socket, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types.fd);
	read = btf__parse(path, NULL);
	assert_non_null(read);
	assert_true(btf__find_by_name_kind(read, "task", BTF_KIND_STRUCT) > 0);
	btf__free(read);
	mentioned_types_free(&types);
	assert_int_equal(types.fd, 0);
	mentioned_types_free(&types);
	free_scene(&s);
}

/* Two types of the same name are both kept, in their order: libbpf checks all of them. */
static void keeps_all_of_a_name(void **state)
{
	int first = 0, second = 0;
	struct btf *picked;
	struct scene s;

	make_scene(&s);
	make_struct(s.kernel, "task", 80);
	make_struct(s.kernel, "task___of_kernel", 96);
	picked = mentioned_types_pick(s.kernel, s.programs);
	assert_non_null(picked);
	for (uint32_t id = 1; id < btf__type_cnt(picked); id++) {
		const struct btf_type *type = btf__type_by_id(picked, id);
		const char *name = btf__name_by_offset(picked, type->name_off);

		if (btf_is_struct(type) && !strcmp(name, "task") && type->size == 56)
			first = (int)id;
		if (btf_is_struct(type) && !strcmp(name, "task") && type->size == 80)
			second = (int)id;
	}
	assert_true(first > 0 && second > first);
	assert_true(btf__find_by_name_kind(picked, "task___of_kernel", BTF_KIND_STRUCT) > 0);
	btf__free(picked);
	free_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contains_what_is_mentioned),
		cmocka_unit_test(can_be_read_from_its_file),
		cmocka_unit_test(keeps_all_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
