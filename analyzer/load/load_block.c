/* SPDX-License-Identifier: Apache-2.0 */
/* Packets with waits for memory and storage: page faults, block requests. */
#include "analyzer/load/loader_private.h"

#include "proto/trace.pb-c.h"
#include "lib/trace/column.h"

static bool saw(struct loader *loader, uint32_t tid, uint32_t tgid, uint64_t end_ns)
{
	loader_reached(loader, end_ns);
	return loader_saw_thread(loader, tid, tgid, end_ns);
}

bool load_faults(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Faults *m = LOADER_UNPACK(faults, packet);
	struct major_fault row = { 0 };
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_end_ns, m->n_dur_ns, m->n_tid, m->n_tgid, m->n_address,
			      m->n_file, m->n_offset))
		return false;
	for (size_t i = 0; i < rows; i++) {
		row.end_ns += (uint64_t)COLUMN_AT(m, end_ns, i);
		row.dur_ns = COLUMN_AT(m, dur_ns, i);
		row.thread = COLUMN_AT(m, tid, i);
		row.address = COLUMN_AT(m, address, i);
		row.file = loader_string(loader, COLUMN_AT(m, file, i));
		row.offset = COLUMN_AT(m, offset, i);
		if (row.thread == 0 || row.dur_ns > row.end_ns) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->faults, row) ||
		    !saw(loader, row.thread, COLUMN_AT(m, tgid, i), row.end_ns))
			return loader_out_of_memory(loader);
	}
	loader->read[READ_FAULT] += rows;
	return true;
}

static bool request_row(struct loader *loader, const Profbpf__BlockRequests *m, size_t i,
			struct block_request *row)
{
	uint32_t operation = COLUMN_AT(m, operation, i);

	row->end_ns += (uint64_t)COLUMN_AT(m, end_ns, i);
	row->dur_ns = COLUMN_AT(m, dur_ns, i);
	row->wait_ns = COLUMN_AT(m, wait_ns, i);
	row->sector = COLUMN_AT(m, sector, i);
	row->bytes = COLUMN_AT(m, bytes, i);
	row->thread = COLUMN_AT(m, tid, i);
	row->driver = loader_driver(loader, COLUMN_AT(m, rdev, i));
	row->operation = loader_value(loader, operation, BLOCK_REQUEST_OPERATIONS - 1,
				      PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER);
	row->flags = (uint8_t)COLUMN_AT(m, flags, i);
	return row->thread && row->dur_ns <= row->end_ns && row->wait_ns <= row->dur_ns &&
	       row->driver != INDEX_NONE;
}

bool load_block_requests(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__BlockRequests *m = LOADER_UNPACK(block_requests, packet);
	struct block_request row = { 0 };
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_end_ns, m->n_dur_ns, m->n_wait_ns, m->n_tid, m->n_tgid,
			      m->n_rdev, m->n_operation, m->n_sector, m->n_bytes, m->n_flags))
		return false;
	for (size_t i = 0; i < rows; i++) {
		if (!request_row(loader, m, i, &row)) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->block_requests, row) ||
		    !saw(loader, row.thread, COLUMN_AT(m, tgid, i), row.end_ns))
			return loader_out_of_memory(loader);
	}
	loader->read[READ_BLOCK] += rows;
	return !loader->no_memory;
}
