/* SPDX-License-Identifier: Apache-2.0 */
/* Places where threads ran on a CPU, and where they slept. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/analyse/host/stacks.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "proto/trace.pb-c.h"

#define NAME_SIZE 256
#define FRAMES_SHOWN 6 /* in a sleep, from the innermost named frame of the program */

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
	case PROFBPF__STACKS__KIND__KERNEL: return "kernel";
	case PROFBPF__STACKS__KIND__GENERATED: return "generated";
	case PROFBPF__STACKS__KIND__PYTHON: return "python";
	default: return "user";
	}
}

static const char *place(const struct model *model, const struct stack_function *function)
{
	const char *path = model_text(model, function->file), *slash = strrchr(path, '/');

	if (function->kind == PROFBPF__STACKS__KIND__KERNEL)
		return "kernel";
	if (function->kind == PROFBPF__STACKS__KIND__GENERATED)
		return "made at run time";
	if (!function->file)
		return "unknown";
	return slash && slash[1] ? slash + 1 : path;
}

#define SHARE(part) cell_real(100.0 * (double)(part) / (double)of->results->stacks->samples)

#define FUNCTION_FIGURES(COLUMN)                                                  \
	COLUMN(function, TEXT, "function", "its name",                            \
	       cell_text(row->name ? model_text(model, row->name) : "[unknown]")) \
	COLUMN(kind, TEXT, "kind", "of code", cell_text(kind_name(row->kind)))    \
	COLUMN(in, TEXT, "in", "where its code is", cell_text(place(model, row))) \
	COLUMN(self_percent, PERCENT, "self", "of all samples", SHARE(row->self)) \
	COLUMN(total_percent, PERCENT, "total", "of all samples", SHARE(row->total))

DEFINE_FIGURES(function_figures, struct stack_function, FUNCTION_FIGURES, NULL);

static const struct view_column FUNCTION_COLUMNS[] = {
	{ "self_percent" },
	{ "self_samples", "self" },
	{ "total_samples", "total" },
	{ "total_percent", .how = VIEW_JSON },
	{ "function", "name", VIEW_SHRINK },
	{ "kind", .how = VIEW_JSON },
	{ "file", .how = VIEW_JSON },
	{ "in", .how = VIEW_TEXT },
	{ NULL },
};

static const struct view FUNCTIONS = { "functions",
				       "functions",
				       &table_stack_functions,
				       FUNCTION_COLUMNS,
				       .figures = &function_figures,
				       .within = view_all };

static const char *frame_file(const struct model *model, const struct code_frame *frame)
{
	if (frame->source)
		return model_text(model, frame->source);
	return frame->file < model->code_files.count
		       ? model_text(model, model->code_files.row[frame->file].path)
		       : NULL;
}

/* A frame of a path: a function without a name by its file, "[libc.so.6]", as in flame graphs. */
static void path_name(const struct model *model, const struct code_frame *frame, char *into, size_t size)
{
	const char *file = frame->name ? NULL : frame_file(model, frame), *slash = file ? strrchr(file, '/') : NULL;

	if (file && *file)
		snprintf(into, size, "[%s]", slash && slash[1] ? slash + 1 : file);
	else
		frame_text(model, frame, into, size);
}

/*
 * "take_lock < push < main": the innermost frames of the program itself, or of the kernel. Several functions without a name in
 * a row stand once.
 */
static struct cell path_cell(struct table_cursor *at, uint32_t index)
{
	const struct model *model = at->of->model;
	char *into = at->text[0];
	size_t size = sizeof(at->text[0]), used = 0;
	const struct code_stack *stack;
	uint32_t first = 0, shown = 0;
	char name[NAME_SIZE], before[NAME_SIZE] = "";

	if (index >= model->code_stacks.count)
		return cell_none();
	*into = '\0';
	stack = &model->code_stacks.row[index];
	while (first < stack->depth &&
	       model->code_frames.row[model->stack_frames.row[stack->first + first]].kind ==
		       PROFBPF__STACKS__KIND__KERNEL)
		first++;
	if (first == stack->depth)
		first = 0;
	for (uint32_t i = first; i < stack->depth && used < size; i++) {
		uint32_t frame = model->stack_frames.row[stack->first + i];

		path_name(model, &model->code_frames.row[frame], name, sizeof(name));
		if (*name == '[' && !strcmp(name, before))
			continue;
		strcpy(before, name);
		if (shown++ == FRAMES_SHOWN) {
			snprintf(into + used, size - used, " < ...");
			break;
		}
		used += (size_t)snprintf(into + used, size - used, "%s%s", i > first ? " < " : "",
					 name);
	}
	return cell_text(into);
}

static uint32_t process_id(const struct model *model, uint32_t thread)
{
	return model->processes.row[model->threads.row[thread].process].pid;
}

#define FRAME_COLUMNS(COLUMN)                                                              \
	COLUMN(name, TEXT, "function", "its name",                                         \
	       cell_text(frame_text(model, row, at->text[0], sizeof(at->text[0]))))        \
	COLUMN(kind, TEXT, "kind", "of code", cell_text(kind_name(row->kind)))             \
	COLUMN(file, TEXT, "file", "where its code is", cell_text(frame_file(model, row))) \
	COLUMN(line, NUMBER, "line", "in the source", cell_not_0(row->line))

/* Iterates over the frames of the stack that view->within leaves in @outer. */
static bool next_frame(struct table_cursor *at)
{
	const struct model *model = at->of->model;
	const struct code_stack *stack = at->outer;

	if (!stack || at->i >= stack->depth)
		return false;
	at->row = &model->code_frames.row[model->stack_frames.row[stack->first + at->i++]];
	return true;
}

DEFINE_FIGURES(frames, struct code_frame, FRAME_COLUMNS, next_frame);

static void start_frames(struct table_cursor *at, uint32_t stack)
{
	if (stack < at->of->model->code_stacks.count)
		at->outer = &at->of->model->code_stacks.row[stack];
}

static void of_sleep(struct table_cursor *at, const struct table_cursor *sleep)
{
	start_frames(at, ((const struct stack_block *)sleep->row)->stack);
}

static const struct view FRAMES = {
	"frames", NULL, &frames, NULL, VIEW_ROWS, .within = of_sleep, .optional = true
};

#define SLEEP_COLUMNS(COLUMN)                                                      \
	COLUMN(total_ns, NS, "total", "all sleeps there", cell_u64(row->total_ns)) \
	COLUMN(count, COUNT, "sleeps", "how many", cell_u64(row->count))           \
	COLUMN(max_ns, NS, "max", "the longest", cell_u64(row->max_ns))            \
	COLUMN(pid, NUMBER, "pid", "of the process",                               \
	       cell_u64(model->processes.row[row->process].pid))                   \
	COLUMN(path, TEXT, "in, called from", "innermost frames", path_cell(at, row->stack))

DEFINE_NEXT(next_sleep, at->of->results->stacks, blocked, blocked_count)
DEFINE_FIGURES(blocking, struct stack_block, SLEEP_COLUMNS, next_sleep);

static const struct view_column SLEEP_VIEW_COLUMNS[] = {
	{ "total_ns" },
	{ "count" },
	{ "max_ns" },
	{ "pid" },
	{ "path", .how = VIEW_TEXT | VIEW_SHRINK },
	{ NULL },
};

static const struct view SLEEPS = { "blocking",		"places",	    &blocking,
				    SLEEP_VIEW_COLUMNS, .within = view_all, .inside = { &FRAMES } };

static void of_sleeper(struct table_cursor *at, const struct table_cursor *sleeper)
{
	start_frames(at, ((const struct stack_sleeper *)sleeper->row)->stack);
}

static const struct view SLEEPER_FRAMES = {
	"frames", NULL, &frames, NULL, VIEW_ROWS, .within = of_sleeper, .optional = true
};

#define SLEEPER_COLUMNS(COLUMN)                                                                            \
	COLUMN(pid, NUMBER, "pid", "of the process", cell_u64(process_id(model, row->thread)))             \
	COLUMN(tid, NUMBER, "tid", "of the thread", cell_u64(model->threads.row[row->thread].tid))         \
	COLUMN(name, TEXT, "thread", "its name", cell_string(model, model->threads.row[row->thread].name)) \
	COLUMN(ts_ns, INSTANT, "at", "time of the sample", cell_u64(row->ts_ns))                           \
	COLUMN(whole, FLAG, "whole", "is the stack complete, down to the begin of the thread?",            \
	       cell_flag(row->whole))                                                                      \
	COLUMN(path, TEXT, "asleep in, called from", "innermost frames", path_cell(at, row->stack))

DEFINE_NEXT(next_sleeper, at->of->results->stacks, sleepers, sleeper_count)
DEFINE_FIGURES(sleepers, struct stack_sleeper, SLEEPER_COLUMNS, next_sleeper);

static const struct view_column SLEEPER_VIEW_COLUMNS[] = {
	{ "pid" },
	{ "tid" },
	{ "name", .how = VIEW_EMPTY },
	{ "ts_ns", .how = VIEW_JSON },
	{ "whole", .how = VIEW_JSON },
	{ "path", .how = VIEW_TEXT | VIEW_SHRINK },
	{ NULL },
};

static const struct view SLEEPERS = { "asleep",		"threads",	   &sleepers,
				      SLEEPER_VIEW_COLUMNS, .within = view_all, .inside = { &SLEEPER_FRAMES },
				      .optional = true };

#define STACK_COLUMNS(COLUMN)                                                                     \
	COLUMN(rate_hz, COUNT, "rate", "samples a second of each CPU",                            \
	       cell_not_0(model->info.stack_rate))                                                \
	COLUMN(samples, COUNT, "samples", "on a CPU", cell_u64(row->samples))                     \
	COLUMN(samples_unknown, COUNT, "unknown", "samples without a stack",                      \
	       cell_u64(row->unknown))                                                            \
	COLUMN(samples_whole, COUNT, "whole", "samples with a complete stack, down to the begin " \
					      "of the thread",                                    \
	       cell_not_0(row->whole))                                                            \
	COLUMN(samples_with_gil, COUNT, "with GIL", "samples of threads that held their Python "  \
						    "interpreter's lock",                         \
	       cell_known(row->with_lock || row->without_lock, row->with_lock))                   \
	COLUMN(samples_without_gil, COUNT, "without GIL", "samples of threads that did not hold " \
							  "it: in C code that released it, or "   \
							  "about to take it",                     \
	       cell_known(row->with_lock || row->without_lock, row->without_lock))                \
	COLUMN(blocks, COUNT, "sleeps", "long ones", cell_known(row->has_blocks, row->blocks))    \
	COLUMN(blocked_ns, NS, "asleep", "time in these sleeps, sum of all threads",              \
	       cell_known(row->has_blocks, row->block_ns))

/* Shown only on request: a section that is always empty would be a distraction. */
static bool next_stacks(struct table_cursor *at)
{
	const struct stack_results *stacks = at->of->results->stacks;

	return stacks && (stacks->samples || stacks->blocks || stacks->sleeper_count || at->of->model->info.stack_rate) &&
	       cursor_rows(at, stacks, 1, sizeof(*stacks));
}

DEFINE_FIGURES(stacks_as_a_whole, struct stack_results, STACK_COLUMNS, next_stacks);

static const struct view STACKS = { "stacks", NULL,	&stacks_as_a_whole,
				    NULL,     VIEW_ONE, .inside = { &FUNCTIONS, &SLEEPS, &SLEEPERS } };

static int stacks_text(const struct report *report)
{
	const struct stack_results *stacks = report->results->stacks;
	uint32_t rate = report->model->info.stack_rate;
	FILE *out = report->out;
	int err = 0;

	if (!view_count(report, &STACKS, NULL))
		return 0;
	print_heading(out, report->options, "Stacks");
	fprintf(out, "%" PRIu64 " sample%s on a CPU", stacks->samples, plural_s(stacks->samples));
	if (rate)
		fprintf(out, ", %u a second of each CPU", rate);
	if (stacks->whole)
		fprintf(out, "; %" PRIu64 " with all of their callers", stacks->whole);
	if (stacks->unknown)
		fprintf(out, "; %" PRIu64 " without a stack", stacks->unknown);
	if (stacks->with_lock || stacks->without_lock)
		fprintf(out, "; with the Python interpreter's lock (GIL) %" PRIu64 ", without %" PRIu64,
			stacks->with_lock, stacks->without_lock);
	fputc('\n', out);
	if (stacks->samples)
		err = view_text(report, &FUNCTIONS);
	if (err)
		return err;
	if (stacks->sleeper_count) {
		fprintf(out, "\n%u threads were asleep when they were last examined, in\n", stacks->sleeper_count);
		err = view_text(report, &SLEEPERS);
	}
	if (err)
		return err;
	if (!stacks->has_blocks) {
		fputs("\nlong sleeps were not recorded: --topics +stack records them\n", out);
		return 0;
	}
	fprintf(out, "\n%" PRIu64 " long sleeps, %.3f ms in sum, all threads together\n",
		stacks->blocks, (double)stacks->block_ns / 1e6);
	return stacks->blocks ? view_text(report, &SLEEPS) : 0;
}

const struct section section_stacks = { stacks_text, NULL, VIEWS(&STACKS) };
