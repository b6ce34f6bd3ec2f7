/*
 * Conversions and assignments.
 */
#include "src/dbg/value.h"

#define REGISTER_MAX 64
#define COPY_MAX 4096

/* ---- casts ---- */

/* An address of the space, out of one of another space. */
static u64 address_in(const struct dbg_context *c, enum dbg_space from, enum dbg_space to,
		      u64 address)
{
	u64 generic = dbg_generic(c, from, address), window = dbg_generic(c, to, 0);

	if (to == DBG_GENERIC || to == from)
		return to == from ? address : generic;
	/* A number that is no generic address of that space is taken as it is. */
	return window && generic >= window && generic - window <= UINT32_MAX ? generic - window
									     : address;
}

static bool cast_to_pointer(const struct dbg_context *c, const struct dbg_value *v,
			    struct dbg_type *type, struct dbg_value *out, struct text *why)
{
	struct dbg_type *from = dbg_type_strip(v->type), *to = dbg_type_strip(type);
	struct dbg_number n;

	if (from->kind == DBG_ARRAY && v->store == DBG_MEMORY) {
		*out = dbg_value_int(type, address_in(c, v->space, to->space, v->address));
		return true;
	}
	if (!dbg_value_number(c, v, &n, why))
		return false;
	if (n.is_float) {
		text_puts(why, "a floating-point number is not an address");
		return false;
	}
	if (from->kind == DBG_POINTER)
		n.bits = address_in(c, from->space, to->space, n.bits);
	*out = dbg_value_int(type, n.bits);
	return true;
}

bool dbg_value_cast(const struct dbg_context *c, const struct dbg_value *v, struct dbg_type *type,
		    struct dbg_value *out, struct text *why)
{
	struct dbg_type *to = dbg_type_strip(type), *from;
	struct dbg_number n;
	struct dbg_value r;

	if (to->kind == DBG_REFERENCE) {
		*out = *v;
		out->type = to->target ? to->target : &dbg_type_void;
		return true;
	}
	if (!dbg_value_referred(c, v, &r, why))
		return false;
	from = dbg_type_strip(r.type);
	if (to->kind == DBG_POINTER)
		return cast_to_pointer(c, &r, type, out, why);
	if (to->kind == DBG_VOID) {
		*out = (struct dbg_value){.type = &dbg_type_void};
		return true;
	}
	if (dbg_type_same(from, to)) {
		*out = r;
		out->type = type;
		return true;
	}
	if (!dbg_type_is_number(to)) {
		text_puts(why, "Invalid cast.");
		return false;
	}
	if (!dbg_value_number(c, &r, &n, why))
		return false;
	/* As a number an address is the generic one. */
	if (from->kind == DBG_POINTER)
		n.bits = dbg_generic(c, from->space, n.bits);
	*out = dbg_value_make(type, &n);
	return true;
}

/* ---- assignment ---- */

static bool say_written(enum dbg_answer a, struct text *why)
{
	if (a != DBG_OK)
		text_printf(why, "it cannot be written: %s", dbg_answer_text(a));
	return a == DBG_OK;
}

static bool write_bytes(const struct dbg_context *c, const struct dbg_value *place,
			const void *from, u64 bytes, struct text *why)
{
	const struct dbg_target *t = c->target;
	const struct ir_reg *r;
	u8 whole[REGISTER_MAX] = {0};
	u64 width;

	if (place->store == DBG_MEMORY)
		return say_written(t && t->write_memory
					   ? t->write_memory(t->user, &c->lane, place->space,
							     place->address, from, bytes)
					   : DBG_NOT_KNOWN,
				   why);
	r = &c->place.func->regs.at[place->reg];
	width = (u64)(isa_type_bits(r->type) + 7) / 8 * (r->vec > 1 ? r->vec : 1);
	if (!t || !t->write_register || !t->read_register || width > REGISTER_MAX ||
	    place->reg_offset + bytes > REGISTER_MAX)
		return say_written(DBG_NOT_KNOWN, why);
	/* Of a register that was never set the rest is zero. */
	t->read_register(t->user, &c->lane, c->place.func, place->reg, whole, (u32)width);
	memcpy(whole + place->reg_offset, from, bytes);
	return say_written(
		t->write_register(t->user, &c->lane, c->place.func, place->reg, whole, (u32)width),
		why);
}

static bool set_bits(const struct dbg_context *c, const struct dbg_value *place, u64 bits,
		     struct text *why)
{
	u64 mask = (place->bit_size == 64 ? ~0ull : (1ull << place->bit_size) - 1)
		   << place->bit_offset;
	u64 raw = 0, bytes = (place->bit_offset + place->bit_size + 7) / 8;

	if (!dbg_value_read(c, place, 0, &raw, bytes, why))
		return false;
	raw = (raw & ~mask) | (bits << place->bit_offset & mask);
	return write_bytes(c, place, &raw, bytes, why);
}

/* A structure or array of the same type, byte for byte. */
static bool set_whole(const struct dbg_context *c, const struct dbg_value *place,
		      const struct dbg_value *value, struct text *why)
{
	u64 size = dbg_type_size(place->type);
	u8 bytes[COPY_MAX];

	if (!dbg_type_same(place->type, value->type) || !size || size > sizeof(bytes)) {
		text_puts(why, size > sizeof(bytes) ? "that is too large to be assigned at once"
						    : "Invalid cast.");
		return false;
	}
	return dbg_value_read(c, value, 0, bytes, size, why) &&
	       write_bytes(c, place, bytes, size, why);
}

bool dbg_value_set(const struct dbg_context *c, const struct dbg_value *place,
		   const struct dbg_value *value, struct text *why)
{
	struct dbg_value r, converted;
	struct dbg_type *t;
	u64 bits;

	if (place->store == DBG_CONVENIENCE)
		return c->dry || dbg_session_set(c->session, c, place->name, value, why);
	if (place->store == DBG_NO_VALUE && *place->why_not &&
	    !strcmp(place->why_not, "not set yet")) {
		/* The first value that it gets. */
		r = *place;
		r.store = DBG_REGISTER;
	} else if (!dbg_value_referred(c, place, &r, why)) {
		return false;
	}
	if (r.store != DBG_MEMORY && r.store != DBG_REGISTER) {
		text_puts(why, "Left operand of assignment is not an lvalue.");
		return false;
	}
	if (c->dry)
		return true;
	t = dbg_type_strip(r.type);
	if (!dbg_type_is_number(t) && t->kind != DBG_POINTER)
		return set_whole(c, &r, value, why);
	if (!dbg_value_cast(c, value, r.type, &converted, why) ||
	    !dbg_value_read(c, &converted, 0, (bits = 0, &bits), t->size, why))
		return false;
	return r.bit_size ? set_bits(c, &r, bits, why) : write_bytes(c, &r, &bits, t->size, why);
}
