/* SPDX-License-Identifier: Apache-2.0 */
/* floor FILE... - parses files by yajl with empty callbacks: the least cost of a reader. For bench/import/run. */
#include <stdio.h>
#include <yajl/yajl_parse.h>

static int nothing(void *context)
{
	(void)context;
	return 1;
}

static int boolean(void *context, int value)
{
	(void)context;
	(void)value;
	return 1;
}

static int number(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	(void)length;
	return 1;
}

static int string(void *context, const unsigned char *text, size_t length)
{
	(void)context;
	(void)text;
	(void)length;
	return 1;
}

static const yajl_callbacks CALLBACKS = {
	.yajl_null = nothing,	     .yajl_boolean = boolean,	.yajl_number = number,
	.yajl_string = string,	     .yajl_start_map = nothing, .yajl_map_key = string,
	.yajl_end_map = nothing,     .yajl_start_array = nothing,
	.yajl_end_array = nothing,
};

static int parse(FILE *file)
{
	static unsigned char chunk[64 << 10];
	yajl_handle handle = yajl_alloc(&CALLBACKS, NULL, NULL);
	yajl_status status = handle ? yajl_status_ok : yajl_status_error;
	size_t got;

	if (handle)
		yajl_config(handle, yajl_dont_validate_strings, 1);
	while (status == yajl_status_ok && (got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		status = yajl_parse(handle, chunk, got);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(handle);
	if (handle)
		yajl_free(handle);
	return status == yajl_status_ok && !ferror(file) ? 0 : 1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");

		if (!file || parse(file)) {
			fprintf(stderr, "floor: cannot parse %s\n", argv[i]);
			return 1;
		}
		fclose(file);
	}
	return 0;
}
