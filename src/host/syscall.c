/*
 * The device runtime's functions, and what all functions outside the modules need: arguments,
 * memory, messages.
 */
#include "src/host/syscall.h"
#include "src/exec/lane_access.h"
#include "src/exec/observer.h"
#include "src/lower/lower.h"
#include "src/ops/local.h"

#include "src/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- services ---- */

u64 exec_call_argument(const struct exec_call *c, u32 i)
{
	const struct extern_value *v = &c->ext->value[c->ext->rets + i];
	u64 x = 0;

	if (i < c->ext->params)
		memcpy(&x, c->stack->args + v->at, v->bytes < 8 ? v->bytes : 8);
	return x;
}

void exec_call_return(const struct exec_call *c, u64 value)
{
	if (c->ext->rets)
		memcpy(c->stack->args + c->ext->value[0].at, &value,
		       c->ext->value[0].bytes < 8 ? c->ext->value[0].bytes : 8);
}

static u8 *window_bytes(u8 *base, u64 limit, u64 offset, u64 size, u64 *left)
{
	if (!base || offset > limit || size > limit - offset)
		return NULL;
	*left = limit - offset;
	return base + offset;
}

static u32 calling_lane(const struct exec_call *c)
{
	return c->warp * WARP_LANES + c->lane;
}

/* Bytes that result and parameters take. */
static u64 args_size(const struct exec_call *c)
{
	const struct program_extern *x = c->ext;
	u64 end = 0;

	for (u32 i = 0; i < x->rets + x->params; i++)
		end = x->value[i].at + x->value[i].bytes > end ? x->value[i].at + x->value[i].bytes
							       : end;
	return end;
}

/* Memory after the arguments is not accessible. */
static u64 stack_end(const struct exec_call *c)
{
	return c->at + args_size(c);
}

static bool grow_buffer(u8 **at, u64 *cap, u64 bytes)
{
	if (*at && *cap >= bytes)
		return true;
	free(*at);
	*at = malloc(bytes + 8); /* an argument is read as a double word */
	*cap = bytes;
	return *at != NULL;
}

/* The lane's local memory, NULL: the host has no memory. */
static u8 *stack_of(const struct exec_call *c)
{
	struct exec_stack *s = c->stack;

	if (s->is_here)
		return s->bytes;
	if (!grow_buffer(&s->bytes, &s->bytes_cap, stack_end(c)))
		return NULL;
	local_read(c->gang, calling_lane(c), 0, s->bytes, stack_end(c));
	s->is_here = true;
	return s->bytes;
}

/* ---- what observers are told ---- */

static void tell_observer(const struct exec_call *c, enum exec_access_kind kind,
			  enum mem_space space, u64 address, u64 bytes)
{
	const struct gang *g = c->gang;
	u64 at[WARP_LANES] = {0};
	struct exec_access a = {.cta = g->cta,
				.in = c->told,
				.pc = (u32)(c->told - g->uops),
				.warp = g->first_warp + c->warp,
				.kind = (u8)kind,
				.space = (u8)space,
				.size = 1,
				.count = 1,
				.extra = true,
				.mask = 1u << c->lane,
				.bytes = bytes,
				.address = at};

	at[c->lane] = address;
	g->env->observer->access(g->env->observer->user, &a);
}

void exec_call_tell(const struct exec_call *c, enum exec_access_kind kind, u64 address, u64 bytes)
{
	enum mem_space space;

	if (!c->told || !bytes)
		return;
	space = generic_space(c->gang->env->mem, &address);
	tell_observer(c, kind, space, address, bytes);
}

/* Parameters are read, results written, in the thread's local memory. */
static void tell_values(const struct exec_call *c)
{
	const struct program_extern *x = c->ext;

	for (u32 i = 0; c->told && i < x->rets + x->params; i++)
		tell_observer(c, i < x->rets ? ACCESS_STORE : ACCESS_LOAD, MEM_LOCAL,
			      c->at + x->value[i].at, x->value[i].bytes);
}

enum fault_kind exec_call_run(struct exec_call *c)
{
	struct exec_stack *s = c->stack;
	const struct program_extern *x = c->ext;
	enum fault_kind kind;

	s->is_here = false;
	if (!grow_buffer(&s->args, &s->args_cap, args_size(c)))
		return exec_call_fail(c, FAULT_STACK_OVERFLOW,
				      "the host has no memory for the arguments of %s", x->name);
	tell_values(c);
	local_read(c->gang, calling_lane(c), c->at, s->args, args_size(c));
	kind = x->run(c);
	if (s->is_here)
		local_write(c->gang, calling_lane(c), 0, s->bytes, stack_end(c));
	if (x->rets)
		local_write(c->gang, calling_lane(c), c->at + x->value[0].at,
			    s->args + x->value[0].at, x->value[0].bytes);
	return kind;
}

void exec_stack_free(struct exec_stack *s)
{
	free(s->args);
	free(s->bytes);
}

u8 *exec_call_memory(const struct exec_call *c, u64 address, u64 size, u64 *left)
{
	const struct exec_env *e = c->gang->env;
	struct mem_range r;
	u64 unused;

	left = left ? left : &unused;
	if (address - e->mem->shared_base < MEM_SHARED_WINDOW)
		return window_bytes(c->gang->shared, e->shared_bytes, address - e->mem->shared_base,
				    size, left);
	if (address - e->mem->local_base < MEM_LOCAL_WINDOW)
		return window_bytes(stack_of(c), stack_end(c), address - e->mem->local_base, size,
				    left);
	if (!mem_find(e->mem, address, size, &r))
		return NULL;
	*left = r.base + r.size - address;
	return mem_host(&r, address);
}

void exec_call_void_caches(const struct exec_call *c)
{
	memset(c->gang->caches, 0, sizeof(*c->gang->caches) * c->gang->env->program->cache_slots);
}

void exec_call_place(const struct exec_call *c, u32 block[3], u32 thread[3])
{
	u32 t = (c->gang->first_warp + c->warp) * WARP_LANES + c->lane;
	const u32 *b = c->gang->env->block;

	memcpy(block, c->gang->cta->id, 3 * sizeof(u32));
	thread[0] = t % b[0];
	thread[1] = t / b[0] % b[1];
	thread[2] = t / b[0] / b[1];
}

enum fault_kind exec_call_fail(const struct exec_call *c, enum fault_kind kind, const char *fmt,
			       ...)
{
	struct fault *f = c->gang->fault;
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
	return kind;
}

static void print_device_text(const struct exec_call *c, const char *text, size_t len)
{
	const struct exec_syscalls *s = c->gang->env->syscalls;

	if (c->gang->cta->print)
		text_add(c->gang->cta->print, text, len);
	else if (s && s->print && len)
		s->print(s->user, text, len);
}

void exec_print_error(const struct exec_env *e, const char *text, size_t len)
{
	const struct exec_syscalls *s = e->syscalls;

	if (s && s->print_error && len)
		s->print_error(s->user, text, len);
	else if (s && s->print && len)
		s->print(s->user, text, len);
}

/* The warp has failed. */
static void fail_assertion(const struct exec_call *c, const struct text *t)
{
	struct cta *cta = c->gang->cta;

	if (!c->gang->env->keeps_assertions)
		exec_print_error(c->gang->env, t->at, t->len);
	else if (t->len)
		text_add(&cta->assertions, t->at, t->len);
	c->gang->warp_at[c->warp].failed = true;
	cta->failed = cta->diverged = true;
}

/* The NUL-terminated string at `address`, NULL when it does not end inside what it lies in. */
static const char *string_at(const struct exec_call *c, u64 address)
{
	u64 left;
	const char *s = (const char *)exec_call_memory(c, address, 1, &left);

	if (!s || !memchr(s, 0, left))
		return NULL;
	exec_call_tell(c, ACCESS_LOAD, address, strlen(s) + 1);
	return s;
}

/* ---- the functions ---- */

/* Returns the number of arguments, -1 without a format. */
static enum fault_kind sys_vprintf(struct exec_call *c)
{
	u64 fmt = exec_call_argument(c, 0), args = exec_call_argument(c, 1), bad;
	const char *s = fmt ? string_at(c, fmt) : NULL;
	struct text t = {NULL, 0, 0, false};
	s32 n;

	if (!s) {
		if (fmt)
			return exec_call_fail(c, FAULT_ILLEGAL_ADDRESS,
					      "vprintf: there is no format at 0x%llx",
					      (unsigned long long)fmt);
		exec_call_return(c, (u64)(s64)-1);
		return FAULT_NONE;
	}
	n = exec_format(c, s, args, &t, &bad);
	if (n >= 0)
		print_device_text(c, t.at, t.len);
	text_fini(&t);
	if (n < 0)
		return exec_call_fail(
			c, FAULT_ILLEGAL_ADDRESS,
			args ? "vprintf: there is no argument or text at 0x%llx"
			     : "vprintf: the format wants arguments and there are none",
			(unsigned long long)bad);
	exec_call_return(c, (u64)(s64)n);
	return FAULT_NONE;
}

static enum fault_kind sys_malloc(struct exec_call *c)
{
	const struct exec_syscalls *s = c->gang->env->syscalls;
	const struct exec_observer *o = c->gang->env->observer;
	u64 bytes = exec_call_argument(c, 0);
	u64 address = s && s->heap ? exec_heap_take(s->heap, bytes) : 0;

	if (o && o->heap && address)
		o->heap(o->user, c->gang->cta, address, bytes);
	if (address && s->taken)
		s->taken(c, address, bytes);
	exec_call_return(c, address);
	return FAULT_NONE;
}

static enum fault_kind sys_free(struct exec_call *c)
{
	const struct exec_syscalls *s = c->gang->env->syscalls;
	u64 address = exec_call_argument(c, 0);

	if (!address)
		return FAULT_NONE;
	if (s && s->heap && exec_heap_give(s->heap, address)) {
		if (exec_heap_is_apart(s->heap))
			exec_call_void_caches(c);
		return FAULT_NONE;
	}
	return exec_call_fail(
		c, FAULT_ILLEGAL_ADDRESS,
		"free of 0x%llx, which malloc has not returned or which is free already",
		(unsigned long long)address);
}

/* __assertfail(message, file, line, function, character size) */
static enum fault_kind sys_assert(struct exec_call *c)
{
	const char *message = string_at(c, exec_call_argument(c, 0)),
		   *file = string_at(c, exec_call_argument(c, 1));
	const char *function = string_at(c, exec_call_argument(c, 3));
	u32 b[3], t[3];
	struct text text = {NULL, 0, 0, false};

	exec_call_place(c, b, t);
	text_printf(&text,
		    "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
		    file ? file : "?", (u32)exec_call_argument(c, 2), function ? function : "?",
		    b[0], b[1], b[2], t[0], t[1], t[2], message ? message : "?");
	fail_assertion(c, &text);
	if (text.at)
		exec_call_fail(c, FAULT_ASSERT, "%.*s", (int)text.len - 1, text.at);
	text_fini(&text);
	return FAULT_ASSERT;
}

/* What the table of an abstract class has where a function is to be defined by others (C++). */
static enum fault_kind sys_pure_virtual(struct exec_call *c)
{
	(void)c;
	return FAULT_TRAP;
}

/* ---- who provides a function ---- */

static const struct exec_extern own[] = {
	{"vprintf", sys_vprintf},
	{"malloc", sys_malloc},
	{"free", sys_free},
	{"__assertfail", sys_assert},
	{"__cxa_pure_virtual", sys_pure_virtual},
	{NULL, NULL},
};

const char *const exec_extern_names[] = {
	"vprintf", "malloc", "free", "__assertfail", "__cxa_pure_virtual", NULL};

static exec_extern_fn *find_extern(const struct exec_extern *list, const char *name)
{
	for (; list && list->name; list++)
		if (!strcmp(list->name, name))
			return list->run;
	return NULL;
}

/* Places of result and parameters: as lowering lays them out. */
static bool describe_extern(struct program *p, struct program_extern *x, const struct ir_module *m,
			    const struct ir_func *f)
{
	u64 at = 0;

	x->rets = f->rets_len;
	x->params = f->params_len;
	x->value = ARENA_ARRAY(&p->arena, struct extern_value, f->rets_len + f->params_len + 1);
	if (!x->value)
		return false;
	for (u32 i = 0; i < f->rets_len + f->params_len; i++) {
		const struct ir_var *v =
			m->vars.at[i < f->rets_len ? f->rets[i] : f->params[i - f->rets_len]];

		x->value[i].at = exec_next_slot(v, &at);
		x->value[i].bytes = (u32)v->size_bytes;
		x->value[i].type = v->type;
		x->value[i].array = v->is_array || v->unsized || v->vec > 1;
	}
	return true;
}

u32 exec_extern_find(struct program *p, const struct ir_module *m, const struct ir_func *f,
		     const struct lower_options *options)
{
	struct program_extern x = {.name = f->name->text}, *bigger;

	for (u32 i = 0; i < p->extern_len; i++)
		if (!strcmp(p->externs[i].name, x.name))
			return i;
	x.run = find_extern(options->externs, x.name);
	if (!x.run)
		x.run = find_extern(own, x.name);
	if (!describe_extern(p, &x, m, f))
		return IR_NONE;
	if (!x.run &&
	    (!hostcall_is_allowed(options->host_functions, x.name) || !hostcall_prepare(p, &x)))
		return IR_NONE;
	bigger = realloc(p->externs, sizeof(*bigger) * (p->extern_len + 1));
	if (!bigger)
		return IR_NONE;
	p->externs = bigger;
	p->externs[p->extern_len] = x;
	p->prints |= x.run == sys_vprintf;
	return p->extern_len++;
}
