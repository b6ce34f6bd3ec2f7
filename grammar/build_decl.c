/*
 * Declarations: variables and parameters; registers are in build_register.c.
 * Source: PTX ISA "State Spaces", "Types", "Variables"; limits as ptxas 13.0 enforces them.
 */
#include "grammar/build.h"

void build_linkage(struct parse *p, u32 linkage, struct diag_span where)
{
	p->linkage = (u8)linkage;
	p->linkage_span = where;
	p->seen_item |= linkage != IR_LOCAL;
}

void build_decl_begin(struct parse *p, u32 space, struct diag_span where)
{
	build_item(p, where);
	p->decl = (struct build_decl){.space = (u16)space, .vec = 1, .linkage = p->linkage};
	if (space == M_sreg)
		build_error(p, where, ".sreg names are predefined");
	if (!p->f && space == M_param)
		build_error(p, where, ".param is not allowed at module scope");
	if (!p->f && (space == M_reg || space == M_local))
		build_private_allowed(p, space, where);
	p->init = (struct build_init){.bytes = p->init.bytes,
				      .relocs = p->init.relocs,
				      .field_names = p->init.field_names,
				      .field_values = p->init.field_values};
}

void build_align(struct parse *p, struct build_value v, struct diag_span where)
{
	s64 n = build_integer_of(p, v, 1, where);

	if (n <= 0 || n > (1 << 30) || !is_pow2((u64)n))
		build_error(p, where, "an alignment is a power of two");
	else
		p->decl.align = (u32)n;
}

void build_vector(struct parse *p, u32 word, struct diag_span where)
{
	if (word == M_v8)
		build_error(p, where, "vectors have 2 or 4 elements");
	p->decl.vec = word == M_v2 ? 2 : 4;
}

void build_managed(struct parse *p, struct diag_span where)
{
	if (p->decl.space != M_global)
		build_error(p, where, ".managed is for .global variables");
	build_need(p, where, ".managed", 40, 30);
	p->decl.managed = true;
}

void build_unified(struct parse *p, struct build_value a, struct build_value b,
		   struct diag_span where)
{
	bool of_function = p->decl.space == ISA_NONE && p->f;

	build_need(p, where, ".unified", 80, 90);
	*(of_function ? &p->f->unified : &p->decl.unified) = true;
	(of_function ? p->f->unified_id : p->decl.unified_id)[0] = a.bits;
	(of_function ? p->f->unified_id : p->decl.unified_id)[1] = b.bits;
}

void build_decl_type(struct parse *p, u32 type, struct diag_span where)
{
	struct build_decl *d = &p->decl;

	if (!isa_type_declarable(type))
		build_error(p, where, ".%s is not a type of variables", isa_word_text(type));
	else if (type == T_pred && d->space != M_reg)
		build_error(p, where, "predicates live in .reg only");
	else if (isa_type_class(type) == ISA_OPAQUE && d->space != M_global && d->space != M_param)
		build_error(p, where, ".%s lives in .global or .param only", isa_word_text(type));
	else if (d->vec > 1 && (type == T_pred || isa_type_bits(type) * d->vec > 128 ||
				isa_type_class(type) == ISA_OPAQUE))
		build_error(p, where, "a vector of %u .%s is longer than 128 bits", d->vec,
			    isa_word_text(type));
	else if (type == T_samplerref && !p->m->texmode_independent)
		build_error(p, where, ".samplerref is for .target texmode_independent");
	d->type = (u8)type;
	if (d->space == M_reg)
		build_need_reg(p, type, where);
}

void build_pointer(struct parse *p, u32 space)
{
	p->decl.ptr = true;
	p->decl.ptr_space = (u16)space;
	p->decl.ptr_align = 4;
}

void build_opaque_pointer(struct parse *p, u32 type, struct diag_span where)
{
	if (isa_type_class(type) != ISA_OPAQUE)
		build_error(p, where,
			    ".ptr names a state space, .texref, .samplerref or .surfref, not .%s",
			    isa_word_text(type));
	build_need(p, where, "a pointer to an opaque type", 43, 0);
	build_pointer(p, type);
}

void build_pointer_align(struct parse *p, struct build_value v, struct diag_span where)
{
	s64 n = build_integer_of(p, v, 4, where);

	if (n <= 0 || n > (1 << 30) || !is_pow2((u64)n))
		build_error(p, where, "an alignment is a power of two");
	else
		p->decl.ptr_align = (u32)n;
}

void build_declarator(struct parse *p, struct str *name, struct diag_span where)
{
	if (name && memchr(name->text, '.', name->len))
		build_error(p, where, "'%s' is not a name", name->text);
	p->decl.name = name;
	p->decl.where = where;
	p->decl.dims = 0;
	p->decl.open_dim = false;
	p->insn_failed = false;
}

void build_dim(struct parse *p, const struct build_value *v, struct diag_span where)
{
	struct build_decl *d = &p->decl;
	s64 n = v ? build_integer_of(p, *v, 1, where) : 0;

	if (d->dims == IR_DIMS) {
		build_error(p, where, "more than %u dimensions", IR_DIMS);
		return;
	}
	if (!v && d->dims)
		build_error(p, where, "only the first dimension may be left out");
	if (v && n <= 0) {
		bool large = n < 0 && v->type == T_u64;

		build_error(p, where,
			    large ? "the variable is larger than 2^40 bytes"
				  : "the size of an array is positive");
		n = 1;
	}
	d->open_dim |= !v;
	d->dim[d->dims++] = (u64)n;
}

/* ---- variables ---- */

static bool size_of(struct parse *p, struct ir_var *v, struct diag_span where)
{
	u64 size = max_u64(isa_type_bits(v->type) / 8, 1) * v->vec;

	if (isa_type_class(v->type) == ISA_OPAQUE)
		size = 8;
	if (!v->align)
		v->align = (u32)size;
	/* A dimension left out is counted when the initial values are known. */
	for (u32 i = 0; i < v->dims; i++) {
		u64 n = i || !v->unsized ? v->dim[i] : 1;

		if (n > BUILD_VAR_MAX / size) {
			build_error(p, where, "the variable is larger than 2^40 bytes");
			return false;
		}
		size *= n;
	}
	v->size_bytes = v->unsized ? 0 : size;
	return true;
}

static struct ir_var *new_var(struct parse *p)
{
	const struct build_decl *d = &p->decl;
	struct ir_var *v = ARENA_NEW(&p->m->arena, struct ir_var);

	if (!v) {
		build_no_memory(p);
		return NULL;
	}
	*v = (struct ir_var){
		.name = d->name,
		.space = d->space,
		.type = d->type,
		.vec = d->vec,
		.linkage = d->linkage,
		.managed = d->managed,
		.unified = d->unified,
		.unified_id = {d->unified_id[0], d->unified_id[1]},
		.ptr = d->ptr,
		.ptr_space = d->ptr_space,
		.ptr_align = d->ptr_align,
		.align = d->align,
		.dims = d->dims,
		.is_array = d->dims > 0,
		.unsized = d->open_dim,
		.func = p->f ? p->f->index : IR_NONE,
		.reg = IR_NONE,
		.scope = p->scopes.len ? p->scopes.at[p->scopes.len - 1].id : 0,
		.begin = d->where.begin,
		.declared = d->where.begin,
	};
	v->definition = v;
	memcpy(v->dim, d->dim, sizeof(v->dim));
	return v;
}

static void check_variable(struct parse *p, struct ir_var *v, struct diag_span where)
{
	bool has_init = p->init.active;

	if (v->linkage != IR_LOCAL && v->linkage != IR_EXTERN && p->f)
		build_error(p, p->linkage_span,
			    "only module-scope variables are .visible, .weak or .common");
	if (v->linkage == IR_COMMON && v->space != M_global)
		build_error(p, p->linkage_span, ".common is for .global variables");
	if (has_init && v->linkage == IR_EXTERN)
		build_error(p, where, "an .extern variable has no initial value");
	if (v->space == M_reg && v->dims)
		build_error(p, where, "registers have no dimensions");
	if (has_init && v->space != M_global && v->space != M_const)
		build_error(p, where, "a .%s variable has no initial value",
			    isa_word_text(v->space));
	if (v->unsized && !has_init && v->linkage != IR_EXTERN)
		build_error(p, where, "the size of '%s' is missing", v->name->text);
	if (isa_type_class(v->type) == ISA_OPAQUE && (p->f || v->space == M_param))
		build_error(p, where, ".%s variables live at module scope", isa_word_text(v->type));
}

static void take_init(struct parse *p, struct ir_var *v)
{
	struct build_init *in = &p->init;

	v->has_init = true;
	if (v->unsized) {
		v->unsized = false;
		v->dim[0] = in->outermost;
		if (!size_of(p, v, p->decl.where))
			return;
	}
	v->sampler_len = (u32)in->field_values.len;
	v->sampler_fields = arena_copy(&p->m->arena, in->field_names.at,
				       sizeof(*in->field_names.at) * in->field_names.len);
	v->sampler_values = arena_copy(&p->m->arena, in->field_values.at,
				       sizeof(*in->field_values.at) * in->field_values.len);
	v->relocs_len = (u32)in->relocs.len;
	v->relocs =
		arena_copy(&p->m->arena, in->relocs.at, sizeof(*in->relocs.at) * in->relocs.len);
	if (!v->sampler_fields || !v->sampler_values || !v->relocs)
		build_no_memory(p);
	if (in->failed || isa_type_class(v->type) == ISA_OPAQUE)
		return;
	v->data_len = min_u64(in->bytes.len, v->size_bytes);
	v->data = arena_copy(&p->m->arena, in->bytes.at, (size_t)v->data_len);
	if (!v->data)
		build_no_memory(p);
}

/* A declaration and a definition of one variable may both appear at module scope. */
static bool merge_extern(struct parse *p, struct ir_var *v)
{
	struct binding *b = v->name->user[0];
	struct ir_var *old;

	if (p->f || !build_same_scope(p, b) || b->kind != BIND_VAR)
		return false;
	old = p->m->vars.at[b->index];
	if ((old->linkage != IR_EXTERN && v->linkage != IR_EXTERN) || old->space != v->space ||
	    old->type != v->type)
		return false;
	if (old->linkage == IR_EXTERN && v->linkage != IR_EXTERN) {
		v->declared = old->declared;
		*old = *v;
		old->definition = old;
	}
	return true;
}

void build_variable(struct parse *p, struct diag_span where)
{
	struct build_decl *d = &p->decl;
	struct ir_var *v;

	if (d->space == M_reg && p->f) {
		build_register_declarator(p, where);
		p->init.active = false;
		return;
	}
	if (d->space == M_tex) { /* the old spelling of .global .texref */
		d->space = M_global;
		d->type = T_texref;
	}
	v = new_var(p);
	if (!v)
		return;
	check_variable(p, v, d->where);
	if (!size_of(p, v, d->where))
		v->size_bytes = 0;
	else if (p->init.active)
		take_init(p, v);
	p->init.active = false;
	if (build_clashes_with_family(p, v->name)) {
		build_error(p, d->where, "'%s' is already defined here as a register",
			    v->name->text);
		return;
	}
	if (merge_extern(p, v))
		return;
	build_count_const(p, v);
	if (v->linkage == IR_COMMON)
		build_need(p, p->linkage_span, ".common", 50, 0);
	if (!BUILD_HAS_ROOM(p, &p->m->vars) || !VEC_PUSH(&p->m->vars, v))
		return build_no_memory(p);
	if (!p->f && (v->space == M_reg || v->space == M_local))
		return build_private(p, (u32)p->m->vars.len - 1);
	build_bind(p, v->name, BIND_VAR, (u32)p->m->vars.len - 1, d->where);
	if (p->f && !VEC_PUSH(&p->f->vars, (u32)p->m->vars.len - 1))
		build_no_memory(p);
}

static void check_param(struct parse *p, const struct ir_var *v, struct diag_span where)
{
	if (v->space != M_param && v->space != M_reg)
		build_error(p, where, "a parameter is .param or .reg");
	if (p->f->is_entry && v->space == M_reg)
		build_error(p, where, "kernel parameters are .param");
	if (p->f->is_entry && p->list == BUILD_RESULTS)
		build_error(p, where, "a kernel returns nothing");
	if (v->space == M_reg && v->dims)
		build_error(p, where, "registers have no dimensions");
	if (!p->f->is_entry && isa_type_class(v->type) == ISA_OPAQUE)
		build_error(p, where, ".%s is for kernel parameters", isa_word_text(v->type));
	if (v->ptr &&
	    (!p->f->is_entry || v->space != M_param || isa_type_class(v->type) == ISA_FLOAT))
		build_error(p, where, ".ptr is for integer kernel parameters");
}

void build_param(struct parse *p, struct diag_span where)
{
	struct build_decl *d = &p->decl;
	bool named = d->name != NULL;
	struct ir_var *v;
	u32 index;

	if (!named)
		d->name = intern_get(&p->m->names_table, "_", 1);
	if (!p->f || !d->name)
		return;
	d->linkage = IR_LOCAL;
	v = new_var(p);
	if (!v || !size_of(p, v, where))
		return;
	check_param(p, v, d->where);
	if (v->unsized && p->f->is_entry)
		build_error(p, d->where, "the size of kernel parameter '%s' is missing",
			    v->name->text);
	if (v->unsized)
		p->f->variadic = true;
	if (p->list == BUILD_RESULTS && p->list_vars.len &&
	    (v->space != M_reg || p->m->vars.at[p->list_vars.at[0]]->space != M_reg))
		build_error(p, d->where, "only results in registers may be several");
	if (!BUILD_HAS_ROOM(p, &p->m->vars) || !VEC_PUSH(&p->m->vars, v) ||
	    !VEC_PUSH(&p->list_vars, (u32)p->m->vars.len - 1))
		return build_no_memory(p);
	index = (u32)p->m->vars.len - 1;
	if (v->space == M_reg)
		v->reg = build_register(p, build_declare_registers(p, 0, false), 0);
	if (named)
		build_bind(p, d->name, v->space == M_reg ? BIND_REG : BIND_VAR,
			   v->space == M_reg ? v->reg : index, d->where);
}
