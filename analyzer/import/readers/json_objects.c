/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/json_objects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yajl/yajl_parse.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/readers/json_keys.h"
#include "analyzer/import/readers/json_literals.h"
#include "analyzer/import/readers/json_scan.h"

#define PATH_BYTES 256
#define DEPTH_MAX JSON_SCAN_DEPTH /* deeper nesting is refused */
#define NOT_WANTED JSON_KEY_NONE

struct parse {
	const struct json_reader *reader;
	const char *file;
	struct json_keys keys;
	uint32_t wanted_count;
	unsigned int depth; /* number of open arrays and objects */
	unsigned int object_depth; /* depth of the current object; 0 = none */
	unsigned int array_depth; /* depth of the outermost array inside that object; 0 = none */
	uint32_t array_key; /* index of the value that gets that array's text, or NOT_WANTED */
	bool array_objects; /* ... also if it contains objects */
	uint64_t handed; /* number of objects and scalars passed to callbacks */
	uint64_t skip; /* ... in a first reading: they are not passed again */
	const char *list; /* the list of the current object */
	uint64_t object; /* the current object's index in its array */
	uint64_t elements[DEPTH_MAX + 1]; /* number of elements of each open array so far, outside of the lists' objects */
	/* Keys from the root to the current value, or to the current object, with dots; truncated if longer. */
	char path[PATH_BYTES];
	size_t length;
	uint16_t prefix[DEPTH_MAX + 1]; /* length of the path of each open array and object */
	bool is_array[DEPTH_MAX + 1];
	char root_list[PATH_BYTES]; /* path of an array in the root object */
	uint32_t key; /* index of the next value, or NOT_WANTED */
	uint32_t inner; /* group of keys of the next value, if it is an object, or NOT_WANTED */
	bool key_array; /* the next value is wanted as text of an array */
	bool key_objects; /* ... also if it contains objects */
	uint32_t group[DEPTH_MAX + 1]; /* group of keys of each open object inside the current object */
	struct json_value values[JSON_OBJECT_KEYS];
	uint32_t offsets[JSON_OBJECT_KEYS]; /* offsets of texts in the buffer, which may still move */
	char *buffer;
	size_t used, capacity;
	bool met; /* a token was completed since this was reset */
	int error; /* a callback's error */
};

/* Sets the key of the next value, at the end of the path. */
static void set_key(struct parse *parse, const unsigned char *text, size_t length)
{
	size_t at = parse->prefix[parse->depth];

	if (at && at < PATH_BYTES - 1)
		parse->path[at++] = '.';
	if (length > PATH_BYTES - 1 - at)
		length = PATH_BYTES - 1 - at;
	memcpy(parse->path + at, text, length);
	parse->length = at + length;
}

static bool reserve(struct parse *parse, size_t more)
{
	size_t want = parse->capacity ? parse->capacity * 2 : 4096;
	char *grown;

	if (parse->used + more <= parse->capacity)
		return true;
	while (want < parse->used + more)
		want *= 2;
	grown = realloc(parse->buffer, want);
	if (!grown) {
		parse->error = -ENOMEM;
		return false;
	}
	parse->buffer = grown;
	parse->capacity = want;
	return true;
}

/* Adds an element of a wanted array, as JSON; an array that gets too long is dropped as a whole. */
static int add_item(struct parse *parse, const char *text, size_t length, bool quoted)
{
	struct json_value *array = &parse->values[parse->array_key];
	bool first = !array->length || strchr("[{:", parse->buffer[parse->used - 1]);
	char *to;

	if (parse->used + length + 4 > JSON_OBJECT_BYTES) {
		*array = (struct json_value){ 0 };
		parse->array_key = NOT_WANTED;
		return 1;
	}
	if (!reserve(parse, length + 4))
		return 0;
	to = parse->buffer + parse->used;
	if (!first && (quoted || !strchr("]}:", *text)))
		*to++ = ',';
	if (quoted)
		*to++ = '"';
	memcpy(to, text, length);
	to += length;
	if (quoted)
		*to++ = '"';
	*to = '\0';
	parse->used = (size_t)(to - parse->buffer);
	array->length = parse->used - parse->offsets[parse->array_key];
	return 1;
}

static int keep(struct parse *parse, uint32_t key, const char *text, size_t length, bool quoted)
{
	if (parse->used + length + 1 > JSON_OBJECT_BYTES)
		return 1;
	if (!reserve(parse, length + 1))
		return 0;
	memcpy(parse->buffer + parse->used, text, length);
	parse->buffer[parse->used + length] = '\0';
	parse->offsets[key] = (uint32_t)parse->used;
	/* The pointer is set when the object is complete; until then "" marks the value as present. */
	parse->values[key] = (struct json_value){ "", length, quoted };
	parse->used += length + 1;
	return 1;
}

/* A scalar outside of the lists' objects. */
static int outer_scalar(struct parse *parse, const char *text, size_t length, bool quoted)
{
	struct json_value value = { .length = length, .quoted = quoted };
	size_t path = parse->is_array[parse->depth] ? parse->prefix[parse->depth] : parse->length;

	if (!parse->reader->scalar || !parse->depth ||
	    (!parse->reader->lists && (parse->depth != 1 || parse->is_array[1])))
		return 1;
	parse->used = 0;
	if (length >= JSON_OBJECT_BYTES || !reserve(parse, length + 1))
		return length >= JSON_OBJECT_BYTES;
	memcpy(parse->buffer, text, length);
	parse->buffer[length] = '\0';
	parse->path[path] = '\0';
	value.text = parse->buffer;
	if (parse->reader->place)
		*parse->reader->place = (struct reader_place){ 0 };
	if (parse->handed++ >= parse->skip)
		parse->error = parse->reader->scalar(parse->reader->context, parse->path, &value);
	return parse->error == 0;
}

static int value(struct parse *parse, const char *text, size_t length, bool quoted)
{
	parse->met = true;
	if (!parse->object_depth) {
		parse->elements[parse->depth]++;
		return outer_scalar(parse, text, length, quoted);
	}
	if (parse->array_depth)
		return parse->array_key == NOT_WANTED ? 1 : add_item(parse, text, length, quoted);
	if (parse->key == NOT_WANTED || parse->key_array)
		return 1;
	return keep(parse, parse->key, text, length, quoted);
}

static int on_null(void *context)
{
	return value(context, "null", 4, false);
}

static int on_boolean(void *context, int is)
{
	return value(context, is ? "true" : "false", is ? 4 : 5, false);
}

static int on_number(void *context, const char *text, size_t length)
{
	return value(context, text, length, false);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	return value(context, (const char *)text, length, true);
}

static void forget_key(struct parse *parse)
{
	parse->key = NOT_WANTED;
	parse->inner = NOT_WANTED;
	parse->key_array = parse->key_objects = false;
}

static void inner_key(struct parse *parse, const char *text, size_t length)
{
	uint32_t group = parse->group[parse->depth];
	const struct json_key *key = NULL;

	if (group != NOT_WANTED)
		key = json_keys_find(&parse->keys, group, text, length);
	if (!key) {
		forget_key(parse);
		return;
	}
	parse->key = key->wanted;
	parse->inner = key->inner;
	parse->key_array = key->array;
	parse->key_objects = key->objects;
}

/* A key of an object in a wanted array. */
static int key_in_array(struct parse *parse, const char *text, size_t length)
{
	if (parse->array_key == NOT_WANTED || !add_item(parse, text, length, true))
		return parse->array_key == NOT_WANTED;
	return parse->array_key == NOT_WANTED || add_item(parse, ":", 1, false);
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
	struct parse *parse = context;

	parse->met = true;
	if (parse->array_depth)
		return key_in_array(parse, (const char *)text, length);
	if (parse->object_depth) {
		inner_key(parse, (const char *)text, length);
		return 1;
	}
	set_key(parse, text, length);
	return 1;
}

static void begin_object(struct parse *parse)
{
	parse->object_depth = parse->depth;
	parse->group[parse->depth] = 0;
	parse->used = 0;
	memset(parse->values, 0, sizeof(parse->values[0]) * parse->wanted_count);
}

/* The list that contains an object at the current place; NULL = none. */
static const char *list_of(struct parse *parse)
{
	size_t length = parse->prefix[parse->depth];

	if (!parse->reader->lists) {
		if (parse->is_array[1])
			return parse->depth == 2 ? "" : NULL;
		return parse->depth == 3 && parse->root_list[0] ? parse->root_list : NULL;
	}
	for (size_t i = 0; parse->reader->lists[i]; i++) {
		if (strlen(parse->reader->lists[i]) == length &&
		    memcmp(parse->reader->lists[i], parse->path, length) == 0)
			return parse->reader->lists[i];
	}
	return NULL;
}

/* Enters an array or object inside a list's object. @key: of a wanted array; @inner: group of a wanted object. */
static int enter_inner(struct parse *parse, bool array, uint32_t key, uint32_t inner)
{
	if (parse->array_depth) {
		if (parse->array_key == NOT_WANTED)
			return 1;
		if (array || parse->array_objects)
			return add_item(parse, array ? "[" : "{", 1, false);
		parse->values[parse->array_key] = (struct json_value){ 0 };
		parse->array_key = NOT_WANTED;
		return 1;
	}
	parse->group[parse->depth] = inner;
	if (!array)
		return 1;
	parse->array_depth = parse->depth;
	parse->array_key = key;
	if (parse->array_key == NOT_WANTED)
		return 1;
	parse->values[key] = (struct json_value){ .text = "" };
	parse->offsets[key] = (uint32_t)parse->used;
	return add_item(parse, "[", 1, false);
}

static int enter(struct parse *parse, bool array)
{
	uint32_t key = parse->key_array ? parse->key : NOT_WANTED, inner = parse->inner;
	bool objects = parse->key_objects;
	unsigned int outer = parse->depth;
	const char *list;

	parse->met = true;
	if (++parse->depth > DEPTH_MAX) {
		parse->error = -EMLINK;
		return 0;
	}
	if (!outer)
		parse->length = 0;
	parse->prefix[parse->depth] = outer && parse->is_array[outer] ? parse->prefix[outer]
								      : (uint16_t)parse->length;
	parse->is_array[parse->depth] = array;
	forget_key(parse);
	if (parse->object_depth && !parse->array_depth)
		parse->array_objects = objects;
	if (parse->object_depth)
		return enter_inner(parse, array, key, inner);
	parse->object = parse->elements[outer]++;
	parse->elements[parse->depth] = 0;
	if (parse->depth == 2 && array && !parse->is_array[1]) {
		memcpy(parse->root_list, parse->path, parse->length);
		parse->root_list[parse->length] = '\0';
	} else if (!array && outer && parse->is_array[outer]) {
		list = list_of(parse);
		parse->list = list ? list : parse->list;
		if (list)
			begin_object(parse);
	}
	return 1;
}

static int on_start_map(void *context)
{
	return enter(context, false);
}

static int on_start_array(void *context)
{
	return enter(context, true);
}

/* Tells the caller of the first rounded time of an object. Returns false if there is none. */
static bool refuse_rounded(struct parse *parse)
{
	const struct json_reader *reader = parse->reader;
	char what[160];

	for (uint32_t i = 0; reader->units && i < parse->wanted_count; i++) {
		const struct json_value *value = &parse->values[i];

		if (!reader->units[i] || !value->text ||
		    !decimal_is_rounded(value->text, value->length, reader->units[i] - 1))
			continue;
		snprintf(what, sizeof(what), "%s: %.40s", reader->keys[i], value->text);
		parse->error = reader->rounded(reader->rounded_context, what);
		return true;
	}
	return false;
}

static void pass_place(struct parse *parse)
{
	if (parse->reader->place)
		*parse->reader->place = (struct reader_place){ .path = parse->file,
							       .list = parse->list,
							       .object = parse->object };
}

static int leave(struct parse *parse)
{
	unsigned int depth = parse->depth--;

	parse->met = true;
	forget_key(parse);
	if (parse->array_depth && parse->array_key != NOT_WANTED &&
	    !add_item(parse, parse->is_array[depth] ? "]" : "}", 1, false))
		return 0;
	if (parse->array_depth == depth) {
		parse->array_depth = 0;
		parse->used += parse->array_key != NOT_WANTED;
		parse->array_key = NOT_WANTED;
	}
	if (!parse->object_depth || depth != parse->object_depth)
		return 1;
	parse->object_depth = 0;
	for (uint32_t i = 0; i < parse->wanted_count; i++)
		if (parse->values[i].text)
			parse->values[i].text = parse->buffer + parse->offsets[i];
	pass_place(parse);
	if (parse->handed++ >= parse->skip && !refuse_rounded(parse))
		parse->error =
			parse->reader->object(parse->reader->context, parse->list, parse->values);
	return parse->error == 0;
}

static int on_end(void *context)
{
	return leave(context);
}

static const yajl_callbacks CALLBACKS = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

static int not_json(struct parse *parse, yajl_handle handle, const unsigned char *text,
		    size_t length, uint64_t before, char *error, size_t error_size)
{
	unsigned char *words;

	if (parse->error == -EMLINK) {
		snprintf(error, error_size,
			 "byte %" PRIu64 ": nested too deeply; no profiler writes this, so it is "
			 "damaged or no trace",
			 before + yajl_get_bytes_consumed(handle));
		return -EBADMSG;
	}
	if (parse->error)
		return parse->error;
	words = yajl_get_error(handle, 0, text, length);
	snprintf(error, error_size, "byte %" PRIu64 ": no JSON: %s",
		 before + yajl_get_bytes_consumed(handle), words ? (const char *)words : "?");
	if (words)
		yajl_free_error(handle, words);
	error[strcspn(error, "\n")] = '\0';
	return -EBADMSG;
}

/*
 * Returns true if the text that yajl refused may be a number that is not valid JSON (NaN), or one cut by the end of
 * a chunk.
 */
static bool may_be_literal(const unsigned char *text, size_t length, size_t part)
{
	static const char *const WORDS[] = { "NaN", "nan", "Inf", "inf" };

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (memmem(text, length, WORDS[i], 3))
			return true;
	return length == part;
}

/*
 * A token that spans several chunks is scanned again with each chunk, which takes quadratic time: its length is
 * limited. @without: bytes since the last complete token.
 */
static int check_token(struct parse *parse, size_t length, uint64_t before, size_t *without,
		       char *error, size_t error_size)
{
	*without = parse->met ? 0 : *without + length;
	parse->met = false;
	if (*without <= JSON_TOKEN_BYTES)
		return 0;
	snprintf(error, error_size,
		 "byte %" PRIu64 ": a text, number or space of more than %u MiB, which no profiler writes",
		 before + length - *without, JSON_TOKEN_BYTES >> 20);
	return -EBADMSG;
}

/* Reads the file to its end. @literals: NULL, or the state for replacing numbers that are not valid JSON by null. */
static int feed(struct parse *parse, yajl_handle handle, struct input_file *file,
		struct json_literals *literals, char *error, size_t error_size)
{
	size_t part = input_file_part(file), length, without = 0;
	unsigned char *chunk = malloc(part + JSON_LITERALS_ROOM(part));
	unsigned char *text = chunk ? chunk + (literals ? part : 0) : NULL;
	uint64_t before = 0;
	int got = 1, err = chunk ? 0 : -ENOMEM;

	while (!err && got > 0) {
		char words[256];

		got = input_file_read(file, chunk, part, words, sizeof(words));
		length = got > 0 ? (size_t)got : 0;
		if (literals)
			length = json_literals_replace(literals, chunk, length, text);
		if (got < 0) {
			err = got;
			snprintf(error, error_size, "byte %" PRIu64 ": %s", before, words);
		} else if (length && yajl_parse(handle, text, length) != yajl_status_ok) {
			err = not_json(parse, handle, text, length, before, error, error_size);
			if (!literals && !parse->error && may_be_literal(text, length, part))
				err = -EAGAIN;
		} else if (!got &&
			   (yajl_complete_parse(handle) != yajl_status_ok || parse->depth)) {
			snprintf(error, error_size, "byte %" PRIu64 ": the file ends too early",
				 before);
			err = -EBADMSG;
		}
		if (!err)
			err = check_token(parse, length, before, &without, error, error_size);
		before += length;
	}
	free(chunk);
	return err;
}

/* Returns -EAGAIN if the file cannot be read without @literals. */
static int read_once(const char *path, struct parse *parse, struct json_literals *literals,
		     char *error, size_t error_size)
{
	yajl_handle handle = yajl_alloc(&CALLBACKS, NULL, parse);
	struct input_file file;
	int err = handle ? input_file_open(&file, path, error, error_size) : -ENOMEM;

	if (!err) {
		/* Names need not be UTF-8. */
		yajl_config(handle, yajl_dont_validate_strings, 1);
		yajl_config(handle, yajl_allow_multiple_values, parse->reader->documents);
		err = feed(parse, handle, &file, literals, error, error_size);
		input_file_close(&file);
	}
	if (handle)
		yajl_free(handle);
	return err;
}

/*
 * Reads plain JSON from a file that can be read again. Returns -EAGAIN if yajl has to read it, which skips what was
 * passed on.
 */
static int scan_once(const char *path, struct parse *parse)
{
	struct input_file file;
	struct stat status;
	char words[256];
	int err;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    input_file_open(&file, path, words, sizeof(words)) != 0)
		return -EAGAIN;
	err = json_scan_file(&file, &CALLBACKS, parse);
	input_file_close(&file);
	return err == -ECANCELED ? parse->error : err;
}

static void begin(struct parse *parse, const char *path, const struct json_reader *reader)
{
	*parse = (struct parse){
		.reader = reader,     .file = path,		.key = NOT_WANTED,
		.inner = NOT_WANTED, .array_key = NOT_WANTED
	};
	json_keys_begin(&parse->keys, reader->keys);
	while (reader->keys[parse->wanted_count])
		parse->wanted_count++;
}

/* Restarts at the file's begin; objects that were passed to callbacks are skipped. */
static void begin_again(struct parse *parse, const char *path,
			const struct json_reader *reader)
{
	uint64_t skip = parse->handed > parse->skip ? parse->handed : parse->skip;

	free(parse->buffer);
	begin(parse, path, reader);
	parse->skip = skip;
}

int json_objects_read(const char *path, const struct json_reader *reader, char *error,
		      size_t error_size)
{
	struct parse *parse = malloc(sizeof(*parse));
	struct json_literals literals = { 0 };
	int err;

	snprintf(error, error_size, "%s", strerror(ENOMEM));
	if (!parse)
		return -ENOMEM;
	begin(parse, path, reader);
	err = scan_once(path, parse);
	if (err == -EAGAIN) {
		begin_again(parse, path, reader);
		err = read_once(path, parse, NULL, error, error_size);
	}
	if (err == -EAGAIN) {
		begin_again(parse, path, reader);
		err = read_once(path, parse, &literals, error, error_size);
	}
	if (reader->place)
		*reader->place = (struct reader_place){ 0 };
	free(parse->buffer);
	free(parse);
	return err;
}
