/* SPDX-License-Identifier: Apache-2.0 */
/* readable_symbol.h - demangles symbols. */
#ifndef PROFBPF_LIB_ELF_READABLE_SYMBOL_H
#define PROFBPF_LIB_ELF_READABLE_SYMBOL_H

/*
 * readable_symbol - a symbol of C++ (without parameters) or Rust (both kinds of mangling, without hashes) demangled
 *
 * Returns a text that the caller frees; NULL if @symbol is of neither language, or it or its Rust name is longer than
 * 4 KB, or it may have a thousand lifetimes, or without memory: then the caller shows the symbol itself.
 */
char *readable_symbol(const char *symbol);

#endif /* PROFBPF_LIB_ELF_READABLE_SYMBOL_H */
