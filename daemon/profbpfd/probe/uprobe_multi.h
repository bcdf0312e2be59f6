/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uprobe_multi.h - the kernel's links of many uprobes at once (from 6.6; session links from 6.13).
 *
 * Distributions' headers of the C library and of libbpf are older: values and
 * layout are from the kernel's include/uapi/linux/bpf.h.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_UPROBE_MULTI_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_UPROBE_MULTI_H

#include <stddef.h>
#include <stdint.h>

#define ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI */
#define ATTACH_UPROBE_SESSION 57 /* BPF_TRACE_UPROBE_SESSION */
#define UPROBE_MULTI_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr that BPF_LINK_CREATE reads for such links. */
struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid; /* 0 = every process that maps the file */
	uint32_t reserved;
};

/* The size that is passed to the kernel, without the padding at the end. */
#define UPROBE_MULTI_ATTR_SIZE offsetof(struct uprobe_multi_attr, reserved)

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_UPROBE_MULTI_H */
