/*
 * Matrices between registers and memory: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store. Lane
 * 4 g + t has, of a group of 8 rows and 4 words, word t of row g. PTX ISA "Warp-level matrix
 * instructions: ldmatrix", "stmatrix", "movmatrix", "wmma.load", "wmma.store"; the fragments of
 * wmma are those of sm_75 and later, measured.
 */
#include "src/mma/mma.h"
#include "src/mma/place.h"
#include "src/ops/observe.h"

static bool resolve_rows(struct gang *g, const struct uop *in, struct access *a)
{
	switch (in->mem.space) {
	case MEM_GLOBAL:
		return resolve_global(g, in, a);
	case MEM_SHARED:
		return resolve_shared(g, in, a);
	default:
		/* PTX ISA: a generic address has to lie in global or shared memory. */
		return resolve_generic(g, in, a) &&
		       (!a->local ||
			refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, a->local & a->mask) != NULL);
	}
}

/*
 * Rows of count matrices: lane 8 j + r has the address of row r of matrix j. False: a fault was
 * raised.
 */
static bool matrix_rows(struct gang *g, const struct uop *in, u32 w, struct access *a)
{
	*a = (struct access){.width = 16,
			     .warp = w,
			     .mask = in->mem.count < 4 ? (1u << 8 * in->mem.count) - 1 : FULL_MASK};
	get_addresses(g, in, a);
	return resolve_rows(g, in, a);
}

static inline bool load_matrices_warp(struct gang *g, const struct uop *in, u32 w, bool transposed)
{
	struct access a;

	if (!matrix_rows(g, in, w, &a))
		return false;
	for (u32 j = 0; j < in->mem.count; j++) {
		u32 row = g->env->program->ext[in->ext + j], v[WARP_LANES];

		for (u32 l = 0; l < WARP_LANES; l++) {
			u32 y = l >> 2, t = l & 3;

			if (transposed)
				v[l] = (u32)get(a.host[8 * j + 2 * t] + 2 * y, 2) |
				       (u32)get(a.host[8 * j + 2 * t + 1] + 2 * y, 2) << 16;
			else
				v[l] = (u32)get(a.host[8 * j + y] + 4 * t, 4);
		}
		if (row != NO_ROW)
			memcpy(ROW32(row) + w * WARP_LANES, v, sizeof(v));
	}
	return true;
}

static inline bool store_matrices_warp(struct gang *g, const struct uop *in, u32 w, bool transposed)
{
	struct access a;

	if (!matrix_rows(g, in, w, &a))
		return false;
	for (u32 j = 0; j < in->mem.count; j++) {
		const u32 *v = ROW32(g->env->program->ext[in->ext + j]) + w * WARP_LANES;

		for (u32 l = 0; l < WARP_LANES; l++) {
			u32 y = l >> 2, t = l & 3;

			if (transposed) {
				put(a.host[8 * j + 2 * t] + 2 * y, 2, v[l] & 0xffff);
				put(a.host[8 * j + 2 * t + 1] + 2 * y, 2, v[l] >> 16);
			} else {
				put(a.host[8 * j + y] + 4 * t, 4, v[l]);
			}
		}
	}
	return true;
}

/* A handler of its own for plain and for transposed matrices. */
#define MATRIX_HANDLER(name, body, transposed)                                                     \
	static bool name##_warp(struct gang *g, const struct uop *in, u32 w)                       \
	{                                                                                          \
		return body(g, in, w, transposed);                                                 \
	}                                                                                          \
	HANDLER(name)                                                                              \
	{                                                                                          \
		return mma_each_warp(g, in, name##_warp);                                          \
	}

MATRIX_HANDLER(matrix_load, load_matrices_warp, false)
MATRIX_HANDLER(matrix_load_transposed, load_matrices_warp, true)
MATRIX_HANDLER(matrix_store, store_matrices_warp, false)
MATRIX_HANDLER(matrix_store_transposed, store_matrices_warp, true)

/* ---- matrices of bytes ---- */

/*
 * Sixteen numbers of `bits` bits, packed from the lowest bit on, to bytes; those of 8 bits as they
 * are.
 */
static void unpack_row(const u8 *row, u32 bits, u8 *to)
{
	for (u32 i = 0; i < 16; i++) {
		u32 at = i * bits, pair = row[at / 8];

		if (at % 8 + bits > 8)
			pair |= (u32)row[at / 8 + 1] << 8;
		to[i] = (u8)(pair >> at % 8 & ((1u << bits) - 1));
	}
}

/*
 * Rows have 16 bytes; `pad`: bits of a number. Matrices of 8 rows: a register has bytes 4 t .. 4 t
 * + 3 of row g. Of 16 rows, transposed: two registers have, of rows 4 t .. 4 t + 3, bytes g and g +
 * 8.
 */
static inline bool load_bytes_warp(struct gang *g, const struct uop *in, u32 w, bool transposed)
{
	u8 row[WARP_LANES][16];
	struct access a;

	if (!matrix_rows(g, in, w, &a))
		return false;
	for (u32 l = 0; l < 8u * in->mem.count; l++)
		unpack_row((const u8 *)(uintptr_t)a.host[l], in->fragment.bits, row[l]);
	for (u32 j = 0; j < in->mem.count; j++) {
		u32 to = g->env->program->ext[in->ext + j];
		u8 v[WARP_LANES][4];

		for (u32 l = 0; l < WARP_LANES; l++)
			for (u32 i = 0; i < 4; i++) {
				u32 y = l >> 2, x = 4 * (l & 3) + i;

				v[l][i] = transposed ? row[16 * (j / 2) + x][y + 8 * (j % 2)]
						     : row[8 * j + y][x];
			}
		if (to != NO_ROW)
			memcpy(ROW32(to) + w * WARP_LANES, v, sizeof(v));
	}
	return true;
}

MATRIX_HANDLER(matrix_load_bytes, load_bytes_warp, false)
MATRIX_HANDLER(matrix_load_bytes_transposed, load_bytes_warp, true)

/* Transposed matrices of 16 rows and 8 columns: bytes of columns 2 t, 2 t + 1 and rows g, g + 8. */
static bool store_bytes_warp(struct gang *g, const struct uop *in, u32 w)
{
	struct access a;

	if (!matrix_rows(g, in, w, &a))
		return false;
	for (u32 j = 0; j < in->mem.count; j++) {
		const u32 *v = ROW32(g->env->program->ext[in->ext + j]) + w * WARP_LANES;

		for (u32 l = 0; l < WARP_LANES; l++)
			for (u32 i = 0; i < 4; i++) {
				u32 y = 8 * j + 2 * (l & 3) + i % 2, x = (l >> 2) + i / 2 * 8;

				put(a.host[y] + x, 1, v[l] >> 8 * i & 0xff);
			}
	}
	return true;
}

HANDLER(matrix_store_bytes)
{
	return mma_each_warp(g, in, store_bytes_warp);
}

static bool move_warp(struct gang *g, const struct uop *in, u32 w)
{
	u16 m[64], v[64];

	memcpy(m, ROW32(in->a) + w * WARP_LANES, sizeof(m));
	for (u32 i = 0; i < 64; i++)
		v[i] = m[i % 8 * 8 + i / 8];
	memcpy(ROW32(in->d) + w * WARP_LANES, v, sizeof(v));
	return true;
}

HANDLER(matrix_move)
{
	return mma_each_warp(g, in, move_warp);
}

/* ---- wmma ---- */

/* Pieces of a register in memory. */
struct row_pieces {
	u32 n, bytes;
	u64 at[WARP_LANES]; /* offset of the first */
	u64 step;           /* from one to the next */
};

/* Registers of A and B: see find_left and find_right of op_mma.c. */
static void factor_place(const struct wmma_move *m, u32 r, u64 stride, struct row_pieces *p)
{
	u32 bits = mma_bits(m->type), quads = m->words / 4,
	    pair = m->words_first || m->eights < 2 ? 1 : 2, row, quad;
	u32 per = bits == 64 ? 1 : 32 / bits;

	r %= m->eights * quads;
	row = 8 * (m->words_first ? r / quads : r % pair + pair * (r / (pair * quads)));
	quad = m->words_first ? r % quads : r / pair % quads;
	p->n = m->along ? 1 : per;
	p->bytes = m->along ? (bits == 64 ? 8 : 4) : bits / 8;
	p->step = stride * bits / 8;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 y = row + (l >> 2), x = (u64)(quad * 4 + (l & 3)) * per;

		p->at[l] = (m->along ? y * stride + x : x * stride + y) * bits / 8;
	}
}

static void sum_place(const struct wmma_move *m, u32 r, u64 stride, struct row_pieces *p)
{
	bool half = m->type == MMA_F16;
	u32 bytes = mma_bits(m->type) / 8, group = half ? r : r >> 1;

	p->n = half && !m->along ? 2 : 1;
	p->bytes = half && m->along ? 4 : bytes;
	p->step = stride * bytes;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u64 y = 8 * (group % m->eights) + (l >> 2),
		    x = 8 * (group / m->eights) + 2 * (l & 3) + (half ? 0 : r & 1);

		p->at[l] = (m->along ? y * stride + x : x * stride + y) * bytes;
	}
}

/* Fragments of Volta: see octet_place and octet_sum_place of place.h. */
static void octet_pieces(const struct wmma_move *m, u32 r, u64 stride, struct row_pieces *p)
{
	p->n = 1;
	p->bytes = 4;
	p->step = 0;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u32 y, x;

		octet_place(m->along, m->by_row, l, 2 * r, &y, &x);
		p->at[l] = (m->along ? y * stride + x : x * stride + y) * 2;
	}
}

static void octet_sum_pieces(const struct wmma_move *m, u32 r, u64 stride, struct row_pieces *p)
{
	bool half = m->type == MMA_F16;
	u32 bytes = half ? 2 : 4;

	p->n = half && !m->along ? 2 : 1;
	p->bytes = half && m->along ? 4 : bytes;
	p->step = stride * bytes;
	for (u32 l = 0; l < WARP_LANES; l++) {
		u32 y, x;

		octet_sum_place(m->type, m->by_row, m->by_column, l, half ? 2 * r : r, &y, &x);
		p->at[l] = (m->along ? y * stride + x : x * stride + y) * bytes;
	}
}

/* Addresses of piece e of register r. */
static void place_piece(const struct gang *g, const struct uop *in, u32 r, u32 e, struct access *a,
			struct row_pieces *p)
{
	struct wmma_move m;
	u64 stride = ROW32(in->b)[a->warp * WARP_LANES];

	m = in->wmma;
	if (m.octets && m.sum)
		octet_sum_pieces(&m, r, stride, p);
	else if (m.octets)
		octet_pieces(&m, r, stride, p);
	else if (m.sum)
		sum_place(&m, r, stride, p);
	else
		factor_place(&m, r, stride, p);
	get_addresses(g, in, a);
	for (u32 l = 0; l < WARP_LANES; l++)
		a->address[l] += p->at[l] + e * p->step;
	a->width = p->bytes;
	a->uniform = false;
}

static bool find_piece(struct gang *g, const struct uop *in, u32 r, u32 e, struct access *a,
		       struct row_pieces *p)
{
	place_piece(g, in, r, e, a, p);
	return resolve_rows(g, in, a);
}

static bool wmma_load_warp(struct gang *g, const struct uop *in, u32 w)
{
	struct access a = {.warp = w, .mask = FULL_MASK};
	struct row_pieces p;

	for (u32 r = 0; r < in->mem.count; r++) {
		u32 row = g->env->program->ext[in->ext + r];
		u64 v[WARP_LANES] = {0};

		p.n = 1;
		for (u32 e = 0; e < p.n; e++) {
			if (!find_piece(g, in, r, e, &a, &p))
				return false;
			for (u32 l = 0; l < WARP_LANES; l++)
				v[l] |= get(a.host[l], p.bytes) << 8 * p.bytes * e;
		}
		for (u32 l = 0; row != NO_ROW && l < WARP_LANES; l++) {
			if (in->flags & UOPF_WIDE_DATA)
				ROW64(row)[w * WARP_LANES + l] = v[l];
			else
				ROW32(row)[w * WARP_LANES + l] = (u32)v[l];
		}
	}
	return true;
}

HANDLER(wmma_load)
{
	return mma_each_warp(g, in, wmma_load_warp);
}

static bool wmma_store_warp(struct gang *g, const struct uop *in, u32 w)
{
	struct access a = {.warp = w, .mask = FULL_MASK};
	struct row_pieces p;

	for (u32 r = 0; r < in->mem.count; r++) {
		u32 row = g->env->program->ext[in->ext + r];

		p.n = 1;
		for (u32 e = 0; e < p.n; e++) {
			if (!find_piece(g, in, r, e, &a, &p))
				return false;
			for (u32 l = 0; l < WARP_LANES; l++) {
				u64 v = in->flags & UOPF_WIDE_DATA ? ROW64(row)[w * WARP_LANES + l]
								   : ROW32(row)[w * WARP_LANES + l];

				put(a.host[l], p.bytes, v >> 8 * p.bytes * e);
			}
		}
	}
	return true;
}

HANDLER(wmma_store)
{
	return mma_each_warp(g, in, wmma_store_warp);
}

static void tell_fragment(struct gang *g, const struct uop *in, u32 w)
{
	struct access a = {.warp = w, .mask = FULL_MASK};
	struct row_pieces p = {.n = 1};
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.warp = cta_warp(g, w),
				.kind = in->inner == OP_wmma_store ? ACCESS_STORE : ACCESS_LOAD,
				.size = 1,
				.count = 1,
				.extra = true,
				.address = a.address};

	for (u32 r = 0; r < in->mem.count; r++, p.n = 1)
		for (u32 k = 0; k < p.n; k++) {
			place_piece(g, in, r, k, &a, &p);
			e.bytes = p.bytes;
			if (in->mem.space == MEM_GENERIC)
				report_generic(g, &e, a.address, FULL_MASK);
			else
				report_lanes(g, &e, FULL_MASK, (enum mem_space)in->mem.space);
		}
}

/* A warp whose lanes are not together faults, which is not an access. */
HANDLER(watch_wmma)
{
	for (u32 w = 0; tells_all(g) && w < WARPS; w++)
		if (mma_warp_is_whole(g, w) && mask_of(g, w))
			tell_fragment(g, in, w);
	return PLAIN(g, in);
}
