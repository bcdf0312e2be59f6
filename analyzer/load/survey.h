/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - the contents of a trace without its rows. Only the loader includes it.
 *
 * Calls, ioctls, switches, wake-ups and device tasks are counted; only the columns are unpacked that show which
 * threads and functions there are, and whether switches are missing. Rows with impossible times are counted like
 * other rows. Everything else is loaded as usual. If only the calls of a part of the time are kept (window.h), calls
 * are processed here, too: a batch without any kept call is counted.
 */
#ifndef PROFBPF_ANALYZER_LOAD_SURVEY_H
#define PROFBPF_ANALYZER_LOAD_SURVEY_H

#include "analyzer/load/loader_private.h"

/* Replace load_calls() and so on, with the same return values. They add the number of rows to loader->model->survey. */
bool survey_calls(struct loader *loader, const struct pbt_packet *packet);
bool survey_ioctls(struct loader *loader, const struct pbt_packet *packet);
bool survey_switches(struct loader *loader, const struct pbt_packet *packet);
bool survey_wakes(struct loader *loader, const struct pbt_packet *packet);
bool survey_device_tasks(struct loader *loader, const struct pbt_packet *packet);

/* Counts one more switch of its CPU, and any missing switches before it. Returns false without memory. */
bool survey_switch(struct loader *loader, const struct cpu_switch *row);

/* Returns the last counted switch of a CPU, for update by the caller. NULL without memory. */
struct survey_switch *survey_last_switch(struct loader *loader, uint32_t cpu);

void survey_free(struct survey_state *state);

#endif /* PROFBPF_ANALYZER_LOAD_SURVEY_H */
