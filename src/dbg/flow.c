/*
 * Control flow of PTX functions, by walks over instructions: the debugger asks seldom, and of one
 * function at a time.
 */
#include "src/dbg/flow.h"

#include "src/base/vec.h"
#include "src/ir/leaving.h"

static void see_label(const struct ir_func *f, u32 label, flow_visitor *see, void *user)
{
	if (label < f->labels.len && f->labels.at[label].insn < f->insns.len)
		see(user, f->labels.at[label].insn);
}

void flow_successors(const struct ir_func *f, u32 insn, flow_visitor *see, void *user)
{
	const struct ir_insn *in = &f->insns.at[insn];
	enum ir_leaving how = ir_leaving(in);
	u32 ops = how == IR_BRANCHES || how == IR_BRANCHES_BY_TABLE ? in->ops : 0;

	for (u32 i = 0; i < ops; i++) {
		const struct ir_operand *op = &f->operands.at[in->first_op + i];
		const struct ir_table *t =
			op->kind == IR_OP_TABLE ? &f->tables.at[op->index] : NULL;

		if (op->kind == IR_OP_LABEL)
			see_label(f, op->index, see, user);
		for (u32 k = 0; t && t->kind == IR_BRANCH_TARGETS && k < t->len; k++)
			see_label(f, t->at[k], see, user);
	}
	if ((how == IR_GOES_ON || in->guard != IR_NONE) && insn + 1 < f->insns.len)
		see(user, insn + 1);
}

struct block_search {
	u32 from, insn, start; /* from: the instruction whose successors are seen */
};

static void note_start(void *user, u32 next)
{
	struct block_search *b = user;

	if (next != b->from + 1 && next <= b->insn && next > b->start)
		b->start = next;
}

u32 flow_block_start(const struct ir_func *f, u32 insn)
{
	struct block_search b = {.insn = insn};

	for (b.from = 0; b.from < f->insns.len; b.from++) {
		flow_successors(f, b.from, note_start, &b);
		if (b.from < insn && ir_leaving(&f->insns.at[b.from]) != IR_GOES_ON &&
		    b.from + 1 > b.start)
			b.start = b.from + 1;
	}
	return b.start;
}

/* ---- walks ---- */

struct walk {
	u8 *seen;
	VEC(u32) pending;
	bool failed;
};

static void walk_to(void *user, u32 next)
{
	struct walk *w = user;

	if (w->seen[next])
		return;
	w->seen[next] = 1;
	w->failed |= !VEC_PUSH(&w->pending, next);
}

static bool walk_end(struct walk *w)
{
	VEC_FREE(&w->pending);
	return !w->failed;
}

bool flow_reach(const struct ir_func *f, const u8 *walls, u8 *reached)
{
	struct walk w = {.seen = reached};

	if (f->insns.len)
		walk_to(&w, 0);
	while (w.pending.len && !w.failed) {
		u32 at = w.pending.at[--w.pending.len];

		if (!walls || !walls[at])
			flow_successors(f, at, walk_to, &w);
	}
	return walk_end(&w);
}

/* ---- backwards ---- */

/* Predecessors: those of instruction i are at[first[i]] to at[first[i + 1]]. */
struct predecessors {
	u32 *first, *at;
	u32 from;
};

static void count_edge(void *user, u32 next)
{
	struct predecessors *p = user;

	p->first[next + 1]++;
}

/* first[i] is the end of those of i - 1 so far. */
static void put_edge(void *user, u32 next)
{
	struct predecessors *p = user;

	p->at[p->first[next]++] = p->from;
}

static bool find_predecessors(const struct ir_func *f, struct predecessors *p)
{
	u32 n = (u32)f->insns.len;

	*p = (struct predecessors){.first = calloc(n + 2, sizeof(u32))};
	for (u32 i = 0; p->first && i < n; i++)
		flow_successors(f, i, count_edge, p);
	for (u32 i = 0; p->first && i < n; i++)
		p->first[i + 1] += p->first[i];
	p->at = p->first ? calloc(p->first[n] + 1, sizeof(u32)) : NULL;
	for (p->from = 0; p->at && p->from < n; p->from++)
		flow_successors(f, p->from, put_edge, p);
	/* Each has become the beginning of the next. */
	if (p->at) {
		memmove(p->first + 1, p->first, (n + 1) * sizeof(u32));
		p->first[0] = 0;
	}
	return p->at != NULL;
}

bool flow_last(const struct ir_func *f, u32 insn, const u8 *marks, u8 *last)
{
	struct walk w = {.seen = calloc(f->insns.len + 1, 1)};
	struct predecessors p = {0};
	bool good = w.seen && find_predecessors(f, &p);

	if (good && insn < f->insns.len)
		walk_to(&w, insn);
	while (good && w.pending.len && !w.failed) {
		u32 at = w.pending.at[--w.pending.len];

		if (marks[at]) {
			last[at] = 1;
			continue;
		}
		for (u32 i = p.first[at]; i < p.first[at + 1]; i++)
			walk_to(&w, p.at[i]);
	}
	good &= walk_end(&w);
	free(w.seen);
	free(p.first);
	free(p.at);
	return good;
}

/* ---- registers ---- */

static bool mentions(const struct ir_func *f, const struct ir_operand *op, u32 reg)
{
	if (op->kind == IR_OP_REG)
		return op->index == reg;
	if (op->kind != IR_OP_VEC && op->kind != IR_OP_LIST)
		return false;
	for (u32 i = 0; i < (u32)op->imm; i++)
		if (mentions(f, &f->operands.at[op->index + i], reg))
			return true;
	return false;
}

bool flow_writes(const struct ir_func *f, u32 insn, u32 reg)
{
	const struct ir_insn *in = &f->insns.at[insn];
	const struct ir_operand *ops = &f->operands.at[in->first_op];

	for (u32 i = 0; in->form && i < in->ops; i++) {
		const struct isa_operand *o = ir_operand_spec(in->form, ops, in->ops, i);

		/* Operands of call have no role: its lists may be results. */
		if ((o ? o->role & ISA_WRITE : ir_opcode(in) == OPCODE_call) &&
		    mentions(f, &ops[i], reg))
			return true;
	}
	return false;
}

static bool is_parameter(const struct ir_func *f, const struct ir_module *m, u32 reg)
{
	for (u32 i = 0; i < f->params_len; i++)
		if (m->vars.at[f->params[i]]->space == M_reg &&
		    m->vars.at[f->params[i]]->reg == reg)
			return true;
	return false;
}

bool flow_may_be_set(const struct ir_func *f, const struct ir_module *m, u32 insn, u32 reg)
{
	struct walk w = {.seen = calloc(f->insns.len + 1, 1)};
	bool may = !w.seen || is_parameter(f, m, reg) || insn >= f->insns.len;

	for (u32 i = 0; i < f->insns.len && !may; i++)
		if (flow_writes(f, i, reg))
			flow_successors(f, i, walk_to, &w);
	while (w.pending.len && !may && !w.failed) {
		u32 at = w.pending.at[--w.pending.len];

		may = at == insn;
		flow_successors(f, at, walk_to, &w);
	}
	if (!may)
		may = w.failed || w.seen[insn];
	walk_end(&w);
	free(w.seen);
	return may;
}
