/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalogs: each message of the parser with its line and column, what a line
 * means, which line wins, and the catalogs that come with profbpf (run from the
 * top of the source tree).
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/common/catalog.h"

#define KINDS "other launch copy sync alloc free event collective compile load queue marker stage"
#define ROLES                                                                                    \
	"stream bytes copy_kind handle name correlation count device blocking out_handle value " \
	"code thread task"
#define CONVENTIONS "never nonzero null negative"

/* Parses "runtime test" and then @text, which so begins in line 2. */
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

static void wrong_arguments(void **state)
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
	expect_error("foo copy 1 value=return[8]",
		     "2:18: found \"return[8]\", expected either *N or N[OFFSET]: what is read "
		     "when the function returns has no offset");
	expect_error("foo copy 1 value=return bytes=*2",
		     "2:25: found \"bytes=*2\", but only one argument can be read when the "
		     "function returns");
	expect_error(
		"foo copy 1 name=0",
		"2:17: found \"0\", expected the position from 1 to 64 of a string "
		"argument, with an offset in brackets if the string's address is in what it points "
		"to, or the function's own name with one * for what is launched, as in aclnn*");
	expect_error("foo copy 1 name=1 name=2",
		     "2:19: found \"name=2\", but this line has a name already");
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
	expect_error("driver d\nioctl 0x100000000 NAME",
		     "3:7: found \"0x100000000\", expected a command: a letter in quotes and a "
		     "number, as in 'T' 1, or the whole number, as in 0x5401");
	expect_error(
		"driver d\nioctl 5",
		"3:8: found the end of the line, expected the command's name after its number");
	expect_error("driver d\nioctl 5 A B", "3:11: found \"B\", expected the end of the line");
}

static void commands_of_drivers(void **state)
{
	static const char text[] = "runtime d\ndriver one two*\nioctl 'F' 0x2a CONTROL\n"
				   "ioctl 0x30000001 START\ndriver /dev/dri/*\nioctl 'd' 1 OTHER\n";
	const char *names[] = { "nobody", "", "/dev/two" }, *two[] = { "x", "two-uvm" };
	const struct catalog_command *commands[4];
	struct catalogs *catalogs = catalogs_new();
	char *error;

	assert_int_equal(catalogs_add_text(catalogs, "d.catalog", text, sizeof(text) - 1, &error),
			 0);
	assert_int_equal(catalogs_commands(catalogs, names, 3, commands, 4), 0);
	assert_int_equal(catalogs_commands(catalogs, two, 2, commands, 4), 2);
	assert_string_equal(commands[0]->name, "CONTROL");
	assert_int_equal(commands[0]->value, 0x462a);
	/* Whatever its direction and size. */
	assert_int_equal(0xc020462au & commands[0]->mask, commands[0]->value);
	assert_int_equal(commands[1]->value, 0x30000001);
	assert_int_equal(commands[1]->mask, 0xffffffff);
	names[2] = "/dev/dri/renderD128";
	assert_int_equal(catalogs_commands(catalogs, names, 3, commands, 4), 1);
	assert_string_equal(commands[0]->name, "OTHER");
	catalogs_free(catalogs);
}

/* What one user's catalog may cost everybody's daemon. */
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

static void operators(void **state)
{
	static const char text[] =
		"runtime t\naclnn* launch 1 name=aclnn*\n"
		"aclnn*GetWorkspaceSize compile 1 name=aclnn*GetWorkspaceSize correlation=*9\n"
		"clCreateKernel compile 1 name=2 out_handle=return handle=1\n"
		"register load 1 code=2 name=4\nlaunch launch 1 code=1 stream=2\n"
		"through other 1 handle=1[8]\nstack other 1 value=9\nout other 1 out_handle=*2\n";
	struct catalogs *catalogs = catalogs_new();
	const struct catalog_function *f;
	struct probe_conf conf;
	char *error, *name;

	assert_int_equal(catalogs_add_text(catalogs, "t.catalog", text, sizeof(text) - 1, &error),
			 0);
	f = catalog_match(catalogs, "aclnnAdd", 8);
	name = catalog_operator(f, "aclnnAdd");
	assert_string_equal(name, "Add");
	free(name);
	assert_null(catalog_operator(f, "aclnn"));
	f = catalog_match(catalogs, "aclnnAddGetWorkspaceSize", 24);
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__COMPILE);
	name = catalog_operator(f, "aclnnAddGetWorkspaceSize");
	assert_string_equal(name, "Add");
	free(name);
	f = catalog_match(catalogs, "clCreateKernel", 14);
	catalog_probe_conf(f, &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_RETURN | PROBE_KEEP);
	assert_int_equal(f->roles[2], PROFBPF__FUNCTION__ROLE__OUT_HANDLE);
	assert_int_equal(f->roles[0], PROFBPF__FUNCTION__ROLE__HANDLE);
	catalog_probe_conf(catalog_match(catalogs, "register", 8), &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_KEEP);
	catalog_probe_conf(catalog_match(catalogs, "launch", 6), &conf);
	assert_int_equal(conf.flags, 0);
	catalog_probe_conf(catalog_match(catalogs, "through", 7), &conf);
	assert_int_equal(conf.flags, PROBE_MEMORY);
	catalog_probe_conf(catalog_match(catalogs, "stack", 5), &conf);
	assert_int_equal(conf.flags, PROBE_MEMORY);
	/* What it points to is read at return. */
	catalog_probe_conf(catalog_match(catalogs, "out", 3), &conf);
	assert_int_equal(conf.flags & (PROBE_MEMORY | PROBE_OUT), PROBE_OUT);
	catalogs_free(catalogs);
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

static struct catalog *parse(const char *text)
{
	struct catalog_errors errors;
	struct catalog *catalog = catalog_parse("t.catalog", text, strlen(text), &errors);

	if (!catalog)
		fail_msg("%s", catalog_errors_text(&errors, "t.catalog"));
	catalog_errors_free(&errors);
	return catalog;
}

static void directives(void **state)
{
	struct catalog *catalog =
		parse("# comment\r\n\r\n  runtime cuda_rt # more\r\n"
		      "library libcudart.so* /opt/*/lib.so\r\nlibrary libx.so\r\n"
		      "a sync 1\nerror null\nb sync 2\nc sync 255 error=negative\n"
		      "error nonzero\nd sync 1");

	assert_string_equal(catalog->name, "t.catalog");
	assert_string_equal(catalog->runtime, "cuda_rt");
	assert_string_equal(catalog->family, "cuda_rt");
	assert_int_equal(catalog->library_count, 3);
	assert_string_equal(catalog->libraries[0], "libcudart.so*");
	assert_string_equal(catalog->libraries[1], "/opt/*/lib.so");
	assert_string_equal(catalog->libraries[2], "libx.so");
	assert_int_equal(catalog->function_count, 4);
	assert_int_equal(catalog->functions[0].error, PROFBPF__FUNCTION__ERROR__NEVER);
	assert_int_equal(catalog->functions[1].error, PROFBPF__FUNCTION__ERROR__NULL_);
	assert_int_equal(catalog->functions[1].layer, 2);
	assert_int_equal(catalog->functions[2].error, PROFBPF__FUNCTION__ERROR__NEGATIVE);
	assert_int_equal(catalog->functions[2].layer, 255);
	assert_int_equal(catalog->functions[3].error, PROFBPF__FUNCTION__ERROR__NONZERO);
	assert_int_equal(catalog->functions[3].line, 11);
	catalog_free(catalog);
	catalog = parse("runtime hip\nfamily rocm\n");
	assert_string_equal(catalog->family, "rocm");
	assert_int_equal(catalog->function_count, 0);
	catalog_free(catalog);
}

static void expect_slot(const struct catalog_function *function, int slot,
			Profbpf__Function__Role role, int position, int width, int deref)
{
	struct probe_conf conf;

	catalog_probe_conf(function, &conf);
	assert_int_equal(function->roles[slot], role);
	assert_int_equal(conf.args[slot].position, position);
	assert_int_equal(conf.args[slot].width, width);
	assert_int_equal(conf.args[slot].deref, deref);
}

static void roles_and_slots(void **state)
{
	struct catalog *catalog = parse("runtime t\n"
					"plain copy 1 stream=1 bytes=12 blocking=3:4 name=2\n"
					"through launch 1 stream=1[32] count=2[0]:2\n"
					"out alloc 1 out_handle=*1 bytes=2\n"
					"only alloc 1 value=*4:4\n"
					"none sync 1\n"
					"named load 1 name=4\n"
					"inside load 1 name=1[104]\n"
					"twice launch 1 task=2[16][4]:4 count=2[24]:4 value=*3\n");
	const struct catalog_function *f = catalog->functions;
	struct probe_conf conf;

	expect_slot(&f[0], 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, -1);
	expect_slot(&f[0], 1, PROFBPF__FUNCTION__ROLE__BYTES, 12, 8, -1);
	expect_slot(&f[0], 2, PROFBPF__FUNCTION__ROLE__BLOCKING, 3, 4, -1);
	catalog_probe_conf(&f[0], &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_MEMORY); /* argument 12 */
	assert_int_equal(conf.string_position, 2);

	expect_slot(&f[1], 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, 32);
	expect_slot(&f[1], 1, PROFBPF__FUNCTION__ROLE__COUNT, 2, 2, 0);
	expect_slot(&f[1], 2, PROFBPF__FUNCTION__ROLE__NOTHING, 0, 0, 0);

	/* What is read at the return is always the last; the others keep their order. */
	expect_slot(&f[2], 0, PROFBPF__FUNCTION__ROLE__BYTES, 2, 8, -1);
	expect_slot(&f[2], 1, PROFBPF__FUNCTION__ROLE__NOTHING, 0, 0, 0);
	expect_slot(&f[2], 2, PROFBPF__FUNCTION__ROLE__OUT_HANDLE, 1, 8, -1);
	catalog_probe_conf(&f[2], &conf);
	assert_int_equal(conf.flags, PROBE_OUT);
	expect_slot(&f[3], 2, PROFBPF__FUNCTION__ROLE__VALUE, 4, 4, -1);

	catalog_probe_conf(&f[4], &conf);
	assert_int_equal(conf.flags, 0);
	assert_int_equal(conf.args[0].position, 0);
	catalog_probe_conf(&f[5], &conf);
	assert_int_equal(conf.flags, PROBE_STRING);
	assert_int_equal(conf.string_position, 4);
	catalog_probe_conf(&f[6], &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_STRING_IN);
	assert_int_equal(conf.string_position, 1);
	assert_int_equal(conf.string_offset, 104);
	expect_slot(&f[7], 0, PROFBPF__FUNCTION__ROLE__TASK, 2, 4, 16);
	catalog_probe_conf(&f[7], &conf);
	assert_int_equal(conf.args[0].inner, 4);
	assert_int_equal(conf.args[1].inner, -1);
	assert_int_equal(conf.args[2].inner, -1);
	catalog_free(catalog);
}

static void add(struct catalogs *catalogs, const char *text)
{
	char *error;
	int err = catalogs_add_text(catalogs, "t.catalog", text, strlen(text), &error);

	if (err)
		fail_msg("%s", error);
}

static void expect_match(const struct catalogs *catalogs, const char *symbol, const char *runtime,
			 const char *pattern)
{
	const struct catalog_function *function = catalog_match(catalogs, symbol, strlen(symbol));

	if (!pattern) {
		assert_null(function);
		return;
	}
	assert_non_null(function);
	assert_string_equal(function->pattern, pattern);
	assert_string_equal(function->catalog->runtime, runtime);
}

static void priorities(void **state)
{
	struct catalogs *catalogs = catalogs_new();

	assert_non_null(catalogs);
	expect_match(catalogs, "anything", NULL, NULL);
	add(catalogs, "runtime a\nexact copy 1\nex* sync 1\n!ex*t\nexit sync 1\nexhaust* load 1\n"
		      "*Size compile 1\na*b*c event 1\n");
	expect_match(catalogs, "exact", "a", "exact"); /* exact before pattern and exclusion */
	expect_match(catalogs, "exit", "a", "exit");
	expect_match(catalogs, "extent", NULL, NULL); /* the later exclusion */
	expect_match(catalogs, "extra", "a", "ex*");
	expect_match(catalogs, "ex", "a", "ex*");
	expect_match(catalogs, "exhaust", "a", "exhaust*"); /* a pattern after the exclusion */
	expect_match(catalogs, "extraSize", "a", "*Size");
	expect_match(catalogs, "Size", "a", "*Size");
	expect_match(catalogs, "abc", "a", "a*b*c");
	expect_match(catalogs, "axxbxbxxc", "a", "a*b*c");
	expect_match(catalogs, "abcd", NULL, NULL);
	expect_match(catalogs, "ab", NULL, NULL);
	expect_match(catalogs, "exac", "a", "ex*");
	/* Length counts: the symbol need not end where its storage does. */
	assert_string_equal(catalog_match(catalogs, "exactly", 5)->pattern, "exact");

	add(catalogs, "runtime b\n!exact\nextent copy 1\nexit copy 1\n!*Size\nfree* free 1\n");
	expect_match(catalogs, "exact", NULL, NULL); /* a later catalog overrides */
	expect_match(catalogs, "extent", "b", "extent");
	expect_match(catalogs, "exit", "b", "exit");
	expect_match(catalogs, "extraSize", NULL, NULL);
	expect_match(catalogs, "extra", "a", "ex*");

	add(catalogs, "runtime c\n*Size compile 1\n");
	expect_match(catalogs, "extraSize", "c", "*Size");
	assert_int_equal(catalogs_count(catalogs), 3);
	assert_string_equal(catalogs_get(catalogs, 1)->runtime, "b");
	assert_null(catalogs_get(catalogs, 3));
	catalogs_free(catalogs);
}

/* More functions than the index starts with, in several catalogs. */
static void many_functions(void **state)
{
	struct catalogs *catalogs = catalogs_new();
	char symbol[32], expected[32];

	for (int part = 0; part < 5; part++) {
		char text[32768];
		size_t used = snprintf(text, sizeof(text), "runtime part_%d\n", part);

		for (int i = 0; i < 1000; i++)
			used += snprintf(text + used, sizeof(text) - used, "function_%d copy 1\n",
					 part * 500 + i);
		add(catalogs, text);
	}
	for (int i = 0; i < 3000; i++) {
		int part = i / 500 > 4 ? 4 : i / 500;

		snprintf(symbol, sizeof(symbol), "function_%d", i);
		snprintf(expected, sizeof(expected), "part_%d", part);
		expect_match(catalogs, symbol, expected, symbol);
	}
	expect_match(catalogs, "function_3000", NULL, NULL);
	catalogs_free(catalogs);
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(remove(path), 0);
}

static void reads_directories(void **state)
{
	char directory[] = "/tmp/test_catalog.XXXXXX", expected[1024], *error = NULL;
	struct catalogs *catalogs = catalogs_new();

	assert_non_null(mkdtemp(directory));
	write_file(directory, "20-b.catalog", "runtime b\nf copy 1\n");
	write_file(directory, "10-a.catalog", "runtime a\nf sync 1\n");
	write_file(directory, "notes.txt", "not a catalog\n");
	write_file(directory, ".hidden.catalog", "nor this\n");
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), 0);
	assert_null(error);
	assert_int_equal(catalogs_count(catalogs), 2);
	expect_match(catalogs, "f", "b", "f");
	catalogs_free(catalogs);

	/* A bad file is told and the good ones are there all the same. */
	catalogs = catalogs_new();
	write_file(directory, "15-bad.catalog", "runtime x\nf lunch\n");
	write_file(directory, "30-bad.catalog", "nonsense\n");
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%s/15-bad.catalog:2:3: found \"lunch\", ", directory);
	assert_memory_equal(error, expected, strlen(expected));
	snprintf(expected, sizeof(expected), "\n%s/30-bad.catalog:1:1: found \"nonsense\", ",
		 directory);
	assert_non_null(strstr(error, expected));
	assert_int_equal(catalogs_count(catalogs), 2);
	free(error);
	for (int i = 0; i < 6; i++) {
		static const char *const names[] = { "20-b.catalog",   "10-a.catalog",
						     "notes.txt",      ".hidden.catalog",
						     "15-bad.catalog", "30-bad.catalog" };

		remove_file(directory, names[i]);
	}
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), -ENOENT);
	snprintf(expected, sizeof(expected),
		 "%s: cannot read the directory: No such file or "
		 "directory\n",
		 directory);
	assert_string_equal(error, expected);
	free(error);
	catalogs_free(catalogs);
}

static void refuses_other_files(void **state)
{
	struct catalogs *catalogs = catalogs_new();
	char *error = NULL;

	assert_int_equal(catalogs_add_file(catalogs, "/nonexistent.catalog", &error), -ENOENT);
	assert_string_equal(error,
			    "/nonexistent.catalog: cannot open: No such file or directory\n");
	free(error);
	assert_int_equal(catalogs_add_file(catalogs, "/dev/zero", &error), -EINVAL);
	assert_string_equal(error, "/dev/zero: not a regular file\n");
	free(error);
	assert_int_equal(catalogs_count(catalogs), 0);
	catalogs_free(catalogs);
}

static const struct catalog_function *shipped(const struct catalogs *catalogs, const char *symbol)
{
	const struct catalog_function *function = catalog_match(catalogs, symbol, strlen(symbol));

	if (!function)
		fail_msg("%s is in no catalog", symbol);
	return function;
}

static struct catalogs *load_shipped(void)
{
	struct catalogs *catalogs = catalogs_new();
	char *error = NULL;

	if (catalogs_add_directory(catalogs, "catalog", &error))
		fail_msg("%s", error);
	return catalogs;
}

static void shipped_catalogs(void **state)
{
	struct catalogs *catalogs = load_shipped();
	const struct catalog_function *f;

	assert_true(catalogs_count(catalogs) >= 15);
	for (size_t i = 0; i < catalogs_count(catalogs); i++)
		assert_true(catalogs_get(catalogs, i)->function_count > 0 ||
			    catalogs_get(catalogs, i)->driver_count > 0);

	f = shipped(catalogs, "clEnqueueNDRangeKernel");
	assert_string_equal(f->catalog->family, "opencl");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__LAUNCH);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, -1);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__HANDLE, 2, 8, -1);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__OUT_HANDLE, 9, 8, -1);
	f = shipped(catalogs, "clCreateKernel");
	assert_int_equal(f->string_position, 2);
	assert_int_equal(f->error, PROFBPF__FUNCTION__ERROR__NULL_);

	f = shipped(catalogs, "cudaLaunchKernel");
	assert_int_equal(f->layer, 2);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__STREAM, 8, 8, -1);
	assert_int_equal(shipped(catalogs, "__cudaLaunchKernel")->layer, 1);
	f = shipped(catalogs, "cudaLaunchKernelExC");
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, 32);

	f = shipped(catalogs, "aclnnMatmul");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__LAUNCH);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 4, 8, -1);
	f = shipped(catalogs, "aclnnMatmulGetWorkspaceSize");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__COMPILE);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__CORRELATION, 6, 8, -1);
	f = shipped(catalogs, "aclnnFlashAttentionScoreGetWorkspaceSize");
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__CORRELATION, 20, 8, -1);
	assert_null(catalog_match(catalogs, "aclnnInit", strlen("aclnnInit")));
	assert_null(catalog_match(catalogs, "aclrtMallocImpl", strlen("aclrtMallocImpl")));
	f = shipped(catalogs, "aclrtMemcpyAsync");
	assert_int_equal(f->layer, 2);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 6, 8, -1);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__BYTES, 4, 8, -1);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__COPY_KIND, 5, 4, -1);
	catalogs_free(catalogs);
}

/* What the prototypes say, function by function: { symbol, family, kind, layer, role, position }. */
static const struct {
	const char *symbol, *family;
	Profbpf__Function__Kind kind;
	unsigned int layer;
	Profbpf__Function__Role role;
	int position, width, deref;
} known[] = {
#define K(kind) PROFBPF__FUNCTION__KIND__##kind
#define R(role) PROFBPF__FUNCTION__ROLE__##role
	{ "rtKernelLaunch", "acl", K(LAUNCH), 3, R(STREAM), 6, 8, -1 },
	{ "rtKernelLaunchWithFlagV2", "acl", K(LAUNCH), 3, R(STREAM), 5, 8, -1 },
	{ "rtLaunchKernelByFuncHandleV3", "acl", K(LAUNCH), 3, R(COUNT), 2, 4, -1 },
	{ "rtMemcpyAsync", "acl", K(COPY), 3, R(BYTES), 4, 8, -1 },
	{ "rtsMemcpyAsync", "acl", K(COPY), 3, R(STREAM), 7, 8, -1 },
	{ "rtStreamWaitEvent", "acl", K(EVENT), 3, R(HANDLE), 2, 8, -1 },
	{ "rtsMalloc", "acl", K(ALLOC), 3, R(OUT_HANDLE), 1, 8, -1 },
	{ "halSqTaskSend", "acl", K(LAUNCH), 4, R(COUNT), 2, 4, 24 },
	{ "halSqTaskSend", "acl", K(LAUNCH), 4, R(TASK), 2, 4, 16 },
	{ "halMemcpy", "acl", K(COPY), 4, R(BYTES), 4, 8, -1 },
	{ "prof_channel_read", "acl", K(OTHER), 4, R(BYTES), 4, 4, -1 },
	{ "HcclAllReduce", "acl", K(COLLECTIVE), 1, R(STREAM), 7, 8, -1 },
	{ "HcclAlltoAllV", "acl", K(COLLECTIVE), 1, R(STREAM), 10, 8, -1 },
	{ "acldvppResize", "acl", K(LAUNCH), 1, R(STREAM), 4, 8, -1 },
	{ "aclrtMemcpyBatchAsync", "acl", K(COPY), 2, R(STREAM), 10, 8, -1 },
	{ "mstxMarkA", "mstx", K(MARKER), 1, R(STREAM), 2, 8, -1 },
	{ "cuLaunchKernel", "cuda", K(LAUNCH), 3, R(STREAM), 9, 8, -1 },
	{ "cuLaunchKernelEx_ptsz", "cuda", K(LAUNCH), 3, R(STREAM), 1, 8, 32 },
	{ "cuMemcpyHtoDAsync_v2", "cuda", K(COPY), 3, R(BYTES), 3, 8, -1 },
	{ "cuMemcpyBatchAsync", "cuda", K(COPY), 3, R(STREAM), 9, 8, -1 },
	{ "cuMemcpyBatchAsync_v2", "cuda", K(COPY), 3, R(STREAM), 8, 8, -1 },
	{ "cuMemPrefetchAsync", "cuda", K(COPY), 3, R(STREAM), 4, 8, -1 },
	{ "cuMemPrefetchAsync_v2", "cuda", K(COPY), 3, R(STREAM), 5, 8, -1 },
	{ "cudaMemcpy2DFromArrayAsync", "cuda", K(COPY), 1, R(STREAM), 9, 8, -1 },
	{ "ncclReduce", "cuda", K(COLLECTIVE), 1, R(STREAM), 8, 8, -1 },
	{ "ncclSend", "cuda", K(COLLECTIVE), 1, R(COUNT), 2, 8, -1 },
	{ "nvtxDomainMarkEx", "nvtx", K(MARKER), 1, R(HANDLE), 2, 8, 40 },
	{ "hipLaunchKernel", "hip", K(LAUNCH), 1, R(STREAM), 8, 8, -1 },
	{ "hipModuleLaunchKernel", "hip", K(LAUNCH), 1, R(STREAM), 9, 8, -1 },
	{ "hipMemcpyPeerAsync", "hip", K(COPY), 1, R(BYTES), 5, 8, -1 },
	{ "roctxRangeStop", "roctx", K(MARKER), 1, R(VALUE), 1, 8, -1 },
	{ "zeCommandListAppendMemoryFill", "level_zero", K(COPY), 1, R(BYTES), 5, 8, -1 },
	{ "zeMemAllocShared", "level_zero", K(ALLOC), 1, R(OUT_HANDLE), 7, 8, -1 },
	{ "vkQueueSubmit2", "vulkan", K(LAUNCH), 1, R(COUNT), 2, 4, -1 },
	{ "vkAllocateMemory", "vulkan", K(ALLOC), 1, R(BYTES), 2, 8, 16 },
#undef K
#undef R
};

static void shipped_positions(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct catalog_function *f = shipped(catalogs, known[i].symbol);
		int slot = 0;

		while (slot < REC_ARGS && f->roles[slot] != known[i].role)
			slot++;
		if (slot == REC_ARGS)
			fail_msg("%s has no %s", known[i].symbol, catalog_role_name(known[i].role));
		assert_string_equal(f->catalog->family, known[i].family);
		assert_int_equal(f->kind, known[i].kind);
		assert_int_equal(f->layer, known[i].layer);
		expect_slot(f, slot, known[i].role, known[i].position, known[i].width,
			    known[i].deref);
	}
	/* Their names: of a kernel from its handle, of an operator, of a mark. */
	assert_int_equal(shipped(catalogs, "cuModuleGetFunction")->string_position, 3);
	assert_int_equal(shipped(catalogs, "hipModuleGetFunction")->string_position, 3);
	assert_int_equal(shipped(catalogs, "rtFunctionRegister")->string_position, 3);
	assert_int_equal(shipped(catalogs, "rtKernelLaunchFwk")->string_position, 1);
	assert_int_equal(shipped(catalogs, "mstxDomainRangeStartA")->string_position, 2);
	assert_int_equal(shipped(catalogs, "nvtxRangePushA")->string_position, 1);
	catalogs_free(catalogs);
}

/*
 * A symbol in two catalogs would depend on their order, and a pattern that
 * begins with * or with a few letters would match in libraries of any program.
 */
static void shipped_catalogs_keep_apart(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);

		for (size_t j = 0; j < catalog->function_count; j++) {
			const struct catalog_function *f = &catalog->functions[j];

			if (f->exclude)
				continue;
			if (f->wildcard && strcspn(f->pattern, "*") < 5)
				fail_msg("%s: %s is too broad", catalog->name, f->pattern);
			if (!f->wildcard && catalog_match(catalogs, f->pattern, f->length) != f)
				fail_msg("%s: %s is in another catalog too", catalog->name,
					 f->pattern);
		}
	}
	catalogs_free(catalogs);
}

/* A misspelt symbol would never be found and nobody would notice. */
static void expect_symbols(const char *runtime, const char *soname)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
	struct catalogs *catalogs = load_shipped();
	const struct catalog *catalog = NULL;

	if (!library) {
		catalogs_free(catalogs);
		skip();
	}
	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		if (strcmp(catalogs_get(catalogs, i)->runtime, runtime) == 0)
			catalog = catalogs_get(catalogs, i);
	}
	assert_non_null(catalog);
	for (size_t i = 0; i < catalog->function_count; i++) {
		if (!dlsym(library, catalog->functions[i].pattern))
			fail_msg("%s has no %s", soname, catalog->functions[i].pattern);
	}
	catalogs_free(catalogs);
	dlclose(library);
}

static void opencl_symbols_exist(void **state)
{
	expect_symbols("opencl", "libOpenCL.so.1");
}

static void vulkan_symbols_exist(void **state)
{
	expect_symbols("vulkan", "libvulkan.so.1");
}

static void names(void **state)
{
	assert_string_equal(catalog_kind_name(PROFBPF__FUNCTION__KIND__OTHER), "other");
	assert_string_equal(catalog_kind_name(PROFBPF__FUNCTION__KIND__STAGE), "stage");
	assert_string_equal(catalog_kind_name(99), "?");
	assert_string_equal(catalog_role_name(PROFBPF__FUNCTION__ROLE__VALUE), "value");
	assert_string_equal(catalog_error_name(PROFBPF__FUNCTION__ERROR__NULL_), "null");
}

/* Parsing any text ends in a catalog or in messages. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_words),
		cmocka_unit_test(wrong_functions),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(wrong_directives),
		cmocka_unit_test(wrong_drivers),
		cmocka_unit_test(commands_of_drivers),
		cmocka_unit_test(too_many_patterns),
		cmocka_unit_test(operators),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(all_errors_are_found),
		cmocka_unit_test(quotes_are_printable_and_short),
		cmocka_unit_test(directives),
		cmocka_unit_test(roles_and_slots),
		cmocka_unit_test(priorities),
		cmocka_unit_test(many_functions),
		cmocka_unit_test(reads_directories),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(shipped_catalogs),
		cmocka_unit_test(shipped_positions),
		cmocka_unit_test(shipped_catalogs_keep_apart),
		cmocka_unit_test(opencl_symbols_exist),
		cmocka_unit_test(vulkan_symbols_exist),
		cmocka_unit_test(names),
		cmocka_unit_test(survives_any_text),
	};

	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
