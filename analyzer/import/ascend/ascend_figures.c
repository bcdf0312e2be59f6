/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small tables of msprof with figures of a device, or of the host, for the whole time: traffic of memory, links and
 * caches (hbm, ddr, hccs, pcie, llc_read_write), use of processors (ai_core_utilization,
 * ai_vector_core_utilization, cpu_usage, process_cpu_usage), capacity and use of the host (host_*_usage).
 *
 * A text, "Metric" or "Mode", distinguishes the rows; each other column with a number becomes a fact, named by
 * both, with the unit from the parentheses. Tables with rows of instants are not of this kind.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

#define FIGURES_MAX 64
#define NAME_SIZE 128
#define DIGITS 6 /* after the decimal point */
#define FACTS_MAX 10000 /* maximum per file, which should be a summary */

enum column { C_DEVICE, C_LABEL, C_LABEL_2, COLUMNS };

static const char *const NAMES[] = { "Device_id|Device ID",
				     "Metric|Mode|Cpu Type|Core ID|PID|Netcard|Core Number",
				     "Task|Name", NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

struct figure {
	char name[NAME_SIZE];
	char unit[NAME_SIZE];
};

struct figures_file {
	struct import *import;
	struct import_rows rows;
	char topic[NAME_SIZE];
	struct figure figures[FIGURES_MAX];
	uint32_t count;
	uint32_t facts;
};

static int detect(const struct import_sample *sample)
{
	static const char *const FORMS[][4] = {
		{ "Metric", "Read(MB/s)", "Write(MB/s)", NULL },
		{ "Mode", "Max", "Min", "Average|Avg" },
		{ "Mode", "Hit Rate(%)", "Throughput(MB/s)", NULL },
		{ "Cpu Type", "User(%)", "Sys(%)", NULL },
		{ "PID", "Name", "CPU(%)", NULL },
		{ "Core ID", "vec_ratio|mac_ratio|aicore_time(us)", NULL, NULL },
		{ "Total Cpu Numbers", "Occupied Cpu Numbers", NULL, NULL },
		{ "Total Memory(KB)", "Peak Used Memory(KB)", NULL, NULL },
		{ "Peak Disk Read(KB/s)", "Peak Disk Write(KB/s)", NULL, NULL },
		{ "Netcard Speed(KB/s)|Netcard Speed", "Peak Used Speed(KB/s)|Peak Used Speed", NULL,
		  NULL },
	};

	for (size_t i = 0; !sample->directory && i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		const char *const needed[] = { FORMS[i][0], FORMS[i][1], FORMS[i][2], FORMS[i][3],
					       NULL };

		if (csv_has_columns(sample->text, needed))
			return 70;
	}
	return 0;
}

/* "Read(MB/s)": a column Read with unit MB/s. */
static bool on_more(void *context, uint32_t index, const char *text, size_t length)
{
	struct figures_file *file = context;
	size_t name = 0, unit = 0;
	struct figure *figure;

	if (index >= FIGURES_MAX || length >= NAME_SIZE)
		return false;
	figure = &file->figures[index];
	while (name < length && text[name] != '(')
		name++;
	if (name && name < length && text[length - 1] == ')')
		unit = length - name - 2;
	else
		name = length;
	snprintf(figure->name, sizeof(figure->name), "%.*s", (int)name, text);
	snprintf(figure->unit, sizeof(figure->unit), "%.*s", (int)unit, unit ? text + name + 1 : "");
	if (strstr(figure->name, "_ratio") || strstr(figure->name, "_rate"))
		snprintf(figure->unit, sizeof(figure->unit), "of 1");
	file->count = index + 1;
	return true;
}

/* The device of a row; INDEX_NONE for the host. Returns 0 or -ENOMEM. */
static int device_of(struct figures_file *file, const struct csv_value *value, uint32_t *device)
{
	uint64_t number;

	*device = INDEX_NONE;
	if (!value->text || !decimal_unsigned(value->text, value->length, &number))
		return 0;
	*device = import_same_device(&file->rows, number, "Ascend", "npu", "msprof",
				     PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	return *device == INDEX_NONE ? -ENOMEM : 0;
}

static int put_figure(struct figures_file *file, const struct csv_value *values, uint32_t i,
		      uint32_t device)
{
	const struct csv_value *value = &values[COLUMNS + i], *label = &values[C_LABEL],
			       *more = &values[C_LABEL_2];
	const char *first = label->text ? label->text : "", *second = more->text ? more->text : "";
	char name[4 * NAME_SIZE];
	int64_t parts;

	if (!value->text || !decimal_scaled(value->text, value->length, DIGITS, &parts))
		return 0;
	if (file->facts++ >= FACTS_MAX)
		return import_finding(file->import, "more figures than a summary has", NULL);
	snprintf(name, sizeof(name), "%.100s%s%.100s%s%s", first, *first ? " " : "", second,
		 *second ? " " : "", file->figures[i].name);
	return device_fact_number(file->import, device, file->topic, name, file->figures[i].unit,
				  (double)parts / 1e6);
}

static int on_row(void *context, const struct csv_value *values)
{
	struct figures_file *file = context;
	uint32_t device;
	int err = device_of(file, &values[C_DEVICE], &device);

	for (uint32_t i = 0; i < file->count && !err; i++)
		err = put_figure(file, values, i, device);
	return err;
}

/* The topic of "hbm_20240101.csv" is hbm, of "ai_core_utilization_0_1_1.csv" ai_core_utilization. */
static void read_topic(struct figures_file *file)
{
	const char *name = strrchr(file->import->path, '/');
	size_t length;

	name = name ? name + 1 : file->import->path;
	length = strcspn(name, ".");
	snprintf(file->topic, sizeof(file->topic), "%.*s", (int)length, name);
	length = strlen(file->topic);
	while (length && strchr("_0123456789", file->topic[length - 1]))
		file->topic[--length] = '\0';
}

static int import(struct import *import)
{
	struct figures_file file = { .import = import };
	const struct csv_reader reader = {
		.columns = NAMES, .more = on_more, .row = on_row, .context = &file, .place = &import->place
	};
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	read_topic(&file);
	err = csv_table_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err, file.facts > 0, damage);
	import_rows_free(&file.rows);
	return err;
}

const struct importer import_ascend_figures = {
	.name = "msprof",
	.what = "a table of figures of a device (hbm, ddr, hccs, pcie, llc_read_write, "
		"*_utilization, *_usage)",
	.detect = detect,
	.import = import,
};
