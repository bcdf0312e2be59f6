/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/root_places.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/base/map.h"

#define WORD_NONE (-1)
#define WORD_UNASKED (-2)
#define RECLAIMS "shrink_node" /* a function with the word for reclaiming memory */
#define SPINS "gomp_barrier_wait_end" /* functions with the words for waiting without a sleep: for threads */
#define RANKS "MPI_Barrier" /* ... and for other ranks */
#define KINDS 8 /* more than struct most has */
#define RECLAIM_SHARE 4 /* one in so many samples of a row: its process lacks memory */

/* A function in the samples of a row. */
struct seen {
	uint32_t frame; /* the first one of that function */
	uint64_t samples;
};

/* The samples of one kind in a row: of Python's frames, or of the CPU. */
struct kind {
	struct seen most; /* the function with most samples so far */
	uint64_t samples;
	uint32_t words[FUNCTION_WORDS_MAX];
};

struct most {
	struct kind python;
	struct kind native;
	struct kind entries; /* for the native samples: how the thread entered the kernel */
	struct kind callers; /* for the native samples in functions without names: the nearest function with one */
	uint64_t generated; /* of the native samples: with code of no file and without a name */
	uint64_t nameless; /* of the native samples: in functions without names */
};

struct root_places {
	const struct model *model;
	const struct function_words *words;
	int reclaim; /* the word for reclaiming memory, or WORD_NONE */
	int spins; /* the words for waiting by spinning, or WORD_NONE */
	int ranks;
	int8_t *word[2]; /* by frame: its word, WORD_NONE, or WORD_UNASKED; the second one if it is the innermost one */
	uint32_t *sample; /* indices of samples, by thread, then time */
	uint32_t *first; /* threads.count + 1 positions in sample */
	uint8_t *whole; /* by thread: its CPU samples contain Python functions */
	MODEL_ARRAY(struct seen) seen;
	MODEL_ARRAY(struct most) rows;
	struct map functions; /* (name, file or source) -> its first frame */
	struct map pairs; /* (row, kind, frame) -> seen */
};

static bool deal_samples(struct root_places *places)
{
	const struct model *model = places->model;
	uint32_t threads = model->threads.count;

	places->first = calloc((size_t)threads + 2, sizeof(*places->first));
	places->sample = calloc((size_t)model->stack_samples.count + 1, sizeof(*places->sample));
	if (!places->first || !places->sample)
		return false;
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if (model->stack_samples.row[i].thread < threads)
			places->first[model->stack_samples.row[i].thread + 2]++;
	for (uint32_t t = 2; t < threads + 2; t++)
		places->first[t] += places->first[t - 1];
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if (model->stack_samples.row[i].thread < threads)
			places->sample[places->first[model->stack_samples.row[i].thread + 1]++] = i;
	return true;
}

static bool is_of_python(const struct code_frame *frame)
{
	return frame->kind == PROFBPF__STACKS__KIND__PYTHON;
}

static bool is_of_program(const struct code_frame *frame)
{
	return frame->kind != PROFBPF__STACKS__KIND__KERNEL;
}

/* Returns the innermost frame of a sample for which @wanted() holds, or INDEX_NONE. */
static uint32_t innermost(const struct model *model, const struct stack_sample *sample,
			  bool (*wanted)(const struct code_frame *frame))
{
	const struct code_stack *stack;

	if (sample->stack >= model->code_stacks.count)
		return INDEX_NONE;
	stack = &model->code_stacks.row[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t index = model->stack_frames.row[stack->first + i];

		if (wanted(&model->code_frames.row[index]))
			return index;
	}
	return INDEX_NONE;
}

static bool find_whole(struct root_places *places)
{
	const struct model *model = places->model;

	places->whole = calloc((size_t)model->threads.count + 1, 1);
	for (uint32_t i = 0; places->whole && i < model->stack_samples.count; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if (sample->thread < model->threads.count && !places->whole[sample->thread] &&
		    !(sample->flags & (MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_WAIT)))
			places->whole[sample->thread] = innermost(model, sample, is_of_python) != INDEX_NONE;
	}
	return places->whole;
}

struct root_places *root_places_new(const struct model *model, const struct function_words *words)
{
	struct root_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->model = model;
	places->words = words;
	places->reclaim = function_words_find(words, RECLAIMS, "", false);
	places->spins = function_words_find(words, SPINS, "", false);
	places->ranks = function_words_find(words, RANKS, "", false);
	for (int i = 0; i < 2; i++)
		places->word[i] = malloc((size_t)model->code_frames.count + 1);
	if (!places->word[0] || !places->word[1] || !deal_samples(places) || !find_whole(places)) {
		root_places_free(places);
		return NULL;
	}
	for (int i = 0; i < 2; i++)
		memset(places->word[i], WORD_UNASKED, model->code_frames.count);
	return places;
}

void root_places_free(struct root_places *places)
{
	if (!places)
		return;
	free(places->word[0]);
	free(places->word[1]);
	free(places->sample);
	free(places->first);
	free(places->whole);
	free(places->seen.row);
	free(places->rows.row);
	map_free(&places->functions);
	map_free(&places->pairs);
	free(places);
}

bool root_place_is_named(const struct model *model, uint32_t frame)
{
	const char *name = model_text(model, model->code_frames.row[frame].name);

	return *name && *name != '[';
}

static bool is_generated(const struct model *model, const struct code_frame *frame)
{
	return is_of_program(frame) && !frame->name && frame->file >= model->code_files.count;
}

static bool has_generated(const struct model *model, const struct stack_sample *sample)
{
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];

	for (uint32_t i = 0; i < stack->depth; i++)
		if (is_generated(model, &model->code_frames.row[model->stack_frames.row[stack->first + i]]))
			return true;
	return false;
}

static bool is_of_libc(const struct model *model, const struct code_frame *frame)
{
	const char *path = frame->file < model->code_files.count
				   ? model_text(model, model->code_files.row[frame->file].path)
				   : "";
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash, "/libc.so", 8);
}

/*
 * Returns the nearest function with a name around one that has none, the innermost one of the program. The C library's
 * functions, as clock_gettime() around [vdso], are not what the program is about, if there are others.
 */
static uint32_t caller_of(const struct model *model, const struct stack_sample *sample)
{
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	uint32_t of_libc = INDEX_NONE;

	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t index = model->stack_frames.row[stack->first + i];
		const struct code_frame *frame = &model->code_frames.row[index];

		if (!is_of_program(frame) || !root_place_is_named(model, index))
			continue;
		if (!is_of_libc(model, frame))
			return index;
		if (of_libc == INDEX_NONE)
			of_libc = index;
	}
	return of_libc;
}

static int word_of_frame(struct root_places *places, uint32_t index, bool is_innermost)
{
	const struct model *model = places->model;
	const struct code_frame *frame = &model->code_frames.row[index];
	const char *file = model_text(model, frame->source);
	int8_t *word = &places->word[is_innermost][index];

	if (*word != WORD_UNASKED)
		return *word;
	if (!*file && frame->file < model->code_files.count)
		file = model_text(model, model->code_files.row[frame->file].path);
	*word = (int8_t)function_words_find(places->words, model_text(model, frame->name), file, is_innermost);
	return *word;
}

/* Counts the word of a sample: that of the innermost function with one, or of a function around it whose word is over. */
static void count_word(struct root_places *places, const struct stack_sample *sample,
		       struct kind *kind)
{
	const struct model *model = places->model;
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	bool inside = true; /* still in the kernel, or in the program's innermost function */
	int of_sample = WORD_NONE;

	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t index = model->stack_frames.row[stack->first + i];
		int word = word_of_frame(places, index, inside);

		inside &= !is_of_program(&model->code_frames.row[index]);
		if (word == WORD_NONE || (of_sample != WORD_NONE && !function_words_is_over(places->words, word)))
			continue;
		of_sample = word;
		if (function_words_is_over(places->words, word))
			break;
	}
	if (of_sample != WORD_NONE)
		kind->words[of_sample]++;
}

static bool is_interrupt(const char *name)
{
	return !strncmp(name, "asm_sysvec_", 11) || !strncmp(name, "asm_common_interrupt", 20) ||
	       !strncmp(name, "el0_irq", 7) || !strncmp(name, "el0t_64_irq", 11);
}

/* Is it a function on the way to every system call or exception? */
static bool is_way_in(const char *name)
{
	static const char *const ways[] = { "entry_SYSCALL_64", "do_syscall_64", "x64_sys_call",
					    "el0_svc",		"el0t_64_sync",	 "do_el0_svc",
					    "invoke_syscall",	"ret_from_fork", "asm_exc_page_fault" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strncmp(name, ways[i], strlen(ways[i])))
			return true;
	return false;
}

/* Returns the frame of the system call or exception of a sample; INDEX_NONE: there is none, or it is not known. */
static uint32_t entry_of(const struct model *model, const struct stack_sample *sample)
{
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	uint32_t entry = INDEX_NONE;

	for (uint32_t i = stack->depth; i-- > 0;) {
		uint32_t index = model->stack_frames.row[stack->first + i];
		const struct code_frame *frame = &model->code_frames.row[index];
		const char *name = model_text(model, frame->name);

		if (frame->kind != PROFBPF__STACKS__KIND__KERNEL || !*name)
			continue;
		if (is_interrupt(name))
			return INDEX_NONE;
		if (entry == INDEX_NONE || is_way_in(model_text(model, model->code_frames.row[entry].name)))
			entry = index;
	}
	return entry;
}

/* Counts a sample in a function; @kind_at: offset of its kind in struct most. Returns false without memory. */
static bool add_seen(struct root_places *places, uint32_t row, uint32_t index, uint32_t file,
		     size_t kind_at)
{
	const struct code_frame *frame = &places->model->code_frames.row[index];
	uint64_t function = (uint64_t)frame->name << 32 | file;
	uint32_t first = map_get(&places->functions, function);
	uint64_t pair;
	uint32_t at;
	struct kind *kind;
	struct seen *seen;

	if (first == MAP_NONE) {
		first = index;
		if (!map_put(&places->functions, function, first))
			return false;
	}
	/* A function may be the innermost one of some samples and the caller in others. */
	pair = ((uint64_t)row * KINDS + kind_at / sizeof(struct kind)) << 32 | first;
	at = map_get(&places->pairs, pair);
	if (at == MAP_NONE) {
		at = places->seen.count;
		if (!map_put(&places->pairs, pair, at) ||
		    !MODEL_PUSH(&places->seen, ((struct seen){ first, 0 })))
			return false;
	}
	while (places->rows.count <= row)
		if (!MODEL_PUSH(&places->rows, ((struct most){ 0 })))
			return false;
	seen = &places->seen.row[at];
	seen->samples++;
	kind = (struct kind *)((char *)&places->rows.row[row] + kind_at);
	kind->samples++;
	if (seen->samples > kind->most.samples)
		kind->most = *seen;
	return true;
}

/* Counts a sample of Python's frames, whose innermost one is @index. */
static bool count_look(struct root_places *places, uint32_t row, const struct stack_sample *sample,
		       uint32_t index)
{
	if (!add_seen(places, row, index, places->model->code_frames.row[index].source,
		      offsetof(struct most, python)))
		return false;
	count_word(places, sample, &places->rows.row[row].python);
	return true;
}

/* Counts a CPU sample, whose innermost frame outside of the kernel is @index. */
static bool count_sample(struct root_places *places, uint32_t row, const struct stack_sample *sample,
			 uint32_t index)
{
	const struct code_frame *frames = places->model->code_frames.row;
	uint32_t entry = entry_of(places->model, sample);
	uint32_t python = innermost(places->model, sample, is_of_python);
	bool nameless = !root_place_is_named(places->model, index);
	uint32_t caller = nameless ? caller_of(places->model, sample) : INDEX_NONE;

	if (python != INDEX_NONE &&
	    !add_seen(places, row, python, frames[python].source, offsetof(struct most, python)))
		return false;
	if (python == index)
		places->rows.row[row].native.samples++; /* the function is counted already */
	else if (!add_seen(places, row, index, frames[index].file, offsetof(struct most, native)))
		return false;
	if (entry != INDEX_NONE && !add_seen(places, row, entry, INDEX_NONE, offsetof(struct most, entries)))
		return false;
	if (caller != INDEX_NONE &&
	    !add_seen(places, row, caller, frames[caller].file, offsetof(struct most, callers)))
		return false;
	places->rows.row[row].generated += has_generated(places->model, sample);
	places->rows.row[row].nameless += nameless;
	count_word(places, sample, &places->rows.row[row].native);
	return true;
}

static bool is_asleep(uint8_t cause)
{
	return cause == IDLE_SLEEP || cause == IDLE_IO || cause == IDLE_NETWORK ||
	       cause == IDLE_PAGE_FAULT;
}

/*
 * Returns the end of the time in which CPU samples of a stretch lie: they are taken in the interrupt that ends the
 * stretch, which is a root of its own.
 */
static uint64_t end_of_samples(const struct model *model, const struct root *root)
{
	uint32_t i = model_interrupt_after(model, root->thread, root->end_ns);
	const struct interrupt *row = &model->interrupts.row[i];

	if (root->cause != IDLE_USER_CODE || i >= model->interrupts.count ||
	    row->thread != root->thread || row->ts_ns > root->end_ns)
		return root->end_ns;
	return row->ts_ns + row->dur_ns;
}

/* Returns the end of the time in which Python samples count for a stretch: a preempted thread stays in its function. */
static uint64_t end_of_looks(const struct model *model, const struct root *root)
{
	const struct timeline *timeline = &model->timelines.row[root->thread];
	const struct span *spans = &model->spans.row[timeline->first];
	uint32_t next = BISECT(i, 0, timeline->count, spans[i].start_ns < root->end_ns);

	if (root->cause != IDLE_USER_CODE || next >= timeline->count ||
	    spans[next].start_ns != root->end_ns || spans[next].state != STATE_RUNNABLE)
		return root->end_ns;
	return spans[next].end_ns;
}

static bool tells_of(const struct root_places *places, const struct root *root,
		     const struct stack_sample *sample)
{
	if (sample->flags & (MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_WAIT))
		return false;
	if (is_asleep(root->cause))
		return sample->flags & MODEL_SAMPLE_PYTHON;
	return !(sample->flags & MODEL_SAMPLE_PYTHON) || !places->whole[root->thread];
}

bool root_places_look(struct root_places *places, uint32_t row, const struct root *root)
{
	const struct model *model = places->model;
	const struct stack_sample *samples = model->stack_samples.row;
	uint64_t samples_ns, looks_ns, to_ns;
	uint32_t next, end;

	if (root->thread >= model->threads.count ||
	    (root->cause != IDLE_USER_CODE && !is_asleep(root->cause)))
		return true;
	end = places->first[root->thread + 1];
	samples_ns = end_of_samples(model, root);
	looks_ns = end_of_looks(model, root);
	to_ns = samples_ns > looks_ns ? samples_ns : looks_ns;
	next = BISECT(i, places->first[root->thread], end,
		      samples[places->sample[i]].ts_ns < root->start_ns);
	for (; next < end && samples[places->sample[next]].ts_ns < to_ns; next++) {
		const struct stack_sample *sample = &samples[places->sample[next]];
		bool python = sample->flags & MODEL_SAMPLE_PYTHON;
		uint32_t frame;

		if (!tells_of(places, root, sample) || sample->ts_ns >= (python ? looks_ns : samples_ns))
			continue;
		frame = innermost(model, sample, is_of_program);
		if (frame != INDEX_NONE && !(python ? count_look : count_sample)(places, row, sample, frame))
			return false;
	}
	return true;
}

/* Returns the word of half of the samples or more, if there are at least @least samples. */
static int word_of(const struct kind *kind, uint64_t least)
{
	if (kind->samples < least)
		return ROOT_WORD_NONE;
	for (int word = 0; word < FUNCTION_WORDS_MAX; word++)
		if (2 * (uint64_t)kind->words[word] >= kind->samples)
			return word;
	return ROOT_WORD_NONE;
}

static bool is_kernel_work(const struct most *most)
{
	return most->native.samples >= ROOT_WORD_SAMPLES &&
	       2 * most->entries.samples >= most->native.samples;
}

/* Is the kernel's work that of a process which lacks memory? */
static bool is_reclaim(const struct root_places *places, const struct most *most)
{
	return places->reclaim >= 0 && is_kernel_work(most) &&
	       RECLAIM_SHARE * (uint64_t)most->native.words[places->reclaim] >= most->native.samples;
}

double root_places_spins(const struct root_places *places, uint32_t row)
{
	const struct kind *native = row < places->rows.count ? &places->rows.row[row].native : NULL;

	uint64_t samples = 0;

	if (!native || !native->samples)
		return 0;
	samples += places->spins >= 0 ? native->words[places->spins] : 0;
	samples += places->ranks >= 0 ? native->words[places->ranks] : 0;
	return (double)samples / (double)native->samples;
}

double root_places_ranks(const struct root_places *places, uint32_t row)
{
	const struct kind *native = row < places->rows.count ? &places->rows.row[row].native : NULL;

	if (!native || !native->samples || places->ranks < 0)
		return 0;
	return (double)native->words[places->ranks] / (double)native->samples;
}

/*
 * Did the caller that is seen most call the place in half of its samples at least? Other functions without names have
 * callers, too: these may be as many as there are samples in them.
 */
static bool calls_place(const struct most *most, const struct kind *kind)
{
	uint64_t others = most->nameless > kind->most.samples ? most->nameless - kind->most.samples : 0;

	return most->callers.samples && 2 * most->callers.most.samples >= 2 * others + kind->most.samples;
}

uint64_t root_places_choose(const struct root_places *places, uint32_t row, struct root *root,
			    int *word)
{
	const struct most *most;
	const struct kind *kind;

	*word = ROOT_WORD_NONE;
	if (row >= places->rows.count)
		return 0;
	most = &places->rows.row[row];
	kind = most->python.samples ? &most->python : &most->native;
	if (!kind->samples)
		return 0;
	root->place_kind = PLACE_FRAME;
	root->place = kind->most.frame;
	root->generated = most->generated && 2 * most->generated >= most->native.samples;
	if (!root_place_is_named(places->model, root->place) && calls_place(most, kind))
		root->caller = most->callers.most.frame;
	*word = is_reclaim(places, most) ? places->reclaim : word_of(&most->native, ROOT_WORD_SAMPLES);
	if (*word == ROOT_WORD_NONE)
		*word = word_of(&most->python, ROOT_WORD_LOOKS);
	if (is_kernel_work(most)) {
		root->entry = most->entries.most.frame;
		if (*word == ROOT_WORD_NONE)
			*word = ROOT_WORD_KERNEL;
	}
	return kind->samples;
}
