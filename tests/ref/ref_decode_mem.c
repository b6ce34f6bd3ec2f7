/*
 * Loads, stores, atomics, control flow, barriers, warp instructions and the rest, for the reference
 * engine.
 */
#include "tests/ref/ref_int.h"

/* ---- memory ---- */

static u8 space_of(u32 word)
{
	switch (word) {
	case M_global:
		return MEM_GLOBAL;
	case M_const:
		return MEM_CONST;
	case M_shared:
	case M_shared_cta:
	case M_shared_cluster:
		return MEM_SHARED;
	case M_local:
		return MEM_LOCAL;
	case M_param:
	case M_param_entry:
	case M_param_func:
		return MEM_PARAM;
	default:
		return MEM_GENERIC;
	}
}

static void variable(struct ref_builder *b, const struct ir_operand *op, struct ref_insn *x)
{
	const struct ir_var *v = b->p->module->vars.at[op->index];

	x->imm = (s64)(b->p->var_at[op->index] + (u64)op->imm);
	x->a = REF_SLOT_FRAME;
	x->space = MEM_LOCAL;
	switch (v->space) {
	case M_local:
		return;
	case M_param:
		for (u32 i = 0; b->ir->is_entry && i < b->ir->params_len; i++)
			if (b->ir->params[i] == op->index) {
				x->a = REF_SLOT_PARAM;
				x->space = MEM_GLOBAL;
			}
		return;
	default:
		x->a = ref_const(b, 0);
		x->space = space_of(v->space);
	}
}

/* The address operand into a, imm, mask and space. */
static void address(struct ref_builder *b, const struct ir_operand *op,
		    const struct isa_operand *spec, struct ref_insn *x)
{
	struct ir_operand reg = *op;

	x->mask = ~(u64)0;
	x->imm = op->imm;
	x->space = space_of(isa_operand_space(b->form, spec));
	if (op->kind == IR_OP_ADDR_VAR) {
		variable(b, op, x);
	} else if (op->kind == IR_OP_ADDR_REG) {
		reg.kind = IR_OP_REG;
		reg.imm = 0;
		x->a = ref_dest(b, &reg);
		if (isa_type_bits(op->type) == 32)
			x->mask = UINT32_MAX;
		/*
		 * Registers hold addresses of kernel parameters in a kernel, of the frame in a
		 * function.
		 */
		if (x->space == MEM_PARAM)
			x->space = b->ir->is_entry ? MEM_GLOBAL : MEM_LOCAL;
	} else if (op->kind == IR_OP_ADDR_INT) {
		x->a = ref_const(b, 0);
	} else {
		b->why = "an address of this kind";
	}
	b->p->caches++;
}

/* Upper halves of registers of 128 bits that get less. */
static void extend_pair(struct ref_builder *b, const struct ir_operand *op,
			const struct ref_insn *x)
{
	u32 slot[2];

	if (op->kind == IR_OP_VEC) {
		for (u32 i = 0; i < (u32)op->imm; i++)
			extend_pair(b, &b->ir->operands.at[op->index + i], x);
		return;
	}
	if (op->kind != IR_OP_REG || isa_type_bits(b->ir->regs.at[op->index].type) < 128)
		return;
	ref_elements(b, op, T_b128, true, slot);
	ref_emit(b, (struct ref_insn){
			    .run = x->is_signed ? ref_row_find(b->p, "shr.s64", false)->run[0]
						: ref_op_copy,
			    .d = slot[1],
			    .a = x->is_signed ? slot[0] : ref_const(b, 0),
			    .b = x->is_signed ? ref_const(b, 63) : 0,
		    });
}

static bool decode_access(struct ref_builder *b, bool store)
{
	u32 type = b->form->type[0], bits = isa_type_bits(type), slots[32], n;
	const struct isa_operand *spec = b->form->row->operand;
	struct ref_insn x = {0};

	x.size = (u8)(bits == 128 ? 8 : bits / 8);
	x.is_signed = isa_type_class(type) == ISA_SINT;
	n = ref_elements(b, &b->op[store], type, !store, slots);
	address(b, &b->op[!store], &spec[!store], &x);
	/* The old vectors of eight bytes move only their first element, as measured. */
	if (bits == 8 && isa_form_has(b->form, M_v8))
		n = 1;
	x.count = (u16)n;
	if (n == 1) {
		x.run = store ? ref_store_handler(x.space, x.size)
			      : ref_load_handler(x.space, x.size, x.is_signed);
		x.d = slots[0];
	} else {
		x.run = store ? ref_op_store_slow : ref_op_load_slow;
		x.ext = (u32)b->p->ext.len;
		for (u32 i = 0; i < n; i++)
			ref_ext(b, slots[i]);
	}
	ref_emit(b, x);
	if (!store && bits < 128)
		extend_pair(b, b->op, &x);
	return x.size && n;
}

/* d, address, b, c: elements in the list of slots, results first. */
static bool decode_atom(struct ref_builder *b, bool result)
{
	u32 type = b->form->type[0], bits = isa_type_bits(type),
	    op = isa_form_word(b->form, ISA_K_OP, 0), at = result;
	struct ref_insn x = {.run = ref_op_atom, .is_signed = isa_type_class(type) == ISA_SINT};
	u32 d[16], s[16], c[16], n;

	x.mode = op | type << 16;
	address(b, &b->op[at], &b->form->row->operand[at], &x);
	n = ref_elements(b, &b->op[at + 1], type, false, s);
	for (u32 i = 0; i < n; i++)
		d[i] = REF_SLOT_TRASH;
	if (result && b->op[0].kind != IR_OP_SINK)
		ref_elements(b, &b->op[0], type, true, d);
	if (op == M_cas)
		ref_elements(b, &b->op[at + 2], type, false, c);
	x.pair = bits == 128;
	x.size = (u8)(bits / 8);
	x.count = (u16)(x.pair ? 1 : n);
	x.ext = (u32)b->p->ext.len;
	for (u32 i = 0; i < n; i++)
		ref_ext(b, d[i]);
	for (u32 i = 0; i < n; i++)
		ref_ext(b, s[i]);
	for (u32 i = 0; i < n && op == M_cas; i++)
		ref_ext(b, c[i]);
	ref_emit(b, x);
	return n;
}

bool ref_decode_memory(struct ref_builder *b)
{
	if (ref_is(b, OPCODE_ld) || ref_is(b, OPCODE_ldu))
		return decode_access(b, false);
	if (ref_is(b, OPCODE_st))
		return decode_access(b, true);
	if (ref_is(b, OPCODE_atom))
		return decode_atom(b, true);
	if (ref_is(b, OPCODE_red))
		return decode_atom(b, false);
	if (ref_is(b, OPCODE_st_bulk)) {
		struct ref_insn x = {.run = ref_op_zero_fill, .size = 1};

		address(b, &b->op[0], &b->form->row->operand[0], &x);
		x.b = ref_source(b, &b->op[1], T_u64);
		x.mode = b->op[1].kind == IR_OP_REG && isa_type_bits(b->op[1].type) == 32;
		ref_emit(b, x);
		return true;
	}
	return false;
}

/* ---- control ---- */

static void jump(struct ref_builder *b, struct ref_insn x, u32 label)
{
	x.ext = b->ir->labels.at[label].insn;
	x.jump = INT32_MIN; /* settled when the function is complete */
	ref_emit(b, x);
}

static bool decode_bra(struct ref_builder *b)
{
	struct ref_insn x = {0};
	bool back = b->ir->labels.at[b->op[0].index].insn <= (u32)(b->in - b->ir->insns.at);

	if (b->op[0].kind != IR_OP_LABEL)
		return false;
	if (b->in->guard == IR_NONE) {
		x.run = back ? ref_op_bra_back : ref_op_bra;
	} else {
		x.a = b->f->reg_slot[b->in->guard];
		x.run = b->in->guard_not ? back ? ref_op_bra_not_back : ref_op_bra_not
			: back           ? ref_op_bra_if_back
					 : ref_op_bra_if;
	}
	jump(b, x, b->op[0].index);
	return true;
}

/* The targets are instructions, found through the function when it runs. */
static bool decode_brx(struct ref_builder *b)
{
	const struct ir_table *t = &b->ir->tables.at[b->op[1].index];
	struct ref_insn x = {.run = ref_op_brx};

	x.a = ref_source(b, &b->op[0], T_u32);
	x.ext = (u32)b->p->ext.len;
	x.count = (u16)t->len;
	for (u32 i = 0; i < t->len; i++)
		ref_ext(b, b->ir->labels.at[t->at[i]].insn);
	ref_emit(b, x);
	return t->len <= UINT16_MAX;
}

static struct ref_list actuals(struct ref_builder *b, const struct ir_operand *list, bool results)
{
	const struct ir_operand *e = list;
	u32 n = list->kind == IR_OP_LIST ? (u32)list->imm : 1;
	struct ref_list l = {.at = ARENA_ARRAY(&b->p->arena, struct ref_place, n + 1), .len = n};

	if (!l.at) {
		b->p->failed = true;
		l.len = 0;
	}
	if (list->kind == IR_OP_LIST)
		e = b->ir->operands.at + list->index;
	for (u32 i = 0; i < l.len; i++) {
		l.at[i].in_frame = e[i].kind == IR_OP_VAR;
		if (e[i].kind == IR_OP_VAR) {
			l.at[i].at = (u32)b->p->var_at[e[i].index];
			l.at[i].bytes = (u32)b->p->module->vars.at[e[i].index]->size_bytes;
		} else {
			u32 type = e[i].type ? e[i].type : T_b64,
			    slot = results ? ref_dest(b, &e[i]) : ref_source(b, &e[i], type);

			/* A constant needs a slot that is known now. */
			if (!results && e[i].kind != IR_OP_REG) {
				u32 t = ref_temp(b);

				ref_emit(b,
					 (struct ref_insn){.run = ref_op_copy, .d = t, .a = slot});
				slot = t;
			}
			l.at[i].at = slot;
			l.at[i].bytes = e[i].kind == IR_OP_SINK ? 0 : 8;
		}
	}
	return l;
}

static bool is_list(const struct ir_operand *op)
{
	return op->kind == IR_OP_LIST || (op->kind == IR_OP_INT && (op->flags & IR_PAREN));
}

static bool decode_call(struct ref_builder *b)
{
	struct ref_call *c = ARENA_NEW(&b->p->arena, struct ref_call);
	u32 i = 0, n = b->in->ops;

	if (!c) {
		b->p->failed = true;
		return false;
	}
	*c = (struct ref_call){.func = IR_NONE};
	if (i < n && is_list(&b->op[i]))
		c->rets = actuals(b, &b->op[i++], true);
	if (b->op[i].kind == IR_OP_FUNC)
		c->func = b->op[i].index;
	else
		c->slot = ref_source(b, &b->op[i], T_u64);
	i++;
	if (i < n && is_list(&b->op[i]))
		c->args = actuals(b, &b->op[i], false);
	ref_emit(b, (struct ref_insn){
			    .run = ref_op_call, .data = c, .a = c->func == IR_NONE ? c->slot : 0});
	return true;
}

bool ref_decode_control(struct ref_builder *b)
{
	switch (b->form->row->row) {
	case I_bra:
		return decode_bra(b);
	case I_brx_idx:
		return decode_brx(b);
	case I_call:
		return decode_call(b);
	case I_ret:
		ref_emit(b, (struct ref_insn){.run = ref_op_ret});
		return true;
	case I_exit:
		ref_emit(b, (struct ref_insn){.run = ref_op_exit});
		return true;
	case I_trap:
		ref_emit(b, (struct ref_insn){.run = ref_op_trap});
		return true;
	case I_nanosleep:
		ref_emit(b, (struct ref_insn){.run = ref_op_yield});
		return true;
	default:
		return false;
	}
}

/* ---- barriers and warp instructions ---- */

/* bar{.cta}, barrier{.cta}: .sync a{, n}; .arrive a, n; .red d, a{, n}, c */
static bool decode_barrier(struct ref_builder *b)
{
	const char *name = b->form->row->name[b->form->name];
	bool red = strstr(name, ".red"), arrive = strstr(name, ".arrive");
	struct ref_insn x = {.run = arrive ? ref_op_bar_arrive : ref_op_bar_sync, .d = REF_NO_SLOT};
	u32 i = red, last = b->in->ops - (red ? 1u : 0u);

	if (red) {
		x.d = ref_dest(b, &b->op[0]);
		x.c = ref_source(b, &b->op[last], T_pred);
		x.mode = isa_form_word(b->form, ISA_K_OP, 0);
	} else {
		x.c = ref_const(b, 0);
	}
	x.a = ref_source(b, &b->op[i], T_u32);
	x.b = i + 1 < last ? ref_source(b, &b->op[i + 1], T_u32) : ref_const(b, 0);
	ref_emit(b, x);
	return true;
}

/* b holds the member mask, REF_NO_SLOT: whichever lanes have come. */
static bool meet(struct ref_builder *b, struct ref_insn x, ref_meeting *meeting,
		 const struct ir_operand *mask)
{
	x.run = ref_op_meet;
	x.meet = meeting;
	x.c = mask ? ref_source(b, mask, T_u32) : REF_NO_SLOT;
	ref_emit(b, x);
	return true;
}

static bool decode_shfl(struct ref_builder *b)
{
	u32 outs = b->op[1].flags & IR_BAR ? 2 : 1;
	bool sync = isa_form_has(b->form, M_sync);
	struct ref_insn x = {.d = ref_dest(b, &b->op[0])};

	x.ext = (u32)b->p->ext.len;
	ref_ext(b, outs == 2 ? ref_dest(b, &b->op[1]) : REF_SLOT_TRASH);
	x.a = ref_source(b, &b->op[outs], T_b32);
	x.b = ref_source(b, &b->op[outs + 1], T_u32);
	ref_ext(b, ref_source(b, &b->op[outs + 2], T_u32));
	x.mode = isa_form_word(b->form, ISA_K_SHFL, 0);
	return meet(b, x, ref_meet_shfl, sync ? &b->op[outs + 3] : NULL);
}

static bool decode_vote(struct ref_builder *b)
{
	bool sync = isa_form_has(b->form, M_sync);
	struct ref_insn x = {.d = ref_dest(b, &b->op[0]), .a = ref_source(b, &b->op[1], T_pred)};

	x.mode = isa_form_word(b->form, ISA_K_VOTE, 0);
	return meet(b, x, x.mode == M_ballot ? ref_meet_ballot : ref_meet_vote,
		    sync ? &b->op[2] : NULL);
}

static bool decode_match(struct ref_builder *b)
{
	u32 outs = b->op[1].flags & IR_BAR ? 2 : 1;
	struct ref_insn x = {.d = ref_dest(b, &b->op[0])};

	x.b = outs == 2 ? ref_dest(b, &b->op[1]) : REF_SLOT_TRASH;
	x.a = ref_source(b, &b->op[outs], b->form->type[0]);
	x.mode = isa_form_word(b->form, ISA_K_VOTE, 0);
	x.size = (u8)(isa_type_bits(b->form->type[0]) / 8);
	return meet(b, x, ref_meet_match, &b->op[outs + 1]);
}

static bool decode_redux(struct ref_builder *b)
{
	struct ref_insn x = {.d = ref_dest(b, &b->op[0]),
			     .a = ref_source(b, &b->op[1], b->form->type[0])};

	x.mode = isa_form_word(b->form, ISA_K_OP, 0) | (u32)b->form->type[0] << 16;
	x.imm = 0;
	x.ext = ref_mode_of(b->form);
	return meet(b, x, ref_meet_redux, &b->op[2]);
}

/* Those of a CTA, by all their names. */
static bool is_cta_barrier(const struct ref_builder *b)
{
	static const u16 barriers[] = {
		OPCODE_bar_arrive,
		OPCODE_bar_red,
		OPCODE_bar_sync,
		OPCODE_bar_cta_arrive,
		OPCODE_bar_cta_red,
		OPCODE_bar_cta_sync,
		OPCODE_barrier,
		OPCODE_barrier_arrive,
		OPCODE_barrier_red,
		OPCODE_barrier_cta,
		OPCODE_barrier_cta_arrive,
		OPCODE_barrier_cta_red,
	};

	for (u32 i = 0; i < ARRAY_LEN(barriers); i++)
		if (ref_is(b, barriers[i]))
			return true;
	return false;
}

bool ref_decode_warp(struct ref_builder *b)
{
	if (ref_is(b, OPCODE_bar_warp_sync))
		return meet(b, (struct ref_insn){0}, ref_meet_sync, &b->op[0]);
	if (ref_is(b, OPCODE_barrier_cluster_arrive) || ref_is(b, OPCODE_barrier_cluster_wait))
		return false;
	if (is_cta_barrier(b))
		return decode_barrier(b);
	if (ref_is(b, OPCODE_shfl))
		return decode_shfl(b);
	if (ref_is(b, OPCODE_vote))
		return decode_vote(b);
	if (ref_is(b, OPCODE_match))
		return decode_match(b);
	if (ref_is(b, OPCODE_redux))
		return decode_redux(b);
	if (ref_is(b, OPCODE_activemask))
		return meet(b, (struct ref_insn){.d = ref_dest(b, &b->op[0])}, ref_meet_activemask,
			    NULL);
	if (ref_is(b, OPCODE_elect))
		return meet(
			b,
			(struct ref_insn){.d = ref_dest(b, &b->op[0]), .a = ref_dest(b, &b->op[1])},
			ref_meet_elect, &b->op[2]);
	return false;
}

/* ---- the rest ---- */

/*
 * Hints, orders and events: execution here is sequential and memory coherent, so they change
 * nothing.
 */
static const u16 nothing[] = {
	OPCODE_prefetch,
	OPCODE_prefetchu,
	OPCODE_applypriority,
	OPCODE_discard,
	OPCODE_membar,
	OPCODE_membar_proxy,
	OPCODE_fence,
	OPCODE_fence_proxy,
	OPCODE_brkpt,
	OPCODE_pmevent,
	OPCODE_pmevent_mask,
	OPCODE_griddepcontrol,
	OPCODE_setmaxnreg_inc,
	OPCODE_setmaxnreg_dec,
	OPCODE_cp_async_commit_group,
	OPCODE_cp_async_wait_group,
	OPCODE_cp_async_wait_all,
	OPCODE_cp_async_bulk_commit_group,
	OPCODE_cp_async_bulk_wait_group,
};

static bool decode_minix4(struct ref_builder *b)
{
	struct ref_insn x = {.run = ref_op_minix4,
			     .d = ref_dest(b, &b->op[0]),
			     .c = b->form->type[0],
			     .mode = ref_mode_of(b->form)};
	u32 s[8], n = ref_elements(b, &b->op[1], T_f32, false, s);

	x.a = ref_source(b, &b->op[2], T_b32);
	x.ext = (u32)b->p->ext.len;
	for (u32 i = 0; i < n; i++)
		ref_ext(b, s[i]);
	ref_emit(b, x);
	return n == 4;
}

static bool decode_rank(struct ref_builder *b, ref_handler *run)
{
	struct ref_insn x = {.run = run,
			     .d = ref_dest(b, &b->op[0]),
			     .mode = isa_form_has(b->form, M_shared_cluster)};

	if (b->op[1].kind == IR_OP_VAR)
		x.a = ref_const(b, b->p->var_at[b->op[1].index] + (u64)b->op[1].imm);
	else
		x.a = ref_source(b, &b->op[1], b->form->type[0]);
	x.b = b->in->ops > 2 ? ref_source(b, &b->op[2], T_u32) : ref_const(b, 0);
	ref_emit(b, x);
	return true;
}

bool ref_decode_misc(struct ref_builder *b)
{
	for (u32 i = 0; i < ARRAY_LEN(nothing); i++)
		if (ref_is(b, nothing[i])) {
			ref_emit(b, (struct ref_insn){.run = ref_op_nop});
			return true;
		}
	switch (b->form->row->row) {
	case I_stacksave:
		ref_emit(b,
			 (struct ref_insn){.run = ref_op_stacksave, .d = ref_dest(b, &b->op[0])});
		return true;
	case I_stackrestore:
		ref_emit(b, (struct ref_insn){.run = ref_op_stackrestore,
					      .a = ref_source(b, &b->op[0], T_u64)});
		return true;
	case I_alloca:
		ref_emit(b, (struct ref_insn){.run = ref_op_alloca,
					      .d = ref_dest(b, &b->op[0]),
					      .a = ref_source(b, &b->op[1], b->form->type[0]),
					      .imm = b->in->ops > 2 ? b->op[2].imm : 8,
					      .mode = b->form->type[0] == T_u32});
		return true;
	case I_cvt_x4_f32:
		return decode_minix4(b);
	case I_mapa:
	case I_mapa_shared:
	case I_mapa_symbol:
		return decode_rank(b, ref_op_mapa);
	case I_getctarank:
	case I_getctarank_shared:
	case I_getctarank_symbol:
		return decode_rank(b, ref_op_ctarank);
	default:
		return false;
	}
}
