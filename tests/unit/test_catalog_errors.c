/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs: each message of the parser with its line and column. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/catalog/catalog.h"

#define KINDS "other launch copy sync alloc free event collective compile load queue marker stage"
#define ROLES                                                                                    \
	"stream bytes copy_kind handle name correlation count device blocking out_handle value " \
	"code thread task"
#define CONVENTIONS "never nonzero null negative"

/* Parses "runtime test" followed by @text, which therefore begins in line 2. Returns the messages. */
static char *errors_of(const char *text)
{
	struct catalog_errors errors;
	struct catalog *catalog;
	char whole[1024], *message;

	snprintf(whole, sizeof(whole), "runtime test\n%s", text);
	catalog = catalog_parse("t.catalog", whole, strlen(whole), &errors);
	assert_int_equal(catalog == NULL, errors.count > 0);
	message = catalog_errors_text(&errors, "t.catalog");
	assert_non_null(message);
	catalog_errors_free(&errors);
	catalog_free(catalog);
	return message;
}

static void expect_error(const char *text, const char *message)
{
	char *found = errors_of(text), expected[512];

	snprintf(expected, sizeof(expected), "t.catalog:%s\n", message);
	assert_string_equal(found, expected);
	free(found);
}

static void wrong_words(void **state)
{
	expect_error("foo lunch 1",
		     "2:5: found \"lunch\", expected a kind: " KINDS " (did you mean \"launch\"?)");
	expect_error("foo xyzzy 1", "2:5: found \"xyzzy\", expected a kind: " KINDS);
	expect_error("foo copy 1 strem=1", "2:12: found \"strem\", expected a role: " ROLES
					   " (did you mean \"stream\"?)");
	expect_error("foo copy 1 names=kep",
		     "2:18: found \"kep\", expected a word for names=: kept changed (did you mean "
		     "\"kept\"?)");
	expect_error("new copy 1 names=changed\nfoo copy 1 name=1 names=kept",
		     "3:1: found names=kept for \"foo\", expected name=N[OFFSET] with it: names of "
		     "objects are kept");
	expect_error("foo copy 1 name=1[8] names=kept",
		     "2:1: found names=kept, expected a line with names=changed, too: the function "
		     "that makes such objects");
	expect_error("foo copy 1 nothing=1", "2:12: found \"nothing\", expected a role: " ROLES);
	expect_error("foo copy 1 error=nonzro",
		     "2:18: found \"nonzro\", expected an error "
		     "convention: " CONVENTIONS " (did you mean \"nonzero\"?)");
	expect_error("error zero",
		     "2:7: found \"zero\", expected an error convention: " CONVENTIONS);
	expect_error("error",
		     "2:6: found the end of the line, expected an error convention: " CONVENTIONS);
	expect_error("error never now", "2:13: found \"now\", expected the end of the line");
}

static void wrong_functions(void **state)
{
	expect_error("clFinish", "2:9: found the end of the line, expected a kind after "
				 "\"clFinish\", as in \"clFinish launch 1\"");
	expect_error("clFinish sync", "2:14: found the end of the line, expected a layer: 1 for a "
				      "function that applications call, more for what is called "
				      "below it");
	expect_error("clFinish sync stream=1",
		     "2:15: found \"stream=1\", expected a layer from 1 to 255");
	expect_error("clFinish sync 0", "2:15: found \"0\", expected a layer from 1 to 255");
	expect_error("clFinish sync 256", "2:15: found \"256\", expected a layer from 1 to 255");
	expect_error("cl-Finish sync 1",
		     "2:3: found \"-\" in \"cl-Finish\", expected a symbol: letters, digits, _ . $ "
		     "and * for any characters");
	expect_error("9lives sync 1", "2:1: found \"9lives\", expected a symbol of 1 to 1024 "
				      "characters that does not begin with a digit");
	expect_error("!",
		     "2:2: found \"\", expected a symbol of 1 to 1024 characters that does not "
		     "begin with a digit");
	expect_error("!foo sync", "2:6: found \"sync\", expected the end of the line");
	expect_error("foo sync 1\nbar sync 1\n  foo copy 1",
		     "4:3: found \"foo\" a second time, it is in line 2 already");
	expect_error("foo sync 1\n!foo",
		     "3:2: found \"foo\" a second time, it is in line 2 already");
}

static void wrong_positions(void **state)
{
	static const char position[] = "expected an argument position from 1 to 64, with [OFFSET] "
				       "after it or * before it to read through a pointer, or "
				       "\"return\"";
	char message[256];
	static const char *const values[] = { "",   "0", "65", "x", "-1", "99999999999999999999",
					      "**1" };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char text[64];

		snprintf(text, sizeof(text), "foo copy 1 bytes=%s", values[i]);
		snprintf(message, sizeof(message), "2:18: found \"%s\", %s", values[i], position);
		expect_error(text, message);
	}
	expect_error("foo copy 1 stream", "2:12: found \"stream\", expected ROLE=POSITION, as in "
					  "stream=1");
	expect_error("foo copy 1 bytes=1[",
		     "2:18: found \"1[\", expected an offset from 0 to 32767 "
		     "in brackets, as in 1[32]");
	expect_error("foo copy 1 bytes=1[40000]",
		     "2:18: found \"1[40000]\", expected an offset from "
		     "0 to 32767 in brackets, as in 1[32]");
	expect_error("foo copy 1 bytes=1[8", "2:18: found \"1[8\", expected an offset from 0 to "
					     "32767 in brackets, as in 1[32]");
	expect_error("foo copy 1 bytes=*1[8]", "2:18: found \"*1[8]\", expected either *N or "
					       "N[OFFSET]: what is read when the function returns "
					       "has no offset");
	expect_error("foo copy 1 bytes=2:3",
		     "2:18: found \"2:3\", expected a width of 1, 2, 4 or 8 "
		     "bytes after the colon");
	expect_error("foo copy 1 bytes=2:", "2:18: found \"2:\", expected a width of 1, 2, 4 or 8 "
					    "bytes after the colon");
	expect_error("foo copy 1 bytes=2x", "2:18: found \"2x\", expected nothing after \"2\"");
	expect_error("foo copy 1 value=return[8]",
		     "2:18: found \"return[8]\", expected either *N or N[OFFSET]: what is read "
		     "when the function returns has no offset");
}

static void wrong_names(void **state)
{
	expect_error(
		"foo copy 1 name=1[40000]",
		"2:17: found \"1[40000]\", expected the position from 1 to 64 of a string "
		"argument, with an offset in brackets if the string's address is in what it points "
		"to, or the function's own name with one * for what is launched, as in aclnn*");
	expect_error(
		"foo copy 1 name=a*b*",
		"2:17: found \"a*b*\", expected the position from 1 to 64 of a string "
		"argument, with an offset in brackets if the string's address is in what it points "
		"to, or the function's own name with one * for what is launched, as in aclnn*");
	expect_error("fooBar copy 1 name=goo*",
		     "2:1: found \"fooBar\", but name=goo* does not match it");
	expect_error(
		"foo copy 1 name=0",
		"2:17: found \"0\", expected the position from 1 to 64 of a string "
		"argument, with an offset in brackets if the string's address is in what it points "
		"to, or the function's own name with one * for what is launched, as in aclnn*");
	expect_error("foo copy 1 name=1 name=2",
		     "2:19: found \"name=2\", but this line has a name already");
}

static void arguments_that_do_not_go_together(void **state)
{
	expect_error("foo copy 1 value=return bytes=*2",
		     "2:25: found \"bytes=*2\", but only one argument can be read when the "
		     "function returns");
	expect_error("foo copy 1 bytes=1 bytes=2",
		     "2:20: found \"bytes=2\", but this line has a bytes already");
	expect_error(
		"foo copy 1 bytes=1 stream=2 handle=3 value=4",
		"2:38: found \"value=4\", but only three arguments of a call are recorded (and "
		"a name)");
	expect_error("foo copy 1 bytes=1 stream=2 handle=3 value=*4",
		     "2:38: found \"value=*4\", but only three arguments of a call are recorded "
		     "(and a name)");
	expect_error(
		"foo copy 1 bytes=*1 stream=*2",
		"2:21: found \"stream=*2\", but only one argument can be read when the function "
		"returns");
}

static void wrong_directives(void **state)
{
	expect_error("runtime again",
		     "2:9: found a second \"runtime\", but the catalog has one already");
	expect_error("family a\nfamily b",
		     "3:8: found a second \"family\", but the catalog has one already");
	expect_error("family", "2:7: found the end of the line, expected a name after \"family\"");
	expect_error("family Cuda", "2:8: found \"C\" in \"Cuda\", expected a name of lower-case "
				    "letters, digits and _");
	expect_error("family a b", "2:10: found \"b\", expected the end of the line");
	expect_error("library",
		     "2:8: found the end of the line, expected names of library files, as "
		     "in libOpenCL.so*");
}

static void wrong_drivers(void **state)
{
	expect_error("driver",
		     "2:7: found the end of the line, expected a driver's name in "
		     "/proc/devices, its module's name or a path with * under /dev, as in "
		     "nvidia-uvm or /dev/nvidia*");
	expect_error("ioctl 1 FIRST", "2:1: found \"ioctl\", expected \"driver NAME\" before it: "
				      "numbers mean something else in each driver");
	expect_error("driver d\nioctl 'T' 256 NAME",
		     "3:11: found \"256\", expected the command's number from 0 to 255 after its "
		     "letter");
	expect_error("driver d\nioctl T 1 NAME",
		     "3:7: found \"T\", expected a command: a letter in quotes and a number, as in "
		     "'T' 1, or the whole number, as in 0x5401");
	expect_error("driver d\nioctl 'K'x 0x0c NAME",
		     "3:7: found \"'K'x\", expected a command: a letter in quotes and a number, "
		     "as in 'T' 1, or the whole number, as in 0x5401");
	expect_error("driver d\nioctl 0x100000000 NAME",
		     "3:7: found \"0x100000000\", expected a command: a letter in quotes and a "
		     "number, as in 'T' 1, or the whole number, as in 0x5401");
	expect_error(
		"driver d\nioctl 5",
		"3:8: found the end of the line, expected the command's name after its number");
	expect_error("driver d\nioctl 5 A B", "3:11: found \"B\", expected the end of the line");
}

static void wrong_reasons(void **state)
{
	static const char unknown[] =
		"expected a name that a line \"vouch NAME WHY\" above gives to a "
		"reason: async mark";
	char message[256];

	expect_error("vouch",
		     "2:6: found the end of the line, expected a name after \"vouch\" and why "
		     "functions are plain, as in \"vouch async returns at once\"");
	expect_error(
		"vouch a  # because",
		"2:10: found the end of the line, expected after \"a\" why functions are plain, "
		"as in \"vouch async returns at once\"");
	expect_error("vouch aSync it returns", "2:8: found \"S\" in \"aSync\", expected a name of "
					       "lower-case letters, digits and _");
	expect_error("vouch a it returns\nvouch b it waits\nvouch a it marks",
		     "4:7: found \"a\" a second time, it is in line 2 already: give the reasons "
		     "different names");
	expect_error("foo copy 1 plain=async\nvouch async it returns",
		     "2:18: found \"async\", but no line above gives a reason: write \"vouch NAME "
		     "WHY\" before it");
	snprintf(message, sizeof(message), "4:18: found \"xyzzy\", %s", unknown);
	expect_error("vouch async it returns\nvouch mark it marks\nfoo copy 1 plain=xyzzy",
		     message);
	snprintf(message, sizeof(message), "4:18: found \"asnc\", %s (did you mean \"async\"?)",
		 unknown);
	expect_error("vouch async it returns\nvouch mark it marks\nfoo copy 1 plain=asnc", message);
	expect_error(
		"vouch a it returns\nfoo copy 1 plain",
		"3:12: found \"plain\" without a reason, expected plain=NAME and, above, a line "
		"\"vouch NAME WHY\"");
	expect_error("vouch a it returns\nfoo copy 1 plain=",
		     "3:12: found \"plain=\" without a reason, expected plain=NAME and, above, a "
		     "line \"vouch NAME WHY\"");
	expect_error("vouch a it returns\nvouch b it marks\nfoo copy 1 plain=a plain=b",
		     "4:20: found \"plain=b\", but this line has a reason already");
	expect_error(
		"vouch a it returns\n!foo plain=a",
		"3:6: found \"plain=a\", expected the end of the line: a "
		"function that is not traced needs no plain=");
}

/* One line must not make a promise about functions that its author cannot know. */
static void promises_for_everything(void **state)
{
	static const char *const patterns[] = { "*", "**", "_Z*", "_ZN**", "_R*", "_RN*" };
	char text[128], message[256];

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		snprintf(text, sizeof(text), "vouch a it returns\n%s copy 1 plain=a", patterns[i]);
		snprintf(message, sizeof(message),
			 "3:1: found plain=a for \"%s\", expected a pattern that names "
			 "functions: plain= cannot be stated for all functions",
			 patterns[i]);
		expect_error(text, message);
	}
}

/* Limits of the cost that one user's catalog may cause to the shared daemon. */
static void too_many_patterns(void **state)
{
	char *text = NULL, *error;
	struct catalogs *catalogs = catalogs_new();
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fputs("runtime many\n", f);
	for (int i = 0; i < CATALOG_PATTERNS_MAX; i++)
		fprintf(f, "f%d* other 1\n", i);
	fflush(f);
	for (int i = 0; i < CATALOGS_PATTERNS_MAX / CATALOG_PATTERNS_MAX; i++)
		assert_int_equal(catalogs_add_text(catalogs, "m", text, size, &error), 0);
	assert_int_equal(catalogs_add_text(catalogs, "m", text, size, &error), -E2BIG);
	assert_non_null(strstr(error, "more than 1024 patterns"));
	free(error);
	fputs("g* other 1\nexact other 1\n", f);
	fclose(f);
	assert_int_equal(catalogs_add_text(catalogs, "m", text, size, &error), -EINVAL);
	assert_non_null(strstr(error, "m:258:1: found \"g*\", the 257th pattern with a *, "
				      "expected at most 256"));
	free(error);
	free(text);
	catalogs_free(catalogs);
	expect_error(
		"*a other 1\n*b other 1\n*c other 1\n*d other 1\n*e other 1\n*f other 1\n"
		"*g other 1\n*h other 1\n*i other 1\n*j other 1\n*k other 1\n*l other 1\n"
		"*m other 1\n*n other 1\n*o other 1\n*p other 1\n*q other 1\n*r other 1\n",
		"18:1: found \"*q\", the 17th pattern that begins with *, expected at most 16: "
		"every symbol of every library is compared with each; begin them with letters");
	expect_error("a*b*c*d*e* other 1",
		     "2:1: found \"a*b*c*d*e*\" with 5 *, expected at most 4 of them");
}

static void expect_whole_error(const char *text, size_t size, const char *expected)
{
	struct catalog_errors errors;
	char *message;

	assert_null(catalog_parse("t.catalog", text, size, &errors));
	message = catalog_errors_text(&errors, "t.catalog");
	assert_string_equal(message, expected);
	free(message);
	catalog_errors_free(&errors);
}

static void wrong_files(void **state)
{
	static const char jpeg[] = "\xff\xd8\xff\xe0\0\x10JFIF";
	char *large = calloc(1, CATALOG_TEXT_MAX + 1);

	assert_non_null(large);
	memset(large, '\n', CATALOG_TEXT_MAX + 1);
	expect_whole_error("", 0,
			   "t.catalog: found no line at all, expected \"runtime NAME\" and "
			   "functions\n");
	expect_whole_error("# only this\n", 12,
			   "t.catalog: found no line at all, expected \"runtime NAME\" and "
			   "functions\n");
	expect_whole_error(jpeg, sizeof(jpeg),
			   "t.catalog:1:5: found the byte 0x00, expected plain text: this is no "
			   "catalog\n");
	expect_whole_error(
		large, CATALOG_TEXT_MAX + 1,
		"t.catalog: found 4194305 bytes, expected a catalog of at most 4194304\n");
	expect_whole_error(
		"\nfoo sync 1\nbar sync 1\n", 23,
		"t.catalog:2:1: found \"foo\", expected \"runtime NAME\" before anything "
		"else\n");
	free(large);
}

static void all_errors_are_found(void **state)
{
	char *message = errors_of("foo lunch 0 stream=65\n\n\tbar\t?\tx # comment");
	const char *expected = "t.catalog:2:5: found \"lunch\"";
	char many[1024] = "", *lines = message;
	size_t count = 0;

	assert_memory_equal(message, expected, strlen(expected));
	assert_non_null(strstr(message, "\nt.catalog:2:11: found \"0\""));
	assert_non_null(strstr(message, "\nt.catalog:2:20: found \"65\""));
	assert_non_null(strstr(message, "\nt.catalog:4:6: found \"?\""));
	assert_non_null(strstr(message, "\nt.catalog:4:8: found \"x\""));
	while ((lines = strchr(lines, '\n'))) {
		lines++;
		count++;
	}
	assert_int_equal(count, 5);
	free(message);
	for (int i = 0; i < 100; i++)
		strcat(many, "foo\n");
	message = errors_of(many);
	assert_non_null(strstr(message, "t.catalog:65:4: "));
	assert_null(strstr(message, "t.catalog:66:"));
	assert_non_null(strstr(message, "t.catalog: more errors follow\n"));
	free(message);
}

static void quotes_are_printable_and_short(void **state)
{
	expect_error("foo \x1b[2Jcopy 1",
		     "2:5: found the byte 0x1b, expected plain text: this is no "
		     "catalog");
	expect_error("foo \xc3\xa9 1", "2:5: found \"\\xc3\\xa9\", expected a kind: " KINDS);
	expect_error("foo aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee 1",
		     "2:5: found \"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...\", expected a "
		     "kind: " KINDS);
}

/* Parsing any text yields a catalog or messages. */
static void survives_any_text(void **state)
{
	static const char *const pieces[] = {
		"runtime",     "family",
		"library",     "error",
		" ",	       "\t",
		"\n",	       "a",
		"foo*",	       "!",
		"*",	       "=",
		"stream=",     "1",
		"12",	       "[",
		"]",	       ":",
		"4",	       "#",
		"copy",	       "launch",
		"nonzero",     "\xff",
		"name=1",      "out_handle=*1",
		"99999999999", "\r\n",
		"vouch",       "plain",
		"plain=1",     "\nvouch 1 1\n",
	};
	uint64_t random = 0x853c49e6748fea9b;

	for (int i = 0; i < 20000; i++) {
		struct catalog_errors errors;
		struct catalog *catalog;
		char text[512] = "";

		if (i % 2)
			strcpy(text, "runtime x\n");
		for (int j = 0; j < 30; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			strcat(text, pieces[random % (sizeof(pieces) / sizeof(*pieces))]);
		}
		catalog = catalog_parse("any", text, strlen(text), &errors);
		assert_int_equal(catalog == NULL, errors.count > 0);
		catalog_errors_free(&errors);
		catalog_free(catalog);
	}
}

/* A misspelt reason is compared with names that are longer than any word of a catalog. */
static void long_names_of_reasons(void **state)
{
	for (size_t length = 28; length < 3000; length += length < 40 ? 1 : 500) {
		struct catalog_errors errors;
		char text[4096];

		snprintf(text, sizeof(text),
			 "runtime x\nvouch %0*d it returns\nf launch 1 plain=reasom\n", (int)length, 0);
		assert_null(catalog_parse("x", text, strlen(text), &errors));
		assert_in_range(errors.count, 1, 2);
		catalog_errors_free(&errors);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_words),
		cmocka_unit_test(wrong_functions),
		cmocka_unit_test(wrong_positions),
		cmocka_unit_test(wrong_names),
		cmocka_unit_test(arguments_that_do_not_go_together),
		cmocka_unit_test(wrong_directives),
		cmocka_unit_test(wrong_drivers),
		cmocka_unit_test(wrong_reasons),
		cmocka_unit_test(long_names_of_reasons),
		cmocka_unit_test(promises_for_everything),
		cmocka_unit_test(too_many_patterns),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(all_errors_are_found),
		cmocka_unit_test(quotes_are_printable_and_short),
		cmocka_unit_test(survives_any_text),
	};

	return cmocka_run_group_tests_name("catalog errors", tests, NULL, NULL);
}
