/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the trace format never change: each line of tests/data/trace_format.txt, a field or a value with its
 * number and type, is still true. New fields and values are added to that file at their message; with
 * PROFBPF_STORE_REPORTS=1 the test appends the missing lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/trace.pb-c.h"

#define STORED "tests/data/trace_format.txt"

/* Messages that no other message contains. */
static const ProtobufCMessageDescriptor *const messages[] = {
	&profbpf__trace__descriptor,	  &profbpf__segment__descriptor,
	&profbpf__clocks__descriptor,	  &profbpf__strings__descriptor,
	&profbpf__functions__descriptor,  &profbpf__code_names__descriptor,
	&profbpf__tasks__descriptor,	  &profbpf__calls__descriptor,
	&profbpf__ioctls__descriptor,	  &profbpf__drivers__descriptor,
	&profbpf__switches__descriptor,	  &profbpf__sleep_objects__descriptor,
	&profbpf__interrupts__descriptor, &profbpf__wakes__descriptor,
	&profbpf__faults__descriptor,	  &profbpf__block_requests__descriptor,
	&profbpf__accounts__descriptor,	  &profbpf__processes__descriptor,
	&profbpf__cgroups__descriptor,	  &profbpf__cgroup_stats__descriptor,
	&profbpf__cpu_stats__descriptor,  &profbpf__counters__descriptor,
	&profbpf__devices__descriptor,	  &profbpf__device_tasks__descriptor,
	&profbpf__coverage__descriptor,	  &profbpf__ends__descriptor,
	&profbpf__statistics__descriptor, &profbpf__thread_roles__descriptor,
	&profbpf__stacks__descriptor,	  &profbpf__stack_samples__descriptor,
	&profbpf__pythons__descriptor,
};

/* Enums that are not the type of a field: flags, and values of integer fields. */
static const ProtobufCEnumDescriptor *const flags[] = {
	&profbpf__tasks__flag__descriptor,	  &profbpf__calls__flag__descriptor,
	&profbpf__ioctls__flag__descriptor,	  &profbpf__switches__flag__descriptor,
	&profbpf__wakes__flag__descriptor,	  &profbpf__block_requests__flag__descriptor,
	&profbpf__accounts__flag__descriptor,	  &profbpf__processes__flag__descriptor,
	&profbpf__cgroup_stats__flag__descriptor, &profbpf__stack_samples__flag__descriptor,
};

static const char *type_name(ProtobufCType type)
{
	static const char *const names[] = {
		[PROTOBUF_C_TYPE_INT32] = "int32",     [PROTOBUF_C_TYPE_SINT32] = "sint32",
		[PROTOBUF_C_TYPE_INT64] = "int64",     [PROTOBUF_C_TYPE_SINT64] = "sint64",
		[PROTOBUF_C_TYPE_UINT32] = "varint32", [PROTOBUF_C_TYPE_UINT64] = "uint64",
		[PROTOBUF_C_TYPE_FIXED32] = "fixed32", [PROTOBUF_C_TYPE_FIXED64] = "fixed64",
		[PROTOBUF_C_TYPE_BOOL] = "bool",       [PROTOBUF_C_TYPE_ENUM] = "varint32",
		[PROTOBUF_C_TYPE_STRING] = "string",   [PROTOBUF_C_TYPE_BYTES] = "bytes",
		[PROTOBUF_C_TYPE_MESSAGE] = "message",
	};

	assert_in_range(type, 0, sizeof(names) / sizeof(names[0]) - 1);
	assert_non_null(names[type]);
	return names[type];
}

static void list_enum(FILE *out, const ProtobufCEnumDescriptor *type)
{
	for (unsigned int i = 0; i < type->n_values; i++)
		fprintf(out, "%s %s = %d\n", type->name, type->values[i].name,
			type->values[i].value);
}

/* An enum counts as a uint32: the encoding is the same. */
static void list_message(FILE *out, const ProtobufCMessageDescriptor *type)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &type->fields[i];

		fprintf(out, "%s %s %s%s = %u\n", type->name, f->name,
			f->label == PROTOBUF_C_LABEL_REPEATED ? "repeated " : "",
			type_name(f->type), f->id);
		if (f->type == PROTOBUF_C_TYPE_ENUM)
			list_enum(out, f->descriptor);
		else if (f->type == PROTOBUF_C_TYPE_MESSAGE)
			list_message(out, f->descriptor);
	}
}

static char *format_now(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputc('\n', out);
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		list_message(out, messages[i]);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		list_enum(out, flags[i]);
	fclose(out);
	return text;
}

static char *format_stored(void)
{
	size_t size = 1 << 20;
	char *text = calloc(1, size);
	FILE *file = fopen(STORED, "r");

	assert_non_null(text);
	text[0] = '\n';
	if (file) {
		assert_true(fread(text + 1, 1, size - 2, file) < size - 2);
		fclose(file);
	}
	return text;
}

/* Is @line a whole line of @text, which begins with an empty line? */
static bool has_line(const char *text, const char *line)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	return strstr(text, wanted) != NULL;
}

/* Writes the lines of @text that @other lacks to @out. */
static size_t lacking(char *text, const char *other, FILE *out)
{
	size_t count = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (has_line(other, line))
			continue;
		fprintf(out, "%s\n", line);
		count++;
	}
	return count;
}

static void numbers_stay(void **state)
{
	char *now = format_now(), *stored = format_stored();

	assert_true(strlen(stored) > 1000 || getenv("PROFBPF_STORE_REPORTS"));
	assert_int_equal(lacking(stored, now, stderr), 0);
	free(now);
	free(stored);
}

static void new_numbers_are_stored(void **state)
{
	char *now = format_now(), *stored = format_stored();
	FILE *file = getenv("PROFBPF_STORE_REPORTS") ? fopen(STORED, "a") : stderr;
	size_t count;

	assert_non_null(file);
	count = lacking(now, stored, file);
	if (file != stderr)
		fclose(file);
	else if (count)
		fail_msg("%s lacks the lines above; PROFBPF_STORE_REPORTS=1 adds them", STORED);
	free(now);
	free(stored);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay),
		cmocka_unit_test(new_numbers_are_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
