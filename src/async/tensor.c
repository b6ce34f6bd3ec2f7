/*
 * Copies that follow a tensor map: see tensor.h.
 */
#include "src/async/tensor.h"

#include "src/base/piece.h"

_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a tensor map has 128 bytes");

u32 tensor_element_bytes(u32 type)
{
	static const u8 bytes[TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

	return type < TENSOR_TYPES ? bytes[type] : 1;
}

/* What is moved as one: an element, or a slice of channels in interleaved layouts. */
static u32 unit_bytes(const struct tensor_map *m)
{
	return m->interleave ? 8u << m->interleave : tensor_element_bytes(m->type);
}

/* Units along dimension d of the tile; dimension 0 has no stride without interleave. */
static u32 tile_count(const struct tensor_map *m, u32 d)
{
	u32 step = d == 0 && !m->interleave ? 1 : m->step[d] ? m->step[d] : 1;

	if (m->interleave && d == m->rank - 2u)
		return 1;
	return (m->box[d] + step - 1) / step;
}

static u32 row_units(const struct tensor_map *m)
{
	return m->im2col ? (m->interleave ? 1 : m->channels) : tile_count(m, 0);
}

static u32 tile_rows(const struct tensor_map *m)
{
	u32 n = 1;

	if (m->im2col)
		return m->pixels;
	for (u32 d = 1; d < m->rank; d++)
		n *= tile_count(m, d);
	return n;
}

static u32 row_pitch(const struct tensor_map *m)
{
	u32 bytes = row_units(m) * unit_bytes(m), span = m->swizzle ? 16u << m->swizzle : 0;

	return bytes < span && !m->interleave ? span : bytes;
}

u32 tensor_bytes(const struct tensor_map *m)
{
	return tile_rows(m) * row_units(m) * unit_bytes(m);
}

u32 tensor_span(const struct tensor_map *m)
{
	return tile_rows(m) * row_pitch(m);
}

/* No tile is larger, since it has to fit into shared memory. */
#define TILE_BYTES_MAX ((u64)1 << 20)

static bool fields_in_range(const struct tensor_map *m)
{
	bool good = m->type < TENSOR_TYPES && m->rank && m->rank <= TENSOR_RANK_MAX &&
		    m->interleave <= 2 && m->swizzle <= 3 && m->fill <= 1 && m->im2col <= 1 &&
		    m->channels <= 256 && m->pixels <= 1024 &&
		    (m->rank >= 3 || (!m->interleave && !m->im2col));

	for (u32 d = 0; d < TENSOR_RANK_MAX; d++)
		good &= m->box[d] <= 256 && m->step[d] <= 8;
	return good;
}

bool tensor_is_sound(const struct tensor_map *m)
{
	u64 bytes;

	if (!fields_in_range(m))
		return false;
	bytes = row_pitch(m);
	if (m->im2col)
		return bytes * m->pixels <= TILE_BYTES_MAX;
	for (u32 d = 1; d < m->rank; d++)
		bytes *= tile_count(m, d);
	return bytes <= TILE_BYTES_MAX;
}

bool tensor_extent(const struct tensor_map *m, u64 *lo, u64 *hi)
{
	u64 size = (u64)m->dim[0] * unit_bytes(m), step;

	for (u32 d = 1; d < m->rank; d++)
		if (__builtin_mul_overflow(m->dim[d] ? (u64)m->dim[d] - 1 : 0, m->stride[d - 1],
					   &step) ||
		    __builtin_add_overflow(size, step, &size))
			return false;
	*lo = m->address;
	return !__builtin_add_overflow(m->address, size, hi);
}

/* Bits 4.. of a shared address, exchanged with those 3 places up. */
static u32 swizzled(const struct tensor_map *m, u32 at)
{
	u32 mask = m->swizzle ? (1u << m->swizzle) - 1 : 0;

	return at ^ ((at >> 7 & mask) << 4);
}

/* ---- one unit ---- */

/* Loads round f32 to tf32, to nearest even; subnormals stay, every NaN becomes the same. */
static void round_tf32(u8 *at, u32 bytes)
{
	for (u32 i = 0; i + 4 <= bytes; i += 4) {
		u32 v;

		memcpy(&v, at + i, 4);
		v = (v & 0x7fffffff) > 0x7f800000 ? 0x7fffe000
						  : (v + 0xfff + (v >> 13 & 1)) & 0xffffe000;
		memcpy(at + i, &v, 4);
	}
}

static void fill(u8 *at, u32 bytes, bool nan)
{
	if (!nan)
		memset(at, 0, bytes);
	for (u32 i = 0; nan && i < bytes; i++)
		at[i] = i & 1 ? 0x7f : 0xf7;
}

/* Maps that kernels change may be aligned to no more than their elements: nothing checks them. */
static void move_unit(void *to, const void *from, u32 bytes)
{
	if (bytes < PIECE_BYTES)
		piece_copy(to, from, bytes);
	else
		piece_move(to, from, bytes);
}

static void load_unit(const struct tensor_op *op, u32 at, u64 from, bool inside)
{
	u32 unit = unit_bytes(&op->map);

	for (u32 i = 0; i < unit; i += 16) {
		u32 n = unit < 16 ? unit : 16;
		u8 *to = op->shared + swizzled(&op->map, at + i);

		if (!inside) {
			fill(to, n, op->map.fill);
			continue;
		}
		move_unit(to, (const void *)(uintptr_t)(from + i), n);
		if (op->map.type >= TENSOR_TF32)
			round_tf32(to, n);
	}
}

static void store_unit(const struct tensor_op *op, u32 at, u64 to)
{
	u32 unit = unit_bytes(&op->map);

	for (u32 i = 0; i < unit; i += 16) {
		const u8 *from = op->shared + swizzled(&op->map, at + i);
		u8 *dst = (u8 *)(uintptr_t)(to + i);
		u32 n = unit < 16 ? unit : 16;

		if (op->apply)
			async_reduce(dst, from, n, tensor_element_bytes(op->map.type), op->apply);
		else
			move_unit(dst, from, n);
	}
}

/* Writes go in pieces of 16 bytes, whole even where the tensor ends inside one. */
static s64 whole_chunks(const struct tensor_map *m)
{
	u32 unit = unit_bytes(m);

	return unit < 16 ? (s64)(align_up((u64)m->dim[0] * unit, 16) / unit) : (s64)m->dim[0];
}

/* A unit of the tile: at `at` in shared memory, at `global` if it is inside of the tensor. */
static void run_unit(const struct tensor_op *op, u32 at, u64 global, bool inside)
{
	if (!op->store)
		load_unit(op, at, global, inside);
	else if (inside)
		store_unit(op, at, global);
}

/* Reports a unit: in pieces of 16 bytes at most, as they are swizzled. */
static void tell_unit(const struct tensor_op *op, const struct tensor_teller *t, u32 at, u64 global,
		      bool inside)
{
	u32 unit = unit_bytes(&op->map);

	for (u32 i = 0; i < unit; i += 16)
		t->piece(t->user, swizzled(&op->map, at + i), global + i, unit < 16 ? unit : 16,
			 inside);
}

/*
 * A row: dimension 0 from pos[0] on; the other coordinates are pos[1..]. t, a constant: the
 * recipient of a report; NULL: the copy is done.
 */
static inline __attribute__((always_inline)) void
walk_row(const struct tensor_op *op, u32 row, const s64 *pos, const struct tensor_teller *t)
{
	const struct tensor_map *m = &op->map;
	u32 unit = unit_bytes(m), n = row_units(m), at = op->at + row * row_pitch(m),
	    step = m->interleave && m->step[0] ? m->step[0] : 1;
	u64 base = m->address;
	bool inside = true;

	for (u32 d = 1; d < m->rank; d++) {
		inside &= pos[d] >= 0 && pos[d] < (s64)m->dim[d];
		base += (u64)pos[d] * m->stride[d - 1];
	}
	for (u32 i = 0; i < n; i++) {
		s64 x = pos[0] + (s64)i * step;
		bool in = inside && x >= 0 && x < (op->store ? whole_chunks(m) : (s64)m->dim[0]);

		if (t)
			tell_unit(op, t, at + i * unit, base + (u64)x * unit, in);
		else
			run_unit(op, at + i * unit, base + (u64)x * unit, in);
	}
}

static void run_row(const struct tensor_op *op, u32 row, const s64 *pos,
		    const struct tensor_teller *t)
{
	if (t)
		walk_row(op, row, pos, t);
	else
		walk_row(op, row, pos, NULL);
}

static void run_tile(const struct tensor_op *op, const struct tensor_teller *t)
{
	const struct tensor_map *m = &op->map;
	u32 i[TENSOR_RANK_MAX] = {0}, rows = tile_rows(m);

	for (u32 row = 0; row < rows; row++) {
		s64 pos[TENSOR_RANK_MAX] = {op->coord[0]};

		for (u32 d = 1; d < m->rank; d++)
			pos[d] = op->coord[d] + (s64)i[d] * (m->step[d] ? m->step[d] : 1);
		run_row(op, row, pos, t);
		for (u32 d = 1; d < m->rank && ++i[d] == tile_count(m, d); d++)
			i[d] = 0;
	}
}

/* Pixels are walked inside the box between the corners, from the coordinates on; every read is at
 * the pixel + offset. */
static void run_im2col(const struct tensor_op *op, const struct tensor_teller *t)
{
	const struct tensor_map *m = &op->map;
	u32 space = m->rank - 2u;
	s64 at[TENSOR_RANK_MAX] = {0};

	for (u32 d = 0; d < m->rank; d++)
		at[d] = op->coord[d];
	for (u32 row = 0; row < m->pixels; row++) {
		s64 pos[TENSOR_RANK_MAX] = {at[0]};
		u32 d = 1;

		for (u32 k = 1; k < m->rank; k++)
			pos[k] = at[k] + (k <= space && !op->store ? op->offset[k - 1] : 0);
		run_row(op, row, pos, t);
		for (; d <= space; d++) {
			at[d] += m->step[d] ? m->step[d] : 1;
			if (at[d] < (s64)m->dim[d] + m->upper[d - 1])
				break;
			at[d] = m->lower[d - 1];
		}
		if (d > space)
			at[d]++;
	}
}

/* The map of the operation has four rows in its box. */
static void run_four(const struct tensor_op *op, const struct tensor_teller *t)
{
	for (u32 row = 0; row < 4; row++) {
		s64 pos[TENSOR_RANK_MAX] = {op->coord[0], op->coord[1 + row]};

		run_row(op, row, pos, t);
	}
}

static void run_rows(const struct tensor_op *op, const struct tensor_teller *t)
{
	if (op->four)
		run_four(op, t);
	else
		(op->map.im2col ? run_im2col : run_tile)(op, t);
}

void tensor_run(const struct tensor_op *op)
{
	run_rows(op, NULL);
}

void tensor_tell(const struct tensor_op *op, const struct tensor_teller *t)
{
	run_rows(op, t);
}

/* ---- tensormap.replace ---- */

static const u8 replace_types[] = {
	TENSOR_U8,   TENSOR_U16,  TENSOR_U32,      TENSOR_S32,     TENSOR_U64,
	TENSOR_S64,  TENSOR_F16,  TENSOR_F32,      TENSOR_F32_FTZ, TENSOR_F64,
	TENSOR_BF16, TENSOR_TF32, TENSOR_TF32_FTZ,
};

bool tensor_replace(struct tensor_map *m, enum tensor_field field, u32 index, u64 value)
{
	if (index >= (field == TENSOR_STRIDE ? TENSOR_RANK_MAX - 1 : TENSOR_RANK_MAX))
		return false;
	switch (field) {
	case TENSOR_ADDRESS:
		m->address = value;
		return true;
	case TENSOR_RANK:
		m->rank = (u8)(value + 1);
		return value < TENSOR_RANK_MAX;
	case TENSOR_BOX:
		m->box[index] = (u16)value;
		return value <= 256;
	case TENSOR_DIM:
		m->dim[index] = (u32)value;
		return true;
	/* Strides are kept in units of 16 bytes, element strides less one in three bits. */
	case TENSOR_STRIDE:
		m->stride[index] = value & ~(u64)15;
		return true;
	case TENSOR_STEP:
		m->step[index] = (u8)(((value - 1) & 7) + 1);
		return value <= 8;
	case TENSOR_ELEMENT:
		if (value >= ARRAY_LEN(replace_types))
			return false;
		m->type = replace_types[value];
		return true;
	case TENSOR_INTERLEAVE:
		m->interleave = (u8)value;
		return value <= 2;
	case TENSOR_SWIZZLE:
		m->swizzle = (u8)value;
		return value <= 3;
	case TENSOR_FILL:
		m->fill = (u8)value;
		return value <= 1;
	default:
		return true; /* atomicity of the swizzle: no effect on the result */
	}
}
