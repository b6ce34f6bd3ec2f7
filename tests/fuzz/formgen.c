/* Forms of the instruction table, one after the other, and the kernels that execute them. */
#include "tests/fuzz/formgen_int.h"

#include "grammar/parse.h"

/* ---- which forms ---- */

/*
 * Rows whose answers are not the instruction's alone: addresses, times, places in the machine,
 * which lanes happen to be together; and what has no result.
 */
static bool is_left_out(const struct isa_row *row)
{
	static const char *const names[] = {
		"cvta",          "cvta.to",    "isspacep", "mapa", "getctarank",
		"bar.warp.sync", "activemask", "shfl",     "vote", "elect.sync",
	};

	for (u32 i = 0; i < ARRAY_LEN(names); i++)
		for (u32 k = 0; k < row->names; k++)
			if (!strcmp(row->name[k], names[i]))
				return row->row != I_shfl_sync && row->row != I_vote_sync &&
				       row->row != I_vote_sync_ballot;
	/* ptxas takes one register in braces for part of it. */
	if (row->row == I_mov_pack_1 || row->row == I_mov_unpack_1)
		return true;
	if (formgen_is_memory(row))
		return row->state != ISA_RUN;
	for (u32 i = 0; i < row->operands; i++)
		if (row->operand[i].kind != ISA_OP_VALUE && row->operand[i].kind != ISA_OP_IMM &&
		    row->operand[i].kind != ISA_OP_SREG && row->operand[i].kind != ISA_OP_SINK)
			return true;
	return row->state != ISA_RUN;
}

static bool is_chapter(const struct isa_row *row)
{
	switch ((enum isa_chapter)row->chapter) {
	case ISA_CH_int:
	case ISA_CH_float:
	case ISA_CH_half:
	case ISA_CH_cmp:
	case ISA_CH_logic:
	case ISA_CH_move:
	case ISA_CH_cvt:
	case ISA_CH_video:
	case ISA_CH_warp:
		return true;
	default:
		return formgen_is_memory(row);
	}
}

static const struct isa_target target = {90, 'a'};
#define VERSION 90u

/* The spelling with this number, counted in the slots' choices; false: a group would be torn. */
static bool spell(const struct isa_row *row, u64 number, struct text *out)
{
	u32 group_choice[256] = {0};

	out->len = 0;
	text_puts(out, row->name[number % row->names]);
	number /= row->names;
	for (u32 i = 0; i < row->slots; i++) {
		const struct isa_slot *s = &row->slot[i];
		u32 choices = s->alts + s->optional, choice = (u32)(number % choices);

		number /= choices;
		/* Slots of one group are there together. */
		if (s->group && group_choice[s->group] &&
		    (group_choice[s->group] == 1) != (choice == s->alts))
			return false;
		if (s->group)
			group_choice[s->group] = choice == s->alts ? 1 : 2;
		if (choice < s->alts)
			text_printf(out, ".%s", isa_word_text(isa_alts(s->first_alt)[choice].word));
	}
	return true;
}

static u64 spellings(const struct isa_row *row)
{
	u64 n = row->names;

	for (u32 i = 0; i < row->slots; i++)
		n *= row->slot[i].alts + row->slot[i].optional;
	return n;
}

static void add_form(struct formgen_list *l, const struct isa_row *row, const struct text *opcode)
{
	const struct isa_form *f = isa_match(&l->arena, opcode->at, opcode->len);
	bool first = f && f->row == row;
	struct formgen_form form;
	struct text name = {0};

	while (f && f->row != row)
		f = f->next;
	if (!f || f->ptx > VERSION || !isa_form_on_target(f, target) ||
	    isa_form_gone(f, target, VERSION) || isa_form_late(f, target, VERSION))
		return;
	/* Parameters of calls; vectors of eight that only ptxas knows; copies to several CTAs. */
	if ((isa_form_has(f, M_v8) && row->chapter == ISA_CH_ld_st) ||
	    isa_form_has(f, M_multicast_cluster))
		return;
	if (isa_form_has(f, M_param_func) ||
	    (formgen_starts(row, "st") && isa_form_has(f, M_param)))
		return;
	text_puts(&name, opcode->at);
	if (!first)
		text_printf(&name, " (%s)", row->id);
	form = (struct formgen_form){.opcode = arena_strdup(&l->arena, opcode->at, opcode->len),
				     .name = arena_strdup(&l->arena, name.at, name.len),
				     .form = f};
	VEC_PUSH(&l->forms, form);
	text_fini(&name);
}

void formgen_list_add(struct formgen_list *l, const char *name)
{
	const char *bracket = strstr(name, " (");
	struct text opcode = {0};
	const struct isa_form *f;

	text_printf(&opcode, "%.*s", bracket ? (int)(bracket - name) : (int)strlen(name), name);
	f = isa_match(&l->arena, opcode.at, opcode.len);
	while (f && bracket &&
	       (strlen(f->row->id) + 3 != strlen(bracket) ||
		strncmp(f->row->id, bracket + 2, strlen(f->row->id))))
		f = f->next;
	if (f)
		add_form(l, f->row, &opcode);
	text_fini(&opcode);
}

static bool is_listed(const struct formgen_list *l, size_t from, const struct text *opcode)
{
	for (size_t i = from; i < l->forms.len; i++)
		if (!strcmp(l->forms.at[i].opcode, opcode->at))
			return true;
	return false;
}

/* Of instructions of memory, whose modifiers mostly change nothing, a smaller choice. */
#define MEMORY_PART 50u

void formgen_list_init(struct formgen_list *l, u32 limit)
{
	struct text opcode = {0};

	*l = (struct formgen_list){0};
	for (u32 i = 0; i < ISA_ROWS; i++) {
		const struct isa_row *row = isa_row(i);
		u64 n = spellings(row);
		struct formgen_random r = {formgen_hash(row->id)};
		size_t start;
		u64 most;

		if (!is_chapter(row) || is_left_out(row))
			continue;
		most = formgen_is_memory(row) ? limit / MEMORY_PART : limit;
		start = l->forms.len;
		for (u64 k = 0; k < (n < most ? n : most); k++)
			if (spell(row, n <= most ? k : formgen_next(&r) % n, &opcode) &&
			    !is_listed(l, start, &opcode))
				add_form(l, row, &opcode);
	}
	text_fini(&opcode);
}

void formgen_list_fini(struct formgen_list *l)
{
	VEC_FREE(&l->forms);
	arena_fini(&l->arena);
}

/* ---- what stands around it ---- */

/* Extended-precision arithmetic: which side the carry goes in and out. */
enum carry { CARRY_NONE = 0, CARRY_IN = 1, CARRY_OUT = 2 };

static u32 carry_of(const struct isa_form *f)
{
	const char *name = f->row->name[f->name];
	bool in =
		!strncmp(name, "addc", 4) || !strncmp(name, "subc", 4) || !strncmp(name, "madc", 4);

	return (in ? CARRY_IN : 0) | (isa_form_has(f, M_cc) ? CARRY_OUT : 0);
}

/*
 * Measured: ptxas 13.0 makes several instructions of these, and only the first of them has the
 * guard. A branch does what a guard should.
 */
static bool drops_guard(const struct formgen_form *f)
{
	static const char *const names[] = {"set.",        "testp.",    "abs.f32",
					    "abs.ftz.f32", "cvt.pack.", "v"};

	for (u32 i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(f->opcode, names[i], strlen(names[i])))
			return names[i][0] != 'v' || isa_form_has(f->form, M_add);
	return false;
}

/* The statement between its loads and stores: how depends on the variant and on the instruction. */
static void put_statement(struct maker *m, u32 number, u32 *next, struct text *out)
{
	const char *opcode = m->f->opcode;
	u32 carry = carry_of(m->f->form), guard = 0,
	    flag = formgen_input(m, next, T_u32, FORMGEN_VALUE);
	bool warp = m->f->form->row->chapter == ISA_CH_warp,
	     waits = m->f->form->row->chapter == ISA_CH_async, sub = strstr(opcode, "sub") != NULL,
	     branch = m->variant & 2 || drops_guard(m->f),
	     guarded = !carry && !warp && m->variant & 1 && !waits;

	guard = formgen_input(m, next, T_pred, FORMGEN_GUARD);
	text_add(out, m->before.at, m->before.len);
	if (guarded)
		text_printf(out, "ld.global.u32 %%t, [%%in+%u]; setp.ne.u32 %%g, %%t, 0;\n",
			    guard * FORMGEN_THREADS * 8);
	if (carry & CARRY_IN)
		text_printf(out, "ld.global.u32 %%t, [%%in+%u]; and.b32 %%t, %%t, 1; %s;\n",
			    flag * FORMGEN_THREADS * 8,
			    sub ? "sub.cc.u32 %t, 0, %t" : "add.cc.u32 %t, %t, 0xffffffff");
	if (warp)
		text_puts(out, "setp.eq.u32 %g, %q, 0;\n");
	formgen_prepare(m, out);
	if (guarded && !branch)
		text_puts(out, number & 1 ? "@!%g " : "@%g ");
	if ((guarded && branch) || warp)
		text_printf(out, "@%%g bra L%u;\n", m->variant);
	text_printf(out, "%s%.*s;\n", opcode, (int)m->operands.len, m->operands.at);
	if ((guarded && branch) || warp)
		text_printf(out, "L%u:\n", m->variant);
	if (carry & CARRY_OUT)
		text_printf(out, "%s.u32 %%t, 0, 0; st.global.u32 [%%out+%u], %%t;\n",
			    sub ? "subc" : "addc", m->outs++ * FORMGEN_THREADS * 8);
	formgen_finish(m, out);
	text_add(out, m->after.at, m->after.len);
}

/* Lanes that are in the member mask, in %q. */
static void put_members(struct maker *m, struct text *out)
{
	for (u32 i = 0; i < m->k->ins; i++)
		if (m->k->in[i].use == FORMGEN_MEMBERS)
			text_printf(out,
				    "ld.global.u32 %%q, [%%in+%u]; mov.u32 %%t, %%lanemask_eq; "
				    "and.b32 %%q, %%q, %%t;\n",
				    i * FORMGEN_THREADS * 8);
}

#define CONST_WORDS 256u

static void put_head(struct text *out, u32 words)
{
	struct formgen_random r = {1};

	text_printf(out, ".version %u.%u\n.target %s\n.address_size 64\n", VERSION / 10,
		    VERSION % 10, FORMGEN_TARGET);
	text_printf(out,
		    ".shared .align 128 .b8 sh0[%u], sh1[%u];\n.shared .align 8 .b64 bars[%u];\n"
		    ".const .align 64 .u64 cst[%u] = {",
		    FORMGEN_BLOCK * FORMGEN_PLACE, FORMGEN_BLOCK * FORMGEN_PLACE, FORMGEN_BLOCK,
		    CONST_WORDS);
	for (u32 i = 0; i < words; i++)
		text_printf(out, "%s0x%llx", i ? "," : "", (unsigned long long)formgen_next(&r));
	text_puts(out, "};\n");
}

void formgen_head(struct text *out)
{
	put_head(out, CONST_WORDS);
}

static void put_entry(u32 number, struct text *out)
{
	text_printf(
		out,
		".visible .entry f%u(.param .u64 in, .param .u64 out, .param .align 16 .b8 pd[%u])\n{\n"
		".reg .u64 %%in, %%out, %%in0, %%out0, %%l, %%h, %%st, %%pol;\n"
		".reg .u32 %%t, %%q, %%i, %%ix, %%ba; .reg .pred %%g;\n"
		"mov.u32 %%i, %%ctaid.x; mov.u32 %%ix, %%tid.x; mad.lo.u32 %%i, %%i, %u, %%ix;\n"
		"ld.param.u64 %%in0, [in]; mad.wide.u32 %%in, %%i, 8, %%in0;\n"
		"ld.param.u64 %%out0, [out]; mad.wide.u32 %%out, %%i, 8, %%out0;\n"
		"createpolicy.fractional.L2::evict_first.b64 %%pol;\n",
		number, FORMGEN_PLACE, FORMGEN_BLOCK);
}

static void ignore(void *user, const struct diag_message *m)
{
	(void)user;
	(void)m;
}

static bool is_legal(const struct text *body)
{
	static const struct ptx_options options = {.lint = true};
	struct diag_source source = {.name = "form"};
	struct text module = {0};
	struct ir_module *m;
	struct diag d;

	put_head(&module, 1);
	put_entry(0, &module);
	text_printf(&module, "%.*sret;\n}\n", (int)body->len, body->at);
	source.text = module.at;
	source.size = module.len;
	diag_init(&d, ignore, NULL);
	m = ptx_parse(&source, &options, &d);
	diag_fini(&d);
	text_fini(&module);
	ir_module_free(m);
	return m != NULL;
}

/* One legal variant of the statement, as a block; false: there is none. */
static bool make_variant(const struct formgen_form *f, u32 variant, struct formgen_kernel *k,
			 struct text *out)
{
	struct maker m = {.f = f, .k = k, .variant = variant};
	struct text block = {0};
	bool legal = false;
	u32 ins = k->ins;

	for (u32 tries = 0; tries < 30 && !legal; tries++) {
		u32 next = 0;

		m.r.state = formgen_hash(f->name) + variant * 1000 + tries;
		m.variant = tries < 20 ? variant : 0;
		m.before.len = m.operands.len = m.after.len = block.len = 0;
		m.regs = m.dest_type = m.outs_of_dest = m.bytes = m.vector = 0;
		memset(m.space, 0, sizeof(m.space));
		m.outs = k->first_out[variant];
		k->ins = ins;
		text_puts(&block, "{\n");
		legal = formgen_operands(&m, &next) && next + 2 < FORMGEN_SLOTS;
		m.variant = variant;
		if (!legal)
			continue;
		if (f->form->row->chapter == ISA_CH_warp)
			put_members(&m, &block);
		put_statement(&m, (u32)m.r.state, &next, &block);
		text_puts(&block, "}\n");
		legal = m.outs > k->first_out[variant] && is_legal(&block);
	}
	if (legal) {
		k->first_out[variant + 1] = m.outs;
		k->outs = m.outs;
		text_add(out, block.at, block.len);
	}
	text_fini(&m.before);
	text_fini(&m.operands);
	text_fini(&m.after);
	text_fini(&block);
	return legal;
}

bool formgen_kernel(const struct formgen_form *f, u32 number, struct formgen_kernel *k,
		    struct text *out)
{
	size_t start = out->len;
	u32 n = 0;

	*k = (struct formgen_kernel){0};
	put_entry(number, out);
	for (u32 i = 0; i < FORMGEN_VARIANTS; i++) {
		bool made = make_variant(f, i, k, out);

		if (!made)
			k->first_out[i + 1] = k->first_out[i];
		n += made;
	}
	text_puts(out, "ret;\n}\n");
	if (!n)
		out->len = start;
	return n > 0;
}
