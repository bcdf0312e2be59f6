/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_types.h - the kernel's type information (BTF), or a file that the user gave instead.
 *
 * It is used to relocate the programs (CO-RE), and for the type ids by which they are attached to tracepoints. libbpf has no
 * option for the latter: kernel_types.c defines a function with libbpf's name, btf__load_vmlinux_btf(), which the dynamic
 * linker prefers to libbpf's own, also for libbpf's internal calls.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H

#include <stddef.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* Names the file to use instead; set by --btf, and inherited by a daemon that profctl starts. */
#define KERNEL_TYPES_ENV "PROFBPF_BTF"

/* kernel_types_given - the user's file, or NULL */
const char *kernel_types_given(void);

/*
 * kernel_types_check - does the file match the running kernel?
 *
 * Compared with facts from the kernel; without CAP_BPF and CAP_PERFMON fewer facts are available. Returns 0, or a
 * negative errno and the reason with its remedy in @error.
 */
int kernel_types_check(const char *path, char *error, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H */
