/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_database.h - a database that importers read without a file, instead of sqlite_file.c.
 *
 * To write a database and to open it costs a hundred times what an importer does. So there is one that
 * stays open, in which all tables of rows.h are virtual ones over the rows of the present input;
 * queries are run by SQLite as ever, but are prepared once. One that asks for a table or column that
 * the present input lacks fails as it would in a file. What SQLite and sqlite_file.c make of damaged
 * files is fuzz_import.c's.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H

#include "tests/fuzz/input.h"

/*
 * virtual_database_set - what the next import reads
 *
 * @owner: whose tables (rows.h). Behind the rows may follow a table and how many of its rows can be
 * read before it is found to be damaged. No bytes: it cannot be opened.
 */
void virtual_database_set(struct input in, char owner);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H */
