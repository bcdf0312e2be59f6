/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.c - stacks as pprof reads them: proto/pprof.proto */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "analyzer/export/stacks/stack_export.h"
#include "analyzer/view/render/utf8.h"
#include "proto/pprof.pb-c.h"

#define VALUES_MAX 2

/* The string table of a profile; the first string is "", and only equal-looking frames duplicate a string. */
struct texts {
	MODEL_ARRAY(char *) list;
	bool failed;
};

static int64_t text_add(struct texts *texts, const char *text)
{
	char *copy = strdup(text);

	if (copy && MODEL_PUSH(&texts->list, copy))
		return (int64_t)texts->list.count - 1;
	free(copy);
	texts->failed = true;
	return 0;
}

/* The measures of a kind of stack: a count, and a time except for samples without a rate. */
static const struct measure {
	const char *count, *time;
} MEASURES[] = {
	[STACKS_ON_CPU] = { "samples", "cpu" },
	[STACKS_OFF_CPU] = { "sleeps", "off_cpu" },
	[STACKS_DEVICE] = { "tasks", "device" },
	[STACKS_GIL] = { "samples", "cpu" },
};

/* A frame is one function and one location. */
struct places {
	Pprof__Function *function;
	Pprof__Line *line;
	Pprof__Line **line_of;
	Pprof__Location *location;
};

struct samples {
	Pprof__Sample *sample;
	uint64_t *ids; /* all samples' locations */
	int64_t *values;
	size_t count;
};

static void *rows(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

/* Returns an array of pointers to each of @count rows, as protobuf-c requires. NULL without memory. */
static void *pointers(void *first, size_t count, size_t size)
{
	char **list = rows(count, sizeof(*list));

	for (size_t i = 0; list && i < count; i++)
		list[i] = (char *)first + i * size;
	return list;
}

static void put_place(struct places *places, uint32_t i, const struct stack_tree *tree,
		      struct texts *texts)
{
	const struct tree_frame *frame = &tree->frames.row[i];
	char text[TREE_TEXT_SIZE];

	pprof__function__init(&places->function[i]);
	places->function[i].id = i + 1;
	places->function[i].name =
		text_add(texts, stack_tree_text(tree, frame, text, sizeof(text)));
	places->function[i].system_name = places->function[i].name;
	if (frame->file)
		places->function[i].filename = text_add(
			texts, printable(model_text(tree->model, frame->file), text, sizeof(text)));
	pprof__line__init(&places->line[i]);
	places->line[i].function_id = i + 1;
	places->line[i].line = frame->line;
	places->line_of[i] = &places->line[i];
	pprof__location__init(&places->location[i]);
	places->location[i].id = i + 1;
	places->location[i].n_line = 1;
	places->location[i].line = &places->line_of[i];
}

static bool places_make(struct places *places, const struct stack_tree *tree, struct texts *texts)
{
	size_t count = tree->frames.count;

	places->function = rows(count, sizeof(*places->function));
	places->line = rows(count, sizeof(*places->line));
	places->line_of = rows(count, sizeof(*places->line_of));
	places->location = rows(count, sizeof(*places->location));
	if (!places->function || !places->line || !places->line_of || !places->location)
		return false;
	for (uint32_t i = 0; i < count; i++)
		put_place(places, i, tree, texts);
	return !texts->failed;
}

static void places_free(struct places *places)
{
	free(places->function);
	free(places->line);
	free(places->line_of);
	free(places->location);
}

/* The total number of locations of all stacks. */
static size_t places_of_stacks(const struct stack_tree *tree)
{
	size_t sum = 0;

	for (uint32_t i = 1; i < tree->nodes.count; i++)
		if (tree->nodes.row[i].count)
			sum += stack_tree_path(tree, i, NULL, 0);
	return sum;
}

static uint64_t *put_path(uint64_t *ids, const struct stack_tree *tree, uint32_t node)
{
	for (uint32_t i = node; i; i = tree->nodes.row[i].parent)
		*ids++ = tree->nodes.row[i].frame + 1;
	return ids;
}

/* @period_ns: time that a sample represents; 0 = unknown, or the nodes have times of their own */
static bool samples_make(struct samples *samples, const struct stack_tree *tree, size_t values,
			 uint64_t period_ns)
{
	uint64_t *ids;

	samples->sample = rows(tree->nodes.count, sizeof(*samples->sample));
	samples->ids = rows(places_of_stacks(tree), sizeof(*samples->ids));
	samples->values = rows((size_t)tree->nodes.count * VALUES_MAX, sizeof(*samples->values));
	if (!samples->sample || !samples->ids || !samples->values)
		return false;
	ids = samples->ids;
	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		const struct tree_node *node = &tree->nodes.row[i];
		int64_t *value = &samples->values[samples->count * VALUES_MAX];
		Pprof__Sample *sample = &samples->sample[samples->count];

		if (!node->count)
			continue;
		pprof__sample__init(sample);
		sample->location_id = ids;
		ids = put_path(ids, tree, i);
		sample->n_location_id = (size_t)(ids - sample->location_id);
		value[0] = (int64_t)node->count;
		value[1] = (int64_t)(period_ns ? node->count * period_ns : node->ns);
		sample->value = value;
		sample->n_value = values;
		samples->count++;
	}
	return true;
}

static void samples_free(struct samples *samples)
{
	free(samples->sample);
	free(samples->ids);
	free(samples->values);
}

static int write_packed(const Pprof__Profile *profile, const char *path)
{
	size_t size = pprof__profile__get_packed_size(profile), at = 0;
	uint8_t *bytes = malloc(size ? size : 1);
	gzFile out = bytes ? gzopen(path, "wb") : NULL;
	int err = 0;

	if (!out) {
		err = bytes && errno ? -errno : -ENOMEM;
		free(bytes);
		return err;
	}
	pprof__profile__pack(profile, bytes);
	errno = 0;
	while (at < size && !err) {
		unsigned int part = size - at < 1u << 30 ? (unsigned int)(size - at) : 1u << 30;
		int done = gzwrite(out, bytes + at, part);

		if (done <= 0)
			err = errno ? -errno : -EIO;
		else
			at += (size_t)done;
	}
	if (gzclose(out) != Z_OK && !err)
		err = errno ? -errno : -EIO;
	free(bytes);
	return err;
}

/* All memory that @profile refers to belongs to the arguments or to @types. */
static int write_parts(Pprof__Profile *profile, const struct stack_tree *tree,
		       struct places *places, struct samples *samples, const char *path)
{
	size_t frames = tree->frames.count;
	int err = -ENOMEM;

	profile->n_sample = samples->count;
	profile->sample = pointers(samples->sample, samples->count, sizeof(*samples->sample));
	profile->n_location = profile->n_function = frames;
	profile->location = pointers(places->location, frames, sizeof(*places->location));
	profile->function = pointers(places->function, frames, sizeof(*places->function));
	if (profile->sample && profile->location && profile->function)
		err = write_packed(profile, path);
	free(profile->sample);
	free(profile->location);
	free(profile->function);
	return err;
}

static int write_profile(const struct stack_tree *tree, struct texts *texts, const char *path)
{
	const struct measure *measure = &MEASURES[tree->kind];
	bool sampled = stack_kind_sampled(tree->kind);
	uint64_t rate = sampled ? tree->model->info.stack_rate : 0;
	Pprof__ValueType type[VALUES_MAX] = { PPROF__VALUE_TYPE__INIT, PPROF__VALUE_TYPE__INIT };
	Pprof__ValueType *types[VALUES_MAX] = { &type[0], &type[1] };
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	struct samples samples = { 0 };
	struct places places = { 0 };
	int err = -ENOMEM;

	text_add(texts, "");
	type[0].type = text_add(texts, measure->count);
	type[0].unit = text_add(texts, "count");
	type[1].type = text_add(texts, measure->time);
	type[1].unit = text_add(texts, "nanoseconds");
	profile.sample_type = types;
	profile.n_sample_type = sampled && !rate ? 1 : 2;
	profile.default_sample_type = type[profile.n_sample_type - 1].type;
	if (rate) {
		profile.period_type = &type[1];
		profile.period = (int64_t)(1000000000 / rate);
	}
	profile.time_nanos = (int64_t)tree->model->info.start_realtime_ns;
	profile.duration_nanos = (int64_t)(tree->model->info.end_ns - tree->model->info.start_ns);
	if (places_make(&places, tree, texts) &&
	    samples_make(&samples, tree, profile.n_sample_type, (uint64_t)profile.period)) {
		profile.n_string_table = texts->list.count;
		profile.string_table = texts->list.row;
		err = write_parts(&profile, tree, &places, &samples, path);
	}
	places_free(&places);
	samples_free(&samples);
	return err;
}

static int write_file(const struct stack_tree *tree, const char *path)
{
	struct texts texts = { 0 };
	int err = write_profile(tree, &texts, path);

	for (uint32_t i = 0; i < texts.list.count; i++)
		free(texts.list.row[i]);
	free(texts.list.row);
	return err;
}

DEFINE_STACK_EXPORTER(pprof, write_file);
