/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line in the index. Later catalogs have larger numbers. */
struct entry {
	const struct catalog_function *function;
	uint32_t hash;
	uint32_t catalog;
	uint32_t next; /* pattern that begins with the same byte and was added before, 1-based */
};

struct catalogs {
	struct catalog **catalog;
	size_t count;
	struct entry *exact; /* open addressing; function NULL = free */
	size_t exact_size; /* power of two, at most half full */
	size_t exact_count;
	struct entry *patterns; /* wildcards and exclusions, in order of addition */
	size_t pattern_count;
	size_t wildcard_count; /* patterns with a * */
	uint32_t newest
		[256]; /* by first byte, 1-based; 0 = none; those with a * in front under '*' */
	size_t longest; /* length of the longest exact symbol: longer symbols need no look-up */
};

void catalog_function_clear(struct catalog_function *function)
{
	free(function->pattern);
	free(function->operator_prefix);
	free(function->operator_suffix);
}

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	for (size_t i = 0; i < catalog->function_count; i++)
		catalog_function_clear(&catalog->functions[i]);
	catalog_drivers_free(catalog);
	catalog_vouches_free(catalog);
	for (size_t i = 0; i < catalog->library_count; i++)
		free(catalog->libraries[i]);
	free(catalog->functions);
	free(catalog->libraries);
	free(catalog->runtime);
	free(catalog->family);
	free(catalog->name);
	free(catalog);
}

struct catalogs *catalogs_new(void)
{
	return calloc(1, sizeof(struct catalogs));
}

void catalogs_free(struct catalogs *catalogs)
{
	if (!catalogs)
		return;
	for (size_t i = 0; i < catalogs->count; i++)
		catalog_free(catalogs->catalog[i]);
	free(catalogs->catalog);
	free(catalogs->exact);
	free(catalogs->patterns);
	free(catalogs);
}

/* FNV-1a */
static uint32_t hash_symbol(const char *symbol, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)symbol[i]) * 16777619u;
	return hash;
}

/* The entry of a symbol, or the free slot for it. */
static struct entry *exact_slot(struct entry *exact, size_t size, uint32_t hash, const char *symbol,
				size_t length)
{
	size_t i = hash & (size - 1);

	while (exact[i].function && (exact[i].hash != hash || exact[i].function->length != length ||
				     memcmp(exact[i].function->pattern, symbol, length) != 0))
		i = (i + 1) & (size - 1);
	return &exact[i];
}

static int grow_exact(struct catalogs *catalogs, size_t more)
{
	size_t size = catalogs->exact_size ?: 64;
	struct entry *exact;

	while (size < 2 * (catalogs->exact_count + more))
		size *= 2;
	if (size == catalogs->exact_size)
		return 0;
	exact = calloc(size, sizeof(*exact));
	if (!exact)
		return -ENOMEM;
	for (size_t i = 0; i < catalogs->exact_size; i++) {
		const struct entry *old = &catalogs->exact[i];

		if (old->function)
			*exact_slot(exact, size, old->hash, old->function->pattern,
				    old->function->length) = *old;
	}
	free(catalogs->exact);
	catalogs->exact = exact;
	catalogs->exact_size = size;
	return 0;
}

static void index_function(struct catalogs *catalogs, const struct catalog_function *function)
{
	struct entry entry = { .function = function, .catalog = catalogs->count };
	struct entry *slot;

	if (function->wildcard || function->exclude) {
		uint32_t *newest = &catalogs->newest[(unsigned char)function->pattern[0]];

		entry.next = *newest;
		catalogs->patterns[catalogs->pattern_count++] = entry;
		*newest = catalogs->pattern_count;
		return;
	}
	entry.hash = hash_symbol(function->pattern, function->length);
	slot = exact_slot(catalogs->exact, catalogs->exact_size, entry.hash, function->pattern,
			  function->length);
	if (!slot->function)
		catalogs->exact_count++;
	*slot = entry;
	if (function->length > catalogs->longest)
		catalogs->longest = function->length;
}

static size_t count_patterns(const struct catalog *catalog)
{
	size_t count = 0;

	for (size_t i = 0; i < catalog->function_count; i++)
		count += catalog->functions[i].wildcard;
	return count;
}

int catalogs_add(struct catalogs *catalogs, struct catalog *catalog)
{
	size_t patterns = count_patterns(catalog);
	void *grown;

	if (patterns && catalogs->wildcard_count + patterns > CATALOGS_PATTERNS_MAX)
		return -E2BIG;
	grown = reallocarray(catalogs->catalog, catalogs->count + 1, sizeof(*catalogs->catalog));
	if (!grown)
		return -ENOMEM;
	catalogs->catalog = grown;
	grown = reallocarray(catalogs->patterns,
			     catalogs->pattern_count + catalog->function_count + 1,
			     sizeof(*catalogs->patterns));
	if (!grown)
		return -ENOMEM;
	catalogs->patterns = grown;
	if (grow_exact(catalogs, catalog->function_count + 1))
		return -ENOMEM;
	for (size_t i = 0; i < catalog->function_count; i++)
		index_function(catalogs, &catalog->functions[i]);
	catalogs->catalog[catalogs->count++] = catalog;
	catalogs->wildcard_count += patterns;
	return 0;
}

static int __attribute__((format(printf, 3, 4)))
give_error(char **error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return err;
}

int catalogs_add_text(struct catalogs *catalogs, const char *name, const char *text, size_t size,
		      char **error)
{
	struct catalog_errors errors;
	struct catalog *catalog;
	int err = 0;

	*error = NULL;
	catalog = catalog_parse(name, text, size, &errors);
	if (!catalog) {
		err = errors.count ? -EINVAL : -ENOMEM;
		*error = errors.count ? catalog_errors_text(&errors, name) : NULL;
	} else if ((err = catalogs_add(catalogs, catalog))) {
		catalog_free(catalog);
		if (err == -E2BIG)
			give_error(error, err,
				   "%s: with this catalog the session would have more than %d "
				   "patterns with a *; list functions by their full names\n",
				   name, CATALOGS_PATTERNS_MAX);
	}
	catalog_errors_free(&errors);
	return err;
}

/* Reads a whole regular file of bounded size; returns NULL after it has reported the error. */
static char *read_file(const char *path, size_t *size, int *err, char **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;
	ssize_t n;

	*size = 0;
	*err = 0;
	if (fd < 0 || fstat(fd, &st)) {
		*err = give_error(error, -errno, "%s: cannot open: %s\n", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		*err = give_error(error, -EINVAL, "%s: not a regular file\n", path);
	} else if (st.st_size > CATALOG_TEXT_MAX) {
		*err = give_error(error, -EFBIG, "%s: larger than %u bytes, the limit of a catalog\n", path,
				  CATALOG_TEXT_MAX);
	} else if (!(text = malloc(CATALOG_TEXT_MAX))) {
		*err = -ENOMEM;
	}
	while (!*err && *size < CATALOG_TEXT_MAX) {
		n = read(fd, text + *size, CATALOG_TEXT_MAX - *size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*err = give_error(error, -errno, "%s: cannot read: %s\n", path,
					  strerror(errno));
		if (n <= 0)
			break;
		*size += n;
	}
	if (fd >= 0)
		close(fd);
	if (*err) {
		free(text);
		text = NULL;
	}
	return text;
}

int catalogs_add_file(struct catalogs *catalogs, const char *path, char **error)
{
	size_t size;
	char *text;
	int err;

	*error = NULL;
	text = read_file(path, &size, &err, error);
	if (!text)
		return err;
	err = catalogs_add_text(catalogs, path, text, size, error);
	free(text);
	return err;
}

static int is_catalog(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && entry->d_name[0] != '.' && strcmp(dot, ".catalog") == 0;
}

/* Joins messages, each of which ends in a newline. */
static void append_error(char **all, char *more)
{
	char *joined = NULL;

	if (!more)
		return;
	if (!*all) {
		*all = more;
		return;
	}
	if (asprintf(&joined, "%s%s", *all, more) >= 0) {
		free(*all);
		*all = joined;
	}
	free(more);
}

int catalogs_add_directory(struct catalogs *catalogs, const char *path, char **error)
{
	struct dirent **names = NULL;
	int count = scandir(path, &names, is_catalog, alphasort);
	char file[PATH_MAX], *file_error;
	int err = 0, file_err;

	*error = NULL;
	if (count < 0)
		return give_error(error, -errno, "%s: cannot read the directory: %s\n", path,
				  strerror(errno));
	for (int i = 0; i < count; i++) {
		if (snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name) >=
		    (int)sizeof(file)) {
			file_err = give_error(&file_error, -ENAMETOOLONG,
					      "%s: the path of %s is too long\n", path,
					      names[i]->d_name);
		} else {
			file_err = catalogs_add_file(catalogs, file, &file_error);
		}
		append_error(error, file_error);
		err = err ?: file_err;
		free(names[i]);
	}
	free(names);
	return err;
}

size_t catalogs_count(const struct catalogs *catalogs)
{
	return catalogs->count;
}

const struct catalog *catalogs_get(const struct catalogs *catalogs, size_t index)
{
	return index < catalogs->count ? catalogs->catalog[index] : NULL;
}

/* Whether @symbol matches a pattern in which * stands for any characters. */
static bool matches(const struct catalog_function *function, const char *symbol, size_t length)
{
	const char *pattern = function->pattern, *pattern_end = pattern + function->length;
	const char *end = symbol + length, *star = NULL, *retry = NULL;

	while (symbol < end) {
		if (pattern < pattern_end && *pattern == '*') {
			star = ++pattern;
			retry = symbol;
			if (star == pattern_end)
				return true;
		} else if (pattern < pattern_end && *pattern == *symbol) {
			pattern++;
			symbol++;
		} else if (star) {
			pattern = star;
			symbol = ++retry;
		} else {
			return false;
		}
	}
	while (pattern < pattern_end && *pattern == '*')
		pattern++;
	return pattern == pattern_end;
}

const struct catalog_function *catalog_match(const struct catalogs *catalogs, const char *symbol,
					     size_t length)
{
	uint32_t same = length ? catalogs->newest[(unsigned char)symbol[0]] : 0;
	uint32_t any = catalogs->newest['*'];
	const struct entry *exact = NULL;

	if (length <= catalogs->longest && catalogs->exact_size) {
		exact = exact_slot(catalogs->exact, catalogs->exact_size,
				   hash_symbol(symbol, length), symbol, length);
		if (!exact->function)
			exact = NULL;
	}
	while (same || any) {
		/* The line that was added last decides. */
		uint32_t *newest = same > any ? &same : &any;
		const struct entry *entry = &catalogs->patterns[*newest - 1];

		*newest = entry->next;
		if (exact && entry->catalog <= exact->catalog)
			break;
		if (matches(entry->function, symbol, length))
			return entry->function->exclude ? NULL : entry->function;
	}
	return exact ? exact->function : NULL;
}

/* Calls that name a handle, an address or a thread are rare and never left out. */
static bool names_something(const struct catalog_function *function)
{
	bool named = function->string_position || function->operator_prefix;

	for (int i = 0; i < REC_ARGS; i++) {
		switch (function->roles[i]) {
		case PROFBPF__FUNCTION__ROLE__OUT_HANDLE:
			if (function->kind == PROFBPF__FUNCTION__KIND__LOAD ||
			    function->kind == PROFBPF__FUNCTION__KIND__COMPILE)
				return true;
			break;
		case PROFBPF__FUNCTION__ROLE__CODE:
			if (named && function->kind == PROFBPF__FUNCTION__KIND__LOAD)
				return true;
			break;
		case PROFBPF__FUNCTION__ROLE__THREAD: return true;
		default: break;
		}
	}
	return false;
}

#if defined(__aarch64__)
#define ARGUMENT_REGISTERS 8
#else
#define ARGUMENT_REGISTERS 6
#endif

static bool lies_in_memory(const struct probe_argument *arg)
{
	return arg->position && (arg->deref >= 0 || arg->position > ARGUMENT_REGISTERS);
}

bool catalog_value_counts(const struct catalog_function *function)
{
	return function->error != PROFBPF__FUNCTION__ERROR__NEVER || function->returned;
}

void catalog_probe_conf(const struct catalog_function *function, struct probe_conf *conf)
{
	*conf = (struct probe_conf){ .string_position = function->string_position };
	memcpy(conf->args, function->args, sizeof(conf->args));
	if (function->string_position)
		conf->flags |= PROBE_STRING;
	if (function->string_position && function->string_offset >= 0) {
		conf->flags |= PROBE_STRING_IN;
		conf->string_offset = function->string_offset;
	}
	if (function->names == NAMES_CHANGED)
		conf->flags |= PROBE_NAMES_CHANGED;
	if (function->out)
		conf->flags |= PROBE_OUT;
	if (function->returned)
		conf->flags |= PROBE_RETURN;
	if (catalog_value_counts(function))
		conf->flags |= PROBE_VALUE;
	if (names_something(function))
		conf->flags |= PROBE_KEEP;
	for (int i = 0; i < REC_ARGS; i++)
		if (lies_in_memory(&conf->args[i]))
			conf->flags |= PROBE_MEMORY;
	if (function->names == NAMES_KEPT && conf->flags & PROBE_STRING_IN &&
	    !(conf->flags & PROBE_MEMORY) && function->string_position <= ARGUMENT_REGISTERS)
		conf->flags |= PROBE_NAME_KEPT;
}

char *catalog_operator(const struct catalog_function *function, const char *symbol)
{
	size_t length = strlen(symbol), prefix, suffix;

	if (!function->operator_prefix || !function->operator_suffix)
		return NULL;
	prefix = strlen(function->operator_prefix);
	suffix = strlen(function->operator_suffix);
	if (length <= prefix + suffix || strncmp(symbol, function->operator_prefix, prefix) ||
	    strcmp(symbol + length - suffix, function->operator_suffix))
		return NULL;
	return strndup(symbol + prefix, length - prefix - suffix);
}
