/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mentioned_types.h - of the types that the kernel has, those that our programs mention.
 *
 * Whoever loads programs has libbpf look for each type that they mention among all of the kernel's, a
 * hundred thousand: a third of what a session takes to start. So they are picked out once per daemon.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H

#include <stdint.h>

struct btf;

/* Zeroed: nothing is known, and libbpf looks for itself. */
struct mentioned_types {
	int fd; /* a sealed memory file of BTF; 0 = none */
	/* Numbers that types have in the kernel itself; 0 = there is none of that name. */
	uint32_t file, fdtable, list_head, socket;
};

/*
 * mentioned_types_pick - the types of @kernel that have a name of @programs, and what these contain
 *
 * A name's part from "___" on does not count, as with libbpf. What pointers point to is left out: it is void.
 * The order is that of @kernel. The result is the caller's (btf__free()); NULL without memory, or if @kernel
 * has kinds of types that are not known here.
 */
struct btf *mentioned_types_pick(const struct btf *kernel, const struct btf *programs);

/*
 * mentioned_types_take - do that, and find the numbers
 *
 * Returns 0, then @types is the caller's to free, or a negative errno with @types zeroed.
 */
int mentioned_types_take(struct mentioned_types *types, const struct btf *kernel,
			 const struct btf *programs);

/* mentioned_types_free - zeroed ones, too */
void mentioned_types_free(struct mentioned_types *types);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H */
