/*
 * Lowering of texture and surface instructions to micro-ops of op_tex.c.
 * Source: PTX ISA "Texture Instructions", "Surface Instructions".
 */
#include "src/uop/atom.h"
#include "src/lower/lower_int.h"
#include "src/uop/texture.h"

/* ---- handles ---- */

/* A parameter of the kernel that holds the handle itself. */
static u32 load_handle(struct lower *l, s64 offset)
{
	u32 v = lower_vreg(l, ROW_X);
	struct uop *in = lower_emit_free(l, OP_load_param);

	in->mem.space = MEM_PARAM;
	in->mem.size = 8;
	in->mem.count = 1;
	in->mem.offset = offset;
	in->flags |= UOPF_WIDE_DATA;
	lower_write(l, FIELD_D, v);
	return v;
}

/* Row X of the handle, or of the address of the variable that holds it; IR_NONE: neither. */
static u32 handle_row(struct lower *l, const struct ir_operand *op)
{
	struct lower_place p;

	if (op->kind == IR_OP_COMPOUND)
		op = &l->f->operands.at[op->index];
	if (op->kind == IR_OP_REG)
		return lower_source(l, op, T_u64, ROW_X);
	if (op->kind == IR_OP_ADDR_VAR && lower_memory(l, op, ISA_NONE, &p) && p.space == MEM_PARAM)
		return load_handle(l, p.imm);
	return lower_address_row(l, op);
}

/* ---- coordinates ---- */

struct shape {
	u16 word;
	u8 geometry, coords;
	bool layered;
};

static const struct shape shapes[] = {
	{M_1d, TEX_1D, 1, false},     {M_2d, TEX_2D, 2, false},   {M_3d, TEX_3D, 3, false},
	{M_a1d, TEX_1D, 1, true},     {M_a2d, TEX_2D, 2, true},   {M_cube, TEX_CUBE, 3, false},
	{M_acube, TEX_CUBE, 3, true}, {M_2dms, TEX_MS, 2, false}, {M_a2dms, TEX_MS, 2, true},
};

static const struct shape *find_shape(const struct isa_form *form)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (isa_form_has(form, shapes[i].word))
			return &shapes[i];
	return NULL;
}

/* Rows of up to n elements of a vector operand from `first` on. */
static void list_vector_elements(struct lower *l, const struct ir_operand *op, u32 first, u32 n,
				 u32 type, u32 *rows)
{
	u32 len = lower_elements(l, op);

	for (u32 i = 0; i < n; i++) {
		struct ir_operand e;

		rows[i] = IR_NONE;
		if (first + i >= len)
			continue;
		e = lower_element(l, op, first + i);
		rows[i] = lower_source(l, &e, type, ROW_W);
	}
}

/* The coordinates stand last in the address: {layer or sample, x, y, z}. */
static void list_coordinates(struct lower *l, const struct ir_operand *address,
			     const struct shape *s, u32 type, u32 *rows)
{
	const struct ir_operand *c = &l->f->operands.at[address->index + (u32)address->imm - 1];
	u32 first = s->layered;

	if (s->layered)
		list_vector_elements(l, c, 0, 1, T_b32, &rows[TEX_ROW_LAYER]);
	if (s->geometry == TEX_MS)
		list_vector_elements(l, c, first++, 1, T_b32, &rows[TEX_ROW_SAMPLE]);
	list_vector_elements(l, c, first, s->coords, type, &rows[TEX_ROW_COORD]);
}

/* Rows for up to four elements that are written; '_' has none. */
static void target_rows(struct lower *l, const struct ir_operand *op, u32 n, enum row_class class,
			u32 *rows)
{
	for (u32 i = 0; i < n && i < 4; i++) {
		struct ir_operand e = lower_element(l, op, i);

		if (e.kind == IR_OP_REG)
			rows[i] = lower_target(l, &e, class);
	}
}

static void finish_rows(struct lower *l, const struct ir_operand *op, u32 n, enum row_class class,
			const u32 *rows)
{
	for (u32 i = 0; i < n && i < 4; i++) {
		struct ir_operand e = lower_element(l, op, i);

		if (rows[i] != IR_NONE)
			lower_finish(l, &e, rows[i], l->in->form->type[0], class);
	}
}

static void emit_rows(struct lower *l, const u32 rows[TEX_ROWS], bool writes)
{
	for (u32 i = 0; i < TEX_ROWS; i++)
		lower_ext(l, rows[i], writes && i <= TEX_ROW_PRED);
}

/* ---- tex, tld4 ---- */

static s64 gather_component(const struct isa_form *form)
{
	static const u16 words[] = {M_r, M_g, M_b, M_a};

	for (u32 i = 0; i < ARRAY_LEN(words); i++)
		if (isa_form_has(form, words[i]))
			return (s64)i << TEX_COMPONENT_SHIFT;
	return 0;
}

static s64 mode(const struct lower *l)
{
	enum isa_mnemonic opcode = isa_form_opcode(l->in->form);
	enum tex_mode m = opcode == OPCODE_tex_base    ? TEX_BASE
			  : opcode == OPCODE_tex_level ? TEX_LEVEL
			  : opcode == OPCODE_tex_grad  ? TEX_GRADIENT
						       : TEX_IMPLICIT;

	return (s64)m << TEX_MODE_SHIFT;
}

static s64 texture_word(const struct lower *l, const struct shape *s)
{
	const struct isa_form *form = l->in->form;
	bool gather = isa_form_opcode(form) == OPCODE_tld4,
	     integer = !gather && form->type[1] == T_s32;
	u32 type = form->type[0];

	return s->geometry | mode(l) | (s->layered ? TEX_LAYERED : 0) |
	       (integer ? TEX_INTEGER : 0) | (gather ? TEX_GATHER | gather_component(form) : 0) |
	       (type == T_f16 ? TEX_TO_HALF : 0) | (type == T_f16x2 ? TEX_PACK : 0);
}

/* May a warp be fetched at once? Rows: of the instruction. */
static s64 describe_plain(s64 imm, const u32 *rows)
{
	u32 geometry = imm & TEX_GEOMETRY, mode = imm >> TEX_MODE_SHIFT & 3;
	bool plain = !(imm & (TEX_GATHER | TEX_TO_HALF | TEX_PACK)) &&
		     rows[TEX_ROW_SAMPLER] == IR_NONE && rows[TEX_ROW_OFFSET] == IR_NONE;

	if (imm & TEX_INTEGER)
		return plain && geometry == TEX_1D && !(imm & TEX_LAYERED) && mode != TEX_LEVEL
			       ? TEX_NUMBERED
			       : 0;
	return plain && geometry <= TEX_3D && mode != TEX_GRADIENT ? TEX_PLAIN : 0;
}

void lower_tex(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct shape *s = find_shape(form);
	const struct ir_operand *address = lower_named(l, 'a'), *d = lower_named(l, 'd'),
				*pred = lower_named(l, 'p'), *level = lower_named(l, 'l');
	u32 rows[TEX_ROWS], n = lower_elements(l, d), handle;
	s64 imm;

	memset(rows, 0xff, sizeof(rows));
	handle = s ? handle_row(l, address) : IR_NONE;
	if (handle == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	imm = texture_word(l, s);
	if (address->imm == 3)
		rows[TEX_ROW_SAMPLER] = handle_row(l, &l->f->operands.at[address->index + 1]);
	list_coordinates(l, address, s, imm & TEX_INTEGER ? T_s32 : T_f32, rows);
	if (level)
		list_vector_elements(l, level, 0, 1, imm & TEX_INTEGER ? T_s32 : T_f32,
				     &rows[TEX_ROW_LEVEL]);
	if ((imm >> TEX_MODE_SHIFT & 3) == TEX_GRADIENT) {
		list_vector_elements(l, lower_named(l, 'x'), 0, 3, T_f32, &rows[TEX_ROW_LEVEL]);
		list_vector_elements(l, lower_named(l, 'y'), 0, 3, T_f32, &rows[TEX_ROW_LEVEL + 3]);
	}
	/* In one dimension the hardware takes no notice of it: measured. */
	if (s->geometry != TEX_1D)
		list_vector_elements(l, lower_named(l, 'e'), 0, 3, T_s32, &rows[TEX_ROW_OFFSET]);
	target_rows(l, d, n, ROW_W, &rows[TEX_ROW_VALUE]);
	if (pred && pred->kind == IR_OP_REG)
		rows[TEX_ROW_PRED] = lower_target(l, pred, ROW_P);
	lower_emit(l, OP_tex)->texture.how = (u16)(imm | describe_plain(imm, rows));
	lower_read(l, FIELD_A, handle);
	emit_rows(l, rows, true);
	finish_rows(l, d, n, ROW_W, &rows[TEX_ROW_VALUE]);
}

/* ---- queries ---- */

static const struct {
	u16 word;
	u8 query;
} queries[] = {
	{M_width, TEX_QUERY_WIDTH},
	{M_height, TEX_QUERY_HEIGHT},
	{M_depth, TEX_QUERY_DEPTH},
	{M_channel_data_type, TEX_QUERY_DATA_TYPE},
	{M_channel_order, TEX_QUERY_ORDER},
	{M_normalized_coords, TEX_QUERY_NORMALIZED},
	{M_array_size, TEX_QUERY_ARRAY_SIZE},
	{M_num_mipmap_levels, TEX_QUERY_LEVELS},
	{M_num_samples, TEX_QUERY_SAMPLES},
	{M_memory_layout, TEX_QUERY_LAYOUT},
	{M_filter_mode, TEX_QUERY_FILTER},
	{M_addr_mode_0, TEX_QUERY_ADDRESS_0},
	{M_addr_mode_1, TEX_QUERY_ADDRESS_1},
	{M_addr_mode_2, TEX_QUERY_ADDRESS_2},
	{M_force_unnormalized_coords, TEX_QUERY_UNNORMALIZED},
};

void lower_tex_query(struct lower *l)
{
	const struct ir_operand *d = lower_named(l, 'd'), *level = lower_named(l, 'l');
	bool surface = isa_form_opcode(l->in->form) == OPCODE_suq;
	u32 handle = handle_row(l, lower_named(l, 'a')), target, row = IR_NONE, i = 0;
	struct uop *in;

	while (i < ARRAY_LEN(queries) && !isa_form_has(l->in->form, queries[i].word))
		i++;
	if (i == ARRAY_LEN(queries) || handle == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	if (level)
		row = lower_source(l, level, T_u32, ROW_W);
	target = lower_target(l, d, ROW_W);
	in = lower_emit(l, OP_tex_query);
	in->texture.query = queries[i].query;
	in->texture.object = surface ? TEX_SURFACE : TEX_TEXTURE;
	lower_read(l, FIELD_A, handle);
	lower_read(l, FIELD_B, row);
	lower_write(l, FIELD_D, target);
	lower_finish(l, d, target, T_b32, ROW_W);
}

static void push_word(struct lower *l, u32 word)
{
	if (!VEC_PUSH(&l->ext, word))
		l->failed = true;
}

/* Addresses of all variables of the type, in all modules. */
void lower_istypep(struct lower *l)
{
	u32 type = l->in->form->type[0], n = 0, d, a;
	struct uop *in;

	a = lower_source(l, lower_named(l, 'a'), T_u64, ROW_X);
	d = lower_target(l, lower_named(l, 'd'), ROW_P);
	in = lower_emit(l, OP_is_type);
	in->variables.object = type == T_texref    ? TEX_TEXTURE
			       : type == T_surfref ? TEX_SURFACE
						   : TEX_SAMPLER;
	for (u32 u = 0; u < l->options.unit_len; u++) {
		const struct ir_module *m = l->options.units[u].module;

		for (u32 i = 0; i < m->vars.len; i++) {
			u64 at = l->options.units[u].var_address[i];

			if (m->vars.at[i]->type != type || m->vars.at[i]->space != M_global)
				continue;
			push_word(l, (u32)at);
			push_word(l, (u32)(at >> 32));
			n++;
		}
	}
	lower_last(l)->variables.number = n;
	lower_read(l, FIELD_A, a);
	lower_write(l, FIELD_D, d);
}

/* ---- suld, sust, sured ---- */

static u16 describe_surface(const struct lower *l, const struct shape *s)
{
	const struct isa_form *form = l->in->form;
	enum surf_bounds b = isa_form_has(form, M_clamp)  ? SURF_CLAMP
			     : isa_form_has(form, M_zero) ? SURF_ZERO
							  : SURF_TRAP;
	bool formatted =
		isa_form_opcode(form) == OPCODE_sust_p || isa_form_opcode(form) == OPCODE_sured_p;

	return (u16)(s->geometry | (s->layered ? TEX_LAYERED : 0) |
		     (formatted ? SURF_FORMATTED : 0) | (u32)b << SURF_BOUNDS_SHIFT);
}

/* Does any element of the operand stand in a 64-bit register? */
static bool has_wide_element(struct lower *l, const struct ir_operand *op, u32 n, u32 bytes)
{
	bool wide = bytes == 8;

	for (u32 i = 0; i < n; i++) {
		struct ir_operand e = lower_element(l, op, i);

		wide |= e.kind == IR_OP_REG && l->vregs.at[lower_register(l, &e, 0)].class == ROW_X;
	}
	return wide;
}

static void lower_surface_move(struct lower *l, bool load)
{
	const struct isa_form *form = l->in->form;
	const struct shape *s = find_shape(form);
	const struct ir_operand *address = lower_named(l, 'a'),
				*value = lower_named(l, load ? 'd' : 'b');
	u32 rows[TEX_ROWS], n = lower_elements(l, value), bytes = isa_type_bits(form->type[0]) / 8,
			    handle;
	enum row_class class = ROW_W;
	struct uop *in;

	memset(rows, 0xff, sizeof(rows));
	handle = s && n <= 4 ? handle_row(l, address) : IR_NONE;
	if (handle == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	if (has_wide_element(l, value, n, bytes))
		class = ROW_X;
	list_coordinates(l, address, s, T_s32, rows);
	for (u32 i = 0; i < n && !load; i++) {
		struct ir_operand e = lower_element(l, value, i);

		rows[i] = lower_source(l, &e, form->type[0], class);
	}
	if (load)
		target_rows(l, value, n, class, rows);
	in = lower_emit(l, load ? OP_suld : OP_sust);
	in->texture.how = describe_surface(l, s);
	in->mem.size = (u8)bytes;
	in->mem.count = (u8)n;
	in->flags |= class == ROW_X ? UOPF_WIDE_DATA : 0;
	lower_read(l, FIELD_A, handle);
	emit_rows(l, rows, load);
	if (load)
		finish_rows(l, value, n, class, rows);
}

void lower_suld(struct lower *l)
{
	lower_surface_move(l, true);
}

void lower_sust(struct lower *l)
{
	lower_surface_move(l, false);
}

/* The type as atomic operations name it. */
static u32 surface_reduce_type(u32 op, u32 type)
{
	if (op == ATOM_ADD)
		return isa_type_bits(type) == 64 ? T_u64 : T_u32;
	return type;
}

void lower_sured(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct shape *s = find_shape(form);
	const struct ir_operand *address = lower_named(l, 'a');
	u32 rows[TEX_ROWS], type = form->type[0], op = lower_atom_op(form), handle, v;
	enum row_class class = lower_class(isa_type_bits(type));
	struct uop *in;

	memset(rows, 0xff, sizeof(rows));
	handle = s && op < ATOM_ACTIONS ? handle_row(l, address) : IR_NONE;
	if (handle == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	list_coordinates(l, address, s, T_s32, rows);
	v = lower_source(l, lower_named(l, 'b'), type, class);
	in = lower_emit(l, OP_sured);
	in->texture.how = describe_surface(l, s);
	in->mem.size = (u8)(isa_type_bits(type) / 8);
	in->mem.count = 1;
	in->texture.action = (u8)op;
	in->texture.type = (u8)surface_reduce_type(op, type);
	in->flags |= class == ROW_X ? UOPF_WIDE_DATA : 0;
	lower_read(l, FIELD_A, handle);
	lower_read(l, FIELD_B, v);
	emit_rows(l, rows, false);
}
