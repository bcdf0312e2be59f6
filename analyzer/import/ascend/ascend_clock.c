/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_clock.h"

#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/json_objects.h"

#define LEVELS 3 /* mindstudio_profiler_output is in the profile's folder; older files are nested deeper */
#define NANOSECONDS_2001 1000000000000000000

struct anchor {
	uint64_t wall_us;
	uint64_t raw_ns;
};

static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	struct anchor *anchor = context;

	if (strcmp(key, "collectionTimeBegin") == 0)
		decimal_unsigned(value->text, value->length, &anchor->wall_us);
	else if (strcmp(key, "clockMonotonicRaw") == 0)
		decimal_unsigned(value->text, value->length, &anchor->raw_ns);
	return 0;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	return 0;
}

static int64_t shift_of(const char *path)
{
	static const char *const no_keys[] = { NULL };
	struct anchor anchor = { 0 };
	const struct json_reader reader = {
		.keys = no_keys, .object = on_object, .scalar = on_scalar, .context = &anchor
	};
	uint64_t wall_ns;
	char ignored[256];

	/* The values may have been read although the rest is damaged. */
	json_objects_read(path, &reader, ignored, sizeof(ignored));
	if (__builtin_mul_overflow(anchor.wall_us, 1000u, &wall_ns) || !anchor.raw_ns ||
	    wall_ns < NANOSECONDS_2001 || wall_ns > INT64_MAX || anchor.raw_ns > wall_ns)
		return 0;
	return (int64_t)(wall_ns - anchor.raw_ns);
}

/* torch_npu and MindSpore keep msprof's profile in their own folder. */
static int64_t look_in(const char *folder)
{
	static const char *const PATTERNS[] = { "host/start_info*", "device_*/start_info*",
						"PROF_*/host/start_info*",
						"PROF_*/device_*/start_info*" };
	size_t patterns = fnmatch("*_ascend_[pm][ts]", folder, 0) == 0 ? 4 : 2;
	int64_t shift = 0;

	for (size_t i = 0; i < patterns && !shift; i++) {
		char pattern[PATH_MAX + 32];
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s/%s", folder, PATTERNS[i]);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc && !shift; k++)
			shift = shift_of(found.gl_pathv[k]);
		globfree(&found);
	}
	return shift;
}

int64_t ascend_clock_shift(const char *path)
{
	char folder[PATH_MAX];
	int64_t shift = 0;

	/* If a folder's name contains a pattern of glob(), nothing is found. */
	if (snprintf(folder, sizeof(folder), "%s%s", strchr(path, '/') ? "" : "./", path) >=
	    (int)sizeof(folder))
		return 0;
	for (int level = 0; level < LEVELS && !shift; level++) {
		char *slash = strrchr(folder, '/');

		if (!slash)
			break;
		*slash = '\0';
		shift = look_in(folder[0] ? folder : "/");
	}
	return shift;
}
