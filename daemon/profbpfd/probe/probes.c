/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/probe/coverage.h"
#include "daemon/profbpfd/probe/hinted_libraries.h"
#include "daemon/profbpfd/probe/probes_private.h"
#include "lib/elf/process_maps.h"

/*
 * A file gets probes for all processes if at least MANY_PROCESSES targets map it and are the majority of the
 * processes that do, or if more than PROCESSES_LINKED_MAX targets map it.
 */
#define MANY_PROCESSES 32
#define PROCESSES_LINKED_MAX 256

struct probes *probes_new(struct capture *capture, const struct catalogs *catalogs,
			  struct item_queue *queue, const struct probes_options *options,
			  void (*warn_line)(void *context, const char *text), void *context)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->setting = (struct file_setting){
		.capture = capture,
		.view = file_view_new(options->file_cache, catalogs, options->optimized_nop),
		.queue = queue,
		.options = *options,
		.return_probes = capture_return_program(capture) >= 0,
		.warn = warn_line,
		.warn_context = context,
	};
	p->closer = link_closer_new();
	if (!p->setting.view || !p->closer) {
		link_closer_free(p->closer);
		file_view_free(p->setting.view);
		free(p);
		return NULL;
	}
	if (options->budget > 0)
		p->budget = exit_budget_new(&options->prices, options->budget);
	p->catalogs = catalogs;
	if (!options->system_wide && !options->own_only &&
	    (options->follow || options->targets >= MANY_PROCESSES))
		p->sharing = sharing_new();
	return p;
}

static struct probed_process *find_process(struct probes *p, pid_t pid)
{
	return probed_processes_find(&p->processes, pid);
}

bool probes_gone(const struct probes *p, pid_t pid)
{
	const struct probed_process *process = probed_processes_find(&p->processes, pid);

	return !p->setting.options.system_wide && (!process || !process_runs(pid, process->started));
}

static bool is_ours(void *context, pid_t pid)
{
	return find_process(context, pid) != NULL;
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

/* Takes over @fd. Returns NULL without memory. */
static struct file_entry *add_file(struct probes *p, uint32_t dev, uint64_t inode, const char *path,
				   int fd, const struct mapped_in *in, size_t *index)
{
	struct file_entry **files = reallocarray(p->files, p->file_count + 1, sizeof(*files));
	struct file_entry *e;

	if (!files) {
		close(fd);
		return NULL;
	}
	p->files = files;
	e = file_entry_new(&p->setting, dev, inode, path, fd, in);
	if (!e)
		return NULL;
	*index = p->file_count;
	p->files[p->file_count++] = e;
	return e;
}

void probes_missed(struct probes *p, pid_t pid, uint64_t since_ns)
{
	struct probed_process *process = find_process(p, pid);

	if (!p->by_process ||
	    (process && (process->looked_at || process->link_count || process->missed)))
		return;
	if (process)
		process->missed = true;
	coverage_missed(p->setting.queue, pid, since_ns, probes_now_ns());
}

/* The process ended during its scan. */
static void ended_meanwhile(struct probes *p, struct probed_process *process, uint64_t mapped_ns)
{
	if (process->missed)
		return;
	process->missed = true;
	coverage_missed(p->setting.queue, process->pid, mapped_ns, probes_now_ns());
}

static void count_file(struct probes *p, struct file_entry *e)
{
	if (e->counted)
		return;
	e->counted = true;
	p->probed_files++;
	p->probed_functions += e->file.count;
}

/*
 * Should the probes be put into the file instead of into each process? Other processes that map it must not
 * be slowed down; but probes per process take descriptors, and each of them costs time at every call and at
 * the end of the session.
 */
static bool for_whoever_maps(struct probes *p, const struct file_entry *e)
{
	const struct probes_options *options = &p->setting.options;
	struct sharers sharers;

	if (options->system_wide)
		return true;
	if (options->own_only || !p->sharing)
		return false;
	sharing_count(p->sharing, e->dev, e->inode, is_ours, p, &sharers);
	if (!sharers.strangers)
		return options->follow || p->processes.count >= MANY_PROCESSES;
	if (sharers.ours < e->users)
		sharers.ours = e->users;
	return sharers.ours > PROCESSES_LINKED_MAX ||
	       (sharers.ours >= MANY_PROCESSES && sharers.ours >= sharers.strangers);
}

static void link_file(struct probes *p, struct file_entry *e)
{
	e->everywhere = file_entry_link(&p->setting, e, NULL, false);
	e->everywhere_ns = probes_now_ns();
}

/* Removes them in parallel, because most of the time is spent waiting for the same grace periods. */
static void remove_own_links(struct probes *p, size_t index)
{
	struct link_closer *closer = link_closer_new();

	for (size_t i = 0; i < p->processes.count; i++) {
		struct process_link *l = probed_process_link(&p->processes.row[i], index);

		if (!l)
			continue;
		if (closer)
			link_closer_add(closer, l->link);
		else
			probe_link_free(l->link);
		l->link = NULL;
	}
	link_closer_free(closer);
}

/*
 * The file has many processes by now. A call must not be seen twice, so the probes of the processes are removed
 * first; the gap until the file is probed is recorded in the trace.
 */
static void move_into_file(struct probes *p, size_t index)
{
	struct item *coverage = item_new(ITEM_COVERAGE, 1024);
	struct file_entry *e = p->files[index];
	uint64_t since_ns = probes_now_ns();

	if (!coverage)
		return;
	remove_own_links(p, index);
	link_file(p, e);
	for (size_t i = 0; i < p->processes.count; i++) {
		struct probed_process *process = &p->processes.row[i];
		struct process_link *l = probed_process_link(process, index);

		if (!l)
			continue;
		if (!e->everywhere)
			l->link = file_entry_link(&p->setting, e, process, process->moves_stacks);
		coverage_add(coverage, coverage_row(process->pid, e->file.count, since_ns, probes_now_ns()),
			     e->path);
	}
	if (!item_queue_push(p->setting.queue, coverage))
		item_free(coverage);
}

/* Probes the file, for all or for this process, and notes from when on the process is covered. */
static void attach_file(struct probes *p, struct probed_process *process, size_t index,
			uint64_t mapped_ns, struct item *coverage)
{
	struct file_entry *e = p->files[index];
	struct probe_link *link = NULL;

	if (!e->everywhere && !e->users && for_whoever_maps(p, e))
		link_file(p, e);
	else if (!e->everywhere && e->users && e->users % MANY_PROCESSES == 0 &&
		 for_whoever_maps(p, e))
		move_into_file(p, index);
	if (!e->everywhere) {
		link = file_entry_link(&p->setting, e, process, process->moves_stacks);
		if (!link) {
			if (errno != ESRCH)
				file_warn(&p->setting, "%s: probing it in process %d failed: %s",
					  e->path, process->pid, strerror(errno));
			else
				ended_meanwhile(p, process, mapped_ns);
			return;
		}
	}
	p->by_process |= link != NULL;
	count_file(p, e);
	if (probed_process_add_link(process, index, link)) {
		probe_link_free(link);
		return;
	}
	e->users++;
	coverage_add(coverage,
		     coverage_row(process->pid, e->file.count, mapped_ns,
				  e->everywhere ? e->everywhere_ns : probes_now_ns()),
		     e->path);
}

static void attach_files(struct probes *p, pid_t pid, const size_t *indices, size_t count,
			 uint64_t mapped_ns)
{
	struct probed_process *process = find_process(p, pid);
	struct item *coverage = count ? item_new(ITEM_COVERAGE, 1024) : NULL;

	for (size_t i = 0; i < count && coverage; i++)
		attach_file(p, process, indices[i], mapped_ns, coverage);
	if (coverage && coverage->count) {
		item_queue_push(p->setting.queue, coverage);
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

/* Probes the exits of its functions that had return probes; the gap is recorded in the trace. */
static void link_again(struct probes *p, struct probed_process *process)
{
	struct item *coverage = item_new(ITEM_COVERAGE, 1024);

	for (size_t i = 0; i < process->link_count && coverage; i++) {
		struct process_link *l = &process->links[i];
		struct file_entry *e = p->files[l->file];
		uint64_t since_ns = probes_now_ns();

		if (!l->link || !file_places_depend_on_stacks(&e->places))
			continue;
		probe_link_free(l->link);
		l->link = file_entry_link(&p->setting, e, process, true);
		coverage_add(coverage, coverage_row(process->pid, e->file.count, since_ns, probes_now_ns()),
			     e->path);
	}
	if (coverage && coverage->count) {
		item_queue_push(p->setting.queue, coverage);
		coverage = NULL;
	}
	item_free(coverage);
}

static void stacks_move(struct probes *p, struct probed_process *process)
{
	if (process->moves_stacks || !p->setting.return_probes)
		return;
	process->moves_stacks = true;
	capture_stack_mover(p->setting.capture, process->pid, true);
	link_again(p, process);
}

/* Records the mapping once, also for a file that was already probed. */
static void tell_mapped(struct probes *p, struct probed_process *process, size_t index)
{
	struct process_link *l = probed_process_link(process, index);
	const struct file_entry *e = p->files[index];

	if (!l || l->mapped)
		return;
	coverage_mapped(p->setting.queue, process->pid, e->path, e->file.count, probes_now_ns());
	l->mapped = true;
}

/* @e is mapped in the process, now or still. If it is the process' program and has no symbols, records that. */
static void look_at_file(struct probes *p, struct probed_process *process, const struct file_entry *e,
			 uint64_t mapped_ns)
{
	if (e->moves_stacks)
		stacks_move(p, process);
	if (e->file.nameless && !process->nameless)
		process->nameless = coverage_nameless(p->setting.queue, process->pid, e->path,
						      mapped_ns, probes_now_ns());
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
	if (!right_holds(p->setting.options.right, pid)) {
		process_maps_free(&maps);
		return -ESRCH;
	}
	find_process(p, pid)->looked_at = true;
	indices = calloc(maps.count + 1, sizeof(*indices));
	for (size_t i = 0; indices && i < maps.count; i++) {
		size_t index;
		struct file_entry *e = mapped_file(p, pid, &maps, &maps.map[i], &index);

		if (!e)
			continue;
		look_at_file(p, find_process(p, pid), e, mapped_ns);
		if (!e->file.count)
			continue;
		if (probed_process_link(find_process(p, pid), index))
			tell_mapped(p, find_process(p, pid), index);
		else
			indices[count++] = index;
	}
	if (indices)
		attach_files(p, pid, indices, count, mapped_ns);
	else
		err = -ENOMEM;
	for (size_t i = 0; i < count; i++)
		tell_mapped(p, find_process(p, pid), indices[i]);
	free(indices);
	process_maps_free(&maps);
	return err;
}

/* Not if processes have their own probes on these exits: a call's end must not be seen twice. */
static bool tail_for_whoever_maps(struct probes *p, const struct file_entry *e)
{
	return !e->tails_of_processes && (e->everywhere || (!e->users && for_whoever_maps(p, e)));
}

static int keep_tail(struct probed_process *process, struct file_entry *e, bool everywhere,
		     struct probe_link *link)
{
	if (everywhere)
		return file_entry_add_tail(e, link);
	e->tails_of_processes = true;
	return probed_process_add_tail(process, link);
}

/* Is the returned value of this function read? In doubt it is. */
static bool reads_value(const struct probes *p, uint32_t probe)
{
	for (size_t i = 0; i < p->file_count; i++)
		for (size_t k = 0; k < p->files[i]->file.count; k++)
			if (p->files[i]->cookies[k] == probe)
				return catalog_value_counts(p->files[i]->file.functions[k].entry);
	return true;
}

static int probe_tail(struct probes *p, struct probed_process *process,
		      const struct process_maps *maps, const struct process_map *map,
		      uint64_t address, uint32_t probe)
{
	struct probe_link *link = NULL;
	struct file_entry *e;
	bool everywhere;
	size_t index;
	int err;

	e = mapped_file(p, process->pid, maps, map, &index);
	if (e && e->fd < 0)
		e->fd = process_map_open(process->pid, map);
	if (!e || e->fd < 0)
		return -ENOENT;
	everywhere = tail_for_whoever_maps(p, e);
	err = file_entry_link_tail(&p->setting, e, everywhere ? NULL : process,
				   address - map->start + map->offset, reads_value(p, probe),
				   !everywhere && process->moves_stacks, &link);
	if (link && keep_tail(process, e, everywhere, link))
		err = -ENOMEM;
	if (err)
		probe_link_free(link);
	return err;
}

void probes_tail(struct probes *p, pid_t pid, uint64_t address, uint32_t probe)
{
	struct probed_process *process = find_process(p, pid);
	struct process_maps maps;
	int err = -ENOENT;

	if (!process || process_maps_read(pid, &maps))
		return;
	for (size_t i = 0; i < maps.count; i++)
		if (address >= maps.map[i].start && address < maps.map[i].end)
			err = probe_tail(p, process, &maps, &maps.map[i], address, probe);
	process_maps_free(&maps);
	capture_tail_known(p->setting.capture, pid, address, err ? TAIL_UNKNOWN : TAIL_PROBED);
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
	if (e && e->file.count && !probed_process_link(find_process(p, pid), index))
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

static void forget(struct probes *p, struct probed_process *process)
{
	for (size_t i = 0; i < process->link_count; i++) {
		link_closer_add(p->closer, process->links[i].link);
		p->files[process->links[i].file]->users--;
	}
	for (size_t i = 0; i < process->tail_count; i++)
		link_closer_add(p->closer, process->tails[i]);
	capture_stack_mover(p->setting.capture, process->pid, false);
	probed_processes_remove(&p->processes, process);
}

void probes_forget(struct probes *p, pid_t pid)
{
	struct probed_process *process = find_process(p, pid);

	if (!process)
		return;
	capture_tails_forget(p->setting.capture, pid);
	forget(p, process);
}

bool probes_know_file(const struct probes *p, bool (*is)(const char *path))
{
	for (size_t i = 0; i < p->file_count; i++)
		if (is(p->files[i]->path))
			return true;
	return false;
}

uint32_t probes_functions(const struct probes *p)
{
	return p->probed_functions;
}

uint32_t probes_files(const struct probes *p)
{
	return p->probed_files;
}

static size_t events_of(struct probe_link *const *links, size_t count)
{
	size_t events = 0;

	for (size_t i = 0; i < count; i++)
		events += probe_link_events(links[i]);
	return events;
}

size_t probes_events(const struct probes *p)
{
	size_t events = 0;

	for (size_t i = 0; i < p->file_count; i++)
		events += probe_link_events(p->files[i]->everywhere) +
			  events_of(p->files[i]->tails, p->files[i]->tail_count);
	for (size_t i = 0; i < p->processes.count; i++) {
		const struct probed_process *process = &p->processes.row[i];

		events += events_of(process->tails, process->tail_count);
		for (size_t k = 0; k < process->link_count; k++)
			events += probe_link_events(process->links[k].link);
	}
	return events;
}

void probes_detach(struct probes *p)
{
	while (p->processes.count)
		forget(p, &p->processes.row[p->processes.count - 1]);
	for (size_t i = 0; i < p->file_count; i++) {
		file_entry_detach(p->files[i], p->closer);
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
		file_entry_free(p->files[i]);
	exit_budget_free(p->budget);
	sharing_free(p->sharing);
	file_view_free(p->setting.view);
	free(p->files);
	probed_processes_free(&p->processes);
	free(p);
}
