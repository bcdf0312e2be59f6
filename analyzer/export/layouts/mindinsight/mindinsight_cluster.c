/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files by which MindInsight compares ranks: parts of each step, and communication by link.
 *
 * ascend_cluster_analyse_<mode>_<stages>_<ranks>_<rank>.csv has milliseconds of each step and, last, their means without the
 * first step. As in MindSpore, computation is the step without pure communication, and the stage time is the step
 * without waiting to receive. hccl_raw_<rank>.csv has a row for each step and one of means, "-"; the model has sums only,
 * so only the means are written. Sizes are kilobytes of 1,000 bytes, bandwidths kilobytes per second.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/device/overlap.h"
#include "analyzer/model/task_sort.h"
#include "analyzer/export/layouts/mindinsight/mindinsight.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#define MS 1e6

/* Times in nanoseconds; for several steps their sums. */
struct step_share {
	double step_ns;
	double alone_ns; /* communication without computation */
	double receive_ns; /* the part of it spent waiting to receive */
};

static void put_share(FILE *out, const struct mindinsight_device *of, const struct step_share *share)
{
	fprintf(out, "%.6f,%.6f", (share->step_ns - share->alone_ns) / MS, share->alone_ns / MS);
	if (of->stages)
		fprintf(out, ",%.6f,%.6f,%.6f", (share->step_ns - share->receive_ns) / MS,
			share->receive_ns / MS, (share->alone_ns - share->receive_ns) / MS);
	fputc('\n', out);
}

/* Steps are consecutive: a task that ended before a step belongs to no later step either. */
static void put_steps(FILE *out, const struct mindinsight_device *of, const uint32_t *rows)
{
	struct step_share sum = { 0 };
	uint32_t first = 0, in_sum = 0;

	for (uint32_t i = 0; i < of->steps->count; i++) {
		const struct device_step_row *step = &of->steps->rows[i];
		struct overlap_usage usage = { 0 };
		struct step_share share = { .step_ns = (double)(step->end_ns - step->start_ns) };
		uint32_t end;

		while (first < of->count &&
		       of->model->tasks.row[rows[first]].end_ns <= step->start_ns)
			first++;
		for (end = first; end < of->count &&
				  of->model->tasks.row[rows[end]].start_ns < step->end_ns;)
			end++;
		overlap_part(of->model, rows + first, end - first, step->start_ns, step->end_ns,
			     &usage);
		share.alone_ns = (double)usage.pure_communication_ns;
		share.receive_ns = (double)usage.receive_ns;
		put_share(out, of, &share);
		if (step->first && of->steps->count > 1)
			continue;
		sum.step_ns += share.step_ns;
		sum.alone_ns += share.alone_ns;
		sum.receive_ns += share.receive_ns;
		in_sum++;
	}
	sum.step_ns /= in_sum ? in_sum : 1;
	sum.alone_ns /= in_sum ? in_sum : 1;
	sum.receive_ns /= in_sum ? in_sum : 1;
	put_share(out, of, &sum);
}

int mindinsight_cluster(FILE *out, const struct mindinsight_device *of)
{
	uint32_t *rows = malloc(((size_t)of->count + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	memcpy(rows, of->order, of->count * sizeof(*rows));
	tasks_sort_by_start(of->model, rows, of->count);
	fprintf(out, "computation_time,communication_alone_time%s\n",
		of->stages ? ",stage_time,receive_alone_time,collective_communication_alone_time"
			   : "");
	put_steps(out, of, rows);
	free(rows);
	return 0;
}

static bool shows(const struct mindinsight_device *of, const struct link_usage *link)
{
	return link->device == of->device && link->source != INDEX_NONE &&
	       link->destination != INDEX_NONE && link->transport && link->transfers;
}

/* The cost of a step's communication, by links or, if no file has any, by operations. */
struct communication_cost {
	uint64_t transit_ns;
	uint64_t wait_ns;
	bool known;
};

static struct communication_cost cost_of(const struct mindinsight_device *of)
{
	const struct communication_results *from = &of->results->devices->communication;
	struct communication_cost cost = { 0 };

	for (uint32_t i = 0; i < from->link_count; i++) {
		if (!shows(of, &from->links[i]))
			continue;
		cost.transit_ns += from->links[i].transit_ns;
		cost.wait_ns += from->links[i].wait_ns;
		cost.known = true;
	}
	if (cost.known)
		return cost;
	for (uint32_t i = 0; i < from->operation_count; i++) {
		if (from->operations[i].device != of->device || !from->operations[i].timed)
			continue;
		cost.transit_ns += from->operations[i].transit_ns;
		cost.wait_ns += from->operations[i].wait_ns;
		cost.known = true;
	}
	return cost;
}

bool mindinsight_has_communication(const struct mindinsight_device *of)
{
	return cost_of(of).known;
}

/* Is it the first link between its two ranks? */
static bool first_between(const struct mindinsight_device *of, uint32_t at)
{
	const struct link_usage *links = of->results->devices->communication.links;

	for (uint32_t i = 0; i < at; i++) {
		if (shows(of, &links[i]) && links[i].source == links[at].source &&
		    links[i].destination == links[at].destination)
			return false;
	}
	return true;
}

/* Writes [milliseconds, kilobytes, kilobytes per second] of a step; quotes are doubled for CSV. */
static void put_link(FILE *out, const struct mindinsight_device *of, const struct link_usage *link)
{
	double ns = (double)link->transit_ns / of->steps->count;
	double bytes = (double)link->bytes / of->steps->count;

	fprintf(out, "\"\"%s\"\": [%.6f, %.3f, %.3f]", model_text(of->model, link->transport),
		ns / MS, bytes / 1e3, ns > 0 ? bytes * 1e6 / ns : 0.0);
}

/* {"0-1": {"SDMA": [...]}} */
static void put_links(FILE *out, const struct mindinsight_device *of)
{
	const struct communication_results *from = &of->results->devices->communication;
	const char *outer = "";

	fputs("\"{", out);
	for (uint32_t i = 0; i < from->link_count; i++) {
		const char *inner = "";

		if (!shows(of, &from->links[i]) || !first_between(of, i))
			continue;
		fprintf(out, "%s\"\"%u-%u\"\": {", outer, from->links[i].source,
			from->links[i].destination);
		for (uint32_t k = i; k < from->link_count; k++) {
			if (!shows(of, &from->links[k]) ||
			    from->links[k].source != from->links[i].source ||
			    from->links[k].destination != from->links[i].destination)
				continue;
			fputs(inner, out);
			put_link(out, of, &from->links[k]);
			inner = ", ";
		}
		fputc('}', out);
		outer = ", ";
	}
	fputs("}\"", out);
}

/* {"hcom_allReduce_": ["-", ms, wait ms, {}]}: by kind of operation; links are not known by operation. */
static void put_operations(FILE *out, const struct mindinsight_device *of)
{
	const struct communication_results *from = &of->results->devices->communication;
	const char *separator = "";
	char name[128];

	fputs("\"{", out);
	for (uint32_t i = 0; i < from->operation_count; i++) {
		const struct communication_usage *row = &from->operations[i];

		if (row->device != of->device || !row->timed)
			continue;
		communication_name(model_text(of->model, row->name), name, sizeof(name));
		for (char *at = name; *at; at++)
			*at = *at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '_' : *at;
		fprintf(out, "%s\"\"%s\"\": [\"\"-\"\", %.6f, %.6f, {}]", separator, name,
			(double)row->transit_ns / of->steps->count / MS,
			(double)row->wait_ns / of->steps->count / MS);
		separator = ", ";
	}
	fputs("}\"", out);
}

int mindinsight_hccl(FILE *out, const struct mindinsight_device *of)
{
	const struct communication_cost cost = cost_of(of);

	fputs("step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n-,", out);
	fprintf(out, "%.6f,%.6f,", (double)cost.transit_ns / of->steps->count / MS,
		(double)cost.wait_ns / of->steps->count / MS);
	put_links(out, of);
	fputc(',', out);
	put_operations(out, of);
	fputc('\n', out);
	return 0;
}
