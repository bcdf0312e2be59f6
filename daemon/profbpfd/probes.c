/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/ifunc.h"
#include "daemon/common/probed_file.h"
#include "daemon/profbpfd/hinted_libraries.h"
#include "daemon/profbpfd/coverage.h"
#include "daemon/profbpfd/kept_names.h"
#include "daemon/profbpfd/link_closer.h"
#include "daemon/profbpfd/probe_functions.h"
#include "daemon/profbpfd/probe_link.h"
#include "daemon/profbpfd/sharing.h"
#include "lib/process_maps.h"

/* A file that was looked at. Most hold nothing of interest: count 0, fd -1. */
struct file_entry {
	uint32_t dev;		/* KERNEL_DEV() */
	uint64_t inode;
	char *path;
	int fd;
	struct probed_file file;
	uint64_t *offsets;
	uint64_t *cookies;
	bool names_change_unseen; /* a function with names=changed is not probed */
	struct probe_link *everywhere;	/* breakpoints for whoever maps it */
	uint64_t everywhere_ns;
};

struct process_link {
	size_t file;
	struct probe_link *link;	/* NULL: covered by the file's everywhere link */
};

struct process_entry {
	pid_t pid;
	struct process_link *links;
	size_t link_count;
	bool looked_at;
	bool missed; /* the trace says so */
};

struct probes {
	struct capture *capture;
	const struct catalogs *catalogs;
	struct file_view *view;
	struct item_queue *queue;
	struct probes_options options;
	void (*warn)(void *context, const char *text);
	void *warn_context;
	struct file_entry **files;
	size_t file_count;
	struct process_entry *processes;
	size_t process_count;
	struct sharing *sharing;	/* NULL: not needed, or not to be had */
	struct link_closer *closer;	/* NULL when all is detached */
	uint32_t next_probe;
	uint32_t probed_files;
	uint32_t probed_functions;
	bool full_warned;
	bool by_process; /* some file is probed in the targets only */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static __attribute__((format(printf, 2, 3))) void warn(struct probes *p, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	p->warn(p->warn_context, text);
}

struct probes *probes_new(struct capture *capture, const struct catalogs *catalogs,
			  struct item_queue *queue, const struct probes_options *options,
			  void (*warn_line)(void *context, const char *text), void *context)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->view = file_view_new(options->file_cache, catalogs, options->optimized_nop);
	p->closer = link_closer_new();
	if (!p->view || !p->closer) {
		link_closer_free(p->closer);
		file_view_free(p->view);
		free(p);
		return NULL;
	}
	p->capture = capture;
	p->catalogs = catalogs;
	p->queue = queue;
	p->options = *options;
	p->warn = warn_line;
	p->warn_context = context;
	if (options->follow && !options->system_wide && !options->own_only)
		p->sharing = sharing_new();
	return p;
}

static struct process_entry *find_process(struct probes *p, pid_t pid)
{
	for (size_t i = 0; i < p->process_count; i++)
		if (p->processes[i].pid == pid)
			return &p->processes[i];
	return NULL;
}

int probes_expect(struct probes *p, pid_t pid)
{
	struct process_entry *processes;

	if (find_process(p, pid))
		return 0;
	processes = realloc(p->processes, (p->process_count + 1) * sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	p->processes = processes;
	processes[p->process_count++] = (struct process_entry){ .pid = pid };
	return 0;
}

static bool is_ours(void *context, pid_t pid)
{
	return find_process(context, pid) != NULL;
}

static struct process_link *find_link(struct process_entry *process, size_t file)
{
	for (size_t i = 0; i < process->link_count; i++)
		if (process->links[i].file == file)
			return &process->links[i];
	return NULL;
}

static int add_link(struct process_entry *process, size_t file, struct probe_link *link)
{
	struct process_link *links =
		realloc(process->links, (process->link_count + 1) * sizeof(*links));

	if (!links)
		return -ENOMEM;
	process->links = links;
	links[process->link_count++] = (struct process_link){ file, link };
	return 0;
}

static void watch_code(struct probes *p, uint32_t probe, const struct catalog_function *entry)
{
	if (entry->kind != PROFBPF__FUNCTION__KIND__LAUNCH || !p->options.code_names)
		return;
	for (int i = 0; i < REC_ARGS; i++)
		if (entry->roles[i] == PROFBPF__FUNCTION__ROLE__CODE)
			code_names_watch(p->options.code_names, probe, i);
}

static int set_conf(struct probes *p, const struct file_entry *e, size_t index)
{
	const struct catalog_function *entry = e->file.functions[index].entry;
	struct probe_conf conf;

	catalog_probe_conf(entry, &conf);
	if (p->options.keep_queues && entry->kind == PROFBPF__FUNCTION__KIND__QUEUE)
		conf.flags |= PROBE_KEEP;
	if (e->names_change_unseen || !kept_names_hold(&e->file, entry))
		conf.flags &= ~PROBE_NAME_KEPT;
	return capture_set_probe(p->capture, e->cookies[index], &conf);
}

static int number_functions(struct probes *p, struct file_entry *e)
{
	bool quota = p->options.functions_max && p->options.functions_max < CAPTURE_PROBES_MAX;
	size_t most = quota ? p->options.functions_max : CAPTURE_PROBES_MAX;
	size_t room = most - p->next_probe;
	struct item *functions;

	if (e->file.count > room) {
		if (!p->full_warned)
			warn(p, "%s: only %zu of %zu functions are probed: a session holds %zu probes%s",
			     e->path, room, e->file.count, most,
			     quota ? "; the administrator can raise the limit (profbpfd "
				     "--user-functions)"
				   : "");
		p->full_warned = true;
		e->names_change_unseen = true;
		e->file.count = room;
	}
	e->offsets = calloc(e->file.count + 1, sizeof(*e->offsets));
	e->cookies = calloc(e->file.count + 1, sizeof(*e->cookies));
	if (!e->offsets || !e->cookies)
		return -ENOMEM;
	for (size_t i = 0; i < e->file.count; i++) {
		int err;

		e->offsets[i] = e->file.functions[i].offset;
		e->cookies[i] = p->next_probe++;
		err = set_conf(p, e, i);
		if (err)
			return err;
		watch_code(p, e->cookies[i], e->file.functions[i].entry);
	}
	if (!e->file.count)
		return 0;
	functions = probe_functions_item(&e->file, e->path, e->cookies);
	if (!functions)
		return -ENOMEM;
	item_queue_push(p->queue, functions);
	return 0;
}

static void free_file(struct file_entry *e)
{
	if (!e)
		return;
	probe_link_free(e->everywhere);
	probed_file_free(&e->file);
	free(e->offsets);
	free(e->cookies);
	free(e->path);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

static struct file_entry *find_file(struct probes *p, uint32_t dev, uint64_t inode, size_t *index)
{
	for (size_t i = 0; i < p->file_count; i++) {
		if (p->files[i]->dev == dev && p->files[i]->inode == inode) {
			*index = i;
			return p->files[i];
		}
	}
	return NULL;
}

static void warn_refused(struct probes *p, const struct file_entry *e)
{
	const struct refused_function *first = e->file.refused;

	if (e->file.refused_count == 1)
		warn(p, "%s: %s is not probed: it is %s", e->path, first->name,
		     probed_refusal_text(first->why));
	else if (e->file.refused_count)
		warn(p, "%s: %zu functions are not probed, the first is %s: it is %s", e->path,
		     e->file.refused_count, first->name, probed_refusal_text(first->why));
}

/* A mapped file in a process that runs: what its IFUNCs stand for can be looked up there. */
struct mapped_in {
	pid_t pid;
	const struct process_maps *maps;
	const struct process_map *map;
};

/* Takes over @fd. NULL without memory; a file without functions of interest is kept, too. */
static struct file_entry *add_file(struct probes *p, uint32_t dev, uint64_t inode, const char *path,
				   int fd, const struct mapped_in *in, size_t *index)
{
	struct file_entry *e = calloc(1, sizeof(*e));
	struct file_entry **files = realloc(p->files, (p->file_count + 1) * sizeof(*files));
	char error[512];

	if (files)
		p->files = files;
	if (!e || !files) {
		free(e);
		close(fd);
		return NULL;
	}
	e->dev = dev;
	e->inode = inode;
	e->fd = fd;
	e->path = strdup(path);
	if (!e->path || file_view_read(p->view, &e->file, fd, path, error, sizeof(error)))
		goto fail;
	if (in && ifunc_resolve(&e->file, fd, in->pid, in->maps, in->map, p->options.optimized_nop))
		goto fail;
	warn_refused(p, e);
	if (number_functions(p, e))
		goto fail;
	if (!e->file.count) {
		close(e->fd);
		e->fd = -1;
	}
	*index = p->file_count;
	p->files[p->file_count++] = e;
	return e;
fail:
	free_file(e);
	return NULL;
}

struct refusal {
	struct probes *probes;
	struct file_entry *file;
	size_t count;
	size_t first;
	int err;
};

static void refused(void *context, size_t index, int err)
{
	struct refusal *r = context;

	if (!r->count++) {
		r->first = index;
		r->err = err;
	}
	r->file->names_change_unseen |= r->file->file.functions[index].entry->names == NAMES_CHANGED;
}

static struct probe_link *link_file(struct probes *p, struct file_entry *e, pid_t pid)
{
	struct probe_points points = { e->offsets, e->cookies, e->file.count };
	struct refusal r = { .probes = p, .file = e };
	struct probe_link *link = probe_link_new(p->capture, e->fd, pid, &points, refused, &r);

	for (size_t i = 0; e->names_change_unseen && i < e->file.count; i++)
		set_conf(p, e, i);
	/* Objects that were made while the probes came one after the other. */
	capture_forget_names(p->capture);
	if (r.count)
		warn(p, "%s: %zu functions cannot be probed, the first is %s: %s", e->path, r.count,
		     e->file.functions[r.first].name, strerror(-r.err));
	return link;
}

void probes_missed(struct probes *p, pid_t pid, uint64_t since_ns)
{
	struct process_entry *process = find_process(p, pid);

	if (!p->by_process ||
	    (process && (process->looked_at || process->link_count || process->missed)))
		return;
	if (process)
		process->missed = true;
	coverage_missed(p->queue, pid, since_ns, now_ns());
}

/* While it was looked at. */
static void ended_meanwhile(struct probes *p, struct process_entry *process, uint64_t mapped_ns)
{
	if (process->missed)
		return;
	process->missed = true;
	coverage_missed(p->queue, process->pid, mapped_ns, now_ns());
}

static void count_file(struct probes *p, const struct file_entry *e)
{
	p->probed_files++;
	p->probed_functions += e->file.count;
}

static bool linked_at_all(struct probes *p, size_t file)
{
	for (size_t i = 0; i < p->process_count; i++)
		if (find_link(&p->processes[i], file))
			return true;
	return p->files[file]->everywhere != NULL;
}

/* Strangers that map the file must not be slowed down. */
static bool for_targets_only(struct probes *p, const struct file_entry *e)
{
	if (p->options.system_wide)
		return false;
	return p->options.own_only || !p->options.follow || !p->sharing ||
	       sharing_has_stranger(p->sharing, e->dev, e->inode, is_ours, p);
}

/* Put breakpoints where they belong and note from when on the process is covered. */
static void attach_file(struct probes *p, struct process_entry *process, size_t index,
			uint64_t mapped_ns, struct item *coverage)
{
	struct file_entry *e = p->files[index];
	bool first = !linked_at_all(p, index);
	struct probe_link *link = NULL;

	if (!e->everywhere && first && !for_targets_only(p, e)) {
		e->everywhere = link_file(p, e, 0);
		e->everywhere_ns = now_ns();
	}
	if (!e->everywhere) {
		link = link_file(p, e, process->pid);
		if (!link) {
			if (errno != ESRCH)
				warn(p, "%s: probing it in process %d failed: %s", e->path,
				     process->pid, strerror(errno));
			else
				ended_meanwhile(p, process, mapped_ns);
			return;
		}
	}
	p->by_process |= link != NULL;
	if (first)
		count_file(p, e);
	if (add_link(process, index, link)) {
		probe_link_free(link);
		return;
	}
	coverage_add(coverage, process->pid, e->path, e->file.count, mapped_ns,
		     e->everywhere ? e->everywhere_ns : now_ns());
}

static void attach_files(struct probes *p, pid_t pid, const size_t *indices, size_t count,
			 uint64_t mapped_ns)
{
	struct process_entry *process = find_process(p, pid);
	struct item *coverage = count ? item_new(ITEM_COVERAGE, 1024) : NULL;

	for (size_t i = 0; i < count && coverage; i++)
		attach_file(p, process, indices[i], mapped_ns, coverage);
	if (coverage && coverage->count) {
		item_queue_push(p->queue, coverage);
		coverage = NULL;
	}
	item_free(coverage);
}

static struct file_entry *mapped_file(struct probes *p, pid_t pid, const struct process_maps *maps,
				      const struct process_map *map, size_t *index)
{
	const struct mapped_in in = { pid, maps, map };
	struct file_entry *e = find_file(p, map->dev, map->inode, index);
	int fd;

	if (e)
		return e;
	fd = process_map_open(pid, map);
	return fd < 0 ? NULL : add_file(p, map->dev, map->inode, map->path, fd, &in, index);
}

int probes_scan(struct probes *p, pid_t pid, uint64_t mapped_ns)
{
	struct process_maps maps;
	size_t *indices, count = 0;
	int err = probes_expect(p, pid);

	if (!err)
		err = process_maps_read(pid, &maps);
	if (err)
		return err;
	if (!right_holds(p->options.right, pid)) {
		process_maps_free(&maps);
		return -ESRCH;
	}
	find_process(p, pid)->looked_at = true;
	indices = calloc(maps.count + 1, sizeof(*indices));
	for (size_t i = 0; indices && i < maps.count; i++) {
		size_t index;
		struct file_entry *e = mapped_file(p, pid, &maps, &maps.map[i], &index);

		if (e && e->file.count && !find_link(find_process(p, pid), index))
			indices[count++] = index;
	}
	if (indices)
		attach_files(p, pid, indices, count, mapped_ns);
	else
		err = -ENOMEM;
	free(indices);
	process_maps_free(&maps);
	return err;
}

void probes_add_file(struct probes *p, int fd, pid_t pid)
{
	char link[64], path[4096];
	struct file_entry *e;
	struct stat st;
	size_t index;
	ssize_t n;
	int copy;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || probes_expect(p, pid))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	e = find_file(p, KERNEL_DEV(major(st.st_dev), minor(st.st_dev)), st.st_ino, &index);
	if (!e) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (copy >= 0)
			e = add_file(p, KERNEL_DEV(major(st.st_dev), minor(st.st_dev)), st.st_ino,
				     path, copy, NULL, &index);
	}
	if (e && e->file.count && !find_link(find_process(p, pid), index))
		attach_files(p, pid, &index, 1, 0);
}

struct expected_by {
	struct probes *probes;
	pid_t pid;
};

static void add_hinted(void *context, int fd)
{
	const struct expected_by *by = context;

	probes_add_file(by->probes, fd, by->pid);
}

void probes_search_libraries(struct probes *p, pid_t pid)
{
	struct expected_by by = { .probes = p, .pid = pid };

	hinted_libraries_each(p->catalogs, pid, add_hinted, &by);
}

void probes_forget(struct probes *p, pid_t pid)
{
	struct process_entry *process = find_process(p, pid);

	if (!process)
		return;
	for (size_t i = 0; i < process->link_count; i++)
		link_closer_add(p->closer, process->links[i].link);
	free(process->links);
	*process = p->processes[--p->process_count];
}

uint32_t probes_functions(const struct probes *p)
{
	return p->probed_functions;
}

uint32_t probes_files(const struct probes *p)
{
	return p->probed_files;
}

void probes_detach(struct probes *p)
{
	while (p->process_count)
		probes_forget(p, p->processes[0].pid);
	for (size_t i = 0; i < p->file_count; i++) {
		probe_link_free(p->files[i]->everywhere);
		p->files[i]->everywhere = NULL;
	}
	link_closer_free(p->closer);
	p->closer = NULL;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	probes_detach(p);
	for (size_t i = 0; i < p->file_count; i++)
		free_file(p->files[i]);
	sharing_free(p->sharing);
	file_view_free(p->view);
	free(p->files);
	free(p->processes);
	free(p);
}
