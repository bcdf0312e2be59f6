/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_types.h - the kernel's description of its own types (BTF), or a file that the user gave in its place.
 *
 * The programs are fitted to the kernel by it, and attached to tracepoints by numbers in it. libbpf knows no other way
 * to be given it for the latter: kernel_types.c has a function of libbpf's name, btf__load_vmlinux_btf(), which the
 * dynamic linker prefers to libbpf's own, and which that calls, too.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H

#include <stddef.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* The file to take instead; set by --btf, and inherited by a daemon that profctl starts. */
#define KERNEL_TYPES_ENV "PROFBPF_BTF"

/* kernel_types_given - the user's file, or NULL */
const char *kernel_types_given(void);

/*
 * kernel_types_check - does the file fit the kernel that runs?
 *
 * Looked up in the kernel as far as it tells; without CAP_BPF and CAP_PERFMON some of that is not asked. Returns 0, or a
 * negative errno and the reason with its remedy in @error.
 */
int kernel_types_check(const char *path, char *error, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_KERNEL_TYPES_H */
