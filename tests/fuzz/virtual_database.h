/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_database.h - a database that importers read without a file, instead of sqlite_file.c.
 *
 * Writing and opening a database costs a hundred times the work of an importer. So one database stays
 * open, in which all tables of rows.h are virtual tables over the rows of the current input; SQLite runs
 * queries as usual, but prepares each once. A query for a table or column that the current input lacks
 * fails as it would in a file. fuzz_import.c tests SQLite and sqlite_file.c with damaged files.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H

#include "tests/fuzz/input.h"

/*
 * virtual_database_set - sets the database for the next import
 *
 * @owner: the owner of the tables (rows.h). After the rows may follow a table and the number of its rows that
 * can be read before it is found to be damaged. No bytes: the database cannot be opened.
 */
void virtual_database_set(struct input in, char owner);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_DATABASE_H */
