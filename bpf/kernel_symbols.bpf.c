// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kernel_symbols.bpf.c - the kernel's functions with their addresses, as lines of /proc/kallsyms.
 *
 * That file shows addresses only with CAP_SYSLOG, which would also let the daemon read and clear the kernel's log. This
 * iterator needs only the capabilities of tracing itself (CAP_BPF and CAP_PERFMON). Kernels since 6.0 have it.
 */
#include "profbpf.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* The fields in use of kernel types which the vmlinux.h of the build may lack. */
struct kallsym_iter___own {
	unsigned long value;
	char type;
	char name[1];
} __attribute__((preserve_access_index));

struct bpf_iter__ksym___own {
	struct bpf_iter_meta *meta;
	struct kallsym_iter___own *ksym;
} __attribute__((preserve_access_index));

SEC("iter/ksym")
int kernel_symbols(struct bpf_iter__ksym___own *ctx)
{
	struct kallsym_iter___own *symbol = ctx->ksym;
	char type = symbol ? symbol->type | 0x20 : 0; /* in small letters */

	if (type == 't' || type == 'w')
		BPF_SEQ_PRINTF(ctx->meta->seq, "%llx %c %s\n", (__u64)symbol->value, symbol->type,
			       symbol->name);
	return 0;
}
