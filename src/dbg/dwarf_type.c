/*
 * Types out of DWARF. A type is entered before its parts are read, so cycles end; members are
 * read when they are asked for, as headers describe thousands of structures that are never shown.
 */
#include "src/base/demangle.h"
#include "src/dbg/dwarf_die.inc"

#include <stdlib.h>

#define DIMS_MAX 8
#define MEMBERS_MAX 100000u

static struct dbg_type *make_type(struct debug_info *d, Dwarf_Die *die, u32 depth);

static struct dbg_type *target_of(struct debug_info *d, Dwarf_Die *die, u32 depth)
{
	Dwarf_Attribute a;
	Dwarf_Die to;

	if (depth > DWARF_DEPTH_MAX || !libdw.dwarf_attr_integrate(die, DW_AT_type, &a) ||
	    !libdw.dwarf_formref_die(&a, &to))
		return NULL;
	return make_type(d, &to, depth + 1);
}

static struct dbg_type *target_or_void(struct debug_info *d, Dwarf_Die *die)
{
	struct dbg_type *t = target_of(d, die, 0);

	return t ? t : &dbg_type_void;
}

static s64 constant_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Sword s = 0;

	if (libdw.dwarf_attr(die, DW_AT_const_value, &a))
		libdw.dwarf_formsdata(&a, &s);
	return s;
}

static u32 count_children(Dwarf_Die *die, int tag)
{
	Dwarf_Die c;
	u32 n = 0;

	if (die_child(die, &c))
		do
			n += tag < 0 || libdw.dwarf_tag(&c) == tag;
		while (n < MEMBERS_MAX && die_next(&c));
	return n;
}

/* ---- members ---- */

/* The offset of a member or base class; false: it depends on the object. */
static bool offset_of(Dwarf_Die *die, u64 *offset)
{
	Dwarf_Attribute a;
	Dwarf_Op *op;
	size_t n;

	*offset = 0;
	if (!libdw.dwarf_attr(die, DW_AT_data_member_location, &a))
		return true;
	if (libdw.dwarf_getlocation(&a, &op, &n) != 0 || n != 1 || op[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = op[0].number;
	return true;
}

/* DWARF 2 counts from the highest bit of the storage, DWARF 4 from the structure's first bit. */
static bool bits_of(Dwarf_Die *die, struct dbg_member *m)
{
	u64 size, at, storage = 0;

	if (!die_number(die, DW_AT_bit_size, &size))
		return true;
	if (!size || size > 64)
		return false;
	if (die_number(die, DW_AT_data_bit_offset, &at)) {
		m->offset = at / 8;
		m->bit_offset = (u32)(at % 8);
	} else {
		if (!die_number(die, DW_AT_byte_size, &storage))
			storage = dbg_type_size(m->type);
		if (!die_number(die, DW_AT_bit_offset, &at) || storage > 8 ||
		    at + size > storage * 8)
			return false;
		m->bit_offset = (u32)(storage * 8 - at - size);
	}
	m->bit_size = (u32)size;
	return m->bit_offset + m->bit_size <= 64;
}

static bool is_data_member(int tag)
{
	return tag == DW_TAG_member || tag == DW_TAG_inheritance || tag == DW_TAG_variable;
}

static u8 access_of(Dwarf_Die *die, bool in_class)
{
	u64 access = in_class ? DW_ACCESS_private : DW_ACCESS_public;

	die_number(die, DW_AT_accessibility, &access);
	return access == DW_ACCESS_private     ? DBG_PRIVATE
	       : access == DW_ACCESS_protected ? DBG_PROTECTED
					       : DBG_PUBLIC;
}

static bool read_member(struct debug_info *d, Dwarf_Die *die, bool in_class, struct dbg_member *m)
{
	int tag = libdw.dwarf_tag(die);
	const char *name = libdw.dwarf_diename(die);
	Dwarf_Attribute a;

	if (!is_data_member(tag))
		return false;
	*m = (struct dbg_member){.name = name ? name : "", .type = target_or_void(d, die)};
	/* nvcc makes members of them: __b_4Base. */
	m->base = tag == DW_TAG_inheritance || !strncmp(m->name, "__b_", 4);
	m->is_static = tag == DW_TAG_variable || die_flag(die, DW_AT_external) ||
		       die_flag(die, DW_AT_declaration);
	/* Without a word it is that of the class; nvcc says none. */
	m->access = access_of(die, in_class);
	m->has_value = m->is_static && libdw.dwarf_attr(die, DW_AT_const_value, &a);
	m->value = m->has_value ? constant_of(die) : 0;
	return m->is_static || (offset_of(die, &m->offset) && bits_of(die, m));
}

static void fill_struct(struct dbg_type *t)
{
	struct debug_info *d = t->filler;
	Dwarf_Die die, c;
	u32 n;

	if (!die_at(d, t->origin, &die) || !(n = count_children(&die, -1)) || !die_child(&die, &c))
		return;
	t->members = ARENA_ARRAY(d->arena, struct dbg_member, n);
	if (!t->members)
		return;
	do {
		if (read_member(d, &c, t->is_class, &t->members[t->members_len]))
			t->members_len++;
	} while (t->members_len < n && die_next(&c));
}

static void fill_function(struct dbg_type *t)
{
	struct debug_info *d = t->filler;
	Dwarf_Die die, c;
	u32 n;

	if (!die_at(d, t->origin, &die))
		return;
	n = count_children(&die, DW_TAG_formal_parameter);
	t->variadic = count_children(&die, DW_TAG_unspecified_parameters) > 0;
	t->members = n ? ARENA_ARRAY(d->arena, struct dbg_member, n) : NULL;
	if (!t->members || !die_child(&die, &c))
		return;
	do
		if (libdw.dwarf_tag(&c) == DW_TAG_formal_parameter)
			t->members[t->members_len++] =
				(struct dbg_member){.name = "", .type = target_or_void(d, &c)};
	while (t->members_len < n && die_next(&c));
}

/*
 * Clang writes no flag before DWARF 4. But its values in a signed form, although none is negative,
 * are those of a type that the source names, or of a scoped enumeration; for both Mode::Busy is
 * right.
 */
static bool has_scope(const struct debug_info *d, Dwarf_Die *type)
{
	bool all_signed = true, negative = false;
	u64 size = 4;
	Dwarf_Attribute a;
	Dwarf_Die c;

	if (die_flag(type, DW_AT_enum_class))
		return true;
	if (!d->by_clang || !die_child(type, &c))
		return false;
	do {
		if (libdw.dwarf_tag(&c) != DW_TAG_enumerator ||
		    !libdw.dwarf_attr(&c, DW_AT_const_value, &a))
			continue;
		all_signed &= libdw.dwarf_whatform(&a) == DW_FORM_sdata;
		negative |= constant_of(&c) < 0;
	} while (die_next(&c));
	/* A size other than that of int is named, too. */
	die_number(type, DW_AT_byte_size, &size);
	return all_signed && (!negative || size != 4);
}

/* "Mode::Busy", as it is written in C++: nvcc tells it as the linkage name. */
static const char *enumerator_name(struct debug_info *d, Dwarf_Die *type, bool scoped,
				   const char *name)
{
	const char *plain = dwarf_plain_name(d, name), *class = libdw.dwarf_diename(type), *whole;
	const u64 *prefix = map_get(&d->prefixes, die_id(type));
	struct text t = {0};

	if (plain != name || !class || demangle_wants(class) || !scoped)
		return plain;
	text_printf(&t, "%s%s::%s", prefix ? (const char *)(uintptr_t)*prefix : "", class, name);
	whole = t.failed ? NULL : arena_strdup(d->arena, t.at, t.len);
	text_fini(&t);
	return whole ? whole : name;
}

/* At once: whether the enumeration is signed depends on its values. */
static void read_enumerators(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t)
{
	u32 n = count_children(die, DW_TAG_enumerator);
	bool scoped = has_scope(d, die);
	Dwarf_Die c;

	t->enumerators = n ? ARENA_ARRAY(d->arena, struct dbg_enumerator, n) : NULL;
	if (!t->enumerators || !die_child(die, &c))
		return;
	do {
		const char *name = libdw.dwarf_diename(&c);

		if (libdw.dwarf_tag(&c) != DW_TAG_enumerator || !name)
			continue;
		t->enumerators[t->enumerators_len] = (struct dbg_enumerator){
			enumerator_name(d, die, scoped, name), constant_of(&c)};
		t->is_signed |= t->enumerators[t->enumerators_len++].value < 0;
	} while (t->enumerators_len < n && die_next(&c));
}

/* ---- kinds ---- */

static void make_base(Dwarf_Die *die, struct dbg_type *t)
{
	u64 encoding = 0;

	t->kind = DBG_OPAQUE;
	die_number(die, DW_AT_encoding, &encoding);
	t->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	switch (encoding) {
	case DW_ATE_boolean:
		t->kind = t->size <= 8 && is_pow2(t->size) ? DBG_BOOL : DBG_OPAQUE;
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		t->kind = t->size == 1 ? DBG_CHAR : DBG_OPAQUE;
		break;
	case DW_ATE_signed:
	case DW_ATE_unsigned:
	case DW_ATE_address:
	case DW_ATE_UTF:
		t->kind = t->size <= 8 && is_pow2(t->size) ? DBG_INT : DBG_OPAQUE;
		break;
	case DW_ATE_float:
		t->is_signed = true;
		t->kind = t->size == 2 || t->size == 4 || t->size == 8 ? DBG_FLOAT : DBG_OPAQUE;
		if (t->size == 2)
			t->number = t->name && strstr(t->name, "bf") ? DBG_BFLOAT : DBG_HALF;
		break;
	default:
		break;
	}
}

/* The toolkit's narrow types are structures with the bits in them. */
static u8 float_word(const struct dbg_type *t)
{
	static const struct {
		const char *name;
		u8 number, size;
	} names[] = {{"__half", DBG_HALF, 2},          {"__half_raw", DBG_HALF, 2},
		     {"__nv_bfloat16", DBG_BFLOAT, 2}, {"__nv_bfloat16_raw", DBG_BFLOAT, 2},
		     {"__nv_fp8_e4m3", DBG_E4M3, 1},   {"__nv_fp8_e5m2", DBG_E5M2, 1}};

	for (size_t i = 0; i < ARRAY_LEN(names) && t->name; i++)
		if (!strcmp(t->name, names[i].name) && t->size == names[i].size)
			return names[i].number;
	return DBG_PLAIN;
}

static void make_struct(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t)
{
	Dwarf_Die whole;

	t->kind = DBG_STRUCT;
	t->is_union = libdw.dwarf_tag(die) == DW_TAG_union_type;
	t->is_class = libdw.dwarf_tag(die) == DW_TAG_class_type;
	if (die_flag(die, DW_AT_declaration)) {
		u64 other = t->name ? dwarf_named(d, &d->type_names, t->name) : 0;

		t->declaration = !other || !die_at(d, other, &whole);
		if (t->declaration || libdw.dwarf_tag(&whole) != libdw.dwarf_tag(die))
			return;
		die_number(&whole, DW_AT_byte_size, &t->size);
		t->origin = other;
	}
	t->number = float_word(t);
	t->filler = d;
	t->fill = fill_struct;
}

static bool count_of(Dwarf_Die *range, u64 *count)
{
	u64 low = 0, high;

	if (die_number(range, DW_AT_count, count))
		return *count != 0;
	die_number(range, DW_AT_lower_bound, &low);
	if (!die_number(range, DW_AT_upper_bound, &high) || high < low || high - low == UINT64_MAX)
		return false;
	*count = high - low + 1;
	return true;
}

static void make_array_type(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t, u32 depth)
{
	u64 counts[DIMS_MAX];
	bool counted[DIMS_MAX];
	u32 dims = 0;
	Dwarf_Die c;
	struct dbg_type *of = target_of(d, die, depth);

	if (die_child(die, &c))
		do {
			counts[dims] = 0;
			if (libdw.dwarf_tag(&c) == DW_TAG_subrange_type)
				counted[dims] = count_of(&c, &counts[dims]), dims++;
		} while (dims < DIMS_MAX && die_next(&c));
	t->kind = DBG_ARRAY;
	t->target = of ? of : &dbg_type_void;
	if (!dims)
		return;
	for (u32 i = dims; i-- > 1;) {
		struct dbg_type *inner = dbg_type_array(d->arena, t->target, counts[i]);

		t->target = inner ? inner : &dbg_type_void;
	}
	t->count = counts[0];
	t->counted = counted[0];
}

static enum dbg_space class_space(Dwarf_Die *die)
{
	static const u8 spaces[] = {[4] = DBG_CONST,
				    [5] = DBG_GLOBAL,
				    [6] = DBG_LOCAL,
				    [7] = DBG_PARAM,
				    [8] = DBG_SHARED};
	u64 class;

	return die_number(die, DW_AT_address_class, &class) && class < ARRAY_LEN(spaces)
		       ? spaces[class]
		       : DBG_GENERIC;
}

static void make_chain(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t, u32 depth)
{
	switch (libdw.dwarf_tag(die)) {
	case DW_TAG_pointer_type:
		t->kind = DBG_POINTER;
		t->space = (u8)class_space(die);
		t->size = 8;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t->kind = DBG_REFERENCE;
		t->rvalue = libdw.dwarf_tag(die) == DW_TAG_rvalue_reference_type;
		t->size = 8;
		break;
	case DW_TAG_const_type:
		t->kind = DBG_CONST_OF;
		break;
	case DW_TAG_volatile_type:
		t->kind = DBG_VOLATILE_OF;
		break;
	default:
		t->kind = DBG_TYPEDEF;
		break;
	}
	t->target = target_of(d, die, depth);
	/* Its first typedef names what has no name, as in C++. */
	if (t->kind == DBG_TYPEDEF && t->target && t->name && !t->target->name &&
	    (t->target->kind == DBG_STRUCT || t->target->kind == DBG_ENUM))
		t->target->name = t->name;
}

/* "Ring<int, 3>" for nvcc's "Ring<int,3>". */
static const char *with_blanks(struct debug_info *d, const char *name)
{
	struct text t = {0};
	const char *whole;

	if (!strchr(name, '<') || !strchr(name, ','))
		return name;
	for (const char *s = name; *s; s++) {
		text_add(&t, s, 1);
		if (*s == ',' && s[1] && s[1] != ' ')
			text_puts(&t, " ");
	}
	whole = t.failed ? NULL : arena_strdup(d->arena, t.at, t.len);
	text_fini(&t);
	return whole ? whole : name;
}

/* The name with its namespaces. */
static const char *plain_type_name(struct debug_info *d, Dwarf_Die *die)
{
	const char *name = libdw.dwarf_diename(die);
	const u64 *prefix = map_get(&d->prefixes, die_id(die));
	struct text t = {0};
	char *whole;

	/* nvcc numbers what has no name: __C10. */
	if (!name || (!strncmp(name, "__C", 3) && name[3 + strspn(name + 3, "0123456789")] == 0))
		return NULL;
	name = dwarf_plain_name(d, name);
	if (strstr(name, "{unnamed type"))
		return NULL;
	name = with_blanks(d, name);
	if (!prefix)
		return name;
	text_printf(&t, "%s%s", (const char *)(uintptr_t)*prefix, name);
	whole = t.failed ? NULL : arena_strdup(d->arena, t.at, t.len);
	text_fini(&t);
	return whole ? whole : name;
}

/* To data it is the offset, to a function its bits: what it holds is a matter of the ABI. */
static void make_member_pointer(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t, u32 depth)
{
	struct dbg_type *of = target_of(d, die, depth), *class = NULL;
	struct text name = {0};
	Dwarf_Attribute a;
	Dwarf_Die to;

	if (depth <= DWARF_DEPTH_MAX && libdw.dwarf_attr(die, DW_AT_containing_type, &a) &&
	    libdw.dwarf_formref_die(&a, &to))
		class = make_type(d, &to, depth + 1);
	if (class && of && of->kind != DBG_FUNCTION && dbg_type_strip(of)->kind != DBG_VOID) {
		struct dbg_type *whole = dbg_type_member(d->arena, of, class);

		if (whole) {
			*t = *whole;
			return;
		}
	}
	dbg_type_print(of ? of : &dbg_type_void, NULL, &name);
	text_printf(&name, " %s::*",
		    class && class->kind == DBG_STRUCT && class->name ? class->name : "?");
	t->name = name.failed ? NULL : arena_strdup(d->arena, name.at, name.len);
	text_fini(&name);
	t->kind = DBG_OPAQUE;
	t->size = of && of->kind == DBG_FUNCTION ? 16 : 8;
}

static void make_kind(struct debug_info *d, Dwarf_Die *die, struct dbg_type *t, u32 depth)
{
	switch (libdw.dwarf_tag(die)) {
	case DW_TAG_base_type:
		make_base(die, t);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		make_struct(d, die, t);
		break;
	case DW_TAG_enumeration_type:
		t->kind = t->size <= 8 && is_pow2(t->size) ? DBG_ENUM : DBG_OPAQUE;
		read_enumerators(d, die, t);
		break;
	case DW_TAG_array_type:
		make_array_type(d, die, t, depth);
		break;
	case DW_TAG_ptr_to_member_type:
		make_member_pointer(d, die, t, depth);
		break;
	case DW_TAG_subprogram:
	case DW_TAG_subroutine_type:
		t->kind = DBG_FUNCTION;
		t->target = target_of(d, die, depth);
		t->filler = d;
		t->fill = fill_function;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_typedef:
		make_chain(d, die, t, depth);
		break;
	default:
		t->kind = DBG_OPAQUE;
		break;
	}
}

static struct dbg_type *make_type(struct debug_info *d, Dwarf_Die *die, u32 depth)
{
	u64 id = die_id(die);
	const u64 *known = map_get(&d->types, id);
	struct dbg_type *t;

	if (known)
		return (struct dbg_type *)(uintptr_t)*known;
	/* Nothing that a value shows. */
	if (libdw.dwarf_tag(die) == DW_TAG_restrict_type ||
	    libdw.dwarf_tag(die) == DW_TAG_atomic_type) {
		t = target_of(d, die, depth);
		return t ? t : &dbg_type_void;
	}
	t = ARENA_NEW(d->arena, struct dbg_type);
	if (!t || !map_set(&d->types, id, map_key(t)))
		return &dbg_type_void;
	t->kind = DBG_OPAQUE;
	t->origin = id;
	t->name = plain_type_name(d, die);
	/* nvcc has a type of that name. */
	if (t->name && !strcmp(t->name, "void")) {
		t->kind = DBG_VOID;
		return t;
	}
	die_number(die, DW_AT_byte_size, &t->size);
	make_kind(d, die, t, depth);
	return t;
}

struct dbg_type *dwarf_type(struct debug_info *d, u64 id)
{
	Dwarf_Die die;

	return die_at(d, id, &die) ? make_type(d, &die, 0) : &dbg_type_void;
}

struct dbg_type *dwarf_type_of(struct debug_info *d, u64 id)
{
	Dwarf_Die die;

	return die_at(d, id, &die) ? target_of(d, &die, 0) : NULL;
}
