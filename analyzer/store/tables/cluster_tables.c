/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: communication, and the ranks of a job compared. */
#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"

static const struct communication_results *communication_of(const struct table_cursor *at)
{
	const struct device_results *devices = at->of->results->devices;

	return devices ? &devices->communication : NULL;
}

#define OPERATION_COLUMNS(COLUMN)                                                                \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                 \
	COLUMN(name, TEXT, "operation", "the collective, without its number",                    \
	       cell_text(communication_name(model_text(model, row->name), at->text[0],           \
					    sizeof(at->text[0]))))                               \
	COLUMN(count, COUNT, "count", "operations", cell_u64(row->count))                        \
	COLUMN(total_ns, NS, "total", "sum of their times", cell_u64(row->total_ns))             \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest", cell_u64(row->min_ns))                   \
	COLUMN(max_ns, SHORT_NS, "max", "the longest", cell_u64(row->max_ns))                    \
	COLUMN(timed, COUNT, "timed", "collectives whose parts a file has; the following sums "  \
				      "are of these",                                            \
	       cell_u64(row->timed))                                                             \
	COLUMN(transit_ns, NS, "transit", "time in which data moved",                            \
	       cell_known(row->timed, row->transit_ns))                                          \
	COLUMN(wait_ns, NS, "wait", "time waiting for others",                                   \
	       cell_known(row->timed, row->wait_ns))                                             \
	COLUMN(synchronization_ns, NS, "before first transfer",                                  \
	       "the part of wait_ns before the first transfer",                                  \
	       cell_known(row->timed, row->synchronization_ns))                                  \
	COLUMN(idle_ns, NS, "idle", "time without either", cell_known(row->timed, row->idle_ns)) \
	COLUMN(collective, TEXT, "collective", "its name in the framework",                      \
	       cell_string(model, row->collective))                                              \
	COLUMN(members, TEXT, "group", "ranks that take part, as the file has them",             \
	       cell_string(model, row->group))                                                   \
	COLUMN(group_size, COUNT, "group size", "number of these", cell_not_0(row->members))     \
	COLUMN(types, TEXT, "type", "of the data, if all have the same",                         \
	       cell_string(model, row->types))                                                   \
	COLUMN(bytes, BYTES, "bytes",                                                            \
	       "sum of sizes, each the larger of what a rank gives and gets",                    \
	       cell_known(row->sized, row->bytes))                                               \
	COLUMN(algorithm_gb_per_second, REAL, "algorithm GB/s",                                  \
	       "size by time, waits for other ranks included",                                   \
	       cell_known_real(row->sized, (double)row->bytes / (double)row->sized_ns))          \
	COLUMN(bus_gb_per_second, REAL, "bus GB/s",                                              \
	       "the same as links see it: what nccl-tests calls busbw",                          \
	       cell_known_real(row->bus_ns, row->bus_bytes / (double)row->bus_ns))

static bool next_operation(struct table_cursor *at)
{
	const struct communication_results *results = communication_of(at);

	return results && cursor_rows(at, results->operations, results->operation_count,
				      sizeof(*results->operations));
}

DEFINE_TABLE(communication, struct communication_usage, OPERATION_COLUMNS, next_operation,
	     "collectives of one kind on a device",
	     .sections = SECTION_COMMUNICATION);

#define LINK_COLUMNS(COLUMN)                                                                       \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                   \
	COLUMN(source, NUMBER, "from rank", "rank that sent", cell_index(row->source))             \
	COLUMN(destination, NUMBER, "to rank", "rank that received", cell_index(row->destination)) \
	COLUMN(transport, TEXT, "transport", "HCCS, RDMA, SDMA, LOCAL",                            \
	       cell_string(model, row->transport))                                                 \
	COLUMN(transfers, COUNT, "transfers", "transfers", cell_u64(row->transfers))               \
	COLUMN(bytes, BYTES, "bytes", "what they moved", cell_u64(row->bytes))                     \
	COLUMN(transit_ns, NS, "transit", "time that took", cell_u64(row->transit_ns))             \
	COLUMN(waits, COUNT, "waits", "waits for others", cell_u64(row->waits))                    \
	COLUMN(wait_ns, NS, "wait", "time that took", cell_u64(row->wait_ns))

static bool next_link(struct table_cursor *at)
{
	const struct communication_results *results = communication_of(at);

	return results &&
	       cursor_rows(at, results->links, results->link_count, sizeof(*results->links));
}

DEFINE_TABLE(links, struct link_usage, LINK_COLUMNS, next_link, "a link between two ranks",
	     .sections = SECTION_COMMUNICATION);

#define COLLECTIVE_COLUMNS(COLUMN)                                                               \
	COLUMN(name, TEXT, "collective", "the collective", cell_string(model, row->name))        \
	COLUMN(ranks, COUNT, "ranks", "ranks that took part", cell_u64(row->ranks))              \
	COLUMN(start_ns, INSTANT, "start", "when the first rank began", cell_u64(row->start_ns)) \
	COLUMN(duration_ns, SHORT_NS, "duration", "until the last rank ended",                   \
	       cell_u64(row->duration_ns))                                                       \
	COLUMN(skew_ns, SHORT_NS, "skew", "between the first and the last rank's begin",         \
	       cell_u64(row->skew_ns))                                                           \
	COLUMN(straggler, ROW, "straggler", "the rank that came last: a row of devices",         \
	       cell_u64(row->straggler))

static bool next_collective(struct table_cursor *at)
{
	const struct communication_results *results = communication_of(at);

	return results &&
	       cursor_rows(at, results->skews, results->skew_count, sizeof(*results->skews));
}

DEFINE_TABLE(collectives, struct collective_skew, COLLECTIVE_COLUMNS, next_collective,
	     "a collective of several ranks, largest skew first",
	     .sections = SECTION_COMMUNICATION);

#define RANK_COLUMNS(COLUMN)                                                                       \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                   \
	COLUMN(job, ROW, "job", "a row of devices: the first rank of the same job",                \
	       cell_u64(row->job))                                                                 \
	COLUMN(collectives, COUNT, "collectives", "collectives that are compared",                 \
	       cell_u64(row->collectives))                                                         \
	COLUMN(last, COUNT, "came last", "collectives to which it came last", cell_u64(row->last)) \
	COLUMN(late_ns, NS, "late", "time that others waited for it", cell_u64(row->late_ns))      \
	COLUMN(wait_ns, NS, "waited for others", "time that it waited for others",                 \
	       cell_u64(row->wait_ns))                                                             \
	COLUMN(clock_offset_ns, NS, "clock offset",                                                \
	       "what was added to its times, if its clock is not the others'",                     \
	       cell_known_i64(row->clock.moved, row->clock.offset_ns))                             \
	COLUMN(clock_drift_ppb, NUMBER, "clock drift", "how much more each second, in ns",         \
	       cell_known_i64(row->clock.moved, (int64_t)(row->clock.drift * 1e9)))                \
	COLUMN(clock_error_ns, NS, "clock error",                                                  \
	       "remaining difference of the ends of collectives: 90 % are below",                  \
	       cell_known(row->clock.moved, row->clock.error_ns))

static bool next_rank(struct table_cursor *at)
{
	const struct communication_results *results = communication_of(at);

	return results &&
	       cursor_rows(at, results->ranks, results->rank_count, sizeof(*results->ranks));
}

DEFINE_TABLE(ranks, struct rank_usage, RANK_COLUMNS, next_rank,
	     "a rank, by when it came to collectives",
	     .sections = SECTION_COMMUNICATION);

/* Both ranks and stages have a member parts. */
#define PART_COLUMNS(COLUMN)                                                                      \
	COLUMN(work_ns, NS, "work", "without waiting for another stage",                          \
	       cell_u64(row->parts.work_ns))                                                      \
	COLUMN(work_percent, PERCENT, "of mean", "work, as a share of the mean",                  \
	       cell_real(row->parts.work_percent))                                                \
	COLUMN(computation_ns, NS, "computation", "time in kernels",                              \
	       cell_u64(row->parts.computation_ns))                                               \
	COLUMN(receive_ns, NS, "receive", "only waiting for another stage",                       \
	       cell_u64(row->parts.receive_ns))                                                   \
	COLUMN(collective_ns, NS, "other communication", "other communication, without a kernel", \
	       cell_u64(row->parts.collective_ns))                                                \
	COLUMN(free_ns, NS, "free", "time without kernels and communication",                     \
	       cell_id(row->parts.free_ns))

#define CLUSTER_RANK_COLUMNS(COLUMN)                                                     \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))         \
	COLUMN(stage_ns, NS, "stage", "from its first to its last kernel or collective", \
	       cell_u64(row->stage_ns))                                                  \
	PART_COLUMNS(COLUMN)                                                             \
	COLUMN(step_ns, REAL, "step", "mean time of a step in ns",                       \
	       cell_known_real(row->has_steps, row->step_ns))                            \
	COLUMN(gap_ns, REAL, "gap", "mean time between steps in ns",                     \
	       cell_known_real(row->has_steps, row->gap_ns))

static bool next_cluster_rank(struct table_cursor *at)
{
	const struct cluster_results *cluster = at->of->results->cluster;

	return cluster && cursor_rows(at, cluster->ranks, cluster->count, sizeof(*cluster->ranks));
}

DEFINE_TABLE(cluster_ranks, struct cluster_rank, CLUSTER_RANK_COLUMNS, next_cluster_rank,
	     "a rank, by how long it worked and waited");

#define STAGE_COLUMNS(COLUMN)                                                                   \
	COLUMN(stage, NUMBER, "stage", "of the job's pipeline", cell_u64(row->stage))           \
	COLUMN(ranks, COUNT, "ranks", "its ranks; what follows are their means",                \
	       cell_u64(row->ranks))                                                            \
	PART_COLUMNS(COLUMN)                                                                    \
	COLUMN(slowest, ROW, "slowest", "its rank with most work: a row of devices",            \
	       cell_u64(of->results->cluster->ranks[row->slowest].device))                      \
	COLUMN(imbalance_percent, PERCENT, "above its stage", "how much that exceeds the mean", \
	       cell_real(row->imbalance))

static bool next_stage(struct table_cursor *at)
{
	const struct cluster_results *cluster = at->of->results->cluster;

	return cluster &&
	       cursor_rows(at, cluster->stages, cluster->stage_count, sizeof(*cluster->stages));
}

DEFINE_TABLE(cluster_stages, struct cluster_stage, STAGE_COLUMNS, next_stage,
	     "a stage of a job's pipeline");

#define FINDING_COLUMNS(COLUMN)                                                                  \
	COLUMN(rule, TEXT, "rule", "what was compared", cell_text(cluster_rule_name(row->rule))) \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))                 \
	COLUMN(value, REAL, "value", "its figure, in the rule's unit", cell_real(row->value))    \
	COLUMN(mean, REAL, "mean", "the mean, or the threshold of shares", cell_real(row->mean))

static bool next_finding(struct table_cursor *at)
{
	const struct cluster_results *cluster = at->of->results->cluster;

	return cluster && cursor_rows(at, cluster->findings, cluster->finding_count,
				      sizeof(*cluster->findings));
}

DEFINE_TABLE(cluster_findings, struct cluster_finding, FINDING_COLUMNS, next_finding,
	     "a rank that differs from the others");
