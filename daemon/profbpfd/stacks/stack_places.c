/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/stack_places.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/process_owner.h"
#include "lib/elf/code_maps.h"
#include "lib/elf/elf_file.h"

#define READ_AGAIN_NS 100000000ull
#define READ_SHARE 20 /* the interval is at least this many times the duration of reading */
#define KERNEL_FRAMES 1024 /* size of the cache of frames by address; a power of two */
#define PERF_MAP_MAX (256ll << 20) /* bytes; larger ones are not read */

/* When data were read that the process may change at any time. */
struct reading {
	uint64_t last_ns; /* 0 = never */
	uint64_t took_ns; /* CPU time */
};

struct place_process {
	pid_t pid;
	uid_t owner; /* -1: unknown */
	struct code_maps maps;
	struct reading maps_read;
	uint64_t maps_ns; /* when these were read, by the clock; maps_read has the time of the drain */
	bool mapped; /* it has mapped code since then */
	pid_t parent; /* it began as a copy of this process; 0 = unknown */
	uint64_t began_ns; /* then; 0 = unknown */
	uint64_t mapped_ns; /* when it last began another program or, as far as that is told, mapped code; 0 = never */
	struct address_names *generated; /* perf map, or NULL */
	struct reading generated_read;
	struct timespec generated_mtime;
	off_t generated_size;
};

/* A cached frame; addresses of kernel code do not change. */
struct kernel_frame {
	uint64_t address; /* 0 = none */
	uint32_t frame;
};

struct stack_places {
	const struct right *right;
	struct stack_table *table;
	const struct address_names *kernel;
	bool kernel_shared;
	struct kernel_frame kernel_frames[KERNEL_FRAMES];
	void *processes; /* tsearch tree of struct place_process */
	bool told; /* new mappings are reported */
	void (*read)(void *context, pid_t pid);
	void *context;
};

struct stack_places *stack_places_new(struct stack_table *table, const struct address_names *kernel,
				      bool shared)
{
	struct stack_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->table = table;
	places->kernel = kernel;
	places->kernel_shared = shared;
	return places;
}

static void free_process(void *data)
{
	struct place_process *process = data;

	code_maps_free(&process->maps);
	address_names_free(process->generated);
	free(process);
}

void stack_places_limit(struct stack_places *places, const struct right *right)
{
	places->right = right;
}

void stack_places_watch(struct stack_places *places, void (*read)(void *context, pid_t pid), void *context)
{
	places->read = read;
	places->context = context;
}

void stack_places_free(struct stack_places *places)
{
	if (!places)
		return;
	tdestroy(places->processes, free_process);
	free(places);
}

bool stack_places_kernel_known(const struct stack_places *places)
{
	return places->kernel && address_names_count(places->kernel);
}

static int compare(const void *a, const void *b)
{
	const struct place_process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* NULL: nothing is known of the process. */
static struct place_process *look_up(struct stack_places *places, pid_t pid)
{
	struct place_process key = { .pid = pid };
	struct place_process **found = tfind(&key, &places->processes, compare);

	return found ? *found : NULL;
}

bool stack_places_knows(struct stack_places *places, pid_t pid)
{
	const struct place_process *process = look_up(places, pid);

	return process && process->maps_read.last_ns;
}

static struct place_process *find_process(struct stack_places *places, pid_t pid)
{
	struct place_process *found = look_up(places, pid), *new;

	if (found)
		return found;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->pid = pid;
	new->owner = (uid_t)-1;
	if (tsearch(new, &places->processes, compare))
		return new;
	free(new);
	return NULL;
}

uid_t stack_places_owner(struct stack_places *places, pid_t pid)
{
	struct place_process *process = find_process(places, pid);

	if (!process)
		return (uid_t)-1;
	if (process->owner == (uid_t)-1)
		process->owner = process_owner(pid);
	return process->owner;
}

void stack_places_forget(struct stack_places *places, pid_t pid)
{
	struct place_process *process = look_up(places, pid);

	if (!process)
		return;
	tdelete(process, &places->processes, compare);
	free_process(process);
}

void stack_places_told(struct stack_places *places)
{
	places->told = true;
}

/* Records and map events come in no order. */
static void note_change(struct place_process *process, uint64_t ts_ns)
{
	if (process->mapped_ns < ts_ns)
		process->mapped_ns = ts_ns;
}

/* The record of the process' begin may still come. */
void stack_places_mapped(struct stack_places *places, pid_t pid, uint64_t ts_ns)
{
	struct place_process *process = find_process(places, pid);

	if (!process)
		return;
	process->mapped = true;
	note_change(process, ts_ns);
}

/* Forgets what was read of the process before @ts_ns, and keeps what records said of the time after it. */
static struct place_process *begin_anew(struct stack_places *places, pid_t pid, uint64_t ts_ns)
{
	const struct place_process *old = look_up(places, pid);
	uint64_t changed_ns = old && old->mapped_ns > ts_ns ? old->mapped_ns : 0, began_ns = old ? old->began_ns : 0;
	struct place_process *new;

	stack_places_forget(places, pid);
	new = find_process(places, pid);
	if (!new)
		return NULL;
	new->mapped_ns = changed_ns;
	new->began_ns = began_ns;
	return new;
}

bool stack_places_began(struct stack_places *places, pid_t pid, pid_t parent, uint64_t ts_ns)
{
	struct place_process *process = look_up(places, pid);
	bool known = process && process->maps.count && process->maps_ns > ts_ns;

	if (!known)
		process = begin_anew(places, pid, ts_ns);
	/* Its children until then are no copies of the new program, and it is no copy itself. */
	if (process && !parent)
		note_change(process, ts_ns);
	if (process && parent) {
		/* From now on the parent's new mappings are noted, too: without memory for that it has no copies. */
		process->parent = find_process(places, parent) ? parent : 0;
		process->began_ns = ts_ns;
	}
	return !known;
}

bool stack_places_ended(struct stack_places *places, pid_t pid, uint64_t ts_ns)
{
	const struct place_process *process = look_up(places, pid);

	if (process && process->began_ns > ts_ns)
		return false;
	stack_places_forget(places, pid);
	return true;
}

/* Data that take long to read are read less often: a process must not delay the stacks of other processes. */
static bool due(struct reading *reading, uint64_t now_ns)
{
	uint64_t wait_ns = READ_SHARE * reading->took_ns;

	if (wait_ns < READ_AGAIN_NS)
		wait_ns = READ_AGAIN_NS;
	if (reading->last_ns && now_ns - reading->last_ns < wait_ns)
		return false;
	reading->last_ns = now_ns;
	return true;
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time: delays by other load on the machine do not count for the process. */
static uint64_t own_time(void)
{
	return time_of(CLOCK_THREAD_CPUTIME_ID);
}

static int read_maps(struct place_process *process, struct code_maps *maps)
{
	uint64_t began_ns = own_time();
	int err = code_maps_read(process->pid, maps);

	process->maps_read.took_ns = own_time() - began_ns;
	return err;
}

static struct code_map *own_map(const struct stack_places *places, struct place_process *process,
				uint64_t address, uint64_t now_ns)
{
	struct code_map *found = code_maps_find(&process->maps, address);
	struct code_maps maps;
	uint64_t clock_ns;

	if (found || (places->told && process->maps_read.last_ns && !process->mapped) ||
	    !due(&process->maps_read, now_ns))
		return found;
	process->mapped = false;
	clock_ns = time_of(CLOCK_MONOTONIC);
	/* The process may have ended: then the old mappings stay. */
	if (read_maps(process, &maps) || !maps.count)
		return NULL;
	if (!right_holds(places->right, process->pid)) {
		code_maps_free(&maps);
		return NULL;
	}
	code_maps_free(&process->maps);
	process->maps = maps;
	process->maps_ns = clock_ns;
	if (places->read)
		places->read(places->context, process->pid);
	return code_maps_find(&process->maps, address);
}

/* The process of which @process is an unchanged copy, as far as is known; NULL: none. */
static struct place_process *same_mappings(struct stack_places *places, const struct place_process *process)
{
	struct place_process *parent;

	/* Unless new mappings are told, either may have mapped other code since then. */
	if (!places->told || !process->parent || process->mapped_ns)
		return NULL;
	parent = look_up(places, process->parent);
	/* A process that began later only has the parent's id. */
	if (!parent || parent->began_ns > process->began_ns || parent->mapped_ns > process->began_ns)
		return NULL;
	return parent;
}

/* Sets *@process to the process through which the mapping's file can be opened. */
static struct code_map *map_of(struct stack_places *places, struct place_process **process, uint64_t address,
			       uint64_t now_ns)
{
	struct code_map *found = own_map(places, *process, address, now_ns);
	struct place_process *parent;

	if (found || (*process)->maps.count)
		return found;
	parent = same_mappings(places, *process);
	if (!parent)
		return NULL;
	*process = parent;
	return own_map(places, parent, address, now_ns);
}

/*
 * Returns the id of a mapping's file. If it cannot be opened, because the process is gone, it is the file that another
 * process mapped; else its identity lacks size, time and build id, without which nobody can tell its functions.
 */
static uint32_t file_of(struct stack_places *places, struct place_process *process,
			struct code_map *map)
{
	struct stack_file file = { .dev = map->map.dev,
				   .inode = map->map.inode,
				   .path = map->map.path };
	struct elf_file *elf = NULL;
	char error[256];
	struct stat st;
	int fd;

	if (map->user)
		return map->user;
	fd = process_map_open(process->pid, &map->map);
	if (fd < 0 && (map->user = stack_table_known_file(places->table, file.dev, file.inode, file.path)))
		return map->user;
	if (fd >= 0 && !fstat(fd, &st)) {
		file.size = st.st_size;
		file.mtime_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
		elf = elf_file_open_fd(fd, map->map.path, error, sizeof(error));
	}
	if (elf)
		file.build_id_size = elf_file_build_id(elf, &file.build_id);
	map->user = stack_table_file(places->table, &file);
	elf_file_close(elf);
	if (fd >= 0)
		close(fd);
	return map->user;
}

/* Returns the process' id in its own pid namespace, the last one listed. */
static pid_t own_pid(pid_t pid)
{
	char path[64], line[256];
	pid_t own = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char *last;

		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		if (last && atoi(last) > 0)
			own = atoi(last);
		break;
	}
	if (file)
		fclose(file);
	return own;
}

/* The path may lead to another user's mounted file, which root can read: checks that @right's user may read it. */
static bool may_be_read(const struct right *right, const struct stat *st)
{
	return !right_limited(right) || st->st_uid == right->uid || st->st_mode & S_IROTH;
}

/* Reads the perf map if it exists and has changed. */
static void read_generated(const struct right *right, struct place_process *process)
{
	struct address_names *names = NULL;
	char path[96];
	struct stat st;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", process->pid,
		 own_pid(process->pid));
	/* The target controls the path: do not block on a FIFO or follow a symbolic link. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > PERF_MAP_MAX ||
	    !may_be_read(right, &st) || !right_holds(right, process->pid) ||
	    (process->generated && st.st_size == process->generated_size &&
	     st.st_mtim.tv_sec == process->generated_mtime.tv_sec &&
	     st.st_mtim.tv_nsec == process->generated_mtime.tv_nsec)) {
		close(fd);
		return;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return;
	}
	names = address_names_perf_map(file);
	fclose(file);
	if (!names)
		return;
	address_names_free(process->generated);
	process->generated = names;
	process->generated_size = st.st_size;
	process->generated_mtime = st.st_mtim;
}

/* The names of CPython's trampolines have the form "py::FUNCTION:FILE". */
static bool python_name(struct stack_table *table, const char *name, struct stack_frame *frame)
{
	char function[ADDRESS_NAMES_LENGTH + 1];
	const char *colon;

	if (strncmp(name, "py::", 4))
		return false;
	colon = strchr(name + 4, ':');
	if (!colon || colon == name + 4)
		return false;
	snprintf(function, sizeof(function), "%.*s", (int)(colon - name - 4), name + 4);
	frame->kind = PROFBPF__STACKS__KIND__PYTHON;
	frame->name = stack_table_name(table, function);
	frame->source = stack_table_name(table, colon + 1);
	return true;
}

static bool generated_frame(struct stack_places *places, struct place_process *process,
			    uint64_t address, uint64_t now_ns, struct stack_frame *frame)
{
	const char *name = NULL;
	uint64_t began_ns;

	if (process->generated)
		name = address_names_find(process->generated, address);
	if (!name && due(&process->generated_read, now_ns)) {
		began_ns = own_time();
		read_generated(places->right, process);
		process->generated_read.took_ns = own_time() - began_ns;
		if (process->generated)
			name = address_names_find(process->generated, address);
	}
	if (!name)
		return false;
	*frame = (struct stack_frame){ 0 };
	if (python_name(places->table, name, frame))
		return true;
	frame->kind = PROFBPF__STACKS__KIND__GENERATED;
	frame->name = stack_table_name(places->table, name);
	return true;
}

uint32_t stack_places_user(struct stack_places *places, pid_t pid, uint64_t address,
			   uint64_t now_ns)
{
	struct stack_frame frame = { .kind = PROFBPF__STACKS__KIND__USER, .offset = address };
	struct place_process *process = find_process(places, pid);
	struct place_process *mapper = process;
	struct code_map *map = process ? map_of(places, &mapper, address, now_ns) : NULL;
	/* An address outside of all mappings is no return address, but some other value on the stack. */
	bool nowhere = !map && places->told;

	if (map && map->map.inode) {
		frame.file = file_of(places, mapper, map);
		frame.offset = address - map->map.start + map->map.offset;
	} else if (map && map->map.path[0] == '[' && strncmp(map->map.path, "[anon", 5)) {
		/* [vdso], [vsyscall]: the name of the mapping is the frame's name. */
		frame = (struct stack_frame){ .name = stack_table_name(places->table,
								       map->map.path) };
	} else if (process &&
		   (nowhere || !generated_frame(places, process, address, now_ns, &frame))) {
		frame.offset = 0; /* all unknown addresses share a frame */
	}
	return stack_table_frame(places->table, &frame);
}

static uint32_t kernel_frame(struct stack_places *places, uint64_t address)
{
	struct stack_frame frame = { .kind = PROFBPF__STACKS__KIND__KERNEL };
	const char *name = places->kernel ? address_names_find(places->kernel, address) : NULL;

	if (name && places->kernel_shared && address_names_is_bpf(places->kernel, address))
		name = "[bpf]";
	if (name)
		frame.name = stack_table_name(places->table, name);
	return stack_table_frame(places->table, &frame);
}

uint32_t stack_places_kernel(struct stack_places *places, uint64_t address)
{
	uint64_t place = address * 0x9e3779b97f4a7c15ull >> 32 & (KERNEL_FRAMES - 1);
	struct kernel_frame *known = &places->kernel_frames[place];

	if (known->address != address || !address)
		*known = (struct kernel_frame){ address, kernel_frame(places, address) };
	return known->frame;
}
