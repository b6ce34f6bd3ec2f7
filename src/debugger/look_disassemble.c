/*
 * PTX instructions, with the lanes that are about to run them.
 */
#include "src/debugger/look_value.h"

/* What is shown of a function. */
struct listing {
	struct debugger *x;
	struct loaded *module;
	const struct ir_func *f;
	bool source; /* lines of the source in between */
	struct dbg_place at;
	struct look_group group[WARP_LANES + 1];
	u32 groups;
	struct where last;
};

static bool listing_begin(struct debugger *x, const struct ir_func *f, struct listing *out)
{
	struct cta *c = focus_cta(x);
	struct frame frame;

	*out = (struct listing){.x = x, .f = f, .module = loaded_of(x, f)};
	if (c && frame_at(x, c, x->focus.warp, x->focus.lane, x->focus.frame, &frame)) {
		out->at = frame.place;
		out->groups = look_groups(x, c, x->focus.warp, out->group);
	}
	return out->module != NULL;
}

/* Lanes of the warp in focus that stand at an instruction. */
static u32 lanes_at(const struct listing *s, u32 insn)
{
	u32 lanes = 0;

	for (u32 i = 0; i < s->groups; i++)
		if (s->group[i].pc != NO_PC && s->group[i].where.place.func == s->f &&
		    s->group[i].where.place.insn == insn)
			lanes |= s->group[i].mask;
	return lanes;
}

static void listing_source(struct listing *s, u32 insn)
{
	struct where w = where_of(s->x, (struct dbg_place){s->f, insn});

	if (w.source.path && !where_same_line(&w, &s->last))
		source_say_line(s->x, &w);
	if (w.source.path)
		s->last = w;
}

/* Does something jump there? Others mark pieces for DWARF. */
static bool is_target(const struct ir_func *f, u32 label)
{
	for (size_t i = 0; i < f->operands.len; i++)
		if (f->operands.at[i].kind == IR_OP_LABEL && f->operands.at[i].index == label)
			return true;
	for (size_t i = 0; i < f->tables.len; i++)
		for (u32 k = 0; k < f->tables.at[i].len; k++)
			if (f->tables.at[i].kind == IR_BRANCH_TARGETS &&
			    f->tables.at[i].at[k] == label)
				return true;
	return false;
}

static void say_instruction(struct listing *s, u32 insn)
{
	struct debugger *x = s->x;
	struct text t = {0};
	u32 lanes = lanes_at(s, insn);

	if (s->source)
		listing_source(s, insn);
	for (size_t i = 0; i < s->f->labels.len; i++)
		if (s->f->labels.at[i].insn == insn && is_target(s->f, (u32)i))
			say(x, "                %s:\n", s->f->labels.at[i].name->text);
	ir_print_insn(s->module->m, s->f, &s->f->insns.at[insn], &t);
	say(x, "%s%6u <+%u>:\t%s", s->at.func == s->f && s->at.insn == insn ? "=> " : "   ",
	    loaded_ptx_line(s->module, (struct dbg_place){s->f, insn}), insn, t.at ? t.at : "");
	if (lanes) {
		t.len = 0;
		say_lanes_mask(lanes, &t);
		say(x, "\t// %s", t.at);
	}
	say(x, "\n");
	text_fini(&t);
}

static const struct ir_func *function_named(struct debugger *x, const char *name)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];

		for (size_t k = 0; loaded_open(x, l) && k < l->m->funcs.len; k++)
			if (l->m->funcs.at[k]->has_body &&
			    dbg_names_is_function(l->names, l->m->funcs.at[k], name))
				return l->m->funcs.at[k];
	}
	return NULL;
}

void command_disassemble(struct debugger *x, const struct call *c)
{
	const struct ir_func *f = NULL;
	struct listing s;
	struct dbg_context at;

	if (*c->format && strcmp(c->format, "s") && strcmp(c->format, "m")) {
		say_error(x, "Invalid modifier \"%s\": /s shows the source, too", c->format);
		return;
	}
	if (*c->args)
		f = function_named(x, c->args);
	else if (context_of(x, &x->focus, &at))
		f = at.place.func;
	if (!f) {
		if (*c->args)
			say_error(x, "Function \"%s\" not defined", c->args);
		else
			say_error(x, "No frame selected");
		return;
	}
	if (!listing_begin(x, f, &s))
		return;
	s.source = *c->format != 0;
	say(x, "PTX of %s, lines of %s:\n", dbg_names_function(s.module->names, f),
	    s.module->ptx->name);
	for (u32 i = 0; i < f->insns.len; i++)
		say_instruction(&s, i);
}

/* text: "$pc", "$pc + 2", the number of an instruction of the function in focus. */
void look_disassemble_at(struct debugger *x, const char *text, u32 count)
{
	struct dbg_context at;
	struct listing s;
	s64 from;

	if (!context_of(x, &x->focus, &at)) {
		say_error(x, "No frame selected");
		return;
	}
	from = x->look->next_insn_of == at.place.func ? x->look->next_insn : at.place.insn;
	if ((*text && !look_number(x, text, &from)) || !listing_begin(x, at.place.func, &s))
		return;
	if (from < 0 || (u64)from >= at.place.func->insns.len) {
		say_error(x, "The function has no instruction %lld: it has %zu", (long long)from,
			  at.place.func->insns.len);
		return;
	}
	for (u64 i = (u64)from; i < at.place.func->insns.len && i < (u64)from + count; i++)
		say_instruction(&s, (u32)i);
	x->look->next_insn_of = at.place.func;
	x->look->next_insn = from + count;
}
