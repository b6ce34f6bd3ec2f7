/*
 * Limits of modules: directives that need a newer version or target, pragmas, and how much
 * constant, shared and parameter memory may be declared. Versions and sizes are those that ptxas
 * 13.0 enforces. Source: PTX ISA "Directives", "Pragma Strings", "Kernel Function Parameters".
 */
#include "grammar/build.h"

#include <ctype.h>
#include <errno.h>

#define CONST_MAX 65536u
#define SHARED_MAX 49152u
#define PARAM_MAX 32764u
#define PARAM_MAX_OLD 4352u /* before PTX 8.1 */

void build_need(struct parse *p, struct diag_span where, const char *what, u32 ptx, u32 sm)
{
	if (!p->options.lint || p->version_error || (p->m->version >= ptx && p->m->target.sm >= sm))
		return;
	if (p->m->version < ptx) {
		diag_words(p->d, "error   : Feature '%s' requires PTX ISA .version %u.%u or later",
			   what, ptx / 10, ptx % 10);
		build_error(p, where, "%s needs PTX %u.%u or higher, the module says %u.%u", what,
			    ptx / 10, ptx % 10, p->m->version / 10, p->m->version % 10);
	} else {
		diag_words(p->d, "error   : Feature '%s' requires .target sm_%u or higher", what,
			   sm);
		build_error(p, where, "%s needs target sm_%u or higher", what, sm);
	}
}

void build_need_reg(struct parse *p, u32 type, struct diag_span where)
{
	if (type == T_b128)
		build_need(p, where, ".b128", 83, 70);
	else if (type == T_f16x2)
		build_need(p, where, ".f16x2", 42, 53);
}

/* ---- pragmas ---- */

struct pragma_info {
	const char *name;
	bool body_only, number; /* number: one must follow */
	u8 ptx, sm;
};

static const struct pragma_info pragma_infos[] = {
	{"nounroll", false, false, 20, 0},
	{"used_bytes_mask", true, true, 83, 50},
	{"enable_smem_spilling", true, false, 88, 75},
	{"frequency", true, true, 90, 0},
	{"mma_throughput", false, false, 93, 0},
};

static const struct pragma_info *find_pragma(const struct str *text, const char **rest)
{
	size_t n = strcspn(text->text, " \t");

	*rest = text->text + n + strspn(text->text + n, " \t");
	for (size_t i = 0; i < ARRAY_LEN(pragma_infos); i++)
		if (strlen(pragma_infos[i].name) == n &&
		    !strncmp(pragma_infos[i].name, text->text, n))
			return &pragma_infos[i];
	return NULL;
}

static bool is_digits(const char *s)
{
	char *end;

	errno = 0;
	strtoull(s, &end, 0);
	return isdigit((u8)*s) && !errno && !*end;
}

/*
 * Unknown ones are ignored, so that newer compilers' hints do no harm: in silence where modules
 * are to run, since NVIDIA's libraries have hundreds.
 */
static void check_pragma(struct parse *p, const struct str *text, struct diag_span where)
{
	const char *rest;
	const struct pragma_info *info = find_pragma(text, &rest);
	bool in_body = p->f && p->f->has_body;

	if (!info && !p->options.lint)
		return;
	if (!info && p->f)
		build_warn(p, where, "pragma \"%s\" is not known", text->text);
	else if (!info)
		build_error(p, where, "pragma \"%s\" is not known", text->text);
	else if (info->body_only && !in_body)
		build_error(p, where, "pragma \"%s\" is for statements of a function", info->name);
	else if (info->number && !is_digits(rest))
		build_error(p, where, "pragma \"%s\" takes a number", info->name);
	else
		build_need(p, where, info->name, info->ptx, info->sm);
}

void build_language(struct parse *p, struct diag_span where)
{
	build_item(p, where);
	build_need(p, where, ".language", 93, 0);
}

void build_pragma(struct parse *p, struct str *text, struct diag_span where)
{
	struct ir_pragma pragma = {text, where.begin};

	build_item(p, where);
	check_pragma(p, text, where);
	if (!(p->f ? VEC_PUSH(&p->f->pragmas, pragma) : VEC_PUSH(&p->m->pragmas, text)))
		build_no_memory(p);
}

/* ---- sizes ---- */

static struct diag_span variable_span(const struct ir_var *v)
{
	return (struct diag_span){v->begin, v->begin + v->name->len};
}

/* Adds a variable after `bytes`. False: it is the first one that exceeds the limit. */
static bool add_bytes(u64 *bytes, const struct ir_var *v, u64 limit)
{
	bool was_within = *bytes <= limit;
	u64 align = max_u64(v->align, 1);

	*bytes = (*bytes + align - 1) / align * align + v->size_bytes;
	return !was_within || *bytes <= limit;
}

void build_count_const(struct parse *p, const struct ir_var *v)
{
	if (v->space == M_const && v->linkage != IR_EXTERN &&
	    !add_bytes(&p->const_bytes, v, CONST_MAX))
		build_error(
			p, variable_span(v),
			"with '%s' the module has %llu bytes of .const, at most %u are possible",
			v->name->text, (unsigned long long)p->const_bytes, CONST_MAX);
}

void build_check_params(struct parse *p)
{
	u64 bytes = 0;

	for (u32 i = 0; i < p->f->params_len; i++) {
		const struct ir_var *v = p->m->vars.at[p->f->params[i]];
		u64 before = bytes;

		if (!add_bytes(&bytes, v, PARAM_MAX))
			build_error(
				p, variable_span(v),
				"with '%s' the kernel takes %llu bytes, at most %u are possible",
				v->name->text, (unsigned long long)bytes, PARAM_MAX);
		else if (before <= PARAM_MAX_OLD && bytes > PARAM_MAX_OLD)
			build_need(p, variable_span(v),
				   "a kernel with more than 4352 bytes of parameters", 81, 70);
	}
}

/* Has the variable been counted for the function that is being read? It is now. */
static bool counted(struct parse *p, u32 var)
{
	size_t old = p->shared_seen.len;

	if (var >= old) {
		if (!VEC_RESERVE(&p->shared_seen, p->m->vars.len - old)) {
			build_no_memory(p);
			return true;
		}
		memset(p->shared_seen.at + old, 0,
		       (p->m->vars.len - old) * sizeof(*p->shared_seen.at));
		p->shared_seen.len = p->m->vars.len;
	}
	if (p->shared_seen.at[var] == p->functions)
		return true;
	p->shared_seen.at[var] = p->functions;
	return false;
}

static void count_shared(struct parse *p, u64 *bytes, u32 var)
{
	const struct ir_var *v = p->m->vars.at[var];

	if (v->space != M_shared || v->linkage == IR_EXTERN || counted(p, var) ||
	    add_bytes(bytes, v, SHARED_MAX))
		return;
	build_error(
		p, variable_span(v),
		"with '%s' kernel '%s' has %llu bytes of static .shared, at most %u are possible",
		v->name->text, p->f->name->text, (unsigned long long)*bytes, SHARED_MAX);
}

/* A kernel's static shared memory: what it declares, and what it names of the module's. */
void build_check_shared(struct parse *p)
{
	u64 bytes = 0;

	for (size_t i = 0; i < p->f->vars.len; i++)
		count_shared(p, &bytes, p->f->vars.at[i]);
	for (size_t i = 0; i < p->f->operands.len; i++) {
		const struct ir_operand *op = &p->f->operands.at[i];

		if (op->kind == IR_OP_VAR || op->kind == IR_OP_ADDR_VAR)
			count_shared(p, &bytes, op->index);
	}
}
