/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - a kernel of the simulated Ascend: its duration is proportional to its blocks. */
#ifndef ASCEND_SIM_KERNEL_H
#define ASCEND_SIM_KERNEL_H

struct sim_kernel {
	char name[64];
	char type[32];
};

#endif /* ASCEND_SIM_KERNEL_H */
