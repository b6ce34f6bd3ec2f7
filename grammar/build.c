/*
 * Parser state: errors, scopes and names, module header. See build.h.
 */
#include "grammar/build.h"

#include <stdarg.h>

#define DEPTH_DEFAULT 256u

void build_no_memory(struct parse *p)
{
	if (!p->out_of_memory)
		diag_at(p->d, DIAG_ERROR, &p->m->source, (struct diag_span){p->offset, p->offset},
			NULL, "the module needs more memory than allowed");
	p->out_of_memory = p->stopped = true;
}

bool build_fits(const struct parse *p, u64 bytes)
{
	return p->m->arena.used_bytes + bytes <= p->m->arena.limit_bytes;
}

void build_error(struct parse *p, struct diag_span where, const char *fmt, ...)
{
	struct text t = {0};
	va_list args;

	p->insn_failed = true;
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(p->d, DIAG_ERROR, &p->m->source, where, NULL, "%s", t.at ? t.at : "out of memory");
	text_fini(&t);
}

void build_warn(struct parse *p, struct diag_span where, const char *fmt, ...)
{
	struct text t = {0};
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	diag_at(p->d, DIAG_WARNING, &p->m->source, where, NULL, "%s",
		t.at ? t.at : "out of memory");
	text_fini(&t);
}

void build_syntax_error(struct parse *p, struct diag_span where, const char *message)
{
	static const char prefix[] = "syntax error, ";

	if (p->out_of_memory)
		return;
	if (!strncmp(message, prefix, sizeof(prefix) - 1))
		message += sizeof(prefix) - 1;
	build_error(p, where, "%s", message);
}

bool build_stop(struct parse *p)
{
	return p->stopped;
}

/* After a syntax error: forget the half-read statement. */
void build_recover(struct parse *p)
{
	p->stack.len = p->stack_spans.len = 0;
	p->ops.len = p->spans.len = 0;
	p->guard = IR_NONE;
	p->insn_failed = false;
	p->addends.len = 0;
	p->unrunnable = NULL;
	p->init.active = false;
	p->linkage = IR_LOCAL;
	if (p->outer) {
		build_leave(p, p->offset);
		p->f = p->outer;
		p->outer = NULL;
	}
}

void build_recover_item(struct parse *p)
{
	build_recover(p);
	while (p->scopes.len)
		build_leave(p, p->offset);
	p->jumps.len = 0;
	p->f = NULL;
	p->section = NULL;
}

/* ---- scopes and names ---- */

static u32 depth_now(const struct parse *p)
{
	return (u32)p->scopes.len;
}

bool build_same_scope(const struct parse *p, const struct binding *b)
{
	return b && b->depth == depth_now(p);
}

struct binding *build_lookup(struct parse *p, struct str *name)
{
	struct binding *b = name->user[0];
	struct member *m = name->user[2];

	if (m && m->epoch == p->epoch)
		return &m->as;
	return !p->family_depth || (b && b->depth >= p->family_depth) ? b
								      : build_member(p, name, b);
}

static const char *const kind_names[] = {
	[BIND_VAR] = "variable",
	[BIND_FUNC] = "function",
	[BIND_REG] = "register",
	[BIND_MEMBER] = "register",
	[BIND_FAMILY] = "register family",
	[BIND_TABLE] = "table",
	[BIND_LABEL] = "label",
	[BIND_PRIVATE] = "register or local variable of the module",
};

static struct binding *new_binding(struct parse *p)
{
	struct binding *b = p->free_bindings;

	if (b)
		p->free_bindings = b->shadowed;
	else
		b = ARENA_NEW(&p->m->arena, struct binding);
	if (!b)
		build_no_memory(p);
	return b;
}

/* Give a name a meaning in the scope that is open. A second meaning in one scope is an error. */
struct binding *build_bind(struct parse *p, struct str *name, enum bind_kind kind, u32 index,
			   struct diag_span where)
{
	struct binding *b = name->user[0];
	/* On a family's key hangs something else there: struct single. */
	struct member *m = kind == BIND_FAMILY ? NULL : name->user[2];

	if (build_same_scope(p, b) || (depth_now(p) == 1 && build_private_used(p, b))) {
		diag_words(p->d, "error   : Duplicate definition of %s '%s'",
			   kind == BIND_LABEL ? "label" : "variable", name->text);
		build_error(p, where, "'%s' is already defined here as a %s", name->text,
			    kind_names[b->kind]);
		return NULL;
	}
	b = new_binding(p);
	if (!b)
		return NULL;
	if (depth_now(p) && !VEC_PUSH(&p->bound, b)) {
		build_no_memory(p);
		return NULL;
	}
	*b = (struct binding){.shadowed = name->user[0],
			      .name = name,
			      .index = index,
			      .kind = (u8)kind,
			      .depth = (u16)depth_now(p)};
	name->user[0] = b;
	if (m)
		m->epoch = 0;
	if ((kind == BIND_REG || kind == BIND_VAR) && p->f && !p->outer)
		build_note_single(p, name);
	return b;
}

void build_bind_module(struct parse *p, struct str *name, enum bind_kind kind, u32 index,
		       struct diag_span where)
{
	struct binding *inner = name->user[0], *b;

	while (inner && inner->shadowed)
		inner = inner->shadowed;
	if (inner && !inner->depth) {
		diag_words(p->d, "error   : Duplicate definition of function '%s'", name->text);
		build_error(p, where, "'%s' is already defined here as a %s", name->text,
			    kind_names[inner->kind]);
		return;
	}
	b = new_binding(p);
	if (!b)
		return;
	*b = (struct binding){.name = name, .index = index, .kind = (u8)kind};
	if (inner)
		inner->shadowed = b;
	else
		name->user[0] = b;
}

void build_enter(struct parse *p, u32 begin)
{
	u32 limit = p->options.nesting_limit ? p->options.nesting_limit : DEPTH_DEFAULT;
	struct build_scope s = {.first_bound = (u32)p->bound.len,
				.first_jump = (u32)p->jumps.len,
				.family_depth = p->family_depth};

	if (p->scopes.len >= limit) {
		build_error(p, (struct diag_span){begin, begin + 1},
			    "blocks are nested more than %u deep", limit);
		p->stopped = true;
	}
	if (p->f) {
		u32 n = (u32)p->f->insns.len;
		struct ir_scope scope = {
			.first_insn = n, .end_insn = n, .begin = begin, .end = begin};

		/*
		 * The scope of a prototype's parameters belongs to the prototype, like that of a
		 * function's.
		 */
		scope.parent = p->f->scopes.len ? p->scopes.at[p->scopes.len - 1].id : IR_NONE;
		s.id = (u32)p->f->scopes.len;
		if (!VEC_PUSH(&p->f->scopes, scope))
			build_no_memory(p);
	}
	if (!VEC_PUSH(&p->scopes, s))
		build_no_memory(p);
}

void build_leave(struct parse *p, u32 end)
{
	struct build_scope *s;

	if (!p->scopes.len)
		return;
	build_resolve_jumps(p);
	s = &p->scopes.at[p->scopes.len - 1];
	if (p->f && s->id < p->f->scopes.len) {
		p->f->scopes.at[s->id].end_insn = (u32)p->f->insns.len;
		p->f->scopes.at[s->id].end = end;
		p->f->scopes.at[s->id].closed = true;
	}
	p->family_depth = s->family_depth;
	while (p->bound.len > s->first_bound) {
		struct binding *b = p->bound.at[--p->bound.len];

		p->epoch += b->kind == BIND_FAMILY;
		b->name->user[0] = b->shadowed;
		b->shadowed = p->free_bindings;
		p->free_bindings = b;
	}
	p->scopes.len--;
}

/* ---- header ---- */

/* "9.0" is 90; of two digits' minors only those after the newest exist. 0: no version. */
static u32 read_version(const char *s, u32 n)
{
	u32 minor = 0;

	if (n < 3 || n > 4 || s[0] < '1' || s[0] > '9' || s[1] != '.')
		return 0;
	for (u32 i = 2; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		minor = minor * 10 + (u32)(s[i] - '0');
	}
	if (minor > 9 && s[0] < '0' + (char)(PTX_NEWEST / 10))
		return 0;
	return (u32)(s[0] - '0') * 10 + minor;
}

/*
 * Text of a newer version than all that is known is read as the newest, except when linting: what
 * it has of new instructions is found where it is.
 */
void build_version(struct parse *p, struct diag_span where)
{
	const char *s = p->m->source.text + where.begin;
	u32 version = read_version(s, where.end - where.begin);

	if (p->seen_version)
		build_error(p, where, "a second .version");
	else if (p->seen_item)
		build_error(p, where, ".version must be the first directive");
	p->seen_version = true;
	if (version > PTX_NEWEST && !p->options.lint)
		version = PTX_NEWEST;
	if (!isa_version_known(version)) {
		diag_words(p->d, "fatal   : Unsupported .version %.*s; current version is '%u.%u'",
			   (int)(where.end - where.begin), s, PTX_NEWEST / 10, PTX_NEWEST % 10);
		build_error(p, where, "PTX version %.*s is not known; the newest is %u.%u",
			    (int)(where.end - where.begin), s, PTX_NEWEST / 10, PTX_NEWEST % 10);
		p->version_error = true;
		version = PTX_NEWEST;
	}
	p->m->version = version;
}

static void need_version(struct parse *p, struct diag_span where)
{
	if (!p->seen_version && !p->seen_item)
		build_error(p, where, "a module begins with .version");
	p->seen_version = p->seen_item = true;
}

void build_item(struct parse *p, struct diag_span where)
{
	need_version(p, where);
	if (!p->seen_target)
		build_error(p, where, "a module begins with .version and .target");
	p->seen_target = true;
}

void build_target_begin(struct parse *p, struct diag_span where)
{
	need_version(p, where);
	if (p->seen_target)
		build_error(p, where,
			    p->target_text.len ? "a second .target"
					       : ".target must come right after .version");
	p->seen_target = true;
	p->target_seen = 0;
}

static void target_texmode(struct parse *p, bool independent, struct diag_span where)
{
	if (p->seen_texmode && p->m->texmode_independent != independent)
		build_error(p, where, "texmode_unified and texmode_independent exclude each other");
	p->seen_texmode = true;
	p->m->texmode_independent = independent;
}

/* Of several architectures the last one counts, as in ptxas. */
void build_target(struct parse *p, struct str *name, struct diag_span where)
{
	struct isa_target t;

	text_printf(&p->target_text, "%s%s", p->target_text.len ? ", " : "", name->text);
	if (!strcmp(name->text, "texmode_unified")) {
		target_texmode(p, false, where);
	} else if (!strcmp(name->text, "texmode_independent")) {
		target_texmode(p, true, where);
	} else if (!strcmp(name->text, "debug")) {
		p->m->debug = true;
	} else if (!strcmp(name->text, "map_f64_to_f32")) {
		p->m->map_f64_to_f32 = true;
	} else if (!isa_target_find(name->text, name->len, &t)) {
		build_error(p, where, "target '%s' is not known", name->text);
		p->target_seen++;
	} else {
		p->target_seen++;
		if (isa_target_ptx(t) > p->m->version && !p->version_error)
			build_error(p, where, "target %s needs PTX %u.%u or higher", name->text,
				    isa_target_ptx(t) / 10, isa_target_ptx(t) % 10);
		p->m->target = t;
	}
}

void build_target_end(struct parse *p, struct diag_span where)
{
	if (!p->target_seen)
		build_error(p, where, ".target names no architecture");
	p->m->target_text = arena_strdup(&p->m->arena, p->target_text.at ? p->target_text.at : "",
					 p->target_text.len);
	if (!p->m->target_text)
		build_no_memory(p);
}

void build_address_size(struct parse *p, struct build_value v, struct diag_span where)
{
	build_need(p, where, ".address_size", 23, 0);
	if (v.bits != 32 && v.bits != 64)
		build_error(p, where, ".address_size is 32 or 64");
	else
		p->m->address_size = (u32)v.bits;
	if (!p->seen_target || p->seen_address_size || p->m->funcs.len || p->m->vars.len)
		build_error(p, where,
			    p->seen_address_size ? "a second .address_size"
						 : ".address_size must come right after .target");
	p->seen_address_size = true;
}

void build_end_module(struct parse *p, struct diag_span where)
{
	if (!p->seen_version)
		build_error(p, where, "no .version: this is not a PTX module");
	else if (!p->seen_target)
		build_error(p, where, "no .target");
}
