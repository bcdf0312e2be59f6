/* SPDX-License-Identifier: Apache-2.0 */
/* device_facts.h - adds facts about a device as a whole (struct device_fact). */
#ifndef PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H
#define PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H

#include <stdint.h>
#include <yajl/yajl_tree.h>

#include "analyzer/import/importer.h"

/*
 * Adds a number or a text. @device: row, or INDEX_NONE if the fact belongs to no device. @unit: "" = none. An empty
 * text is ignored. Returns 0 or -ENOMEM.
 */
int device_fact_number(struct import *import, uint32_t device, const char *topic, const char *name,
		       const char *unit, double value);
int device_fact_text(struct import *import, uint32_t device, const char *topic, const char *name,
		     const char *text);

/*
 * Adds all numbers and texts that are direct members of @object; nested objects and lists are skipped. A number of
 * ranks or stages that cannot be one is a finding. Returns 0 or -ENOMEM.
 */
int device_facts_of(struct import *import, uint32_t device, const char *topic, yajl_val object);

/*
 * The device's number: the digits after the last '_' of the file's name, "flops_summary_3.json"; 0 if there are
 * none.
 */
uint64_t device_of_file(const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H */
