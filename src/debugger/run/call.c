/*
 * Functions of the program that expressions call: found by name, arguments converted as C does, run
 * by the lane of the context alone (src/sched/debug_call.h). A stop inside is a stop as any other:
 * the front end is served there, and the call goes on when the program does.
 */
#include "src/debugger/debugger_int.h"
#include "src/dev/module/callee.h"
#include "src/lower/callee.h"
#include "src/sched/debug_call.h"

/* Candidates of one name. */
#define OVERLOADS_MAX 64u

struct candidate {
	struct loaded *module;
	const struct ir_func *f;
	struct dbg_type *type[DBG_ARGUMENTS_MAX]; /* of parameters; NULL: not known */
};

/* ---- which function ---- */

struct formals {
	struct candidate *to;
	u32 len;
};

static void see_formal(void *user, const struct dbg_variable *v, u32 depth)
{
	struct formals *f = user;

	if (depth || !v->is_parameter)
		return;
	if (f->len < DBG_ARGUMENTS_MAX)
		f->to->type[f->len] = v->type;
	f->len++;
}

static void formal_types(struct candidate *c)
{
	struct dbg_inline in[DBG_INLINE_MAX];
	struct dbg_place at = {c->f, 0};
	struct formals formals = {.to = c};
	u32 inlined = dbg_names_inlined(c->module->names, at, in);

	memset(c->type, 0, sizeof(c->type));
	/* PTX alone does not know what numbers mean. */
	if (dbg_names_has_dwarf(c->module->names))
		dbg_names_locals(c->module->names, at, inlined, see_formal, &formals);
	if (formals.len != c->f->params_len)
		memset(c->type, 0, sizeof(c->type));
}

/* How well values fit a function's parameters: the higher the better. */
static u32 fit_of(const struct candidate *c, const struct dbg_value *args, u32 n)
{
	u32 fit = 1;

	for (u32 i = 0; i < n; i++) {
		struct dbg_type *have = dbg_type_refers(args[i].type),
				*want = c->type[i] ? dbg_type_refers(c->type[i]) : NULL;

		if (!want)
			continue;
		if (dbg_type_same(have, want))
			fit += 4;
		else if (have->kind == want->kind)
			fit += 1 + (have->size == want->size);
	}
	return fit;
}

/* Functions of that name with so many parameters; *kernels, *others: further ones of the name. */
static u32 find_named(struct debugger *x, const char *name, u32 n, struct candidate *out,
		      bool *kernels, bool *others)
{
	const struct ir_func *kernel = debug_env(x->grid)->program->funcs[0].func;
	struct loaded *home = loaded_of(x, kernel);
	u32 len = 0;

	for (size_t i = 0; i < x->modules.len && home; i++) {
		struct loaded *l = x->modules.at[i];

		if (l->owner != home->owner || !loaded_open(x, l))
			continue;
		for (size_t k = 0; k < l->m->funcs.len && len < OVERLOADS_MAX; k++) {
			const struct ir_func *f = l->m->funcs.at[k];

			if (!f->has_body || !dbg_names_is_function(l->names, f, name))
				continue;
			*kernels |= f->is_entry;
			*others |= !f->is_entry;
			if (f->is_entry || f->params_len != n)
				continue;
			out[len] = (struct candidate){.module = l, .f = f};
			formal_types(&out[len++]);
		}
	}
	return len;
}

static void say_ambiguous(const struct candidate *all, u32 n, const char *name, struct text *why)
{
	text_printf(why, "%s is ambiguous: ", name);
	for (u32 i = 0; i < n; i++)
		text_printf(why, "%s%s is %s", i ? ", " : "", all[i].f->name->text,
			    dbg_names_function(all[i].module->names, all[i].f));
}

/* The function that is meant, into all[0]. False after a message. */
static bool choose_overload(struct debugger *x, const char *name, const struct dbg_value *args,
			    u32 n, struct candidate *all, struct text *why)
{
	bool kernels = false, others = false;
	u32 len = find_named(x, name, n, all, &kernels, &others), best = 0, ties = 0, at = 0;

	for (u32 i = 0; i < len; i++) {
		u32 fit = fit_of(&all[i], args, n);

		ties = fit > best ? 1 : ties + (fit == best);
		at = fit > best ? i : at;
		best = fit > best ? fit : best;
	}
	if (len && ties == 1) {
		all[0] = all[at];
		return true;
	}
	if (len)
		say_ambiguous(all, len, name, why);
	else if (others)
		text_printf(why, "%s takes another number of arguments than %u.", name, n);
	else if (kernels)
		text_printf(why, "%s is a kernel: device functions alone can be called.", name);
	else
		text_printf(why,
			    "No function \"%s\" in the code of this launch: where all calls of "
			    "one were inlined there is none left.",
			    name);
	return false;
}

/* ---- its code ---- */

static struct callee *lower_callee(struct debugger *x, struct loaded *home,
				   const struct ir_func *kernel, const struct ir_func *f,
				   struct text *why)
{
	struct callee c = {.owner = home->owner, .kernel = kernel, .function = f};

	c.program = device_callee_lower(home->owner, home->unit, kernel, f, NULL);
	for (u32 i = 1; c.program && i < c.program->func_len; i++)
		if (c.program->funcs[i].func == f)
			c.index = i;
	if (c.program && c.index && VEC_PUSH(&x->calls.callees, c))
		return &x->calls.callees.at[x->calls.callees.len - 1];
	exec_program_free(c.program);
	text_puts(why, "The function cannot be prepared: out of memory.");
	return NULL;
}

static const struct callee *find_callee(struct debugger *x, const struct candidate *of,
					struct text *why)
{
	const struct program *p = debug_env(x->grid)->program;
	const struct ir_func *kernel = p->funcs[0].func;
	struct callee *c = NULL;

	for (size_t i = 0; i < x->calls.callees.len && !c; i++)
		if (x->calls.callees.at[i].kernel == kernel &&
		    x->calls.callees.at[i].function == of->f)
			c = &x->calls.callees.at[i];
	if (!c)
		c = lower_callee(x, loaded_of(x, kernel), kernel, of->f, why);
	if (c && (c->program->shared_static != p->shared_static ||
		  (c->program->uses_reserved && !p->uses_reserved))) {
		text_printf(why, "%s uses shared memory that this launch does not have.",
			    of->f->name->text);
		return NULL;
	}
	return c;
}

void calls_forget(struct debugger *x, const struct device_program *owner)
{
	size_t n = 0;

	for (size_t i = 0; i < x->calls.callees.len; i++)
		if (owner && x->calls.callees.at[i].owner != owner)
			x->calls.callees.at[n++] = x->calls.callees.at[i];
		else
			exec_program_free(x->calls.callees.at[i].program);
	x->calls.callees.len = n;
	if (!owner)
		VEC_FREE(&x->calls.callees);
}

/* ---- arguments ---- */

/* Where nothing tells what the parameter is: a number as it is, in the parameter's size. */
static bool put_untyped(const struct dbg_context *c, const struct dbg_value *v, u64 bytes, u8 *to,
			struct text *why)
{
	struct dbg_value r;
	struct dbg_number n;
	f32 single;
	f64 real;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	if (dbg_type_size(r.type) == bytes && dbg_type_refers(r.type)->kind == DBG_STRUCT)
		return dbg_value_read(c, &r, 0, to, bytes, why);
	if (!dbg_value_number(c, &r, &n, why))
		return false;
	if (bytes > 8 || (n.is_float && bytes < 4)) {
		text_puts(why, "it does not fit the parameter, whose type is not known: build with "
			       "-G");
		return false;
	}
	single = (f32)n.real;
	real = n.real;
	memcpy(to,
	       !n.is_float  ? (void *)&n.bits
	       : bytes == 4 ? (void *)&single
			    : (void *)&real,
	       bytes);
	return true;
}

static bool put_reference(const struct dbg_context *c, const struct dbg_value *v, u8 *to,
			  struct text *why)
{
	struct dbg_value r;
	u64 address;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	if (r.store != DBG_MEMORY || r.bit_size) {
		text_puts(why, "it is passed by reference, and the value is in no memory");
		return false;
	}
	address = dbg_generic(c, (enum dbg_space)r.space, r.address);
	memcpy(to, &address, 8);
	return true;
}

static bool put_typed(const struct dbg_context *c, const struct dbg_value *v, struct dbg_type *type,
		      u64 bytes, u8 *to, struct text *why)
{
	struct dbg_type *t = dbg_type_strip(type);
	struct dbg_value r;
	u64 size = t->kind == DBG_REFERENCE ? 8 : dbg_type_size(t);

	if (!size || size > bytes) {
		text_puts(why, "the debug information does not fit its parameter");
		return false;
	}
	if (t->kind == DBG_REFERENCE)
		return put_reference(c, v, to, why);
	if (t->kind == DBG_STRUCT && t->number == DBG_PLAIN) {
		if (!dbg_value_referred(c, v, &r, why))
			return false;
		if (!dbg_type_same(r.type, type)) {
			text_puts(why, "the value is no ");
			dbg_type_print(type, NULL, why);
			return false;
		}
		return dbg_value_read(c, &r, 0, to, size, why);
	}
	if (!dbg_value_cast(c, v, type, &r, why) || !dbg_value_read(c, &r, 0, to, size, why))
		return false;
	/* Short integers are passed in wider parameters. */
	if (dbg_type_is_integral(t) && t->is_signed && to[size - 1] & 0x80)
		memset(to + size, 0xff, bytes - size);
	return true;
}

/* The beginning of the function's frame; owned by the caller. NULL after a message. */
static u8 *make_frame(const struct dbg_context *c, const struct callee *callee,
		      const struct candidate *of, const struct dbg_value *args, u32 *bytes,
		      struct text *why)
{
	const struct ir_func *f = of->f;
	u8 *frame;

	*bytes = callee->program->funcs[callee->index].frame_bytes;
	frame = calloc(1, (size_t)*bytes + 1);
	if (!frame) {
		text_puts(why, "no memory");
		return NULL;
	}
	for (u32 i = 0; i < f->params_len; i++) {
		const struct ir_var *p = of->module->m->vars.at[f->params[i]];
		u32 at;
		bool good = exec_formal_place(callee->program, p, &at) && at <= *bytes &&
			    p->size_bytes <= *bytes - at;

		if (!good)
			text_puts(why, "it is not known where the function expects it");
		else
			good = of->type[i]
				       ? put_typed(c, &args[i], of->type[i], p->size_bytes,
						   frame + at, why)
				       : put_untyped(c, &args[i], p->size_bytes, frame + at, why);
		if (!good) {
			text_printf(why, " (argument %u of %s)", i + 1,
				    callee->function->name->text);
			free(frame);
			return NULL;
		}
	}
	return frame;
}

/* ---- the result ---- */

static void result_type(const struct candidate *of, struct dbg_value *out, u64 *bytes)
{
	const struct ir_var *r = of->f->rets_len ? of->module->m->vars.at[of->f->rets[0]] : NULL;
	struct dbg_type *type = r ? dbg_names_result(of->module->names, of->f) : NULL;

	*bytes = r ? r->size_bytes : 0;
	if (r && (!type || !dbg_type_size(type) || dbg_type_size(type) > *bytes))
		type = dbg_ptx_type(r->type, r->vec);
	*out = (struct dbg_value){.type = type ? type : &dbg_type_void, .store = DBG_RVALUE};
}

void calls_drop_results(struct debugger *x)
{
	while (x->calls.results.len)
		free(x->calls.results.at[--x->calls.results.len]);
}

/* ---- running it ---- */

static void say_place(struct debugger *x, const struct program *p, u32 pc, struct text *why)
{
	struct where w = where_near(x, loaded_place(p, pc));

	text_puts(why, " at ");
	where_say(&w, why);
}

static bool say_outcome(struct debugger *x, const struct debug_call *call, enum debug_called how,
			const char *name, struct text *why)
{
	const struct fault *f = &call->fault;

	switch (how) {
	case DEBUG_CALL_RETURNED:
		return true;
	case DEBUG_CALL_FAULTED:
		text_printf(why, "%s has faulted: ", name);
		device_fault_headline(f, call->program, why);
		if (f->kind == FAULT_ILLEGAL_ADDRESS || f->kind == FAULT_MISALIGNED_ADDRESS)
			text_printf(why, " at 0x%llx", (unsigned long long)f->address);
		text_puts(why, ",");
		say_place(x, call->program, f->pc, why);
		break;
	case DEBUG_CALL_WAITS:
		text_printf(why, "%s waits for other lanes, and it is called on one alone,", name);
		say_place(x, call->program, f->pc, why);
		break;
	case DEBUG_CALL_EXITED:
		text_printf(why, "%s has ended its thread", name);
		break;
	case DEBUG_CALL_ENDED:
		text_printf(why, "The launch ends, and the call of %s with it.", name);
		return false;
	case DEBUG_CALL_FAILED:
		text_puts(why, "No memory for the call.");
		return false;
	}
	text_puts(why, ". The call is given up; what it wrote to memory stays.");
	return false;
}

/* Run it; what the debugger knows of the stop is saved and restored. */
static enum debug_called run_function(struct debugger *x, struct cta *c, const struct dbg_lane *at,
				      struct debug_call *call, const char *name)
{
	struct standing standing = x->at;
	struct focus focus = x->focus;
	struct run run = x->run;
	enum debug_verdict verdict = x->verdict;
	bool failed = x->failed;
	enum debug_called how;

	x->calls.thread = pthread_self();
	x->calls.on = true;
	x->calls.name = name;
	x->calls.lane = at->lane;
	memset(&x->run.passed, 0, sizeof(x->run.passed));
	run_mark(x, call->program);
	run_attend(x);
	how = debug_call(x->grid, c, at->warp, at->lane, call);
	x->calls.on = false;
	VEC_FREE(&x->run.passed);
	x->run.passed.at = run.passed.at;
	x->run.passed.len = run.passed.len;
	x->run.passed.cap = run.passed.cap;
	x->run.last_time = run.last_time;
	x->run.last_cta = run.last_cta;
	x->run.last_warp = run.last_warp;
	x->run.last_lanes = run.last_lanes;
	x->run.last_pc = run.last_pc;
	x->run.marked = NULL;
	x->move.kind = MOVE_NOT;
	x->at = standing;
	x->focus = focus;
	x->verdict = verdict;
	x->failed = failed;
	x->go = false;
	run_attend(x);
	return how;
}

static bool run_callee(struct debugger *x, const struct dbg_context *c, const struct callee *callee,
		       const struct candidate *of, const struct dbg_value *args,
		       struct dbg_value *out, struct text *why)
{
	struct debug_call call = {.program = callee->program, .func = callee->index};
	struct cta *cta = debug_cta(x->grid, c->lane.cta);
	struct text name = {0};
	u8 *frame = make_frame(c, callee, of, args, &call.frame_bytes, why), *result;
	u64 bytes;
	bool good;

	result_type(of, out, &bytes);
	result = frame ? calloc(1, bytes + sizeof(out->own)) : NULL;
	if (!result || !VEC_PUSH(&x->calls.results, result)) {
		free(result);
		free(frame);
		if (!why->len)
			text_puts(why, "no memory");
		return false;
	}
	call.frame = frame;
	call.result = result;
	if (bytes && exec_formal_place(call.program, of->module->m->vars.at[of->f->rets[0]],
				       &call.result_at))
		call.result_bytes = (u32)bytes;
	text_puts(&name, dbg_names_function(of->module->names, of->f));
	good = say_outcome(x, &call,
			   run_function(x, cta, &c->lane, &call, name.at ? name.at : "it"),
			   name.at ? name.at : "it", why);
	out->data = result;
	text_fini(&name);
	free(frame);
	return good;
}

/* May functions be called now? False after a message. */
static bool may_call(const struct debugger *x, const struct dbg_context *c, struct text *why)
{
	const struct cta *cta = x->grid ? debug_cta(x->grid, c->lane.cta) : NULL;

	if (!cta || c->lane.warp >= cta->warps ||
	    !(cta->warp[c->lane.warp].live >> c->lane.lane & 1)) {
		text_puts(why, "Functions can be called while a lane of a kernel stands.");
		return false;
	}
	if (x->calls.on)
		text_printf(why, "%s is being called already.", x->calls.name);
	else if (!x->depth)
		text_puts(why, "Functions are called by commands alone: neither in conditions nor "
			       "by editors.");
	return !x->calls.on && x->depth;
}

bool call_function(void *user, const struct dbg_context *c, const char *name,
		   const struct dbg_value *args, u32 n, struct dbg_value *out, struct text *why)
{
	struct debugger *x = user;
	struct candidate *all = NULL;
	const struct callee *callee;
	u64 bytes;
	bool good = may_call(x, c, why);

	if (!good)
		return false;
	all = calloc(OVERLOADS_MAX, sizeof(*all));
	good = all && choose_overload(x, name, args, n, all, why);
	if (good && c->dry) {
		result_type(&all[0], out, &bytes);
	} else if (good) {
		callee = find_callee(x, &all[0], why);
		good = callee && run_callee(x, c, callee, &all[0], args, out, why);
	}
	free(all);
	return good;
}
