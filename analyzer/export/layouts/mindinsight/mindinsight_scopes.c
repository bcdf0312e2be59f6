/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flops_scope_<n>.json: operations by scope of the network, as edges of a tree from "Total" on, for a Sankey diagram.
 *
 * As MindSpore writes it (profiler/parser/flops_parser.py of 2.0): scopes are the parts of an operator's name except the
 * last one; a part below the first is named "conv1(2_Default)", with its level and the first part, which distinguishes it
 * from scopes of the same name elsewhere. Values are millions of operations.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"
#include "analyzer/view/render/json.h"
#include "lib/base/map.h"
#include "lib/base/strings.h"

struct edge {
	uint32_t outer, inner; /* indices into scopes.names */
	double flops;
};

struct scopes {
	struct string_table *names; /* names of nodes, by number */
	struct map edge_of; /* outer << 32 | inner -> row of edges */
	MODEL_ARRAY(struct edge) edges;
	uint64_t depth; /* largest number of scopes around an operator */
};

static int add_edge(struct scopes *scopes, uint32_t outer, uint32_t inner, double flops)
{
	uint64_t key = (uint64_t)outer << 32 | inner;
	const struct edge edge = { outer, inner, flops };
	uint32_t row = map_get(&scopes->edge_of, key);

	if (outer == STRING_NONE || inner == STRING_NONE)
		return -ENOMEM;
	if (row != MAP_NONE) {
		scopes->edges.row[row].flops += flops;
		return 0;
	}
	return MODEL_PUSH(&scopes->edges, edge) &&
			       map_put(&scopes->edge_of, key, scopes->edges.count - 1)
		       ? 0
		       : -ENOMEM;
}

/* The suffix that distinguishes a scope below the first level. */
static void suffix_of(const char *name, char *suffix, size_t size)
{
	static const char recompute[] = "Gradients/recompute_Default";

	if (strncmp(name, recompute, sizeof(recompute) - 1) == 0)
		snprintf(suffix, size, "recompute_Gradients");
	else
		snprintf(suffix, size, "%.*s", (int)strcspn(name, "/"), name);
}

static int add_operator(struct scopes *scopes, const char *name, double flops)
{
	uint32_t outer = string_table_add_text(scopes->names, "Total"), inner;
	const char *at = name, *slash;
	char suffix[256], text[640];
	uint64_t level = 0;
	int err = 0;

	suffix_of(name, suffix, sizeof(suffix));
	for (; (slash = strchr(at, '/')) && !err; at = slash + 1, outer = inner) {
		if (level)
			snprintf(text, sizeof(text), "%.*s(%llu_%s)", (int)(slash - at < 256 ? slash - at : 256), at,
				 (unsigned long long)level, suffix);
		else
			snprintf(text, sizeof(text), "%.*s", (int)(slash - at < 256 ? slash - at : 256), at);
		inner = string_table_add_text(scopes->names, text);
		err = add_edge(scopes, outer, inner, flops);
		level++;
	}
	if (level > scopes->depth)
		scopes->depth = level;
	return err;
}

static bool is_in_scope(const struct mindinsight_device *of, const struct operator_usage *row)
{
	return row->device == of->device && row->figures.counted && row->figures.flops > 0 &&
	       (row->core == CORE_AICORE || row->core == CORE_KERNEL) &&
	       strchr(model_text(of->model, row->name), '/');
}

bool mindinsight_has_scopes(const struct mindinsight_device *of)
{
	const struct operator_list *list = &of->results->devices->operators;

	for (uint32_t i = 0; i < list->count; i++) {
		if (is_in_scope(of, &list->rows[i]))
			return true;
	}
	return false;
}

static int collect(struct scopes *scopes, const struct mindinsight_device *of)
{
	const struct operator_list *list = &of->results->devices->operators;
	int err = 0;

	for (uint32_t i = 0; i < list->count && !err; i++) {
		const struct operator_usage *row = &list->rows[i];

		if (is_in_scope(of, row))
			err = add_operator(scopes, model_text(of->model, row->name),
					   row->figures.flops);
	}
	return err;
}

static int write_scopes(const struct scopes *scopes, FILE *out)
{
	struct json *json = json_new(out, false);

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_map(json, "data");
	json_array(json, "nodes");
	for (uint32_t i = 1; i < string_table_count(scopes->names) && scopes->edges.count; i++) {
		json_map(json, NULL);
		json_text(json, "name", string_table_get(scopes->names, i));
		json_map_close(json);
	}
	json_array_close(json);
	json_array(json, "links");
	for (uint32_t i = 0; i < scopes->edges.count; i++) {
		const struct edge *edge = &scopes->edges.row[i];

		json_map(json, NULL);
		json_text(json, "source", string_table_get(scopes->names, edge->outer));
		json_text(json, "target", string_table_get(scopes->names, edge->inner));
		json_decimal(json, "value", edge->flops / 1e6);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
	json_u64(json, "max_scope_num", scopes->depth);
	json_map_close(json);
	return json_end(json);
}

int mindinsight_flops_scopes(FILE *out, const struct mindinsight_device *of)
{
	struct scopes scopes = { .names = string_table_new() };
	int err = scopes.names ? collect(&scopes, of) : -ENOMEM;

	if (!err)
		err = write_scopes(&scopes, out);
	string_table_free(scopes.names);
	map_free(&scopes.edge_of);
	free(scopes.edges.row);
	return err;
}
