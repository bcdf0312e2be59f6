/* SPDX-License-Identifier: Apache-2.0 */
/* readable_symbol.h - symbols as people write them. */
#ifndef PROFBPF_LIB_ELF_READABLE_SYMBOL_H
#define PROFBPF_LIB_ELF_READABLE_SYMBOL_H

/*
 * readable_symbol - a C++ symbol demangled, without parameters
 *
 * Returns a text that the caller frees; NULL for what is no C++ symbol, is longer than 4 KB, or without
 * memory: then the symbol is shown as it is.
 */
char *readable_symbol(const char *symbol);

#endif /* PROFBPF_LIB_ELF_READABLE_SYMBOL_H */
