/*
 * A machine for tests of the debugger: one lane with registers and small memories, made of arrays.
 *
 * Generic addresses: shared memory from FAKE_SHARED on, local memory from FAKE_LOCAL on, what is
 * below and above is global. Variables lie one after the other in the memory of their space.
 */
#ifndef PL_TEST_DBG_FAKE_H
#define PL_TEST_DBG_FAKE_H

#include "grammar/parse.h"
#include "src/base/file.h"
#include "src/dbg/expr.h"
#include "tests/check.h"

#include <stdlib.h>

#define FAKE_BYTES 4096u
#define FAKE_GLOBAL 0x10000000ull
#define FAKE_SHARED 0x1000000ull
#define FAKE_LOCAL 0x2000000ull
#define FAKE_REGISTERS 512

struct fake {
	struct text source, why;
	struct diag d;
	struct diag_source from;
	struct ir_module *m;
	struct dbg_names *names;
	struct dbg_lines *lines;
	struct dbg_target target;
	struct dbg_context c;
	u8 memory[DBG_SPACES][FAKE_BYTES];
	u64 *address; /* of each variable of the module */
	u8 reg[FAKE_REGISTERS][16];
	bool set[FAKE_REGISTERS];
	u32 reads, writes;
};

static inline enum dbg_answer fake_read_register(void *user, const struct dbg_lane *lane PL_UNUSED,
						 const struct ir_func *f PL_UNUSED, u32 reg,
						 void *to, u32 bytes)
{
	struct fake *x = user;

	if (reg >= FAKE_REGISTERS || !x->set[reg] || bytes > 16)
		return DBG_NOT_SET;
	memcpy(to, x->reg[reg], bytes);
	x->reads++;
	return DBG_OK;
}

static inline enum dbg_answer fake_write_register(void *user, const struct dbg_lane *lane PL_UNUSED,
						  const struct ir_func *f PL_UNUSED, u32 reg,
						  const void *from, u32 bytes)
{
	struct fake *x = user;

	memcpy(x->reg[reg], from, bytes);
	x->set[reg] = true;
	x->writes++;
	return DBG_OK;
}

/* The bytes of an address; NULL: there are none. */
static inline u8 *fake_bytes(struct fake *x, enum dbg_space space, u64 at, u64 bytes)
{
	if (space == DBG_GENERIC) {
		space = at - FAKE_SHARED < FAKE_BYTES  ? DBG_SHARED
			: at - FAKE_LOCAL < FAKE_BYTES ? DBG_LOCAL
						       : DBG_GLOBAL;
		at -= space == DBG_SHARED ? FAKE_SHARED : space == DBG_LOCAL ? FAKE_LOCAL : 0;
	}
	at -= space == DBG_GLOBAL ? FAKE_GLOBAL : 0;
	return size_inside(at, bytes, 0, FAKE_BYTES) ? &x->memory[space][at] : NULL;
}

static inline enum dbg_answer fake_read(void *user, const struct dbg_lane *lane PL_UNUSED,
					enum dbg_space space, u64 at, void *to, u64 bytes)
{
	const u8 *from = fake_bytes(user, space, at, bytes);

	if (from)
		memcpy(to, from, bytes);
	return from ? DBG_OK : DBG_NO_ACCESS;
}

static inline enum dbg_answer fake_write(void *user, const struct dbg_lane *lane PL_UNUSED,
					 enum dbg_space space, u64 at, const void *from, u64 bytes)
{
	u8 *to = space == DBG_CONST ? NULL : fake_bytes(user, space, at, bytes);

	((struct fake *)user)->writes++;
	if (to)
		memcpy(to, from, bytes);
	return to ? DBG_OK : DBG_NO_ACCESS;
}

static inline enum dbg_answer fake_variable(void *user, const struct dbg_lane *lane PL_UNUSED,
					    const struct ir_var *v, u64 *address)
{
	struct fake *x = user;

	for (size_t i = 0; i < x->m->vars.len; i++)
		if (x->m->vars.at[i] == v)
			return *address = x->address[i], DBG_OK;
	return DBG_NOT_KNOWN;
}

static inline enum dbg_answer fake_to_generic(void *user PL_UNUSED,
					      const struct dbg_lane *lane PL_UNUSED,
					      enum dbg_space space, u64 at, u64 *generic)
{
	*generic = at + (space == DBG_SHARED ? FAKE_SHARED : space == DBG_LOCAL ? FAKE_LOCAL : 0);
	return DBG_OK;
}

static inline enum dbg_answer fake_special(void *user PL_UNUSED,
					   const struct dbg_lane *lane PL_UNUSED,
					   enum isa_sreg_id id, u32 part, u64 *value)
{
	switch ((u32)id) {
	case SR_tid:
		return *value = 3 + part, DBG_OK;
	case SR_ntid:
		return *value = 32 >> part, DBG_OK;
	case SR_ctaid:
		return *value = 100 * part, DBG_OK;
	case SR_laneid:
		return *value = 3, DBG_OK;
	default:
		return DBG_NOT_KNOWN;
	}
}

static inline void fake_place_variables(struct fake *x)
{
	u64 next[DBG_SPACES + 1] = {[DBG_GLOBAL] = FAKE_GLOBAL};

	x->address = calloc(x->m->vars.len + 1, sizeof(*x->address));
	for (size_t i = 0; i < x->m->vars.len; i++) {
		const struct ir_var *v = x->m->vars.at[i];
		enum dbg_space space = dbg_space_of(v);

		next[space] = align_up(next[space], 16);
		x->address[i] = next[space];
		next[space] += v->size_bytes;
	}
}

/* A module out of text, which is copied. */
static inline bool fake_open(struct fake *x, const char *name, const char *text, size_t size)
{
	struct ptx_options options = {0};

	memset(x, 0, sizeof(*x));
	text_add(&x->source, text, size);
	x->from = (struct diag_source){name, x->source.at, x->source.len};
	diag_init(&x->d, diag_print, stderr);
	x->m = ptx_parse(&x->from, &options, &x->d);
	if (!x->m)
		return false;
	x->names = dbg_names_open(x->m, &x->why);
	x->lines = dbg_lines_new(x->m, dbg_names_inlined, x->names);
	fake_place_variables(x);
	x->target = (struct dbg_target){.user = x,
					.read_register = fake_read_register,
					.write_register = fake_write_register,
					.read_memory = fake_read,
					.write_memory = fake_write,
					.variable = fake_variable,
					.to_generic = fake_to_generic,
					.special = fake_special};
	x->c = (struct dbg_context){
		.session = dbg_session_new(), .target = &x->target, .names = x->names};
	return x->names && x->lines && x->address;
}

/* A file of tests/unit/dbg/data. */
static inline bool fake_open_file(struct fake *x, const char *name)
{
	const char *root = getenv("srcdir");
	char path[4096];
	struct file f;
	bool good;

	snprintf(path, sizeof(path), "%s/tests/unit/dbg/data/%s", root ? root : ".", name);
	if (!file_open(&f, path))
		return false;
	good = fake_open(x, name, (const char *)f.data, f.size);
	file_close(&f);
	return good;
}

static inline void fake_close(struct fake *x)
{
	dbg_lines_free(x->lines);
	dbg_session_free(x->c.session);
	dbg_names_close(x->names);
	ir_module_free(x->m);
	diag_fini(&x->d);
	text_fini(&x->source);
	text_fini(&x->why);
	free(x->address);
}

/* Go to the first instruction of a line of a function. */
static inline bool fake_go(struct fake *x, const char *func, u32 line)
{
	const struct ir_func *f = ir_find_func(x->m, func);

	for (u32 i = 0; f && i < f->insns.len; i++) {
		struct dbg_place at = {f, i};

		if (dbg_lines_at(x->lines, at).line == line) {
			x->c.place = at;
			return true;
		}
	}
	return false;
}

/* Set a register of the function of the place. */
static inline void fake_set(struct fake *x, const char *reg, u64 bits)
{
	u32 r = dbg_find_register(x->c.place.func, x->c.place.insn, reg);

	if (r < FAKE_REGISTERS) {
		memcpy(x->reg[r], &bits, sizeof(bits));
		x->set[r] = true;
	}
}

/* Where a variable of the source lies, to be written. NULL: not in memory. */
static inline u8 *fake_at(struct fake *x, const char *name)
{
	struct dbg_variable v;
	struct dbg_value value;

	if (!dbg_names_find(x->names, x->c.place, x->c.inlined, name, &v))
		return NULL;
	dbg_value_of(&x->c, &v, &value);
	return value.store == DBG_MEMORY ? fake_bytes(x, value.space, value.address, 1) : NULL;
}

/* What `print/FORMAT EXPRESSION` shows, or the message. Valid until the next call. */
static inline const char *fake_show(struct fake *x, const char *text, const struct dbg_format *f)
{
	static struct text out;
	struct text why = {0};
	struct dbg_expr *e = dbg_expr_parse(&x->c, text, &why);
	struct dbg_value v;

	text_fini(&out);
	if (e && dbg_expr_type(e))
		dbg_type_describe(dbg_expr_type(e), false, &out);
	else if (!e || !dbg_expr_eval(e, &x->c, &v, &why) ||
		 !dbg_value_print(&x->c, &v, f, &out, &why))
		text_puts(&out, why.at ? why.at : "?");
	dbg_expr_free(e);
	text_fini(&why);
	return out.at;
}

static inline const char *fake_print(struct fake *x, const char *text)
{
	return fake_show(x, text, NULL);
}

static inline const char *fake_letter(struct fake *x, char letter, const char *text)
{
	return fake_show(x, text, &(struct dbg_format){.letter = letter});
}

/* `whatis` */
static inline const char *fake_type(struct fake *x, const char *text)
{
	static struct text out;
	struct text why = {0};
	struct dbg_expr *e;
	struct dbg_value v;

	x->c.dry = true;
	e = dbg_expr_parse(&x->c, text, &why);
	text_fini(&out);
	if (e && dbg_expr_type(e))
		dbg_type_print(dbg_expr_type(e), NULL, &out);
	else if (e && dbg_expr_eval(e, &x->c, &v, &why))
		dbg_type_print(v.type, NULL, &out);
	else
		text_puts(&out, why.at ? why.at : "?");
	x->c.dry = false;
	dbg_expr_free(e);
	text_fini(&why);
	return out.at;
}

#define SHOWS(x, expression, expected) CHECK_STR(fake_print(x, expression), expected)
#define SHOWS_AS(x, letter, expression, expected)                                                  \
	CHECK_STR(fake_letter(x, letter, expression), expected)

#endif
