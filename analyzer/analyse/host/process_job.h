/* SPDX-License-Identifier: Apache-2.0 */
/* process_job.h - which processes are of one job, as far as is known from who started whom. */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_JOB_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_JOB_H

#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * process_job - returns the first process of the traced ones that started each other down to @process
 *
 * If the whole machine was recorded, only those that run the same program count.
 */
uint32_t process_job(const struct model *model, uint32_t process);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_JOB_H */
