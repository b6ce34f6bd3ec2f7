/*
 * Values: reading, parts, addresses.
 */
#include "src/dbg/value.h"

#include "src/base/size.h"
#include "src/num/numeric_half.h"
#include "src/num/numeric_mini.h"

/* Structures that are looked into for a member: hostile ones hold themselves. */
#define LOOKS_MAX 1000

/* ---- made of something ---- */

void dbg_value_of(const struct dbg_context *c, const struct dbg_variable *v, struct dbg_value *out)
{
	enum dbg_answer a = DBG_NOT_KNOWN;
	u64 at = 0;

	*out = (struct dbg_value){.type = v->type, .store = DBG_NO_VALUE, .reg = v->reg};
	switch (v->where) {
	case DBG_IN_REGISTER:
		out->store = DBG_REGISTER;
		if (!v->unset)
			return;
		out->store = DBG_NO_VALUE;
		snprintf(out->why_not, sizeof(out->why_not), "not set yet");
		return;
	case DBG_IN_MEMORY:
		if (v->base && c->target && c->target->variable)
			a = c->target->variable(c->target->user, &c->lane, v->base, &at);
		else if (!v->base)
			a = DBG_OK;
		out->space = v->space;
		out->address = at + v->offset;
		out->store = a == DBG_OK ? DBG_MEMORY : DBG_NO_VALUE;
		snprintf(out->why_not, sizeof(out->why_not), "%s",
			 a == DBG_OK ? "" : dbg_answer_text(a));
		return;
	case DBG_IS_CONSTANT:
		out->store = DBG_RVALUE;
		memcpy(out->own, &v->constant, sizeof(v->constant));
		return;
	default:
		snprintf(out->why_not, sizeof(out->why_not), "%s", v->why);
	}
}

struct dbg_value dbg_value_int(struct dbg_type *type, u64 bits)
{
	struct dbg_value v = {.type = type, .store = DBG_RVALUE};

	memcpy(v.own, &bits, sizeof(bits));
	return v;
}

struct dbg_value dbg_value_function(const struct dbg_context *c, const struct ir_func *f)
{
	const struct dbg_target *t = c->target;
	struct dbg_value v = {.type = dbg_names_function_type(c->names, f), .store = DBG_MEMORY};

	if (t && t->function && t->function(t->user, f, &v.address) == DBG_OK)
		return v;
	v.store = DBG_NO_VALUE;
	snprintf(v.why_not, sizeof(v.why_not), "no address is known");
	return v;
}

/* Bits of a number in a floating-point format. */
static u64 real_bits(f64 real, u64 size, u8 number)
{
	u32 f = bits_f32((f32)real), m = f & 0x7fffffff;

	if (size == 8)
		return bits_f64(real);
	if (size == 4)
		return f;
	if (number == DBG_E4M3 || number == DBG_E5M2)
		return num_mini_from_f32(f, number == DBG_E4M3 ? num_e4m3 : num_e5m2, NUM_RN);
	if (number == DBG_BFLOAT)
		return num_dress_16(num_narrow_bf16(m, f >> 31, NUM_RN), f, 0, NUM_RN);
	return num_dress_16(num_narrow_f16(m, f >> 31, NUM_RN), f, 0, NUM_RN);
}

struct dbg_value dbg_value_make(struct dbg_type *type, const struct dbg_number *n)
{
	struct dbg_type *t = dbg_type_strip(type);
	f64 real = n->is_float ? n->real : n->is_signed ? (f64)(s64)n->bits : (f64)n->bits;
	u64 bits = n->bits;

	if (t->kind == DBG_FLOAT || t->number != DBG_PLAIN)
		return dbg_value_int(type, real_bits(real, t->size, t->number));
	/* What does not fit has no meaning in C either; here it is the nearest. */
	if (n->is_float)
		bits = real != real                ? 0
		       : real <= -0x1p63           ? (u64)INT64_MIN
		       : real >= 0x1p64            ? UINT64_MAX
		       : real < 0 || real < 0x1p63 ? (u64)(s64)real
						   : (u64)real;
	if (t->kind == DBG_BOOL)
		bits = n->is_float ? real != 0 : bits != 0;
	return dbg_value_int(type, bits);
}

/* ---- bytes ---- */

static bool say_answer(enum dbg_answer a, const struct dbg_value *v, u64 offset, struct text *why)
{
	const char *space =
		v->space == DBG_GENERIC || v->space == DBG_GLOBAL ? "" : dbg_space_name(v->space);

	if (a == DBG_NO_ACCESS && v->store == DBG_MEMORY)
		text_printf(why, "Cannot access %s%smemory at address 0x%llx", space,
			    *space ? " " : "", (unsigned long long)(v->address + offset));
	else if (a != DBG_OK)
		text_puts(why, dbg_answer_text(a));
	return a == DBG_OK;
}

static u64 register_bytes(const struct dbg_context *c, u32 reg)
{
	const struct ir_reg *r = &c->place.func->regs.at[reg];

	return (u64)(isa_type_bits(r->type) + 7) / 8 * (r->vec > 1 ? r->vec : 1);
}

#define REGISTER_MAX 64

static enum dbg_answer read_whole_register(const struct dbg_context *c, u32 reg, u8 *to)
{
	const struct dbg_target *t = c->target;

	if (!t || !t->read_register || register_bytes(c, reg) > REGISTER_MAX)
		return DBG_NOT_KNOWN;
	return t->read_register(t->user, &c->lane, c->place.func, reg, to,
				(u32)register_bytes(c, reg));
}

bool dbg_value_read(const struct dbg_context *c, const struct dbg_value *v, u64 offset, void *to,
		    u64 bytes, struct text *why)
{
	const struct dbg_target *t = c->target;
	u64 size = dbg_type_size(v->type), at;
	u8 whole[REGISTER_MAX] = {0};
	enum dbg_answer a = DBG_OK;

	switch (v->store) {
	case DBG_MEMORY:
		a = t && t->read_memory && size_add(v->address, offset, &at)
			    ? t->read_memory(t->user, &c->lane, v->space, v->address + offset, to,
					     bytes)
			    : DBG_NOT_KNOWN;
		break;
	case DBG_REGISTER:
		a = read_whole_register(c, v->reg, whole);
		/* A variable may be wider than its register: what is above is zero. */
		if (!size_inside(v->reg_offset + offset, bytes, 0, sizeof(whole)))
			a = DBG_NO_ACCESS;
		else
			memcpy(to, whole + v->reg_offset + offset, bytes);
		break;
	case DBG_NO_VALUE:
		text_printf(why, "the value is %s", v->why_not);
		return false;
	default:
		if (!size_inside(offset, bytes, 0, v->data ? size : max_u64(size, 8)) ||
		    (!v->data && !size_inside(offset, bytes, 0, sizeof(v->own))))
			a = DBG_NO_ACCESS;
		else
			memcpy(to, (v->data ? v->data : v->own) + offset, bytes);
	}
	return say_answer(a, v, offset, why);
}

/* ---- numbers ---- */

f64 dbg_real_of_bits(u64 bits, u64 size, u8 number)
{
	if (size == 8)
		return f64_bits(bits);
	if (size == 4)
		return (f64)f32_bits((u32)bits);
	if (size == 1)
		return (f64)f32_bits(num_f32_from_mini((u32)bits & 0xff,
						       number == DBG_E5M2 ? num_e5m2 : num_e4m3));
	return (f64)f32_bits(number == DBG_BFLOAT ? num_widen_bf16((u32)bits & 0xffff)
						  : num_widen_f16((u32)bits & 0xffff));
}

struct dbg_number dbg_number_of_bits(struct dbg_type *t, u64 bits)
{
	struct dbg_number n = {.is_signed = t->is_signed, .bits = bits};
	u32 unused = t->size && t->size < 8 ? 64 - 8 * (u32)t->size : 0;

	if (t->kind == DBG_FLOAT || t->number != DBG_PLAIN) {
		n.is_float = n.is_signed = true;
		n.real = dbg_real_of_bits(bits, t->size, t->number);
		return n;
	}
	n.bits = bits << unused;
	n.bits = t->is_signed ? (u64)((s64)n.bits >> unused) : n.bits >> unused;
	return n;
}

static bool read_bit_field(const struct dbg_context *c, const struct dbg_value *v,
			   struct dbg_type *t, u64 *bits, struct text *why)
{
	u32 unused = 64 - v->bit_size;
	u64 raw = 0;

	if (!dbg_value_read(c, v, 0, &raw, (v->bit_offset + v->bit_size + 7) / 8, why))
		return false;
	raw = raw >> v->bit_offset << unused;
	*bits = t->is_signed ? (u64)((s64)raw >> unused) : raw >> unused;
	return true;
}

bool dbg_value_number(const struct dbg_context *c, const struct dbg_value *v,
		      struct dbg_number *out, struct text *why)
{
	struct dbg_value r;
	struct dbg_type *t;
	u64 bits = 0;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	t = dbg_type_strip(r.type);
	if (t->kind == DBG_ARRAY && r.store == DBG_MEMORY) {
		*out = (struct dbg_number){.bits = dbg_generic(c, r.space, r.address)};
		return true;
	}
	if (t->kind == DBG_FUNCTION) {
		*out = (struct dbg_number){.bits = r.address};
		return true;
	}
	if ((!dbg_type_is_number(t) && t->kind != DBG_POINTER) || t->size > 8 || !t->size) {
		text_puts(why, t->kind == DBG_VOID ? "a void value is not a number"
						   : "this is not a number");
		return false;
	}
	if (r.bit_size ? !read_bit_field(c, &r, t, &bits, why)
		       : !dbg_value_read(c, &r, 0, &bits, t->size, why))
		return false;
	*out = dbg_number_of_bits(t, bits);
	return true;
}

bool dbg_value_is_true(const struct dbg_context *c, const struct dbg_value *v, bool *out,
		       struct text *why)
{
	struct dbg_number n;

	if (!dbg_value_number(c, v, &n, why))
		return false;
	*out = n.is_float ? n.real != 0 : n.bits != 0;
	return true;
}

/* ---- parts ---- */

bool dbg_value_referred(const struct dbg_context *c, const struct dbg_value *v,
			struct dbg_value *out, struct text *why)
{
	struct dbg_type *t = dbg_type_strip(v->type);
	u64 address = 0;

	*out = *v;
	if (t->kind != DBG_REFERENCE)
		return true;
	if (!dbg_value_read(c, v, 0, &address, 8, why))
		return false;
	*out = (struct dbg_value){.type = t->target ? t->target : &dbg_type_void,
				  .store = DBG_MEMORY,
				  .space = DBG_GENERIC,
				  .address = address};
	return true;
}

/* The same place, `offset` bytes further. */
static bool part_at(const struct dbg_value *v, struct dbg_type *type, u64 offset,
		    struct dbg_value *out)
{
	u64 size = dbg_type_size(v->type), bytes = dbg_type_size(type);

	*out = *v;
	out->type = type;
	out->bit_size = 0;
	switch (v->store) {
	case DBG_MEMORY:
		return size_add(v->address, offset, &out->address);
	case DBG_REGISTER:
		out->reg_offset = (u32)(v->reg_offset + offset);
		return size_inside(offset, bytes, 0, REGISTER_MAX - v->reg_offset);
	case DBG_NO_VALUE:
		return true;
	default:
		/* Of a convenience variable a part cannot be set. */
		out->store = DBG_RVALUE;
		if (!size_inside(offset, bytes, 0, size))
			return false;
		if (v->data)
			out->data = v->data + offset;
		else if (size_inside(offset, bytes, 0, sizeof(v->own)))
			memmove(out->own, v->own + offset, bytes);
		else
			return false;
		return true;
	}
}

bool dbg_value_part(const struct dbg_value *v, const struct dbg_member *m, struct dbg_value *out)
{
	if (m->is_static) {
		*out = dbg_value_int(m->type, (u64)m->value);
		if (!m->has_value) {
			out->store = DBG_NO_VALUE;
			snprintf(out->why_not, sizeof(out->why_not), "optimized out");
		}
		return true;
	}
	if (!part_at(v, m->type, m->offset, out))
		return false;
	out->bit_size = m->bit_size;
	out->bit_offset = m->bit_offset;
	return true;
}

/* Also in anonymous members and base classes. */
static bool find_member(const struct dbg_value *v, const char *name, u32 *looks,
			struct dbg_value *out)
{
	struct dbg_type *t = dbg_type_strip(v->type);
	struct dbg_value inner;

	if (t->kind != DBG_STRUCT || !*looks)
		return false;
	--*looks;
	dbg_type_fill(t);
	for (u32 i = 0; i < t->members_len; i++)
		if (!strcmp(t->members[i].name, name) && !t->members[i].base)
			return dbg_value_part(v, &t->members[i], out);
	for (u32 i = 0; i < t->members_len; i++)
		if ((t->members[i].base || !*t->members[i].name) &&
		    dbg_value_part(v, &t->members[i], &inner) &&
		    find_member(&inner, name, looks, out))
			return true;
	return false;
}

/* The object itself or a base class of it, by the name of its type. */
static bool find_base_class(const struct dbg_value *v, const char *name, size_t n, u32 *looks,
			    struct dbg_value *out)
{
	struct dbg_type *t = dbg_type_strip(v->type);
	const char *last = t->name ? dbg_last_scope(t->name) : NULL;
	struct dbg_value inner;

	if (t->kind != DBG_STRUCT || !*looks)
		return false;
	--*looks;
	*out = *v;
	if (t->name &&
	    (dbg_same_name(name, n, t->name) || (last && dbg_same_name(name, n, last + 2))))
		return true;
	dbg_type_fill(t);
	for (u32 i = 0; i < t->members_len; i++)
		if (t->members[i].base && dbg_value_part(v, &t->members[i], &inner) &&
		    find_base_class(&inner, name, n, looks, out))
			return true;
	return false;
}

/* "x", or "Base::x". */
static bool find_qualified(const struct dbg_value *v, const char *name, struct dbg_value *out)
{
	const char *scope = dbg_last_scope(name);
	u32 looks = LOOKS_MAX;
	struct dbg_value part;

	if (!scope)
		return find_member(v, name, &looks, out);
	return find_base_class(v, name, (size_t)(scope - name), &looks, &part) &&
	       find_member(&part, scope + 2, &looks, out);
}

bool dbg_value_static(struct dbg_type *class, const char *name, struct dbg_value *out,
		      struct text *why)
{
	struct dbg_value object = {.type = class, .store = DBG_NO_VALUE};
	u32 looks = LOOKS_MAX;

	snprintf(object.why_not, sizeof(object.why_not), "no part of the class");
	if (!find_member(&object, name, &looks, out)) {
		text_printf(why, "There is no field named %s", name);
		return false;
	}
	if (out->store == DBG_NO_VALUE && !strcmp(out->why_not, object.why_not)) {
		text_printf(why, "Cannot reference non-static field \"%s\"", name);
		return false;
	}
	return true;
}

bool dbg_value_member_pointer(const struct dbg_context *c, struct dbg_type *class, const char *name,
			      struct dbg_value *out)
{
	struct dbg_value object = {.type = class, .store = DBG_MEMORY}, part;
	u32 looks = LOOKS_MAX;

	if (!find_member(&object, name, &looks, &part) || part.store != DBG_MEMORY || part.bit_size)
		return false;
	*out = dbg_value_int(dbg_session_member(c->session, part.type, dbg_type_strip(class)),
			     part.address);
	return true;
}

bool dbg_value_at_member(const struct dbg_context *c, const struct dbg_value *object,
			 const struct dbg_value *member, struct dbg_value *out, struct text *why)
{
	struct dbg_type *t = dbg_type_refers(member->type);
	struct dbg_member m = {.name = "", .type = t->target};
	struct dbg_value r, to;

	if (t->kind != DBG_MEMBER || !t->target) {
		text_puts(why, "Argument to member indirection is not a pointer to member that is "
			       "data.");
		return false;
	}
	if (!dbg_value_referred(c, object, &r, why) || !dbg_value_referred(c, member, &to, why) ||
	    (dbg_type_strip(r.type)->kind == DBG_POINTER && !dbg_value_follow(c, &r, &r, why)) ||
	    !dbg_value_read(c, &to, 0, &m.offset, 8, why))
		return false;
	if (dbg_type_strip(r.type)->kind != DBG_STRUCT || m.offset == UINT64_MAX ||
	    !dbg_value_part(&r, &m, out)) {
		text_puts(why, m.offset == UINT64_MAX ? "the pointer to a member is null"
						      : "this has no such member");
		return false;
	}
	return true;
}

bool dbg_value_member(const struct dbg_context *c, const struct dbg_value *v, const char *name,
		      struct dbg_value *out, struct text *why)
{
	struct dbg_value r;
	struct dbg_type *t;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	t = dbg_type_strip(r.type);
	/* As gdb does, `.` also goes through a pointer. */
	if (t->kind == DBG_POINTER) {
		if (!dbg_value_follow(c, &r, &r, why))
			return false;
		t = dbg_type_strip(r.type);
	}
	if (t->kind != DBG_STRUCT) {
		text_printf(why, "there is no member %s: this is not a structure", name);
		return false;
	}
	if (find_qualified(&r, name, out))
		return true;
	text_printf(why, "There is no member named %s.", name);
	return false;
}

bool dbg_value_index(const struct dbg_context *c, const struct dbg_value *v, s64 index,
		     struct dbg_value *out, struct text *why)
{
	struct dbg_value r;
	struct dbg_type *t;
	u64 size;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	t = dbg_type_strip(r.type);
	if (t->kind == DBG_POINTER) {
		if (!dbg_value_follow(c, &r, &r, why))
			return false;
	} else if (t->kind != DBG_ARRAY) {
		text_puts(why, "cannot subscript something that is neither an array nor a pointer");
		return false;
	} else {
		r.type = t->target;
	}
	size = dbg_type_size(r.type);
	if (!size) {
		text_puts(why, dbg_type_strip(r.type)->kind == DBG_OPAQUE
				       ? "The type of its elements is not known: cast it to a "
					 "pointer, ((float *)x)[2]"
				       : "the size of an element is not known");
		return false;
	}
	if (r.store == DBG_MEMORY) {
		*out = r;
		out->address += (u64)index * size;
		return true;
	}
	if (r.store == DBG_NO_VALUE) {
		*out = r;
		return true;
	}
	/* Elements of what is in no memory stay within it. */
	r.type = t;
	if (index >= 0 && (u64)index < t->count && part_at(&r, t->target, (u64)index * size, out))
		return true;
	text_printf(why, "no such element: %lld", (long long)index);
	return false;
}

bool dbg_value_follow(const struct dbg_context *c, const struct dbg_value *v, struct dbg_value *out,
		      struct text *why)
{
	struct dbg_value r;
	struct dbg_type *t;
	u64 address = 0;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	t = dbg_type_strip(r.type);
	if (t->kind == DBG_ARRAY)
		return dbg_value_index(c, &r, 0, out, why);
	if (t->kind == DBG_FUNCTION) {
		*out = r;
		return true;
	}
	if ((t->kind != DBG_POINTER && t->kind != DBG_INT) || t->size > 8) {
		text_puts(why, "Attempt to take contents of a non-pointer value.");
		return false;
	}
	if (t->kind == DBG_POINTER && dbg_type_strip(t->target)->kind == DBG_VOID) {
		text_puts(why, "Attempt to dereference a generic pointer.");
		return false;
	}
	if (!dbg_value_read(c, &r, 0, &address, t->size, why))
		return false;
	*out = (struct dbg_value){.type = t->kind == DBG_POINTER ? t->target : &dbg_type_long,
				  .store = DBG_MEMORY,
				  .space = t->kind == DBG_POINTER ? t->space : DBG_GENERIC,
				  .address = address};
	return true;
}

bool dbg_value_address(const struct dbg_context *c, const struct dbg_value *v,
		       struct dbg_value *out, struct text *why)
{
	struct dbg_value r;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	if (r.store != DBG_MEMORY || r.bit_size) {
		text_printf(why, "Attempt to take address of value not located in memory%s.",
			    r.store == DBG_REGISTER ? ": it is in a register" : "");
		return false;
	}
	/* A global address and the generic one of the same place are equal. */
	*out = dbg_value_int(dbg_session_pointer(c->session, r.type,
						 r.space == DBG_GLOBAL ? DBG_GENERIC : r.space),
			     r.address);
	return true;
}

u64 dbg_generic(const struct dbg_context *c, enum dbg_space space, u64 address)
{
	const struct dbg_target *t = c->target;
	u64 generic;

	if (space == DBG_GENERIC || space == DBG_GLOBAL || !t || !t->to_generic ||
	    t->to_generic(t->user, &c->lane, space, address, &generic) != DBG_OK)
		return address;
	return generic;
}
