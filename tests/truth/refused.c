/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused.c - runs a program with a seccomp filter that refuses a system call, as in a container.
 *
 * refused NUMBER ERRNO PROGRAM [ARG...]: the system call NUMBER fails with ERRNO.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? strtoul(argv[1], NULL, 0) : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (argc > 2 ? strtoul(argv[2], NULL, 0) : 0)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (argc < 4) {
		fprintf(stderr, "refused NUMBER ERRNO PROGRAM [ARG...]\n");
		return 2;
	}
	/* No PR_SET_NO_NEW_PRIVS: the caller has CAP_SYS_ADMIN. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refused: seccomp");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
