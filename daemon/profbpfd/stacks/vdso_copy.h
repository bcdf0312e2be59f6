/* SPDX-License-Identifier: Apache-2.0 */
/* vdso_copy.h - copies the vdso, the library that the kernel maps into each process */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_VDSO_COPY_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_VDSO_COPY_H

/* vdso_copy - a memory file with a copy of this process' vDSO, which is the same for all 64-bit processes; -1: there is none */
int vdso_copy(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_VDSO_COPY_H */
