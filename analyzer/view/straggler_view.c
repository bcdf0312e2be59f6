/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/straggler_view.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/translate.h"
#include "analyzer/store/define_table.h"

/* Writes what is different on the rank; "" if unknown. */
static void why_text(const struct model *model, const struct straggler *why, char *text,
		     size_t size)
{
	const char *name = model_text(model, why->name);

	*text = '\0';
	switch (why->why) {
	case STRAGGLER_CLOCK:
		snprintf(text, size,
			 tr(", on which all kernels take %.2f times as long as on the others"),
			 why->own);
		break;
	case STRAGGLER_KERNEL:
		snprintf(text, size, tr(", on which %.200s takes %.3f ms, on the others %.3f ms"),
			 name, why->own / 1e6, why->others / 1e6);
		break;
	case STRAGGLER_WORK:
		snprintf(text, size, tr(", on which %.200s runs %.0f times, on the others %.0f times"),
			 name, why->own, why->others);
		break;
	case STRAGGLER_DATA:
	case STRAGGLER_HOST:
		snprintf(text, size,
			 tr(", whose device waits for its host for %.3f ms, the others' for "
			 "%.3f ms%s%.200s"),
			 why->own / 1e6, why->others / 1e6, *name ? tr(": in ") : "", name);
		break;
	default: break;
	}
}

void straggler_text(const struct model *model, const struct straggler *straggler, char *text,
		    size_t size)
{
	char why[512];

	why_text(model, straggler, why, sizeof(why));
	if (straggler->percent > 0)
		snprintf(text, size, tr(" (%.1f %% of its time)%s"), straggler->percent, why);
	else
		snprintf(text, size, "%s", why);
}

#define STRAGGLER_COLUMNS(COLUMN)                                                              \
	COLUMN(device, ROW, "device", "who comes last: a row of devices", cell_index(row->device)) \
	COLUMN(late_ns, NS, "late", "how long others waited for it", cell_u64(row->late_ns))   \
	COLUMN(percent, PERCENT, "late", "of its device's time", cell_real(row->percent))      \
	COLUMN(why, TEXT, "why", "what is different: clock, kernel, work, data or host",       \
	       cell_text(straggler_why_name(row->why)))                                        \
	COLUMN(own, REAL, "own", "its figure: times as long, ns of one, runs or ns idle",      \
	       cell_known_real(straggler_why_name(row->why) != NULL, row->own))                \
	COLUMN(others, REAL, "others", "the median of the other ranks",                        \
	       cell_known_real(straggler_why_name(row->why) != NULL, row->others))             \
	COLUMN(name, TEXT, "name", "the kernel, or where its host was",                        \
	       cell_string(model, row->name))

static bool next_straggler(struct table_cursor *at)
{
	const struct verdict *verdict = at->outer;

	return cursor_rows(at, &verdict->why, 1, sizeof(verdict->why));
}

DEFINE_FIGURES(stragglers, struct straggler, STRAGGLER_COLUMNS, next_straggler);

static void of_verdict(struct table_cursor *at, const struct table_cursor *outer)
{
	at->outer = outer->row;
}

static bool is_known(const struct table_cursor *outer)
{
	const struct verdict *verdict = outer->row;

	return verdict->state == VERDICT_COMMUNICATION &&
	       verdict->why.device < outer->of->model->devices.count;
}

static const struct view_column STRAGGLER_SHOWN[] = {
	{ "device.id", "device" }, { "late_ns" }, { "percent" }, { "why" },
	{ "own" },		   { "others" },  { "name" },	 { NULL },
};

const struct view straggler_view = {
	"straggler", NULL, &stragglers, STRAGGLER_SHOWN,
	VIEW_ONE, .within = of_verdict, .known = is_known,
};
