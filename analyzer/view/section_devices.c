/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: how busy they were, and the figures of whole devices in device files. */
#include <inttypes.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define NAME_SIZE 160

#define USAGE ((const struct device_usage *)at->outer)

#define STREAM_FIGURES(COLUMN)                                        \
	COLUMN(id, NUMBER, "stream", "its number", cell_id(row->id)) \
	COLUMN(busy_percent, PERCENT, "busy", "of the device's time", \
	       cell_known_real(device_busy_known(model, USAGE),       \
			       100.0 * (double)row->busy_ns / (double)USAGE->window_ns))

DEFINE_FIGURES(stream_figures, struct stream_usage, STREAM_FIGURES, NULL);

static const struct view_column STREAM_COLUMNS[] = {
	{ "id", .how = VIEW_LEFT },
	{ "tasks" },
	{ "busy_ns" },
	{ "busy_percent", .how = VIEW_TEXT },
	{ "first_start_ns", .how = VIEW_JSON },
	{ "last_end_ns", .how = VIEW_JSON },
	{ NULL },
};

static const struct view STREAMS = { "streams", "streams", &table_streams, STREAM_COLUMNS,
				     .figures = &stream_figures };

#define DEVICE_FIGURES(COLUMN)                                                \
	COLUMN(utilization_percent, PERCENT, "busy", "of the time looked at", \
	       cell_known_real(device_busy_known(model, row), device_utilization(row)))

DEFINE_FIGURES(device_figures, struct device_usage, DEVICE_FIGURES, NULL);

static const struct view_column DEVICE_COLUMNS[] = {
	{ "device.id" },
	{ "device.name", .how = VIEW_EMPTY },
	{ "device.kind", .how = VIEW_EMPTY },
	{ "device.source", .how = VIEW_EMPTY },
	{ "device.process.pid" },
	{ "device.rank" },
	{ "device.file.path", "file", VIEW_JSON },
	{ "tasks" },
	{ "tasks_untimed" },
	{ "tasks_sync" },
	{ "start_ns" },
	{ "window_ns" },
	{ "busy_ns" },
	{ "idle_ns" },
	{ "utilization_percent" },
	{ "gaps" },
	{ "compute_ns" },
	{ "communication_ns" },
	{ "communication_not_overlapped_ns" },
	{ "copy_ns" },
	{ "free_ns" },
	{ NULL },
};

static const struct view DEVICES = { "devices",
				     NULL,
				     &table_device_usage,
				     DEVICE_COLUMNS,
				     .figures = &device_figures,
				     .inside = { &STREAMS } };

static struct cell value_cell(struct table_cursor *at, const struct device_fact *row)
{
	const char *unit = model_text(at->of->model, row->unit);

	if (row->text)
		return cell_string(at->of->model, row->text);
	snprintf(at->text[1], sizeof(at->text[1]), "%.10g%s%s", row->value, *unit ? " " : "", unit);
	return cell_text(at->text[1]);
}

#define FACT_FIGURES(COLUMN)                                                                     \
	COLUMN(label, TEXT, "device", "its number and rank",                                     \
	       row->device < model->devices.count ? device_label(at, row->device) : cell_none()) \
	COLUMN(says, TEXT, "value", "figure and unit, or text", value_cell(at, row))

DEFINE_FIGURES(fact_figures, struct device_fact, FACT_FIGURES, NULL);

static const struct view_column FACT_COLUMNS[] = {
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT, .unknown = "host" },
	{ "device.id", "device", VIEW_JSON },
	{ "topic", .how = VIEW_EMPTY, .heading = "about" },
	{ "name", .how = VIEW_EMPTY | VIEW_SHRINK, .heading = "what" },
	{ "says", .how = VIEW_TEXT | VIEW_SHRINK },
	{ "text", .how = VIEW_JSON },
	{ "value", .how = VIEW_JSON },
	{ "unit", .how = VIEW_JSON },
	{ "file.path", "file", VIEW_JSON },
	{ NULL },
};

static const struct view FACTS = { "device_facts",	     "figures",
				   &table_device_facts,	     FACT_COLUMNS,
				   .figures = &fact_figures, .optional = true };

static const char *device_name(const struct model *model, uint32_t device, char *into)
{
	return printable(model_text(model, model->devices.row[device].name), into, NAME_SIZE);
}

/* Process and source of a device: "process 4242, by opencl-layer". */
static void print_origin(FILE *out, const struct model *model, const struct device *device)
{
	char source[NAME_SIZE];

	if (device->process < model->processes.count)
		fprintf(out, ", process %u", model->processes.row[device->process].pid);
	if (*model_text(model, device->source))
		fprintf(out, ", reported by %s",
			printable(model_text(model, device->source), source, sizeof(source)));
}

static void print_usage(FILE *out, const struct model *model, const struct device_usage *usage)
{
	const struct device *device = &model->devices.row[usage->device];
	char name[NAME_SIZE], kind[NAME_SIZE], window[WINDOW_SIZE];

	fprintf(out, "Device %u: %s (%s)", device->id, device_name(model, usage->device, name),
		printable(model_text(model, device->kind), kind, sizeof(kind)));
	if (device->has_rank)
		fprintf(out, ", rank %u", device->rank);
	print_origin(out, model, device);
	if (device_is_ambiguous(model, usage->device))
		fprintf(out, ", of %s", device_file_text(model, device, name, sizeof(name)));
	fprintf(out, "\n  %" PRIu64 " task%s", usage->tasks, plural_s(usage->tasks));
	if (usage->sync_tasks)
		fprintf(out, ", %" PRIu64 " of them synchronisation only", usage->sync_tasks);
	if (usage->untimed)
		fprintf(out, ", %" PRIu64 " without times", usage->untimed);
	if (usage->window_ns == 0) {
		fputs("; none with times: how busy the device was is unknown\n", out);
		return;
	}
	if (!device_busy_known(model, usage)) {
		fprintf(out,
			"; the kernels in them are not listed: how busy the device was is unknown\n"
			"  idle %.3f ms at least, in %u gap%s, of %s between its first and last task\n",
			(double)usage->idle_ns / 1e6, usage->gap_count, plural_s(usage->gap_count),
			text_window(usage->window_ns, window, sizeof(window)));
		return;
	}
	fprintf(out,
		"\n  busy %.1f %% of %s between its first and last task:"
		" busy %.3f ms, idle %.3f ms in %u gap%s\n",
		device_utilization(usage), text_window(usage->window_ns, window, sizeof(window)),
		(double)usage->busy_ns / 1e6, (double)usage->idle_ns / 1e6, usage->gap_count,
		plural_s(usage->gap_count));
	fprintf(out,
		"  compute %.3f ms, communication %.3f ms (%.3f ms of it not overlapped), "
		"copies %.3f ms",
		(double)usage->compute_ns / 1e6, (double)usage->communication_ns / 1e6,
		(double)usage->communication_not_overlapped_ns / 1e6, (double)usage->copy_ns / 1e6);
	if (usage->has_free)
		fprintf(out, ", free %.3f ms", (double)usage->free_ns / 1e6);
	fputc('\n', out);
}

/* Prints ranks with about the same figures as the first of them. */
static void print_alike(const struct report *report, const struct alike *alike, uint32_t row)
{
	const struct device_results *devices = report->results->devices;
	struct alike_range range = alike_range_of(devices, alike, row);
	char ranks[NAME_SIZE], busy[64], window[64];

	if (alike->count[row] < 2)
		return;
	alike_ranks(report->model, devices, alike, row, ranks, sizeof(ranks));
	fprintf(report->out,
		"  alike: ranks %s, %u in all, busy %s %% of %s\n", ranks,
		alike->count[row],
		alike_range_text(range.least_percent, range.most_percent, 1, busy, sizeof(busy)),
		alike_window_text(&range, window, sizeof(window)));
}

static int print_devices(const struct report *report)
{
	const struct device_results *devices = report->results->devices;
	struct table_cursor at;
	struct alike alike = { 0 };
	int err = alike_devices(report->model, devices, &alike);

	view_begin(report, &DEVICES, NULL, &at);
	while (!err && view_next(&DEVICES, NULL, &at)) {
		const struct device_usage *usage = at.row;
		uint32_t row = (uint32_t)(usage - devices->devices);

		if (alike.of[row] != row)
			continue;
		print_usage(report->out, report->model, usage);
		print_alike(report, &alike, row);
		if (usage->stream_count)
			err = view_text_of(report, &STREAMS, &at, NULL);
	}
	alike_free(&alike);
	return err;
}

/* That device files have no device is worth a sentence. */
static bool devices_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && !devices->device_count && !report->model->imports.count &&
	       !report->model->device_facts.count;
}

static int devices_text(const struct report *report)
{
	int err;

	if (!report->results->devices)
		return 0;
	print_heading(report->out, report->options, "Devices");
	if (report->results->devices->device_count == 0)
		fputs(report->model->imports.count
			      ? "No device: the device files have no data of a device; their data "
				"of the host are above.\n"
			      : "No device task stream in this trace. A job reports its device's "
				"tasks when it was started with a\ndevice layer, see "
				"analyzer(1).\n",
		      report->out);
	err = print_devices(report);
	if (err || !report->model->device_facts.count)
		return err;
	fputs("\nFrom device files:\n", report->out);
	return view_text(report, &FACTS);
}

static void devices_json(const struct report *report)
{
	if (!report->results->devices)
		return;
	view_json(report, &DEVICES);
	view_json(report, &FACTS);
}

const struct section section_devices = { devices_text, devices_json,
					 VIEWS(&DEVICES, &FACTS), .empty = devices_empty };
