/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - what a trace holds, without its rows. Only the loader includes it.
 *
 * Calls, ioctls, switches, wake-ups and device tasks are counted; of their columns only those are unpacked that
 * tell which threads and functions there are, and whether switches are missing. Rows that make no sense by
 * their times are not told from others. Everything else is loaded as usual. Calls go through here too where only those
 * of a part of the time are kept (window.h): a batch without any of them is counted.
 */
#ifndef PROFBPF_ANALYZER_LOAD_SURVEY_H
#define PROFBPF_ANALYZER_LOAD_SURVEY_H

#include "analyzer/load/loader_private.h"

/* In place of load_calls() and so on; the same results. Rows are added to loader->model->survey. */
bool survey_calls(struct loader *loader, const struct pbt_packet *packet);
bool survey_ioctls(struct loader *loader, const struct pbt_packet *packet);
bool survey_switches(struct loader *loader, const struct pbt_packet *packet);
bool survey_wakes(struct loader *loader, const struct pbt_packet *packet);
bool survey_device_tasks(struct loader *loader, const struct pbt_packet *packet);

/* Count one more switch of its CPU, and whether those before it are missing. False without memory. */
bool survey_switch(struct loader *loader, const struct cpu_switch *row);

/* The last switch of a CPU that was counted, to be gone on from. NULL without memory. */
struct survey_switch *survey_last_switch(struct loader *loader, uint32_t cpu);

void survey_free(struct survey_state *state);

#endif /* PROFBPF_ANALYZER_LOAD_SURVEY_H */
