/* SPDX-License-Identifier: Apache-2.0 */
/* capture_private.h - shared by the files of capture.h. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_PRIVATE_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_PRIVATE_H

#include "daemon/common/topics.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/capture/gate.h"

#include "bpf/profbpf.skel.h" /* needs the includes of capture.h */

#define LINKS_MAX 32

struct ring_buffer;

struct capture {
	struct profbpf *skeleton;
	struct ring_buffer *rings;
	enum probe_method method;
	bool emulated_returns; /* programs do the return instruction themselves */
	unsigned int topics;
	enum ioctl_method ioctls; /* IOCTL_METHODS: not requested, or not available */
	bool ioctls_wait; /* for capture_hook_ioctls() */
	int cpus;
	struct bpf_link *links[LINKS_MAX];
	size_t link_count;
	struct gate_seat *seat; /* NULL: no scheduler events, or its own programs are attached to them */
	bool guarded; /* the program that sees execs is attached */
	char warning[768]; /* for capture_attach() */
	struct source_stats base[SOURCES]; /* subtracted from the programs' counts */
	uint32_t *taken; /* by CPU: number of staged records already taken at the end of the session */
	uint64_t taken_count;
	size_t ring_bytes; /* size of one ring */
	bool small; /* use little memory */
	int probe_chunks[CAPTURE_PROBES_MAX / PROBES_IN_CHUNK]; /* descriptors of the inner maps of "probes"; 0 = not made */
	size_t drained; /* bytes read by the current drain */
	size_t *drained_of; /* the same for each CPU's ring */
	size_t fullest; /* the highest fill of a ring at any drain since the last question */
	capture_handler *handler; /* only during capture_drain() */
	void *context;
};

/* capture_has_switches - does the session record scheduler events? */
static inline bool capture_has_switches(const struct capture *capture)
{
	return capture->topics & (TOPIC_SCHED | TOPIC_STACK);
}

/* capture_marks_interrupts - does the session mark interrupts itself? The gate marks them for sessions that do not record them. */
static inline bool capture_marks_interrupts(const struct capture *capture)
{
	return capture->topics & TOPIC_IRQ || (capture_has_switches(capture) && !capture->seat);
}

/* capture_put - bpf_map_update_elem(), repeated for up to 10 ms if the kernel has no memory at once */
int capture_put(const struct bpf_map *map, const void *key, const void *value, uint64_t flags);

/* capture_forget_probes - closes what capture_set_probe() made */
void capture_forget_probes(struct capture *capture);

/* capture_choose_programs - selects the skeleton's programs and maps before loading, by topics and @features */
void capture_choose_programs(struct capture *capture, const struct features *features);

/*
 * capture_share_gate - makes the programs, before loading, use the gate's maps
 *
 * Without a seat the session has its own maps, which are not used. Returns 0 or a negative errno.
 */
int capture_share_gate(struct capture *capture);

/* capture_share_unwinding - the same for the unwind tables, if settings.unwind is set */
int capture_share_unwinding(struct capture *capture, const struct unwinder_session *unwinding);

/*
 * capture_on_record - libbpf's ring buffer callback: passes a record to the capture's handler
 *
 * @context is the capture. Incomplete records are skipped. Returns 0.
 */
int capture_on_record(void *context, void *data, size_t size);

/*
 * capture_attach_forgetting - attaches the program that frees the state of threads, before any other program
 *
 * Does nothing on kernels with task storage. Returns 0 or a negative errno.
 */
int capture_attach_forgetting(struct capture *capture);

/*
 * capture_attach_ioctls - attaches the programs of the chosen way to see ioctls
 *
 * Returns 0 or a negative errno: then another way may work, with the programs loaded again.
 */
int capture_attach_ioctls(struct capture *capture);

/* capture_ioctls_missed - the number of ioctls, of any process, that the kernel did not show to the programs so far */
uint64_t capture_ioctls_missed(const struct capture *capture);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_CAPTURE_PRIVATE_H */
