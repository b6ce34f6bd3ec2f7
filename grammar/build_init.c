/*
 * Initialisers: nested braces become bytes and relocations.
 * Source: PTX ISA "Initializers", "Variable and Label Addresses in initialisers" (generic(), the
 * mask operator).
 */
#include "grammar/build.h"

static u64 element_bytes(const struct build_decl *d)
{
	return isa_type_class(d->type) == ISA_OPAQUE ? 8 : max_u64(isa_type_bits(d->type) / 8, 1);
}

void build_init_begin(struct parse *p, struct diag_span where)
{
	struct build_init *in = &p->init;
	const struct build_decl *d = &p->decl;

	*in = (struct build_init){.active = true,
				  .bytes = in->bytes,
				  .relocs = in->relocs,
				  .field_names = in->field_names,
				  .field_values = in->field_values};
	in->bytes.len = in->relocs.len = in->field_names.len = in->field_values.len = 0;
	for (u32 i = 0; i < d->dims; i++)
		in->dim[in->dims++] = d->dim[i];
	if (d->vec > 1)
		in->dim[in->dims++] = d->vec;
	in->stride[in->dims] = element_bytes(d);
	for (u32 i = in->dims; i-- > 0;) {
		u64 n = in->dim[i] ? in->dim[i] : 1;

		/* A variable of this size is refused when its declaration ends. */
		in->failed |= n > BUILD_VAR_MAX / in->stride[i + 1];
		in->stride[i] = in->failed ? 1 : in->stride[i + 1] * n;
	}
	if (d->type == T_f16 || d->type == T_f16x2 || d->type == T_pred)
		build_error(p, where, ".%s variables take no initial value; use .b%u",
			    isa_word_text(d->type), isa_type_bits(d->type));
}

void build_init_end(struct parse *p, struct diag_span where)
{
	(void)where;
	if (p->init.dims && p->decl.open_dim && !p->init.outermost &&
	    isa_type_class(p->decl.type) != ISA_OPAQUE)
		p->init.outermost = 1;
}

static bool is_opaque(const struct parse *p)
{
	return isa_type_class(p->decl.type) == ISA_OPAQUE;
}

void build_init_open(struct parse *p, struct diag_span where)
{
	struct build_init *in = &p->init;

	if (in->depth > IR_DIMS) {
		p->stopped = true;
		build_error(p, where, "braces are nested too deep");
		return;
	}
	if (in->depth >= in->dims && !is_opaque(p) && !in->failed) {
		build_error(p, where, "more braces than dimensions");
		in->failed = true;
	}
	in->depth++;
	in->begin[in->depth] = in->at[in->depth] = in->at[in->depth - 1];
}

/* Account for one element of the brace that is open. */
static void advance_element(struct parse *p, struct diag_span where)
{
	struct build_init *in = &p->init;
	u32 d = in->depth;
	u64 count;

	if (!d || d > in->dims)
		return;
	in->at[d] += in->stride[d];
	count = in->stride[d] ? (in->at[d] - in->begin[d]) / in->stride[d] : 0;
	if (d == 1 && count > in->outermost)
		in->outermost = count;
	if (in->dim[d - 1] && count > in->dim[d - 1] && !in->failed) {
		build_error(p, where, "more initial values than elements");
		in->failed = true;
	}
}

void build_init_close(struct parse *p, struct diag_span where)
{
	if (p->init.depth)
		p->init.depth--;
	advance_element(p, where);
}

/* Where the next scalar goes: a scalar stands in the innermost dimension. */
static bool next_place(struct parse *p, u64 *at, struct diag_span where)
{
	struct build_init *in = &p->init;

	if (is_opaque(p)) {
		build_error(p, where, "initial values of .%s are 'field = value'",
			    isa_word_text(p->decl.type));
		return false;
	}
	if (in->failed)
		return false;
	if (in->depth < in->dims) {
		build_error(p, where, "braces are missing around the values of a dimension");
		in->failed = true;
		return false;
	}
	*at = in->at[in->depth];
	advance_element(p, where);
	return !in->failed;
}

static void store(struct parse *p, u64 at, u64 bits, u64 size)
{
	struct build_init *in = &p->init;
	size_t end = (size_t)(at + size);

	if (end > in->bytes.len) {
		size_t old = in->bytes.len;

		if (end > UINT32_MAX || !build_fits(p, end) || !VEC_RESERVE(&in->bytes, end - old))
			return build_no_memory(p);
		memset(in->bytes.at + old, 0, end - old);
		in->bytes.len = end;
	}
	memcpy(in->bytes.at + at, &bits, (size_t)min_u64(size, 8));
}

static bool value_bits(struct parse *p, struct build_value v, u64 *bits, struct diag_span where)
{
	bool float_type = p->decl.type == T_f32 || p->decl.type == T_f64;
	bool float_value = v.type == T_f32 || v.type == T_f64;

	if (float_type != float_value) {
		build_error(p, where, "a .%s variable takes %s constants",
			    isa_word_text(p->decl.type), float_type ? "floating-point" : "integer");
		return false;
	}
	*bits = v.bits;
	if (p->decl.type == T_f32 && v.type == T_f64)
		*bits = bits_f32((f32)f64_bits(v.bits));
	if (p->decl.type == T_f64 && v.type == T_f32)
		*bits = bits_f64((f64)f32_bits((u32)v.bits));
	return true;
}

void build_init_number(struct parse *p, struct build_value v, struct diag_span where)
{
	u64 at, bits;

	if (next_place(p, &at, where) && value_bits(p, v, &bits, where))
		store(p, at, bits, element_bytes(&p->decl));
}

/* The mask operator selects one byte: 0xff00(x) is byte 1. Returns the shift, or -1. */
static int mask_shift(struct parse *p, u64 mask, struct diag_span where)
{
	for (int shift = 0; shift < 64; shift += 8)
		if (mask == 0xffull << shift)
			return shift;
	build_error(p, where, "a byte mask is 0xff, 0xff00, ... 0xff00000000000000");
	return -1;
}

static bool takes_mask(u32 type)
{
	return type == T_u8 || type == T_u32 || type == T_u64;
}

void build_init_masked(struct parse *p, u64 mask, struct build_value v, struct diag_span where)
{
	int shift = mask_shift(p, mask, where);
	u64 at;

	if (!takes_mask(p->decl.type))
		build_error(p, where, "byte masks are for .u8, .u32 and .u64 variables");
	if (next_place(p, &at, where) && shift >= 0)
		store(p, at, (u64)build_integer_of(p, v, 0, where) >> shift & 0xff,
		      element_bytes(&p->decl));
}

static void note_address(struct parse *p, struct str *name, const struct build_value *offset,
			 bool generic, struct diag_span where)
{
	struct build_init *in = &p->init;
	struct binding *b = build_lookup(p, name);

	in->address_ok = false;
	if (!b || (b->kind != BIND_VAR && b->kind != BIND_FUNC)) {
		build_error(p, where,
			    b ? "'%s' has no address" : "'%s' is not defined before this use",
			    name->text);
		return;
	}
	in->address =
		(struct ir_reloc){.generic = generic,
				  .is_func = b->kind == BIND_FUNC,
				  .index = b->index,
				  .addend = offset ? build_integer_of(p, *offset, 0, where) : 0};
	in->address_ok = true;
}

void build_address(struct parse *p, struct str *name, const struct build_value *offset,
		   struct diag_span where)
{
	note_address(p, name, offset, false, where);
}

void build_generic(struct parse *p, struct str *word, struct str *name,
		   const struct build_value *offset, struct diag_span where)
{
	if (strcmp(word->text, "generic"))
		build_error(p, where, "'%s' is not an operator of initial values; generic(...) is",
			    word->text);
	note_address(p, name, offset, true, where);
}

void build_init_address(struct parse *p, u64 mask, struct diag_span where)
{
	struct build_init *in = &p->init;
	struct ir_reloc r = in->address;
	int shift = mask ? mask_shift(p, mask, where) : 0;
	enum isa_class class = isa_type_class(p->decl.type);
	u64 at;

	if (!next_place(p, &at, where) || !in->address_ok || shift < 0)
		return;
	if (mask ? !takes_mask(p->decl.type) : class == ISA_FLOAT || element_bytes(&p->decl) < 4) {
		build_error(p, where, "%s does not fit in a .%s variable",
			    mask ? "a byte of an address" : "an address",
			    isa_word_text(p->decl.type));
		return;
	}
	r.at = (u32)at;
	r.size = mask ? 1 : (u8)min_u64(element_bytes(&p->decl), 8);
	r.shift = (u8)shift;
	r.masked = mask != 0;
	store(p, at, 0, element_bytes(&p->decl));
	if (!VEC_PUSH(&in->relocs, r))
		build_no_memory(p);
}

struct field {
	const char *name, *values; /* values: words allowed, NULL: 0 or 1 */
};

static const struct field sampler_fields[] = {
	{"addr_mode_0", "wrap mirror clamp_ogl clamp_to_edge clamp_to_border"},
	{"addr_mode_1", "wrap mirror clamp_ogl clamp_to_edge clamp_to_border"},
	{"addr_mode_2", "wrap mirror clamp_ogl clamp_to_edge clamp_to_border"},
	{"filter_mode", "nearest linear"},
	{"force_unnormalized_coords", NULL},
	{"width", ""},
	{"height", ""},
	{"depth", ""},
	{"channel_data_type", ""},
	{"channel_order", ""},
	{"normalized_coords", NULL},
};

static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

void build_init_field(struct parse *p, struct str *field, struct str *value, s64 number,
		      struct diag_span where)
{
	const struct field *f = NULL;

	for (size_t i = 0; i < ARRAY_LEN(sampler_fields); i++)
		if (!strcmp(sampler_fields[i].name, field->text))
			f = &sampler_fields[i];
	if (!is_opaque(p))
		build_error(p, where, "'%s =' is for .samplerref, .texref and .surfref",
			    field->text);
	else if (!f)
		build_error(p, where, "'%s' is not a field of .%s", field->text,
			    isa_word_text(p->decl.type));
	else if (f->values && *f->values && (!value || !list_has(f->values, value->text)))
		build_error(p, where, "%s is one of: %s", f->name, f->values);
	else if (!f->values && (value || (u64)number > 1))
		build_error(p, where, "%s is 0 or 1", f->name);
	if (!VEC_PUSH(&p->init.field_names, field) || !VEC_PUSH(&p->init.field_names, value) ||
	    !VEC_PUSH(&p->init.field_values, number))
		build_no_memory(p);
}
