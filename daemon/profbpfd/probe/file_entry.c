/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/file_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/ifunc.h"
#include "daemon/common/stack_movers.h"
#include "daemon/profbpfd/metrics/process_figures.h"
#include "daemon/profbpfd/probe/kept_names.h"
#include "daemon/profbpfd/probe/probe_functions.h"

void file_warn(const struct file_setting *s, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	s->warn(s->warn_context, text);
}

static void watch_launch(const struct file_setting *s, uint32_t probe,
		       const struct catalog_function *entry)
{
	if (entry->kind != PROFBPF__FUNCTION__KIND__LAUNCH)
		return;
	if (s->options.figures)
		figures_launch_probe(s->options.figures, probe);
	if (!s->options.code_names)
		return;
	for (int i = 0; i < REC_ARGS; i++)
		if (entry->roles[i] == PROFBPF__FUNCTION__ROLE__CODE)
			code_names_watch(s->options.code_names, probe, i);
}

static int set_conf(const struct file_setting *s, const struct file_entry *e, size_t index)
{
	const struct catalog_function *entry = e->file.functions[index].entry;
	const struct exit_place *exit;
	struct probe_conf conf;

	catalog_probe_conf(entry, &conf);
	if (s->options.keep_queues && (entry->kind == PROFBPF__FUNCTION__KIND__QUEUE ||
				       entry->kind == PROFBPF__FUNCTION__KIND__MARKER))
		conf.flags |= PROBE_KEEP;
	if (e->names_change_unseen || !kept_names_hold(&e->file, entry))
		conf.flags &= ~PROBE_NAME_KEPT;
	conf.entry_only = e->places.ways[index] == END_UNSEEN || e->hot[index].hot;
	conf.below = e->file.functions[index].choice.below;
	exit = e->file.functions[index].exit_at_entry
		       ? file_places_at(&e->places, e->file.functions[index].offset)
		       : NULL;
	conf.exit = exit ? exit->cookie : 0;
	return capture_set_probe(s->capture, e->cookies[index], &conf);
}

static int set_exits(const struct file_setting *s, const struct file_entry *e)
{
	int err = 0;

	for (size_t i = 0; i < e->places.exit_count && !err; i++) {
		const struct exit_place *place = &e->places.exits[i];

		if ((place->cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK) == PLACE_JUMP_INDIRECT)
			err = capture_set_exit(s->capture, (uint32_t)place->cookie, &place->conf);
	}
	return err;
}

/* Drops functions for which no numbers are left. */
static void limit_functions(struct file_setting *s, struct file_entry *e)
{
	bool quota = s->options.functions_max && s->options.functions_max < CAPTURE_PROBES_MAX;
	size_t most = quota ? s->options.functions_max : CAPTURE_PROBES_MAX;
	size_t room = most - s->next_probe;

	if (e->file.count <= room)
		return;
	if (!s->full_warned)
		file_warn(s,
			  "%s: only %zu of %zu functions are probed: the limit of a session is %zu probes%s",
			  e->path, room, e->file.count, most,
			  quota ? "; the administrator can raise the limit (profbpfd "
				  "--user-functions)"
				: "");
	s->full_warned = true;
	e->names_change_unseen = true;
	probed_file_limit(&e->file, room);
}

static int number_functions(struct file_setting *s, struct file_entry *e)
{
	struct item *functions;
	int err;

	limit_functions(s, e);
	e->cookies = calloc(e->file.count + 1, sizeof(*e->cookies));
	e->hot = calloc(e->file.count + 1, sizeof(*e->hot));
	if (!e->cookies || !e->hot ||
	    file_places_find(&e->places, &e->file, s->return_probes, s->next_exit))
		return -ENOMEM;
	s->next_exit += e->places.exit_count;
	err = set_exits(s, e);
	for (size_t i = 0; i < e->file.count && !err; i++) {
		e->cookies[i] = s->next_probe++;
		err = set_conf(s, e, i);
		watch_launch(s, e->cookies[i], e->file.functions[i].entry);
	}
	if (err || !e->file.count)
		return err;
	functions = probe_functions_item(&e->file, &e->places, e->path, e->cookies);
	if (!functions)
		return -ENOMEM;
	item_queue_push(s->queue, functions);
	return 0;
}

static void warn_refused(const struct file_setting *s, const struct file_entry *e)
{
	const struct refused_function *first = e->file.refused;

	if (e->file.refused_count == 1)
		file_warn(s, "%s: %s is not probed: it is %s", e->path, first->name,
			  probed_refusal_text(first->why));
	else if (e->file.refused_count)
		file_warn(s, "%s: %zu functions are not probed, the first is %s: it is %s", e->path,
			  e->file.refused_count, first->name, probed_refusal_text(first->why));
}

struct file_entry *file_entry_new(struct file_setting *s, uint32_t dev, uint64_t inode,
				  const char *path, int fd, const struct mapped_in *in)
{
	struct file_entry *e = calloc(1, sizeof(*e));
	char error[512];

	if (!e) {
		close(fd);
		return NULL;
	}
	e->dev = dev;
	e->inode = inode;
	e->fd = fd;
	e->path = strdup(path);
	if (!e->path || file_view_read(s->view, &e->file, fd, path, error, sizeof(error)))
		goto fail;
	if (in && ifunc_resolve(&e->file, fd, in->pid, in->maps, in->map, s->options.optimized_nop))
		goto fail;
	if (s->options.early_exits)
		probed_file_exit_early(&e->file);
	e->moves_stacks = e->file.go || stack_mover_file(path);
	warn_refused(s, e);
	if (number_functions(s, e))
		goto fail;
	if (!e->file.count) {
		close(e->fd);
		e->fd = -1;
	}
	return e;
fail:
	file_entry_free(e);
	return NULL;
}

struct refusal {
	struct file_entry *file;
	const struct place_points *selected;
	size_t count;
	size_t first; /* the first refused function; SIZE_MAX: an exit */
	int err;
};

static size_t function_of(const struct place_points *selected, enum point_kind kind, size_t index)
{
	switch (kind) {
	case POINT_ENTRY: return selected->entry_function[index];
	case POINT_RETURN: return selected->return_function[index];
	default: return SIZE_MAX;
	}
}

static void refused(void *context, enum point_kind kind, size_t index, int err)
{
	struct refusal *r = context;
	size_t function = function_of(r->selected, kind, index);

	if (!r->count++) {
		r->first = function;
		r->err = err;
	}
	if (function != SIZE_MAX)
		r->file->names_change_unseen |= r->file->file.functions[function].entry->names ==
						NAMES_CHANGED;
}

/* If some exits of a function are not probed, none of its ends are recorded, instead of a part of them. */
static void give_up_ends(const struct file_setting *s, struct file_entry *e)
{
	for (size_t i = 0; i < e->file.count; i++)
		if (e->places.ways[i] == END_BY_EXITS) {
			e->places.ways[i] = END_UNSEEN;
			set_conf(s, e, i);
		}
}

static void warn_not_probed(struct file_setting *s, struct file_entry *e, const struct refusal *r)
{
	bool exits = r->first == SIZE_MAX;

	file_warn(s, "%s: %zu functions cannot be probed, the first is %s: %s", e->path, r->count,
		  exits ? "the end of one" : e->file.functions[r->first].name, strerror(-r->err));
	if (exits)
		give_up_ends(s, e);
}

static struct probe_target target_of(const struct file_setting *s, const struct probed_process *process)
{
	if (!process)
		return (struct probe_target){ 0 };
	return (struct probe_target){ process->pid, process->started, s->options.right };
}

struct probe_link *file_entry_link(struct file_setting *s, struct file_entry *e,
				   const struct probed_process *process, bool moved)
{
	struct probe_target target = target_of(s, process);
	struct place_points selected;
	struct refusal r = { .file = e, .selected = &selected };
	struct probe_link *link = NULL;

	if (file_places_select(&e->places, &e->file, e->cookies, moved, &selected))
		errno = ENOMEM;
	else
		link = probe_link_new(s->capture, e->fd, &target, &selected.points, refused, &r);
	for (size_t i = 0; e->names_change_unseen && i < e->file.count; i++)
		set_conf(s, e, i);
	/* Objects may have been made while the probes were attached one after the other. */
	capture_forget_names(s->capture);
	if (r.count && link)
		warn_not_probed(s, e, &r);
	place_points_free(&selected);
	return link;
}

int file_entry_set_exits(struct file_setting *s, struct file_entry *e, struct probe_link *link,
			 const struct probed_process *process, bool moved)
{
	struct probe_target target = target_of(s, process);
	struct place_points selected;
	int err = file_places_select(&e->places, &e->file, e->cookies, moved, &selected);

	if (!err)
		err = probe_link_set_exits(link, s->capture, e->fd, &target, &selected.points.exits);
	place_points_free(&selected);
	return err;
}

/* Selects the exits that no link of the process has yet. */
static int tail_points(const struct file_entry *e, const struct function_exits *exits, bool moved,
		       struct probe_points *points)
{
	points->offsets = calloc(exits->count, sizeof(*points->offsets));
	points->cookies = calloc(exits->count, sizeof(*points->cookies));
	if (!points->offsets || !points->cookies)
		return -ENOMEM;
	for (size_t i = 0; i < exits->count; i++) {
		const struct exit_place *place = file_places_at(&e->places, exits->exits[i].offset);

		if (!place || place->everywhere || !(place->tail || (place->moved_only && !moved)))
			continue;
		points->offsets[points->count] = place->offset;
		points->cookies[points->count++] = place->cookie;
	}
	return 0;
}

static int link_tail(struct file_setting *s, struct file_entry *e, const struct probed_process *process,
		     const struct function_exits *exits, bool moved, struct probe_link **link)
{
	struct probe_target target = target_of(s, process);
	struct link_points points = { 0 };
	struct refusal r = { .file = e };
	int err = tail_points(e, exits, moved, &points.exits);

	if (!err && points.exits.count) {
		*link = probe_link_new(s->capture, e->fd, &target, &points, refused, &r);
		if (!*link || r.count)
			err = -ENOENT;
	}
	free(points.exits.offsets);
	free(points.exits.cookies);
	return err;
}

static void mark_everywhere(struct file_entry *e, const struct function_exits *exits)
{
	for (size_t i = 0; i < exits->count; i++) {
		struct exit_place *place =
			(struct exit_place *)file_places_at(&e->places, exits->exits[i].offset);

		if (place)
			place->everywhere = true;
	}
}

/* Exits that are already probed at another place stay there. */
static void exit_tail_early(const struct file_entry *e, struct function_exits *exits, bool value)
{
	for (size_t i = 0; i < exits->count; i++)
		if (file_places_at(&e->places, exits->exits[i].offset))
			exits->exits[i].early = 0;
	probed_file_exit_tail_early(&e->file, exits, value);
}

int file_entry_link_tail(struct file_setting *s, struct file_entry *e, const struct probed_process *process,
			 uint64_t offset, bool value, bool moved, struct probe_link **link)
{
	struct function_exits exits;
	int added, err = probed_file_exits(e->fd, e->path, offset, &exits);

	*link = NULL;
	if (err)
		return err;
	if (!exits.count)
		return -ENOENT;
	if (s->options.early_exits)
		exit_tail_early(e, &exits, value);
	added = file_places_add(&e->places, &exits, s->next_exit);
	if (added > 0) {
		s->next_exit += added;
		err = set_exits(s, e);
	}
	if (added >= 0 && !err)
		err = link_tail(s, e, process, &exits, moved, link);
	if (added >= 0 && !err && !process)
		mark_everywhere(e, &exits);
	function_exits_free(&exits);
	return added < 0 ? added : err;
}

int file_entry_add_tail(struct file_entry *e, struct probe_link *link)
{
	struct probe_link **tails = reallocarray(e->tails, e->tail_count + 1, sizeof(*tails));

	if (!tails)
		return -ENOMEM;
	e->tails = tails;
	tails[e->tail_count++] = link;
	return 0;
}

void file_entry_detach(struct file_entry *e, struct link_closer *closer)
{
	link_closer_add(closer, e->everywhere);
	for (size_t i = 0; i < e->tail_count; i++)
		link_closer_add(closer, e->tails[i]);
	free(e->tails);
	e->everywhere = NULL;
	e->tails = NULL;
	e->tail_count = 0;
}

void file_entry_free(struct file_entry *e)
{
	if (!e)
		return;
	probe_link_free(e->everywhere);
	for (size_t i = 0; i < e->tail_count; i++)
		probe_link_free(e->tails[i]);
	free(e->tails);
	file_places_free(&e->places);
	probed_file_free(&e->file);
	free(e->cookies);
	free(e->hot);
	free(e->path);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}
