/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_facts.h - what importers add that is said of a device as a whole (struct device_fact).
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H
#define PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H

#include <stdint.h>
#include <yajl/yajl_tree.h>

#include "analyzer/import/importer.h"

/*
 * A number or a text; @device: row, or INDEX_NONE if it is said of none. @unit: "" = none. An empty text
 * says nothing. Return 0 or -ENOMEM.
 */
int device_fact_number(struct import *import, uint32_t device, const char *topic, const char *name,
		       const char *unit, double value);
int device_fact_text(struct import *import, uint32_t device, const char *topic, const char *name,
		     const char *text);

/* All numbers and texts that are members of an object; those of objects and lists in it are left out. */
int device_facts_of(struct import *import, uint32_t device, const char *topic, yajl_val object);

/* The number behind the last '_' of a file's name, "flops_summary_3.json", which is the device's; 0 without one. */
uint64_t device_of_file(const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_DEVICE_FACTS_H */
