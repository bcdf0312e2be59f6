/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of drivers and their ioctl commands, and the look-up of those. */
#include "daemon/catalog/catalog_parser.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_NUMBER_MAX 255 /* of _IOC_NR */
#define COMMAND_BITS 16 /* type and number: direction and size vary from version to version */

static bool add_driver_name(struct parser *parser, struct catalog_driver *driver,
			    const struct token *token)
{
	char **grown = reallocarray(driver->names, driver->name_count + 1, sizeof(*grown));

	if (!grown) {
		parser->no_memory = true;
		return false;
	}
	driver->names = grown;
	grown[driver->name_count] = catalog_copy(parser, token);
	driver->name_count += grown[driver->name_count] != NULL;
	return true;
}

void catalog_parse_driver(struct parser *parser)
{
	struct catalog *catalog = parser->catalog;
	struct catalog_driver *driver;
	struct token token;
	void *grown;

	grown = reallocarray(catalog->drivers, catalog->driver_count + 1, sizeof(*driver));
	if (!grown) {
		parser->no_memory = true;
		return;
	}
	catalog->drivers = grown;
	driver = &catalog->drivers[catalog->driver_count++];
	*driver = (struct catalog_driver){ 0 };
	parser->command_capacity = 0;
	while (catalog_next_token(parser, &token) && add_driver_name(parser, driver, &token))
		;
	if (!driver->name_count && !parser->no_memory)
		FAIL(parser, token.column,
		     "found the end of the line, expected a driver's name in /proc/devices, its "
		     "module's name or a path with * under /dev, as in nvidia-uvm or /dev/nvidia*");
}

/* A decimal number, or a hexadecimal one after 0x; false if it is none or beyond @max. */
static bool parse_code(const struct token *token, uint32_t max, uint32_t *value)
{
	bool hex = token->length > 2 && token->text[0] == '0' && token->text[1] == 'x';
	uint64_t number = 0;

	if (!token->length)
		return false;
	for (size_t i = hex ? 2 : 0; i < token->length; i++) {
		unsigned char c = token->text[i];

		if (!(hex ? isxdigit(c) : isdigit(c)))
			return false;
		number = number * (hex ? 16 : 10) + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
		if (number > max)
			return false;
	}
	*value = number;
	return true;
}

static void add_command(struct parser *parser, const struct catalog_command *command)
{
	struct catalog_driver *driver =
		&parser->catalog->drivers[parser->catalog->driver_count - 1];

	if (driver->command_count == parser->command_capacity) {
		size_t capacity = parser->command_capacity ? parser->command_capacity * 2 : 16;
		void *grown = reallocarray(driver->commands, capacity, sizeof(*command));

		if (!grown) {
			parser->no_memory = true;
			free(command->name);
			return;
		}
		driver->commands = grown;
		parser->command_capacity = capacity;
	}
	driver->commands[driver->command_count++] = *command;
}

/* Parses the command before the name: 'T' NUMBER, or NUMBER for the whole command. */
static bool parse_command(struct parser *parser, struct catalog_command *command)
{
	struct token token;
	uint32_t number;

	catalog_next_token(parser, &token);
	if (token.length == 3 && token.text[0] == '\'' && token.text[2] == '\'') {
		uint32_t type = (unsigned char)token.text[1];

		catalog_next_token(parser, &token);
		if (!parse_code(&token, COMMAND_NUMBER_MAX, &number)) {
			FAIL(parser, token.column,
			     "found %s, expected the command's number from 0 to %d after its "
			     "letter",
			     QUOTE(&token), COMMAND_NUMBER_MAX);
			return false;
		}
		command->value = type << 8 | number;
		command->mask = (1u << COMMAND_BITS) - 1;
		return true;
	}
	if (!parse_code(&token, UINT32_MAX, &number)) {
		FAIL(parser, token.column,
		     "found %s, expected a command: a letter in quotes and a number, as in 'T' 1, "
		     "or the whole number, as in 0x5401",
		     QUOTE(&token));
		return false;
	}
	command->value = number;
	command->mask = UINT32_MAX;
	return true;
}

void catalog_parse_ioctl(struct parser *parser)
{
	struct catalog_command command = { 0 };
	struct token name;

	if (!parser->catalog->driver_count) {
		FAIL(parser, 1,
		     "found \"ioctl\", expected \"driver NAME\" before it: numbers mean "
		     "something else in each driver");
		return;
	}
	if (!parse_command(parser, &command))
		return;
	if (!catalog_next_token(parser, &name)) {
		FAIL(parser, name.column,
		     "found the end of the line, expected the command's name after its number");
		return;
	}
	command.name = catalog_copy(parser, &name);
	if (!command.name)
		return;
	add_command(parser, &command);
	catalog_expect_end(parser);
}

void catalog_drivers_free(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->driver_count; i++) {
		struct catalog_driver *driver = &catalog->drivers[i];

		for (size_t k = 0; k < driver->name_count; k++)
			free(driver->names[k]);
		for (size_t k = 0; k < driver->command_count; k++)
			free(driver->commands[k].name);
		free(driver->names);
		free(driver->commands);
	}
	free(catalog->drivers);
}

static bool is_called(const struct catalog_driver *driver, const char *name)
{
	for (size_t i = 0; *name && i < driver->name_count; i++)
		if (!fnmatch(driver->names[i], name, 0))
			return true;
	return false;
}

size_t catalogs_commands(const struct catalogs *catalogs, const char *const *names, size_t count,
			 const struct catalog_command **commands, size_t max)
{
	size_t found = 0;

	for (size_t i = catalogs_count(catalogs); i-- > 0;) {
		const struct catalog *catalog = catalogs_get(catalogs, i);

		for (size_t d = catalog->driver_count; d-- > 0;) {
			const struct catalog_driver *driver = &catalog->drivers[d];
			bool called = false;

			for (size_t n = 0; n < count; n++)
				called |= is_called(driver, names[n]);
			for (size_t c = 0; called && c < driver->command_count && found < max; c++)
				commands[found++] = &driver->commands[c];
		}
	}
	return found;
}
