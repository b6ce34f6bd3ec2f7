/*
 * The door from PTX text to modules for everything above this folder.
 */
#include "src/dev/module/module.h"

#include "grammar/parse.h"
#include "src/base/map.h"
#include "src/base/stats.h"

struct ir_module *module_parse(const struct diag_source *source, enum module_use use,
			       struct diag *d)
{
	const struct ptx_options options = {.lint = use == MODULE_JUDGE};

	u64 began = stats_begin();
	struct ir_module *m = ptx_parse(source, &options, d);

	stats_end(STATS_PARSE, began, source->size);
	return m;
}

struct ir_module *module_parse_later(const struct diag_source *source, struct ptx_later **later)
{
	static const struct ptx_options options = {0};
	u64 began = stats_begin();
	struct ir_module *m = ptx_parse_later(source, &options, later);

	if (m)
		stats_end(STATS_PARSE, began, source->size - ptx_later_bytes(*later));
	return m;
}

struct reading {
	struct ptx_later *later;
	struct ir_module *m;
	struct diag *d;
	VEC(struct ir_func *) found; /* to be looked through */
	struct map seen;
	bool failed;
};

static void reach_function(struct reading *r, struct ir_func *f)
{
	/* What a name stands for: the definition, or the body of an alias. */
	if (f->definition)
		f = f->definition;
	if (map_get(&r->seen, map_key(f)))
		return;
	if (f->later)
		r->failed |= !ptx_read_body(r->later, f, r->d);
	if (!map_set(&r->seen, map_key(f), 1) || !VEC_PUSH(&r->found, f))
		r->failed = true;
}

/* Any function may be meant whose address some body takes. */
static void reach_every_function(struct reading *r)
{
	for (size_t i = 0; i < r->m->funcs.len && !r->failed; i++)
		if (r->m->funcs.at[i]->later)
			reach_function(r, r->m->funcs.at[i]);
}

static bool is_call_by_pointer(const struct ir_func *f, const struct ir_insn *in)
{
	bool direct = false;

	if (ir_opcode(in) != OPCODE_call)
		return false;
	for (u32 i = 0; i < in->ops; i++)
		direct |= ir_insn_operand(f, in, i)->kind == IR_OP_FUNC;
	return !direct;
}

static void reach_from(struct reading *r, const struct ir_func *f)
{
	for (size_t i = 0; i < f->operands.len && !r->failed; i++)
		if (f->operands.at[i].kind == IR_OP_FUNC)
			reach_function(r, r->m->funcs.at[f->operands.at[i].index]);
	for (size_t i = 0; i < f->insns.len && !r->failed; i++)
		if (is_call_by_pointer(f, &f->insns.at[i]))
			return reach_every_function(r);
}

bool module_read_reached(struct ptx_later *later, struct ir_module *m, struct ir_func *kernel,
			 struct diag *d)
{
	struct reading r = {.later = later, .m = m, .d = d};
	u64 began = stats_begin(), left = ptx_later_bytes(later);

	reach_function(&r, kernel);
	for (size_t i = 0; i < r.found.len && !r.failed; i++)
		reach_from(&r, r.found.at[i]);
	VEC_FREE(&r.found);
	map_fini(&r.seen);
	if (began)
		stats_add(STATS_PARSE, 0, clock_ns() - began, left - ptx_later_bytes(later));
	return !r.failed;
}
