/* SPDX-License-Identifier: Apache-2.0 */
/* all_tables.h - the list of all tables. */
#ifndef PROFBPF_ANALYZER_STORE_ALL_TABLES_H
#define PROFBPF_ANALYZER_STORE_ALL_TABLES_H

#include "analyzer/store/schema.h"

/* TABLE(name) for each; described in store/tables/. */
#define ALL_TABLES(TABLE)          \
	/* host_tables.c */        \
	TABLE(trace)               \
	TABLE(left_out)            \
	TABLE(host_cpus)           \
	TABLE(host_intervals)      \
	TABLE(host_counters)       \
	TABLE(cgroup_readings)     \
	/* process_tables.c */     \
	TABLE(processes)           \
	TABLE(process_usage)       \
	TABLE(threads)             \
	TABLE(thread_usage)        \
	/* schedule_tables.c */    \
	TABLE(states)              \
	TABLE(interrupts)          \
	TABLE(block_io)            \
	TABLE(major_faults)        \
	/* call_tables.c */        \
	TABLE(functions)           \
	TABLE(calls)               \
	TABLE(api)                 \
	TABLE(api_statistic)       \
	TABLE(launched)            \
	TABLE(host_scopes)         \
	TABLE(ioctls)              \
	TABLE(ioctl)               \
	/* stack_tables.c */       \
	TABLE(stack_functions)     \
	TABLE(python_functions)    \
	/* pipeline_tables.c */    \
	TABLE(steps)               \
	TABLE(pipeline_operators)  \
	/* task_tables.c */        \
	TABLE(devices)             \
	TABLE(tasks)               \
	TABLE(task_details)        \
	TABLE(task_metrics)        \
	TABLE(link_uses)           \
	TABLE(memory_records)      \
	/* device_tables.c */      \
	TABLE(device_usage)        \
	TABLE(streams)             \
	TABLE(operators)           \
	TABLE(operator_types)      \
	TABLE(operator_cores)      \
	TABLE(operator_metrics)    \
	TABLE(overlap)             \
	/* idle_tables.c */        \
	TABLE(idle_causes)         \
	TABLE(idle_gaps)           \
	TABLE(idle_parts)          \
	TABLE(advice)              \
	TABLE(advice_rules)        \
	/* root_tables.c */        \
	TABLE(idle_roots)          \
	TABLE(idle_hops)           \
	TABLE(wait_roots)          \
	TABLE(wait_runs)           \
	TABLE(waiters)             \
	/* verdict_tables.c */     \
	TABLE(verdict)             \
	/* step_tables.c */        \
	TABLE(device_steps)        \
	TABLE(device_repetitions)  \
	TABLE(host_steps)          \
	TABLE(step_outliers)       \
	TABLE(device_step_reduces) \
	TABLE(operator_steps)      \
	/* cluster_tables.c */     \
	TABLE(communication)       \
	TABLE(links)               \
	TABLE(collectives)         \
	TABLE(ranks)               \
	TABLE(cluster_ranks)       \
	TABLE(cluster_stages)      \
	TABLE(cluster_findings)    \
	/* memory_tables.c */      \
	TABLE(memory)              \
	TABLE(memory_live)         \
	TABLE(memory_curves)       \
	TABLE(memory_allocators)   \
	/* file_tables.c */        \
	TABLE(device_files)        \
	TABLE(findings)            \
	TABLE(device_facts)        \
	TABLE(operator_sums)       \
	TABLE(fused_operators)     \
	TABLE(told_advice)         \
	TABLE(cluster_steps)

#define TABLE_EXTERN(name) extern const struct data_table table_##name;
ALL_TABLES(TABLE_EXTERN)
#undef TABLE_EXTERN

/* Every table, in the order in which they are listed. */
const struct data_table *const *tables_all(size_t *count);

/* The table of that name, or NULL. */
const struct data_table *table_find(const char *name);

/* The table that a column of UNIT_ROW refers to: its meaning says "a row of threads". NULL: the column's own table. */
const struct data_table *column_refers_to(const struct column *column);

#endif /* PROFBPF_ANALYZER_STORE_ALL_TABLES_H */
