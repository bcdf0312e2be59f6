/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/stack_table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/trace/column.h"
#include "lib/base/strings.h"

/* The part of a file's identity with a fixed size. */
struct file_key {
	uint64_t dev, inode, size;
	int64_t mtime_ns;
};

/* The rest of the identity. */
struct file_text {
	char *path;
	uint8_t *build_id;
	size_t build_id_size;
};

/* The string tables number distinct byte strings from 1. */
struct stack_table {
	struct string_table *files, *names, *frames, *stacks;
	struct file_text *texts; /* index: id - 1 */
	size_t text_count;
	uint32_t files_sent, names_sent, frames_sent, stacks_sent; /* ids up to these were taken */
	bool closed;
	uint64_t left_out;
	uint64_t bytes;
};

struct stack_table *stack_table_new(void)
{
	struct stack_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->files = string_table_new();
	t->names = string_table_new();
	t->frames = string_table_new();
	t->stacks = string_table_new();
	t->files_sent = t->names_sent = t->frames_sent = t->stacks_sent = 1;
	if (!t->files || !t->names || !t->frames || !t->stacks) {
		stack_table_free(t);
		return NULL;
	}
	return t;
}

void stack_table_free(struct stack_table *t)
{
	if (!t)
		return;
	string_table_free(t->files);
	string_table_free(t->names);
	string_table_free(t->frames);
	string_table_free(t->stacks);
	for (size_t i = 0; i < t->text_count; i++) {
		free(t->texts[i].path);
		free(t->texts[i].build_id);
	}
	free(t->texts);
	free(t);
}

static uint32_t add(struct stack_table *t, struct string_table *table, const void *bytes, size_t size, uint32_t most)
{
	uint32_t id = string_table_find(table, bytes, size);

	if (id != STRING_NONE)
		return id;
	if (t->closed || string_table_count(table) > most)
		return 0;
	id = string_table_add(table, bytes, size);
	if (id == STRING_NONE)
		return 0;
	t->bytes += size;
	return id;
}

void stack_table_close(struct stack_table *t, bool closed)
{
	t->closed = closed;
}

uint64_t stack_table_left_out(const struct stack_table *t)
{
	return t->left_out;
}

uint64_t stack_table_bytes(const struct stack_table *t)
{
	return t->bytes;
}

static bool keep_text(struct stack_table *t, const struct stack_file *file)
{
	struct file_text *grown = reallocarray(t->texts, t->text_count + 1, sizeof(*grown));
	struct file_text *text;

	if (!grown)
		return false;
	t->texts = grown;
	text = &grown[t->text_count];
	*text = (struct file_text){ .path = strdup(file->path) };
	if (file->build_id_size) {
		text->build_id = malloc(file->build_id_size);
		if (text->build_id) {
			memcpy(text->build_id, file->build_id, file->build_id_size);
			text->build_id_size = file->build_id_size;
		}
	}
	t->text_count++;
	return true;
}

uint32_t stack_table_file(struct stack_table *t, const struct stack_file *file)
{
	struct file_key key = { file->dev, file->inode, file->size, file->mtime_ns };
	uint32_t id = string_table_find(t->files, (const char *)&key, sizeof(key));

	if (id != STRING_NONE)
		return id;
	if (t->closed || string_table_count(t->files) >= STACK_TABLE_FRAMES_MAX || !keep_text(t, file))
		return 0;
	id = string_table_add(t->files, (const char *)&key, sizeof(key));
	if (id != STRING_NONE) {
		t->bytes += sizeof(key) + strlen(file->path) + file->build_id_size;
		return id;
	}
	t->text_count--;
	free(t->texts[t->text_count].path);
	free(t->texts[t->text_count].build_id);
	return 0;
}

uint32_t stack_table_known_file(const struct stack_table *t, uint32_t dev, uint64_t inode, const char *path)
{
	struct file_key key;

	for (uint32_t id = (uint32_t)t->text_count; id; id--) {
		const char *known = t->texts[id - 1].path; /* NULL: there was no memory for it */

		memcpy(&key, string_table_get(t->files, id), sizeof(key));
		if (key.size && key.dev == dev && key.inode == inode && known && !strcmp(known, path))
			return id;
	}
	return 0;
}

uint32_t stack_table_name(struct stack_table *t, const char *name)
{
	return add(t, t->names, name, strlen(name), STACK_TABLE_FRAMES_MAX);
}

uint32_t stack_table_frame(struct stack_table *t, const struct stack_frame *frame)
{
	return add(t, t->frames, frame, sizeof(*frame), STACK_TABLE_FRAMES_MAX);
}

int stack_table_frame_kind(const struct stack_table *t, uint32_t id)
{
	struct stack_frame frame;

	if (!id || id >= string_table_count(t->frames))
		return -1;
	memcpy(&frame, string_table_get(t->frames, id), sizeof(frame));
	return (int)frame.kind;
}

uint32_t stack_table_stack(struct stack_table *t, const uint32_t *frames, size_t count)
{
	uint32_t id;

	if (!count)
		return 0;
	if (count > STACK_DEPTH_MAX)
		count = STACK_DEPTH_MAX;
	id = add(t, t->stacks, frames, count * sizeof(*frames), STACK_TABLE_STACKS_MAX);
	t->left_out += !id;
	return id;
}

/* A message and the memory that it points to. */
struct definitions {
	Profbpf__Stacks m;
	Profbpf__StackFile *files, **file_pointers;
	char **names;
	struct column_u32 kind, file, name, source, line, depth, frame;
	struct column_u64 offset;
};

static int fill_files(const struct stack_table *t, struct definitions *d)
{
	uint32_t end = string_table_count(t->files), count = end - t->files_sent;

	d->files = calloc(count + 1, sizeof(*d->files));
	d->file_pointers = calloc(count + 1, sizeof(*d->file_pointers));
	if (!d->files || !d->file_pointers)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		const struct file_text *text = &t->texts[t->files_sent - 1 + i];
		Profbpf__StackFile *m = &d->files[i];
		struct file_key key;

		memcpy(&key, string_table_get(t->files, t->files_sent + i), sizeof(key));
		profbpf__stack_file__init(m);
		m->id = t->files_sent + i;
		m->path = text->path ? text->path : (char *)"";
		m->build_id.data = text->build_id;
		m->build_id.len = text->build_id_size;
		m->size = key.size;
		m->mtime_ns = key.mtime_ns;
		d->file_pointers[i] = m;
	}
	d->m.n_file = count;
	d->m.file = d->file_pointers;
	return 0;
}

static int fill_names(const struct stack_table *t, struct definitions *d)
{
	uint32_t count = string_table_count(t->names) - t->names_sent;

	d->names = calloc(count + 1, sizeof(*d->names));
	if (!d->names)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		d->names[i] = (char *)string_table_get(t->names, t->names_sent + i);
	d->m.first_name = t->names_sent;
	d->m.n_name = count;
	d->m.name = d->names;
	return 0;
}

static int fill_frames(const struct stack_table *t, struct definitions *d)
{
	int err = 0;

	for (uint32_t id = t->frames_sent; id < string_table_count(t->frames); id++) {
		struct stack_frame f;

		memcpy(&f, string_table_get(t->frames, id), sizeof(f));
		err |= column_u32_push(&d->kind, f.kind) | column_u32_push(&d->file, f.file) |
		       column_u64_push(&d->offset, f.offset) | column_u32_push(&d->name, f.name) |
		       column_u32_push(&d->source, f.source) | column_u32_push(&d->line, f.line);
	}
	d->m.first_frame = t->frames_sent;
	/* One column is always present, because its length gives the number of frames. */
	COLUMN_EXPORT_ALWAYS(&d->offset, &d->m, offset);
	COLUMN_EXPORT_ENUM(&d->kind, &d->m, kind);
	COLUMN_EXPORT(&d->file, &d->m, in_file);
	COLUMN_EXPORT(&d->name, &d->m, named);
	COLUMN_EXPORT(&d->source, &d->m, source);
	COLUMN_EXPORT(&d->line, &d->m, line);
	return err;
}

static int fill_stacks(const struct stack_table *t, struct definitions *d)
{
	int err = 0;

	for (uint32_t id = t->stacks_sent; id < string_table_count(t->stacks); id++) {
		const char *bytes = string_table_get(t->stacks, id);
		size_t count = string_table_length(t->stacks, id) / sizeof(uint32_t);

		err |= column_u32_push(&d->depth, (uint32_t)count);
		for (size_t i = 0; i < count; i++) {
			uint32_t frame;

			memcpy(&frame, bytes + i * sizeof(frame), sizeof(frame));
			err |= column_u32_push(&d->frame, frame);
		}
	}
	d->m.first_stack = t->stacks_sent;
	COLUMN_EXPORT_ALWAYS(&d->depth, &d->m, depth);
	COLUMN_EXPORT_ALWAYS(&d->frame, &d->m, frame);
	return err;
}

static void free_definitions(struct definitions *d)
{
	free(d->files);
	free(d->file_pointers);
	free(d->names);
	column_u32_free(&d->kind);
	column_u32_free(&d->file);
	column_u32_free(&d->name);
	column_u32_free(&d->source);
	column_u32_free(&d->line);
	column_u32_free(&d->depth);
	column_u32_free(&d->frame);
	column_u64_free(&d->offset);
}

static struct item *pack(const Profbpf__Stacks *message)
{
	size_t size = protobuf_c_message_get_packed_size(&message->base);
	struct item *item = item_new(ITEM_BODY, size ? size : 1);

	if (!item)
		return NULL;
	item->body = PROFBPF__PACKET__KIND__STACKS;
	item->repeated = true;
	item->size = protobuf_c_message_pack(&message->base, item->data);
	return item;
}

struct item *stack_table_take(struct stack_table *t)
{
	struct definitions d = { 0 };
	struct item *item = NULL;

	if (string_table_count(t->files) == t->files_sent &&
	    string_table_count(t->names) == t->names_sent &&
	    string_table_count(t->frames) == t->frames_sent &&
	    string_table_count(t->stacks) == t->stacks_sent)
		return NULL;
	profbpf__stacks__init(&d.m);
	if (!fill_files(t, &d) && !fill_names(t, &d) && !fill_frames(t, &d) && !fill_stacks(t, &d))
		item = pack(&d.m);
	if (item) {
		t->files_sent = string_table_count(t->files);
		t->names_sent = string_table_count(t->names);
		t->frames_sent = string_table_count(t->frames);
		t->stacks_sent = string_table_count(t->stacks);
	}
	free_definitions(&d);
	return item;
}
