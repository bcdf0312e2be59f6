/* SPDX-License-Identifier: Apache-2.0 */
/* file_entry.h - a session's state for one file: its probed functions, their numbers, their probes. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_ENTRY_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_ENTRY_H

#include <stdarg.h>

#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/probe/file_places.h"
#include "daemon/profbpfd/probe/link_closer.h"
#include "daemon/profbpfd/probe/probed_process.h"
#include "daemon/profbpfd/probe/probes_options.h"
#include "daemon/profbpfd/session/item.h"
#include "lib/elf/process_maps.h"

/* Shared by the files of a session. */
struct file_setting {
	struct capture *capture;
	struct file_view *view;
	struct item_queue *queue;
	struct probes_options options;
	bool return_probes; /* the kernel can skip return probes of single calls */
	uint32_t next_probe, next_exit; /* the next free numbers */
	bool full_warned;
	void (*warn)(void *context, const char *text);
	void *warn_context;
};

/* A file that was read. Most have no functions to probe: count 0, fd -1. */
struct file_entry {
	uint32_t dev; /* KERNEL_DEV() */
	uint64_t inode;
	char *path;
	int fd;
	struct probed_file file;
	struct file_places places;
	uint64_t *cookies; /* the functions' probe numbers */
	struct hot_function *hot; /* one per function; see exit_budget.h */
	bool exits_stale; /* the set of dropped exits has changed since they were last probed */
	bool names_change_unseen; /* a function with names=changed is not probed */
	bool moves_stacks; /* processes that map it may move stacks */
	struct probe_link *everywhere; /* probes in every process that maps it */
	uint64_t everywhere_ns;
	struct probe_link **tails; /* probes on targets of tail jumps, in every process that maps it */
	size_t tail_count;
	bool tails_of_processes; /* some processes have their own probes on targets of tail jumps */
	size_t users; /* processes with probes of the file */
	bool counted; /* it has had users */
};

/* A running process that maps the file, in which its IFUNCs can be resolved. */
struct mapped_in {
	pid_t pid;
	const struct process_maps *maps;
	const struct process_map *map;
};

/*
 * file_entry_new - reads a file, numbers its functions, and records them in the trace
 *
 * Takes over @fd. @in may be NULL. NULL without memory; a file without functions to probe gets an entry, too.
 */
struct file_entry *file_entry_new(struct file_setting *setting, uint32_t dev, uint64_t inode,
				  const char *path, int fd, const struct mapped_in *in);

/*
 * file_entry_link - puts the file's probes into a process, or with @process NULL into all that map the file
 *
 * @moved: the process moves stacks. Returns NULL with errno like probe_link_new().
 */
struct probe_link *file_entry_link(struct file_setting *setting, struct file_entry *entry,
				   const struct probed_process *process, bool moved);

/*
 * file_entry_set_exits - applies a change of the dropped exits to a link
 *
 * Returns 0, or a negative errno and changes nothing; -ESRCH like probe_link_set_exits().
 */
int file_entry_set_exits(struct file_setting *setting, struct file_entry *entry,
			 struct probe_link *link, const struct probed_process *process, bool moved);

/*
 * file_entry_link_tail - probes the exits of a tail jump's target in a process
 *
 * With @process NULL in all processes that map the file; not if processes have such probes already, which would then see ends
 * twice. @offset: file offset of the target; the file's descriptor must be open. @value: the returned value is read
 * of the function that jumped there. Returns 0 with *@link set, to NULL if all its exits are probed already; -ENOENT if
 * they cannot be seen; or another negative errno.
 */
int file_entry_link_tail(struct file_setting *setting, struct file_entry *entry,
			 const struct probed_process *process, uint64_t offset, bool value, bool moved,
			 struct probe_link **link);

/* file_entry_add_tail - takes ownership of a link that was made without a process; 0 or -ENOMEM */
int file_entry_add_tail(struct file_entry *entry, struct probe_link *link);

/* file_entry_detach - closes its probes that are in every process that maps it */
void file_entry_detach(struct file_entry *entry, struct link_closer *closer);

/* file_entry_free - also removes its probes */
void file_entry_free(struct file_entry *entry);

/* file_warn - warns the user with one line */
void __attribute__((format(printf, 2, 3)))
file_warn(const struct file_setting *setting, const char *format, ...);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_FILE_ENTRY_H */
