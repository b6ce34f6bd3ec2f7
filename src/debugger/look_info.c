/*
 * What there is: launches, kernels, devices, allocations; registers of a lane.
 */
#include "src/debugger/look_value.h"

#include "src/base/demangle.h"

static void put_head(struct table *t, const char *const *head, u32 n)
{
	table_begin(t, n);
	for (u32 i = 0; i < n; i++)
		table_put(t, "%s", head[i]);
}

static void put_dims(struct table *t, const u32 dims[3])
{
	look_say_id(dims, table_cell(t));
}

/* ---- launches, kernels ---- */

void command_info_launches(struct debugger *x, const struct call *c PL_UNUSED)
{
	static const char *const head[] = {" ", "launch", "kernel", "grid", "block", "state"};
	struct table t;

	if (!x->launches.len) {
		say(x, "Nothing has been launched.\n");
		return;
	}
	put_head(&t, head, ARRAY_LEN(head));
	for (size_t i = 0; i < x->launches.len; i++) {
		const struct launch_row *r = &x->launches.at[i];

		table_put(&t, "%s", x->grid && r->number == x->launch ? "*" : " ");
		table_put(&t, "%llu", (unsigned long long)r->number);
		demangle(r->kernel, table_cell(&t));
		put_dims(&t, r->grid);
		put_dims(&t, r->block);
		table_put(&t, "%s", r->running ? "runs" : r->d ? "has ended, kept" : "has ended");
		if (r->parent)
			text_printf(table_at(&t, table_rows(&t) - 1, 5), ", launched by %llu",
				    (unsigned long long)r->parent);
	}
	table_say(x, &t);
}

void command_info_kernels(struct debugger *x, const struct call *c PL_UNUSED)
{
	static const char *const head[] = {" ", "kernel", "where", "PTX"};
	struct table t;

	if (!x->modules.len) {
		say(x, "No device code is loaded.\n");
		return;
	}
	put_head(&t, head, ARRAY_LEN(head));
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];

		for (size_t k = 0; loaded_open(x, l) && k < l->m->funcs.len; k++) {
			const struct ir_func *f = l->m->funcs.at[k];
			struct where w;
			bool runs;

			if (!f->is_entry || !f->has_body)
				continue;
			w = where_of(x, (struct dbg_place){f, dbg_lines_body(l->lines, f)});
			runs = x->grid && debug_env(x->grid)->program->funcs[0].func == f;
			table_put(&t, "%s", runs ? "*" : " ");
			table_put(&t, "%s", dbg_names_function(l->names, f));
			where_say(&w, table_cell(&t));
			table_put(&t, "%s", l->ptx->name);
		}
	}
	table_say(x, &t);
}

/* ---- devices, allocations ---- */

/* The n-th device that has code, NULL: past the last. */
static struct device *device_nth(const struct debugger *x, u32 n)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		struct device *d = x->modules.at[i]->owner->dev;
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= x->modules.at[k]->owner->dev == d;
		if (!seen && !n--)
			return d;
	}
	return NULL;
}

void command_info_devices(struct debugger *x, const struct call *c PL_UNUSED)
{
	static const char *const head[] = {" ",  "device", "name",   "profile",
					   "sm", "SMs",    "memory", "in use"};
	struct device *d;
	struct table t;

	if (!device_nth(x, 0)) {
		say(x, "No device has code.\n");
		return;
	}
	put_head(&t, head, ARRAY_LEN(head));
	for (u32 i = 0; (d = device_nth(x, i)); i++) {
		table_put(&t, "%s", x->grid && debug_env(x->grid)->mem == &d->mem ? "*" : " ");
		table_put(&t, "%u", d->number);
		table_put(&t, "%s", d->arch->name);
		table_put(&t, "%s", d->arch->id);
		table_put(&t, "sm_%d", d->arch->sm);
		table_put(&t, "%d", d->arch->sms);
		table_put(&t, "%llu MiB", (unsigned long long)(d->mem.limit_bytes >> 20));
		table_put(&t, "%llu bytes", (unsigned long long)d->mem.used_bytes);
	}
	table_say(x, &t);
}

static const char *memory_kind(const struct mem_range *r)
{
	switch ((enum mem_kind)r->kind) {
	case MEM_KIND_DEVICE:
		return "device";
	case MEM_KIND_CONST:
		return "constant";
	case MEM_KIND_HOST:
		return "registered host";
	case MEM_KIND_MANAGED:
		return "managed";
	case MEM_KIND_HEAP:
	case MEM_KIND_BLOCK:
		return "heap of kernels";
	case MEM_KIND_ARRAY:
		return "array";
	case MEM_KIND_PINNED:
		return "pinned host";
	case MEM_KIND_MAPPED:
		return "mapping";
	case MEM_KIND_PARAM:
	case MEM_KIND_INTERNAL:
		break;
	}
	return NULL;
}

static void arena_rows(struct debugger *x, struct table *t, struct mem *m, const char *device)
{
	struct dbg_context c;

	context_now(x, &c);
	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len; i++) {
		const struct mem_range *r = &m->ranges[i];
		struct text *name;

		if (r->freed || !memory_kind(r))
			continue;
		table_put(t, " ");
		table_put(t, "0x%llx", (unsigned long long)r->base);
		table_put(t, "%llu", (unsigned long long)r->size);
		table_put(t, "%s", memory_kind(r));
		table_put(t, "%s", device);
		name = table_cell(t);
		look_symbol(x, &c, DBG_GENERIC, r->base, name);
	}
	pthread_mutex_unlock(&m->lock);
}

void command_info_allocations(struct debugger *x, const struct call *c PL_UNUSED)
{
	static const char *const head[] = {" ", "address", "bytes", "kind", "device", "variable"};
	struct mem_system *system = NULL;
	struct device *d;
	struct table t;

	put_head(&t, head, ARRAY_LEN(head));
	for (u32 i = 0; (d = device_nth(x, i)); i++) {
		char number[16];

		snprintf(number, sizeof(number), "%u", d->number);
		arena_rows(x, &t, &d->mem, number);
		system = d->mem.system;
	}
	if (system) {
		arena_rows(x, &t, &system->host, "host");
		if (system->maps.arena)
			arena_rows(x, &t, &system->maps, "any");
	}
	if (table_rows(&t) == 1) {
		table_drop(&t);
		say(x, "There are no allocations.\n");
	}
	table_say(x, &t);
}

/* ---- registers ---- */

/* A line of info registers. False: it has no value. */
static bool register_value_row(const struct dbg_context *c, struct table *t, const char *name,
			       const struct dbg_value *value)
{
	struct dbg_format hex = {.letter = 'x'}, plain = {0};
	struct text a = {0}, b = {0}, why = {0};
	bool good = dbg_value_print(c, value, &hex, &a, &why) &&
		    dbg_value_print(c, value, &plain, &b, &why);

	if (good) {
		table_put(t, "%s", "");
		table_put(t, "%s", name);
		dbg_type_print(value->type, NULL, table_cell(t));
		table_put(t, "%s", a.at);
		table_put(t, "%s", b.at);
	}
	text_fini(&a);
	text_fini(&b);
	text_fini(&why);
	return good;
}

/* False: it has no value yet. */
static bool register_row(const struct dbg_context *c, struct table *t, u32 reg)
{
	char name[256];
	struct dbg_variable v;
	struct dbg_value value;

	ir_reg_name(c->place.func, reg, name, sizeof(name));
	if (!dbg_names_find(c->names, c->place, c->inlined, name, &v) || v.unset)
		return false;
	dbg_value_of(c, &v, &value);
	return register_value_row(c, t, name, &value);
}

/* As in "pc", "tid.x". */
#define SPECIAL_LETTERS "abcdefghijklmnopqrstuvwxyz_0123456789."

/* What is no register of the PTX: $pc, %laneid. */
static bool special_row(const struct dbg_context *c, struct table *t, const char *word)
{
	const char *name = word + (*word == '$' || *word == '%');
	struct look_evaluated v;
	struct text text = {0}, why = {0};
	bool good = false;

	text_printf(&text, "%c%s", *word == '%' ? '%' : '$', name);
	if (*name && !name[strspn(name, SPECIAL_LETTERS)] && text.at &&
	    look_evaluate_in(c, text.at, &v, &why)) {
		good = !v.type && v.v.store != DBG_CONVENIENCE && dbg_type_size(v.v.type) &&
		       register_value_row(c, t, name, &v.v);
		look_evaluated_fini(&v);
	}
	text_fini(&text);
	text_fini(&why);
	return good;
}

static void one_register(struct debugger *x, const struct dbg_context *c, struct table *t,
			 const char *word, size_t n)
{
	char name[256];
	u32 reg;

	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	reg = dbg_find_register(c->place.func, c->place.insn, name);
	if (reg == IR_NONE && (*name == '$' || *name == '%')) {
		reg = dbg_find_register(c->place.func, c->place.insn, name + 1);
		*name = '%';
	}
	if (reg == IR_NONE)
		reg = dbg_find_register(c->place.func, c->place.insn, name);
	if (reg == IR_NONE) {
		snprintf(name, sizeof(name), "%.*s", (int)n, word);
		if (!special_row(c, t, name))
			say_error(x, "Invalid register `%s'", name);
	} else if (!register_row(c, t, reg))
		say(x, "%.*s is not set yet\n", (int)n, word);
}

void command_info_registers(struct debugger *x, const struct call *call)
{
	static const char *const head[] = {" ", "register", "type", "hexadecimal", "value"};
	const char *s = call->args;
	struct dbg_context c;
	struct table t;
	u32 unset = 0;

	if (!context_of(x, &x->focus, &c) || !c.names || !c.place.func) {
		say_error(x, "No frame selected");
		return;
	}
	put_head(&t, head, ARRAY_LEN(head));
	while (*s) {
		size_t n = strcspn(s, " ,");

		if (n)
			one_register(x, &c, &t, s, n);
		s += n + (s[n] != 0);
	}
	for (u32 i = 0; !*call->args && i < c.place.func->regs.len; i++)
		unset += !register_row(&c, &t, i);
	if (table_rows(&t) == 1)
		table_drop(&t);
	table_say(x, &t);
	if (unset)
		say(x, "%u register%s not set yet, or used no more.\n", unset,
		    unset == 1 ? " is" : "s are");
}

/* ---- cuda-gdb's spelling ---- */

void command_info_cuda(struct debugger *x, const struct call *c)
{
	static const struct {
		const char *cuda;
		void (*handler)(struct debugger *x, const struct call *c);
		bool launch;
	} rows[] = {
		{"devices", command_info_devices, false},
		{"sms", command_info_ctas, true},
		{"warps", command_info_warps, true},
		{"lanes", command_info_lanes, true},
		{"kernels", command_info_launches, false},
		{"blocks", command_info_ctas, true},
		{"clusters", command_info_clusters, true},
		{"threads", command_info_threads, true},
		{"managed", command_info_allocations, false},
		{"contexts", command_info_devices, false},
		{"barriers", command_info_barriers, true},
		{"launch", command_info_launches, false},
	};
	size_t n = strcspn(c->args, " \t");
	struct call to = *c;

	for (size_t i = 0; i < ARRAY_LEN(rows) && n; i++) {
		if (strncmp(rows[i].cuda, c->args, n) != 0)
			continue;
		to.args = c->args + n + strspn(c->args + n, " \t");
		if (rows[i].launch && !x->grid)
			say_error(x, "No kernel is running.");
		else
			rows[i].handler(x, &to);
		return;
	}
	say_error(
		x,
		"info cuda knows devices, contexts, sms, warps, lanes, kernels, clusters, blocks, "
		"threads, barriers, launch, managed");
}
