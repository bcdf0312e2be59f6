/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/call_frames.h"

#include <string.h>

#include "lib/elf/dwarf_numbers.h"

#define REMEMBERED_MAX 16 /* nested remembered states */
#define WORD 8

uint64_t frame_uleb(struct frame_bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return 0;
}

int64_t frame_sleb(struct frame_bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; b->at < b->end;) {
		uint8_t byte = *b->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift < 64)
			value |= ~0ull << shift;
		return (int64_t)value;
	}
	return 0;
}

uint64_t frame_fixed(struct frame_bytes *b, unsigned int size)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size);
	b->at += size;
	return value;
}

bool frame_machine_of(const struct elf_file *file, struct frame_machine *machine)
{
	bool x86 = elf_file_machine(file) == ELF_FILE_X86_64;

	*machine = x86 ? (struct frame_machine){ 7, 6, 16, true } :
			 (struct frame_machine){ 31, 29, 30, false };
	return x86 || elf_file_machine(file) == ELF_FILE_AARCH64;
}

/* The letters of the augmentation behind its 'z'. Personality routines do not matter, but have a size. */
static bool parse_augmentation(const char *letter, struct frame_bytes *data, struct frame_common *common)
{
	static const uint8_t sizes[16] = { [DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
					   [DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
					   [DW_EH_PE_sdata8] = 8 };

	for (; *letter; letter++) {
		if (*letter == 'R') {
			common->pointer_encoding = (uint8_t)frame_fixed(data, 1);
		} else if (*letter == 'L') {
			frame_fixed(data, 1);
		} else if (*letter == 'P') {
			unsigned int size = sizes[frame_fixed(data, 1) & 0xf];

			if (!size)
				return false;
			frame_fixed(data, size);
		} else if (*letter == 'S') {
			common->signal = true;
		} else if (*letter != 'B' && *letter != 'G') {
			return false;
		}
	}
	return true;
}

bool frame_common_parse(struct frame_bytes b, struct frame_common *common)
{
	const char *augmentation = (const char *)b.at + 1;
	uint8_t version = (uint8_t)frame_fixed(&b, 1);
	const uint8_t *nul = memchr(b.at, '\0', b.end - b.at);

	*common = (struct frame_common){ 0 };
	if (!nul || (version != 1 && version != 3))
		return false;
	b.at = nul + 1;
	common->code_factor = frame_uleb(&b);
	common->data_factor = frame_sleb(&b);
	common->return_register = version == 1 ? frame_fixed(&b, 1) : frame_uleb(&b);
	if (*augmentation == 'z') {
		uint64_t size = frame_uleb(&b);
		struct frame_bytes data = b;

		if (size > (uint64_t)(b.end - b.at))
			return false;
		data.end = b.at + size;
		common->has_augmentation = true;
		if (!parse_augmentation(augmentation + 1, &data, common))
			return false;
		b.at = data.end;
	} else if (*augmentation) {
		return false;
	}
	common->instructions = b;
	return true;
}

/* Where a register of the caller is saved. */
struct place {
	enum { SAME, UNDEFINED, AT_CFA, AT_FRAME, UNKNOWN } kind;
	int64_t offset;
};

/* A row of the table that the instructions make. */
struct row {
	enum { CFA_REGISTER, CFA_FRAME_WORD, CFA_PLT, CFA_SIGNAL, CFA_UNKNOWN } cfa_kind;
	uint64_t cfa_register;
	int64_t cfa;
	struct place frame, back;
};

struct machine {
	const struct frame_machine *registers;
	const struct frame_common *common;
	struct row row, first, remembered[REMEMBERED_MAX];
	unsigned int depth;
	uint64_t address, end;
	frame_rule_taker *take;
	void *context;
	struct frame_rule last;
	bool any;
};

static bool is_words(int64_t offset)
{
	return offset % WORD == 0 && offset / WORD >= INT16_MIN && offset / WORD <= INT16_MAX;
}

static bool put_pointer(const struct machine *m, struct frame_rule *rule)
{
	const struct place *frame = &m->row.frame;

	if (frame->kind == SAME || frame->kind == UNDEFINED)
		return true;
	rule->pointer_kind = frame->kind == AT_CFA ? FRAME_POINTER_AT_CFA : FRAME_POINTER_AT_FRAME;
	rule->pointer = (int16_t)(frame->offset / WORD);
	return (frame->kind == AT_CFA || frame->kind == AT_FRAME) && is_words(frame->offset);
}

static bool put_cfa(const struct machine *m, struct frame_rule *rule)
{
	static const uint8_t kinds[] = { [CFA_FRAME_WORD] = FRAME_RULE_FRAME_WORD,
					 [CFA_PLT] = FRAME_RULE_PLT,
					 [CFA_SIGNAL] = FRAME_RULE_SIGNAL };
	const struct row *row = &m->row;

	if (row->cfa < INT32_MIN || row->cfa > INT32_MAX || row->cfa_kind == CFA_UNKNOWN)
		return false;
	rule->cfa = (int32_t)row->cfa;
	if (row->cfa_kind != CFA_REGISTER)
		rule->kind = kinds[row->cfa_kind];
	else if (row->cfa_register == m->registers->stack)
		rule->kind = FRAME_RULE_STACK;
	else if (row->cfa_register == m->registers->frame)
		rule->kind = FRAME_RULE_FRAME;
	return rule->kind != FRAME_RULE_NONE;
}

static struct frame_rule rule_of(const struct machine *m)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };
	struct frame_rule rule = none;
	const struct place *back = &m->row.back;

	if (back->kind == UNDEFINED)
		return (struct frame_rule){ .kind = FRAME_RULE_FIRST };
	if (!put_cfa(m, &rule))
		return none;
	if (rule.kind == FRAME_RULE_SIGNAL)
		return (struct frame_rule){ .kind = FRAME_RULE_SIGNAL };
	if (!put_pointer(m, &rule) || back->kind > AT_CFA || (back->kind == AT_CFA && !is_words(back->offset)))
		return none;
	if (back->kind == AT_CFA)
		rule.back = (int16_t)(back->offset / WORD);
	/* Calls leave it on the stack. */
	return m->registers->x86 && rule.back != -1 ? none : rule;
}

/* Hands out the rule from the current address up to @next. */
static int hand_out(struct machine *m, uint64_t next)
{
	struct frame_rule rule;
	int err;

	if (next <= m->address)
		return 0;
	rule = rule_of(m);
	if (!m->any || memcmp(&rule, &m->last, sizeof(rule)) != 0) {
		err = m->take(m->context, m->address, &rule);
		if (err)
			return err;
		m->last = rule;
		m->any = true;
	}
	m->address = next;
	return 0;
}

static int advance(struct machine *m, uint64_t by)
{
	uint64_t left = m->end - m->address;

	by *= m->common->code_factor;
	return hand_out(m, m->address + (by < left ? by : left));
}

static struct place *place_of(struct machine *m, uint64_t number)
{
	if (number == m->registers->frame)
		return &m->row.frame;
	return number == m->common->return_register ? &m->row.back : NULL;
}

static void put_place(struct machine *m, uint64_t number, struct place value)
{
	struct place *place = place_of(m, number);

	if (place)
		*place = value;
}

static void restore(struct machine *m, uint64_t number)
{
	if (number == m->registers->frame)
		m->row.frame = m->first.frame;
	else if (number == m->common->return_register)
		m->row.back = m->first.back;
}

/* DW_OP_bregN offset, DW_OP_deref or not; false: another expression */
static bool is_register_word(struct frame_bytes e, uint8_t number, bool deref, int64_t *offset)
{
	if (frame_fixed(&e, 1) != (uint64_t)DW_OP_breg0 + number)
		return false;
	*offset = frame_sleb(&e);
	if (deref && frame_fixed(&e, 1) != DW_OP_deref)
		return false;
	return e.at == e.end;
}

/* rsp + 8 + ((rip & 15) >= N ? 8 : 0), which linkers write for their tables of jumps to functions */
static bool is_plt(struct frame_bytes e, int64_t *from)
{
	static const uint8_t before[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (e.end - e.at != sizeof(before) + 1 + sizeof(after) || memcmp(e.at, before, sizeof(before)) != 0 ||
	    memcmp(e.at + sizeof(before) + 1, after, sizeof(after)) != 0)
		return false;
	*from = e.at[sizeof(before)] - DW_OP_lit0;
	return *from >= 0 && *from < 16;
}

static void cfa_expression(struct machine *m, struct frame_bytes e)
{
	struct row *row = &m->row;

	row->cfa_kind = CFA_UNKNOWN;
	if (is_register_word(e, m->registers->frame, true, &row->cfa))
		row->cfa_kind = CFA_FRAME_WORD;
	else if (m->registers->x86 && is_plt(e, &row->cfa))
		row->cfa_kind = CFA_PLT;
	else if (m->registers->x86 && m->common->signal &&
		 is_register_word(e, m->registers->stack, true, &row->cfa) && row->cfa == 160)
		row->cfa_kind = CFA_SIGNAL; /* asm/ucontext.h: uc_mcontext.rsp, from the return of the handler on */
}

static struct place place_expression(const struct machine *m, struct frame_bytes e)
{
	struct place place = { AT_FRAME, 0 };
	int64_t offset;

	if (is_register_word(e, m->registers->frame, false, &place.offset))
		return place;
	if (is_register_word(e, m->registers->stack, false, &offset) && m->row.cfa_kind == CFA_REGISTER &&
	    m->row.cfa_register == m->registers->stack)
		return (struct place){ AT_CFA, offset - m->row.cfa };
	return (struct place){ UNKNOWN, 0 };
}

static struct frame_bytes block(struct frame_bytes *b)
{
	uint64_t size = frame_uleb(b);
	struct frame_bytes e = { b->at, b->end };

	if (size < (uint64_t)(b->end - b->at))
		e.end = b->at + size;
	b->at = e.end;
	return e;
}

static void define_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->row.cfa_kind = CFA_REGISTER;
	m->row.cfa_register = number;
	m->row.cfa = offset;
}

static void remember(struct machine *m, bool back)
{
	if (!back && m->depth < REMEMBERED_MAX)
		m->remembered[m->depth] = m->row;
	if (!back)
		m->depth++;
	else if (m->depth && --m->depth < REMEMBERED_MAX)
		m->row = m->remembered[m->depth];
}

static int64_t times(const struct machine *m, uint64_t offset)
{
	return (int64_t)(offset * (uint64_t)m->common->data_factor);
}

/* Runs an instruction about a register. */
static bool run_register(struct machine *m, uint8_t code, struct frame_bytes *b)
{
	uint64_t number = frame_uleb(b);

	switch (code) {
	case DW_CFA_offset_extended: put_place(m, number, (struct place){ AT_CFA, times(m, frame_uleb(b)) }); break;
	case DW_CFA_offset_extended_sf:
		put_place(m, number, (struct place){ AT_CFA, times(m, (uint64_t)frame_sleb(b)) });
		break;
	case DW_CFA_restore_extended: restore(m, number); break;
	case DW_CFA_undefined: put_place(m, number, (struct place){ UNDEFINED, 0 }); break;
	case DW_CFA_same_value: put_place(m, number, (struct place){ SAME, 0 }); break;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		frame_uleb(b);
		put_place(m, number, (struct place){ UNKNOWN, 0 });
		break;
	case DW_CFA_expression: put_place(m, number, place_expression(m, block(b))); break;
	case DW_CFA_val_expression:
		block(b);
		put_place(m, number, (struct place){ UNKNOWN, 0 });
		break;
	default: return false;
	}
	return true;
}

/* Runs an instruction about the CFA or the remembered states. */
static bool run_cfa(struct machine *m, uint8_t code, struct frame_bytes *b)
{
	uint64_t number;

	switch (code) {
	case DW_CFA_nop: break;
	case DW_CFA_def_cfa:
		number = frame_uleb(b);
		define_cfa(m, number, (int64_t)frame_uleb(b));
		break;
	case DW_CFA_def_cfa_sf:
		number = frame_uleb(b);
		define_cfa(m, number, times(m, (uint64_t)frame_sleb(b)));
		break;
	case DW_CFA_def_cfa_register: define_cfa(m, frame_uleb(b), m->row.cfa); break;
	case DW_CFA_def_cfa_offset: m->row.cfa = (int64_t)frame_uleb(b); break;
	case DW_CFA_def_cfa_offset_sf: m->row.cfa = times(m, (uint64_t)frame_sleb(b)); break;
	case DW_CFA_def_cfa_expression: cfa_expression(m, block(b)); break;
	case DW_CFA_remember_state: remember(m, false); break;
	case DW_CFA_restore_state: remember(m, true); break;
	case DW_CFA_GNU_args_size: frame_uleb(b); break;
	case DW_CFA_AARCH64_negate_ra_state: break; /* pointer authentication codes are stripped from every return address */
	default: return false;
	}
	return true;
}

static bool is_of_register(uint8_t code)
{
	return code == DW_CFA_offset_extended || code == DW_CFA_offset_extended_sf ||
	       (code >= DW_CFA_restore_extended && code <= DW_CFA_register) || code == DW_CFA_expression ||
	       (code >= DW_CFA_val_offset && code <= DW_CFA_val_expression);
}

/* Behind an unknown instruction the rules are unknown, too. */
static int run(struct machine *m, struct frame_bytes b)
{
	int err = 0;

	while (!err && b.at < b.end && m->address < m->end) {
		uint8_t code = *b.at++, low = code & 0x3f;

		switch (code & 0xc0) {
		case DW_CFA_advance_loc: err = advance(m, low); continue;
		case DW_CFA_offset: put_place(m, low, (struct place){ AT_CFA, times(m, frame_uleb(&b)) }); continue;
		case DW_CFA_restore: restore(m, low); continue;
		default: break;
		}
		if (code >= DW_CFA_advance_loc1 && code <= DW_CFA_advance_loc4) {
			err = advance(m, frame_fixed(&b, 1u << (code - DW_CFA_advance_loc1)));
		} else if (!(is_of_register(code) ? run_register(m, code, &b) : run_cfa(m, code, &b))) {
			m->row.cfa_kind = CFA_UNKNOWN;
			m->row.back.kind = UNKNOWN;
			break;
		}
	}
	return err;
}

static int nowhere(void *context, uint64_t address, const struct frame_rule *rule)
{
	(void)context;
	(void)address;
	(void)rule;
	return 0;
}

int call_frames_run(const struct frame_machine *machine, const struct frame_common *common,
		    const struct frame_entry *entry, frame_rule_taker *take, void *context)
{
	struct machine m = { .registers = machine,
			     .common = common,
			     .address = entry->first,
			     .end = entry->end,
			     .take = nowhere,
			     .row.cfa_kind = CFA_UNKNOWN };
	int err;

	/* On AArch64 the link register holds the return address until an instruction says otherwise. */
	run(&m, common->instructions);
	m.first = m.row;
	m.address = entry->first;
	m.any = false;
	m.take = take;
	m.context = context;
	err = run(&m, entry->instructions);
	return err ? err : hand_out(&m, m.end);
}
