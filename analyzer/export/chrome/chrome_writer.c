/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/chrome/chrome_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "analyzer/view/render/utf8.h"

#define BUFFER_SIZE (1u << 20)

static void fail(struct chrome_writer *writer, int error)
{
	if (!writer->error)
		writer->error = error;
}

/* Only one thread writes, so the stream's lock is not needed. */
static void put_bytes(struct chrome_writer *writer, const char *text, size_t size)
{
	if (writer->error)
		return;
	errno = 0;
	if (fwrite_unlocked(text, 1, size, writer->out) != size)
		fail(writer, errno ? -errno : -EIO);
}

static void put(struct chrome_writer *writer, const char *text)
{
	put_bytes(writer, text, strlen(text));
}

static void put_u64(struct chrome_writer *writer, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put_bytes(writer, at, digits + sizeof(digits) - at);
}

/* Writes nanoseconds as microseconds. */
static void put_us(struct chrome_writer *writer, uint64_t ns)
{
	uint64_t rest = ns % 1000;
	char decimals[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			     (char)('0' + rest % 10) };

	put_u64(writer, ns / 1000);
	put_bytes(writer, decimals, sizeof(decimals));
}

int chrome_writer_open(struct chrome_writer *writer, const char *path, uint64_t base_ns)
{
	*writer = (struct chrome_writer){ .base_ns = base_ns };
	writer->texts = string_table_new();
	writer->buffer = malloc(BUFFER_SIZE);
	if (!writer->texts || !writer->buffer) {
		fail(writer, -ENOMEM);
		return writer->error;
	}
	writer->out = fopen(path, "we");
	if (!writer->out) {
		fail(writer, -errno);
		return writer->error;
	}
	setvbuf(writer->out, writer->buffer, _IOFBF, BUFFER_SIZE);
	put(writer, "[");
	return writer->error;
}

int chrome_writer_close(struct chrome_writer *writer)
{
	if (writer->out) {
		put(writer, "\n]\n");
		errno = 0;
		if (fclose(writer->out) != 0)
			fail(writer, errno ? -errno : -EIO);
		writer->out = NULL;
	}
	for (uint32_t i = 0; i < writer->quoted_capacity; i++)
		free(writer->quoted[i]);
	free(writer->quoted);
	writer->quoted = NULL;
	writer->quoted_capacity = 0;
	free(writer->buffer);
	writer->buffer = NULL;
	string_table_free(writer->texts);
	writer->texts = NULL;
	return writer->error;
}

/* Returns the text as a JSON string; the caller frees it. NULL without memory. */
static char *quote(const char *text)
{
	char *repaired = utf8_repair(text), *result = NULL;
	yajl_gen generator = yajl_gen_alloc(NULL);
	const unsigned char *json;
	size_t size;

	if (repaired && generator &&
	    yajl_gen_string(generator, (const unsigned char *)repaired, strlen(repaired)) ==
		    yajl_gen_status_ok &&
	    yajl_gen_get_buf(generator, &json, &size) == yajl_gen_status_ok)
		result = strndup((const char *)json, size);
	if (generator)
		yajl_gen_free(generator);
	free(repaired);
	return result;
}

static bool make_room(struct chrome_writer *writer, uint32_t id)
{
	uint32_t capacity = writer->quoted_capacity ? writer->quoted_capacity : 256;
	char **larger;

	while (capacity <= id && capacity < UINT32_MAX / 2)
		capacity *= 2;
	larger = capacity > id ? reallocarray(writer->quoted, capacity, sizeof(*larger)) : NULL;
	if (!larger)
		return false;
	memset(larger + writer->quoted_capacity, 0,
	       (capacity - writer->quoted_capacity) * sizeof(*larger));
	writer->quoted = larger;
	writer->quoted_capacity = capacity;
	return true;
}

const char *chrome_quote(struct chrome_writer *writer, const char *text)
{
	uint32_t id = string_table_add_text(writer->texts, text);

	if (id == STRING_NONE || (id >= writer->quoted_capacity && !make_room(writer, id))) {
		fail(writer, -ENOMEM);
		return "\"\"";
	}
	if (!writer->quoted[id])
		writer->quoted[id] = quote(text);
	if (!writer->quoted[id]) {
		fail(writer, -ENOMEM);
		return "\"\"";
	}
	return writer->quoted[id];
}

void chrome_event(struct chrome_writer *writer, char phase, const char *name, const char *category,
		  uint32_t pid, uint32_t tid)
{
	char head[] = "{\"ph\":\"?\",\"name\":";

	put(writer, writer->events++ ? ",\n" : "\n");
	head[7] = phase;
	put_bytes(writer, head, sizeof(head) - 1);
	put(writer, chrome_quote(writer, name));
	if (category) {
		put(writer, ",\"cat\":");
		put(writer, chrome_quote(writer, category));
	}
	put(writer, ",\"pid\":");
	put_u64(writer, pid);
	put(writer, ",\"tid\":");
	put_u64(writer, tid);
	writer->in_args = false;
}

void chrome_time(struct chrome_writer *writer, uint64_t ns)
{
	put(writer, ",\"ts\":");
	put_us(writer, ns > writer->base_ns ? ns - writer->base_ns : 0);
}

void chrome_duration(struct chrome_writer *writer, uint64_t ns)
{
	put(writer, ",\"dur\":");
	put_us(writer, ns);
}

void chrome_id(struct chrome_writer *writer, uint64_t id)
{
	put(writer, ",\"id\":");
	put_u64(writer, id);
}

void chrome_raw(struct chrome_writer *writer, const char *json)
{
	put(writer, ",");
	put(writer, json);
}

static void begin_arg(struct chrome_writer *writer, const char *key)
{
	put(writer, writer->in_args ? "," : ",\"args\":{");
	writer->in_args = true;
	put(writer, chrome_quote(writer, key));
	put(writer, ":");
}

void chrome_arg_uint(struct chrome_writer *writer, const char *key, uint64_t value)
{
	begin_arg(writer, key);
	put_u64(writer, value);
}

void chrome_arg_int(struct chrome_writer *writer, const char *key, int64_t value)
{
	begin_arg(writer, key);
	if (value < 0)
		put(writer, "-");
	put_u64(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void chrome_arg_hex(struct chrome_writer *writer, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "\"0x%" PRIx64 "\"", value);
	begin_arg(writer, key);
	put(writer, text);
}

void chrome_arg_true(struct chrome_writer *writer, const char *key)
{
	begin_arg(writer, key);
	put(writer, "true");
}

void chrome_arg_text(struct chrome_writer *writer, const char *key, const char *value)
{
	begin_arg(writer, key);
	put(writer, chrome_quote(writer, value));
}

void chrome_arg_decimal(struct chrome_writer *writer, const char *key, double value)
{
	char text[64];

	/* A locale's decimal comma would end the number. */
	snprintf(text, sizeof(text), "%.0f", value * 1000);
	begin_arg(writer, key);
	if (text[0] == '-')
		put(writer, "-");
	put_us(writer, strtoull(text[0] == '-' ? text + 1 : text, NULL, 10));
}

void chrome_event_end(struct chrome_writer *writer)
{
	put(writer, writer->in_args ? "}}" : "}");
	writer->in_args = false;
}
