/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sections. */
#include "analyzer/view/sections.h"

#define SECTION_POINTER(NAME, name) [SECTION_NUMBER_##NAME] = &section_##name,
const struct section *const sections[SECTION_COUNT] = { SECTIONS(SECTION_POINTER, SECTION_POINTER) };
