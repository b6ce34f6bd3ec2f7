/*
 * Registers: single ones, and families such as %r<8>, whose members are made when they are named.
 * Source: PTX ISA "Variables"; limits as ptxas 13.0 enforces them.
 */
#include "grammar/build.h"

#define REGS_MAX (1u << 24)

u32 build_register(struct parse *p, u32 decl, u32 number)
{
	struct ir_regdecl *rd = &p->f->regdecls.at[decl];
	struct ir_reg reg = {.decl = decl, .number = number, .type = rd->type, .vec = rd->vec};

	if (p->f->regs.len >= REGS_MAX || !VEC_PUSH(&p->f->regs, reg)) {
		build_no_memory(p);
		return 0;
	}
	return (u32)p->f->regs.len - 1;
}

u32 build_declare_register(struct parse *p, struct ir_regdecl rd)
{
	if (!VEC_PUSH(&p->f->regdecls, rd)) {
		build_no_memory(p);
		return 0;
	}
	return (u32)p->f->regdecls.len - 1;
}

u32 build_declare_registers(struct parse *p, u32 count, bool family)
{
	return build_declare_register(
		p, (struct ir_regdecl){
			   .name = p->decl.name,
			   .count = count,
			   .family = family,
			   .type = p->decl.type,
			   .vec = p->decl.vec,
			   .scope = p->scopes.len ? p->scopes.at[p->scopes.len - 1].id : 0,
			   .begin = p->decl.where.begin,
		   });
}

/* Families are bound under their prefix and '<', which no identifier can end in. */
static struct str *family_key(struct parse *p, const char *prefix, size_t n, bool make)
{
	char key[1024];

	if (n + 1 >= sizeof(key))
		return NULL;
	memcpy(key, prefix, n);
	key[n] = '<';
	return make ? intern_get(&p->m->names_table, key, n + 1)
		    : intern_find(&p->m->names_table, key, n + 1);
}

/* At most nine digits. */
static u32 parse_digits(const struct str *s, size_t from)
{
	u32 v = 0;

	for (size_t i = from; i < s->len; i++)
		v = v * 10 + (u32)(s->text[i] - '0');
	return v;
}

/*
 * Digits at the end of a name: where they begin, and their number. Numbers are written without
 * leading zeros.
 */
static size_t trailing_number(const struct str *s, u32 *number)
{
	size_t n = s->len;

	while (n > 1 && s->text[n - 1] >= '0' && s->text[n - 1] <= '9' && s->len - n < 9)
		n--;
	while (n < s->len - 1u && s->text[n] == '0')
		n++;
	*number = parse_digits(s, n);
	return n;
}

/* The register of a name in family `decl`; made on first use. */
static u32 member_register(struct parse *p, struct member *m, u32 decl, u32 number)
{
	struct member_of *of = m->last;

	/*
	 * Families of other functions and of blocks that are closed are gone: the innermost is
	 * reused.
	 */
	while (of && of->outer &&
	       (of->function != p->functions ||
		p->f->scopes.at[p->f->regdecls.at[of->decl].scope].closed))
		of = of->outer;
	for (struct member_of *x = of; x && x->function == p->functions; x = x->outer)
		if (x->decl == decl)
			return x->reg;
	if (!of || (of->function == p->functions &&
		    !p->f->scopes.at[p->f->regdecls.at[of->decl].scope].closed)) {
		struct member_of *inner = ARENA_NEW(&p->m->arena, struct member_of);

		if (!inner) {
			build_no_memory(p);
			return IR_NONE;
		}
		inner->outer = of;
		of = inner;
	}
	of->function = p->functions;
	of->decl = decl;
	of->reg = build_register(p, decl, number);
	m->last = of;
	return of->reg;
}

/*
 * The innermost family that a name is a member of. Where the digits can be split in two ways the
 * longer number counts, and a family that is too small leaves its place to the one around it, as
 * ptxas has it.
 */
static const struct binding *find_family(struct parse *p, const struct str *name, u32 *number)
{
	u32 v;

	for (size_t n = trailing_number(name, &v); n < name->len; n++) {
		const struct str *key = family_key(p, name->text, n, false);

		*number = parse_digits(name, n);
		if (!key || (name->text[n] == '0' && n + 1 < name->len))
			continue;
		for (const struct binding *b = key->user[0]; b; b = b->shadowed)
			if (*number < p->f->regdecls.at[b->index].count)
				return b;
	}
	return NULL;
}

struct binding *build_member(struct parse *p, struct str *name, struct binding *other)
{
	u32 number, reg;
	const struct binding *family = find_family(p, name, &number);
	struct member *m = name->user[2];

	if (!family || (other && other->depth >= family->depth))
		return other;
	if (!m) {
		m = ARENA_NEW(&p->m->arena, struct member);
		if (!m) {
			build_no_memory(p);
			return NULL;
		}
		name->user[2] = m;
	}
	reg = member_register(p, m, family->index, number);
	if (reg == IR_NONE)
		return NULL;
	m->as = (struct binding){
		.name = name, .index = reg, .depth = family->depth, .kind = BIND_MEMBER};
	m->epoch = p->epoch;
	return &m->as;
}

static bool is_closed(const struct parse *p, u32 function, u32 scope)
{
	return function != p->functions || p->f->scopes.at[scope].closed;
}

/* Remember under its family's key that a single name such as x3 is taken in this scope. */
void build_note_single(struct parse *p, const struct str *name)
{
	u32 number, scope = p->scopes.at[p->scopes.len - 1].id;
	size_t n = trailing_number(name, &number);
	struct str *key = n < name->len ? family_key(p, name->text, n, true) : NULL;
	struct single *s = key ? key->user[2] : NULL;

	while (s && s->outer && is_closed(p, s->function, s->scope))
		s = s->outer;
	if (!key || (s && s->function == p->functions && s->scope == scope && s->number <= number))
		return;
	if (!s || (!is_closed(p, s->function, s->scope) && s->scope != scope)) {
		struct single *inner = ARENA_NEW(&p->m->arena, struct single);

		if (!inner)
			return build_no_memory(p);
		inner->outer = s;
		s = inner;
	}
	s->function = p->functions;
	s->scope = scope;
	s->number = number;
	s->name = name;
	key->user[2] = s;
}

/* The lowest single name of this scope that the family would contain, or NULL. */
static const struct str *clashing_single(const struct parse *p, const struct str *key, u64 count)
{
	const struct single *s = key->user[2];

	while (s && is_closed(p, s->function, s->scope))
		s = s->outer;
	return s && s->scope == p->scopes.at[p->scopes.len - 1].id && s->number < count ? s->name
											: NULL;
}

void build_family(struct parse *p, struct build_value count, struct diag_span where)
{
	struct build_decl *d = &p->decl;
	s64 n = build_integer_of(p, count, 1, where);
	const struct str *clash;
	struct str *key;
	u32 decl;

	if (d->space != M_reg) {
		build_error(p, where, "parametrised names are for registers");
		return;
	}
	if (n < 0 || n > REGS_MAX) {
		build_error(p, where, "a register family has at most %u members", REGS_MAX);
		return;
	}
	if (!p->f)
		return build_private_family(p, (u32)n, where);
	if (!p->scopes.len)
		return;
	key = family_key(p, d->name->text, d->name->len, true);
	if (!key) {
		build_error(p, d->where, "the name is too long");
		return;
	}
	clash = clashing_single(p, key, (u64)n);
	if (clash) {
		build_error(p, d->where, "'%s<%u>' contains '%s', which is already defined here",
			    d->name->text, (u32)n, clash->text);
		return;
	}
	decl = build_declare_registers(p, (u32)n, true);
	build_bind(p, key, BIND_FAMILY, decl, d->where);
	p->family_depth = (u16)p->scopes.len;
	p->epoch++;
}

/* x3 after x<5> in one scope. */
bool build_clashes_with_family(struct parse *p, struct str *name)
{
	u32 number;
	size_t n = trailing_number(name, &number);
	struct str *key;

	if (n == name->len || !p->f || name->text[n] < '0' || name->text[n] > '9')
		return false;
	key = family_key(p, name->text, n, false);
	return key && build_same_scope(p, key->user[0]) &&
	       number < p->f->regdecls.at[((struct binding *)key->user[0])->index].count;
}

void build_register_declarator(struct parse *p, struct diag_span where)
{
	struct build_decl *d = &p->decl;
	u32 decl;

	if (d->dims || p->init.active) {
		build_error(p, where,
			    d->dims ? "registers have no dimensions"
				    : "registers have no initial value");
		return;
	}
	if (build_clashes_with_family(p, d->name)) {
		build_error(p, d->where, "'%s' is already defined here as a register",
			    d->name->text);
		return;
	}
	decl = build_declare_registers(p, 0, false);
	build_bind(p, d->name, BIND_REG, build_register(p, decl, 0), d->where);
}
