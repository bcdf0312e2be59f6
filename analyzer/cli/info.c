/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/info.h"

#include <errno.h>
#include <inttypes.h>

#include "analyzer/join/clock/device_clock.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/render/table.h"

#define SCHEMA "profbpf.info/1"

struct content {
	const char *name;
	uint64_t rows;
};

#define CONTENTS 22

static void contents_of(const struct model *model, struct content contents[CONTENTS])
{
	const struct content all[CONTENTS] = {
		{ "processes", model->processes.count },
		{ "threads", model->threads.count },
		{ "functions", model->functions.count },
		{ "calls", model->calls.count + model->survey.calls },
		{ "ioctls", model->ioctls.count + model->survey.ioctls },
		{ "switches", model->switches.count + model->survey.switches },
		{ "wakeups", model->wakes.count + model->survey.wakes },
		{ "accounts", model->accounts.count },
		{ "major_faults", model->faults.count },
		{ "block_requests", model->block_requests.count },
		{ "cpu_samples", model->host_stats.count },
		{ "devices", model->devices.count },
		{ "device_tasks", model->tasks.count + model->survey.tasks },
		{ "device_steps", model->device_steps.count },
		{ "device_links", model->link_uses.count },
		{ "memory_records", model->memory_records.count },
		{ "api_statistics", model->api_statistics.count },
		{ "device_facts", model->device_facts.count },
		{ "operator_sums", model->operator_sums.count },
		{ "fused_operators", model->fused_operators.count },
		{ "told_advice", model->told_advice.count },
		{ "cluster_steps", model->cluster_steps.count },
	};

	for (size_t i = 0; i < CONTENTS; i++)
		contents[i] = all[i];
}

/* The drift of a clock against CLOCK_MONOTONIC between the first and last snapshot. */
static bool clock_drift(const struct clock_snapshot *first, const struct clock_snapshot *last,
			enum clock_kind kind, double *ppm)
{
	double monotonic = (double)(last->monotonic_ns - first->monotonic_ns);
	uint64_t from = clock_snapshot_value(first, kind), to = clock_snapshot_value(last, kind);

	if (last->monotonic_ns <= first->monotonic_ns || !from || !to)
		return false;
	*ppm = ((double)(int64_t)(to - from) - monotonic) / monotonic * 1e6;
	return true;
}

static void text_clocks(FILE *out, const struct model *model, const struct report_options *options)
{
	size_t count = clock_table_count(model->clocks);
	const struct clock_snapshot *first, *last;

	print_heading(out, options, "Clocks");
	if (count == 0) {
		fputs("no clock snapshots: times of devices with another clock cannot be converted\n",
		      out);
		return;
	}
	first = clock_table_get(model->clocks, 0);
	last = clock_table_get(model->clocks, count - 1);
	fprintf(out, "%zu snapshots over %.3f s, %" PRIu64 " left out as inconsistent\n", count,
		(double)(last->monotonic_ns - first->monotonic_ns) / 1e9,
		clock_table_skipped(model->clocks));
	for (int kind = CLOCK_KIND_MONOTONIC_RAW; kind <= CLOCK_KIND_REALTIME; kind++) {
		uint64_t value = clock_snapshot_value(first, kind);
		double ppm;

		if (!value) {
			fprintf(out, "%s: not recorded\n", clock_kind_name(kind));
			continue;
		}
		fprintf(out, "%s: CLOCK_MONOTONIC %+" PRId64 " ns", clock_kind_name(kind),
			(int64_t)(value - first->monotonic_ns));
		if (clock_drift(first, last, kind, &ppm))
			fprintf(out, ", %+.3f ppm", ppm);
		fputc('\n', out);
	}
	if (clock_snapshot_value(first, CLOCK_KIND_COUNTER) &&
	    last->monotonic_ns > first->monotonic_ns)
		fprintf(out, "%s: %.6f MHz\n", clock_kind_name(CLOCK_KIND_COUNTER),
			(double)(last->counter - first->counter) /
				(double)(last->monotonic_ns - first->monotonic_ns) * 1e3);
}

static int text_contents(FILE *out, const struct model *model, const struct report_options *options)
{
	struct content contents[CONTENTS];
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	contents_of(model, contents);
	print_heading(out, options, "Contents");
	table_column(table, "kind", TABLE_LEFT);
	table_column(table, "rows", TABLE_RIGHT);
	for (size_t i = 0; i < CONTENTS; i++) {
		table_row(table);
		table_text(table, contents[i].name);
		table_count(table, contents[i].rows);
	}
	err = table_print(table, out);
	table_free(table);
	return err;
}

static void text_devices(FILE *out, const struct model *model, const struct report_options *options)
{
	char name[128], source[64];

	if (model->devices.count == 0)
		return;
	print_heading(out, options, "Devices");
	for (uint32_t i = 0; i < model->devices.count; i++) {
		const struct device *device = &model->devices.row[i];

		fprintf(out, "%u %s, by %s, clock %s\n", device->id,
			printable(model_text(model, device->name), name, sizeof(name)),
			printable(model_text(model, device->source), source, sizeof(source)),
			device_clock_name(device->clock));
	}
}

static void text_imports(FILE *out, const struct model *model, const struct report_options *options)
{
	char path[512], text[256], example[256];

	if (model->imports.count == 0)
		return;
	print_heading(out, options, "Device files");
	for (uint32_t i = 0; i < model->imports.count; i++) {
		const struct imported_file *file = &model->imports.row[i];

		fprintf(out, "%s: %s; %u device%s, %u task%s, %u call%s\n",
			printable(model_text(model, file->path), path, sizeof(path)),
			model_text(model, file->format), file->devices,
			plural_s(file->devices), file->tasks, plural_s(file->tasks), file->calls,
			plural_s(file->calls));
		for (uint32_t f = 0; f < model->findings.count; f++) {
			const struct import_finding *finding = &model->findings.row[f];

			if (finding->file != i)
				continue;
			fprintf(out, "  %s",
				printable(model_text(model, finding->what), text, sizeof(text)));
			if (finding->count > 1)
				fprintf(out, ": %" PRIu64 " times", finding->count);
			if (finding->example)
				fprintf(out, " (%s)",
					printable(model_text(model, finding->example), example,
						  sizeof(example)));
			fputc('\n', out);
		}
	}
}

static int text_sections(FILE *out, const struct model *model, const struct results *results,
			 const struct report_options *options)
{
	struct report report;
	int err = report_init(&report, model, results, options);

	report.out = out;
	if (!err)
		err = section_trace.text(&report);
	if (!err)
		err = section_capture.text(&report);
	report_free(&report);
	return err;
}

int info_text(FILE *out, const struct model *model, const struct results *results,
	      const struct report_options *options)
{
	int err = text_sections(out, model, results, options);

	if (!err)
		err = text_contents(out, model, options);
	if (err)
		return err;
	text_clocks(out, model, options);
	text_devices(out, model, options);
	text_imports(out, model, options);
	return stream_flush(out);
}

static void json_clocks(struct json *json, const struct model *model)
{
	size_t count = clock_table_count(model->clocks);
	const struct clock_snapshot *first = clock_table_get(model->clocks, 0);
	const struct clock_snapshot *last = count ? clock_table_get(model->clocks, count - 1)
						  : NULL;

	json_map(json, "clocks");
	json_u64(json, "snapshots", count);
	json_u64(json, "skipped", clock_table_skipped(model->clocks));
	json_array(json, "offsets");
	for (int kind = CLOCK_KIND_MONOTONIC_RAW; count && kind <= CLOCK_KIND_REALTIME; kind++) {
		uint64_t value = clock_snapshot_value(first, kind);
		double ppm;

		if (!value)
			continue;
		json_map(json, NULL);
		json_text(json, "clock", clock_kind_name(kind));
		json_i64(json, "offset_ns", (int64_t)(value - first->monotonic_ns));
		if (clock_drift(first, last, kind, &ppm))
			json_i64(json, "drift_ppb", (int64_t)(ppm * 1e3));
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

static void json_findings(struct json *json, const struct model *model, uint32_t file)
{
	json_array(json, "findings");
	for (uint32_t f = 0; f < model->findings.count; f++) {
		const struct import_finding *finding = &model->findings.row[f];

		if (finding->file != file)
			continue;
		json_map(json, NULL);
		json_text(json, "what", model_text(model, finding->what));
		json_u64(json, "count", finding->count);
		if (finding->example)
			json_text(json, "example", model_text(model, finding->example));
		json_map_close(json);
	}
	json_array_close(json);
}

static void json_imports(struct json *json, const struct model *model)
{
	json_array(json, "device_files");
	for (uint32_t i = 0; i < model->imports.count; i++) {
		const struct imported_file *file = &model->imports.row[i];

		json_map(json, NULL);
		json_text(json, "file", model_text(model, file->path));
		json_text(json, "format", model_text(model, file->format));
		json_u64(json, "devices", file->devices);
		json_u64(json, "tasks", file->tasks);
		json_u64(json, "calls", file->calls);
		json_findings(json, model, i);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_info(const struct report *report)
{
	const struct model *model = report->model;
	struct json *json = report->json;
	struct content contents[CONTENTS];

	contents_of(model, contents);
	json_map(json, NULL);
	json_text(json, "schema", SCHEMA);
	section_json(report, &section_trace);
	section_json(report, &section_capture);
	json_map(json, "contents");
	for (size_t i = 0; i < CONTENTS; i++)
		json_u64(json, contents[i].name, contents[i].rows);
	json_map_close(json);
	json_clocks(json, model);
	json_imports(json, model);
	json_map_close(json);
}

int info_json(FILE *out, const struct model *model, const struct results *results)
{
	const struct report_options options = { 0 };
	struct report report;
	int err = report_init(&report, model, results, &options);

	report.json = err ? NULL : json_new(out, true);
	if (report.json) {
		write_info(&report);
		err = json_end(report.json);
	} else {
		err = -ENOMEM;
	}
	report_free(&report);
	return err;
}
