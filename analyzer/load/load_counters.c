/* SPDX-License-Identifier: Apache-2.0 */
/* Packets with cumulative figures: threads' accounts, /proc/stat, the sources' statistics. */
#include "analyzer/load/loader_private.h"

#include <stdlib.h>
#include <string.h>

#include "lib/trace/column.h"

static bool accounts_fit(const Profbpf__Accounts *accounts, size_t *rows)
{
	return COLUMN_ROWS(rows, accounts->n_ts_ns, accounts->n_tid, accounts->n_tgid,
			   accounts->n_flags, accounts->n_run_ns, accounts->n_runnable_ns,
			   accounts->n_user_ns, accounts->n_system_ns, accounts->n_voluntary,
			   accounts->n_involuntary, accounts->n_migrations,
			   accounts->n_minor_faults, accounts->n_major_faults, accounts->n_syscall,
			   accounts->n_io_ns, accounts->n_read_bytes, accounts->n_write_bytes,
			   accounts->n_read_chars, accounts->n_write_chars) == 0;
}

bool load_accounts(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Accounts *accounts = LOADER_UNPACK(accounts, packet);
	struct account row = { 0 };
	size_t rows;

	if (!accounts || !accounts_fit(accounts, &rows))
		return false;
	for (size_t i = 0; i < rows; i++) {
		row.ts_ns += (uint64_t)COLUMN_AT(accounts, ts_ns, i);
		row.thread = COLUMN_AT(accounts, tid, i);
		row.flags = COLUMN_AT(accounts, flags, i);
		row.run_ns = COLUMN_AT(accounts, run_ns, i);
		row.runnable_ns = COLUMN_AT(accounts, runnable_ns, i);
		row.user_ns = COLUMN_AT(accounts, user_ns, i);
		row.system_ns = COLUMN_AT(accounts, system_ns, i);
		row.voluntary = COLUMN_AT(accounts, voluntary, i);
		row.involuntary = COLUMN_AT(accounts, involuntary, i);
		row.migrations = COLUMN_AT(accounts, migrations, i);
		row.minor_faults = COLUMN_AT(accounts, minor_faults, i);
		row.major_faults = COLUMN_AT(accounts, major_faults, i);
		row.io_ns = COLUMN_AT(accounts, io_ns, i);
		row.syscall = (int16_t)(COLUMN_AT(accounts, syscall, i) - 1);
		row.read_bytes = COLUMN_AT(accounts, read_bytes, i);
		row.write_bytes = COLUMN_AT(accounts, write_bytes, i);
		row.read_chars = COLUMN_AT(accounts, read_chars, i);
		row.write_chars = COLUMN_AT(accounts, write_chars, i);
		if (row.thread == 0) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->accounts, row) ||
		    !loader_saw_thread(loader, row.thread, COLUMN_AT(accounts, tgid, i), row.ts_ns))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
	}
	return true;
}

bool load_cpu_stats(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__CpuStats *stats = LOADER_UNPACK(cpu_stats, packet);
	struct host_stat host;
	size_t rows;

	if (!stats || COLUMN_ROWS(&rows, stats->n_cpu, stats->n_user_ns, stats->n_system_ns,
				  stats->n_irq_ns, stats->n_softirq_ns, stats->n_iowait_ns,
				  stats->n_idle_ns, stats->n_steal_ns))
		return false;
	host = (struct host_stat){
		.ts_ns = stats->ts_ns,
		.context_switches = stats->context_switches,
		.forks = stats->forks,
		.runnable = stats->runnable,
		.blocked = stats->blocked,
	};
	if (!MODEL_PUSH(&loader->model->host_stats, host))
		return loader_out_of_memory(loader);
	for (size_t i = 0; i < rows; i++) {
		struct cpu_stat row = {
			.ts_ns = stats->ts_ns,
			.cpu = COLUMN_AT(stats, cpu, i),
			.user_ns = COLUMN_AT(stats, user_ns, i),
			.system_ns = COLUMN_AT(stats, system_ns, i),
			.irq_ns = COLUMN_AT(stats, irq_ns, i),
			.softirq_ns = COLUMN_AT(stats, softirq_ns, i),
			.iowait_ns = COLUMN_AT(stats, iowait_ns, i),
			.idle_ns = COLUMN_AT(stats, idle_ns, i),
			.steal_ns = COLUMN_AT(stats, steal_ns, i),
		};

		if (!MODEL_PUSH(&loader->model->cpu_stats, row))
			return loader_out_of_memory(loader);
	}
	loader_reached(loader, stats->ts_ns);
	return true;
}

bool load_counters(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Counters *m = LOADER_UNPACK(counters, packet);
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_name, m->n_cpu, m->n_unit, m->n_value))
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint32_t cpu = COLUMN_AT(m, cpu, i), unit = COLUMN_AT(m, unit, i);
		struct counter row;

		/* A value of unknown unit is meaningless. */
		if (!loader_knows(loader, unit, PROFBPF__COUNTERS__UNIT__NS_TOTAL))
			continue;
		row = (struct counter){
			.ts_ns = m->ts_ns,
			.value = COLUMN_AT(m, value, i),
			.name = model_string(loader->model, m->n_name ? m->name[i] : ""),
			.cpu = cpu ? cpu - 1 : INDEX_NONE,
			.unit = (uint8_t)unit,
		};

		if (row.name == INDEX_NONE || !MODEL_PUSH(&loader->model->counters, row))
			return loader_out_of_memory(loader);
	}
	return true;
}

static void add_reason(struct source_loss *source, uint32_t reason, uint64_t count)
{
	uint32_t i = 0;

	while (i < source->reason_count && source->reasons[i].reason != reason)
		i++;
	if (i == sizeof(source->reasons) / sizeof(source->reasons[0]))
		i--; /* no room for a further reason: the last one also counts the rest */
	else if (i == source->reason_count)
		source->reasons[source->reason_count++].reason = reason;
	source->reasons[i].count += count;
}

static bool take_source(struct loader *loader, struct session *session,
			const Profbpf__SourceStatistics *from)
{
	struct source_loss *source;
	uint32_t name = model_string(loader->model, from->name);

	if (name == INDEX_NONE)
		return loader_out_of_memory(loader);
	if (session->source_count == SESSION_SOURCES_MAX) {
		loader->model->bad_rows++;
		return true;
	}
	source = &session->sources[session->source_count++];
	*source = (struct source_loss){
		.name = name,
		.produced = from->produced,
		.delivered = from->delivered,
	};
	for (size_t i = 0; i < from->n_lost; i++) {
		uint32_t reason = model_string(loader->model, from->lost[i]->reason);

		if (reason == INDEX_NONE)
			return loader_out_of_memory(loader);
		if (from->lost[i]->count)
			add_reason(source, reason, from->lost[i]->count);
	}
	return true;
}

/* Each statistics packet replaces the counts of the previous packet. */
static bool take_short_calls(struct loader *loader, struct session *session,
			     const Profbpf__Statistics *statistics)
{
	struct model *model = loader->model;

	for (uint32_t i = 0; i < session->short_call_count; i++)
		model->short_calls.row[session->first_short_call + i].count = 0;
	session->first_short_call = model->short_calls.count;
	session->short_call_count = 0;
	for (size_t i = 0; i < statistics->n_short_calls; i++) {
		const Profbpf__ShortCalls *from = statistics->short_calls[i];
		struct short_calls row = {
			.function = loader_function(loader, from->function),
			.process = from->tgid,
			.count = from->count,
			.total_ns = from->total_ns,
			.unended = from->unended <= from->count ? from->unended : from->count,
		};

		if (row.function == INDEX_NONE) {
			model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&model->short_calls, row))
			return loader_out_of_memory(loader);
		session->short_call_count++;
	}
	return !loader->no_memory;
}

bool load_statistics(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Statistics *statistics = LOADER_UNPACK(statistics, packet);
	struct session *session = loader_session(loader);

	if (!statistics)
		return false;
	if (statistics->ts_ns < session->statistics_ns)
		return true;
	session->statistics_ns = statistics->ts_ns;
	session->daemon_cpu_ns = statistics->daemon_cpu_ns;
	session->bytes = statistics->bytes_written;
	loader_reached(loader, statistics->ts_ns);
	if (statistics->final) {
		session->final = true;
		session->final_ns = statistics->ts_ns;
		session->end_reason = model_string(loader->model, statistics->end_reason);
		if (session->end_reason == INDEX_NONE)
			return loader_out_of_memory(loader);
	}
	session->source_count = 0;
	for (size_t i = 0; i < statistics->n_source; i++) {
		if (!take_source(loader, session, statistics->source[i]))
			return false;
	}
	return take_short_calls(loader, session, statistics);
}
