/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_catalog.c - libFuzzer target for catalogs, which ordinary users send to root's daemon.
 *
 * An input is a list of catalogs, separated by record separators (0x1e); the last part, if there are several, is
 * a list of names, one a line, which are looked up as symbols and as names of drivers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/catalog/catalog_set.h"
#include "tests/fuzz/input.h"

#define NEXT_PART 0x1e
#define COMMANDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_conf(const struct catalog_function *function)
{
	struct probe_conf conf;

	catalog_probe_conf(function, &conf);
	check(function->layer >= 1 && function->layer <= 255);
	check(conf.string_position <= 64);
	for (int i = 0; i < REC_ARGS; i++)
		check(conf.args[i].position <= 64 && conf.args[i].width <= 8);
}

static void ask_symbol(const struct catalogs *catalogs, const char *name, size_t length)
{
	const struct catalog_function *function = catalog_match(catalogs, name, length);
	char *symbol, *operator;

	if (!function)
		return;
	check(!function->exclude && function->catalog);
	check(strcmp(catalog_kind_name(function->kind), "?"));
	check_conf(function);
	symbol = strndup(name, length);
	check(symbol != NULL);
	operator= catalog_operator(function, symbol);
	check(!operator|| strlen(operator) <= length);
	free(operator);
	free(symbol);
}

static void ask_driver(const struct catalogs *catalogs, const char *name, size_t length)
{
	const struct catalog_command *commands[COMMANDS_MAX];
	char *driver = strndup(name, length);
	const char *names[] = { driver };
	size_t count;

	check(driver != NULL);
	count = catalogs_commands(catalogs, names, 1, commands, COMMANDS_MAX);
	check(count <= COMMANDS_MAX);
	for (size_t i = 0; i < count; i++)
		check(commands[i]->name[0] && !(commands[i]->value & ~commands[i]->mask));
	free(driver);
}

static void ask(const struct catalogs *catalogs, struct input names)
{
	while (names.size) {
		const uint8_t *end = memchr(names.data, '\n', names.size);
		size_t length = end ? (size_t)(end - names.data) : names.size;
		const char *name = (const char *)input_take(&names, length).data;

		ask_symbol(catalogs, name, length);
		ask_driver(catalogs, name, length);
		input_byte(&names);
	}
}

/* Uses a copy in its own allocation, so that a read beyond its end is detected. */
static void add(struct catalogs *catalogs, struct input text)
{
	char *copy = malloc(text.size ? text.size : 1), *error = NULL;
	int err;

	check(copy != NULL);
	if (text.size)
		memcpy(copy, text.data, text.size);
	err = catalogs_add_text(catalogs, "fuzz", copy, text.size, &error);
	check(!err == !error && err != -ENOMEM);
	check(!error || strlen(error));
	free(error);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalogs *catalogs = catalogs_new();
	struct input in = { data, size };
	struct words lines = { 0 };
	bool first = true;

	check(catalogs != NULL);
	for (;;) {
		const uint8_t *end = in.size ? memchr(in.data, NEXT_PART, in.size) : NULL;

		if (!end && !first)
			break;
		add(catalogs, input_take(&in, end ? (size_t)(end - in.data) : in.size));
		input_byte(&in);
		first = false;
	}
	ask(catalogs, in);
	check(!catalog_set_describe(catalogs, &lines));
	check(lines.count == catalogs_count(catalogs));
	words_free(&lines);
	catalogs_free(catalogs);
	return 0;
}
