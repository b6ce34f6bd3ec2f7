/*
 * The rows that a micro-op reads and writes, as its row in the tables says.
 */
#include "src/uop/rows.h"
#include "src/uop/atom.h"
#include "src/uop/texture.h"

#include <string.h>

/* Rows of the lists that have a fixed number: their order is the rules' in src/lower/rules. */
enum { IGNORE_ROWS = 1, PARTS_ROWS = 4, BULK_ROWS = 5, TENSOR_ROWS = 10 };

struct visit {
	const u32 *ext;
	uop_row_fn *see;
	void *user;
};

static void see_row(const struct visit *v, u32 row, bool write)
{
	if (row != NO_ROW)
		v->see(v->user, row, write);
}

/* Entries first to first + n of ext. */
static void see_list(const struct visit *v, u32 first, u32 n, bool write)
{
	for (u32 i = first; i < first + n; i++)
		see_row(v, v->ext[i], write);
}

/* Of lane operations: the letters of the shape after "D_", see all.def. */
static void see_lane(const struct visit *v, const struct uop *in)
{
	const char *shape = uop_info[in->inner].shape;
	const u32 rows[] = {in->a, in->b, in->c, in->lane.e};
	u32 n = (u32)strspn(shape + 2, "WXPV");

	for (u32 i = 0; i < n && i < ARRAY_LEN(rows); i++)
		see_row(v, rows[i], false);
	if (strchr(shape, 'u'))
		see_row(v, in->b, false);
	if (strchr(shape, 'V'))
		see_list(v, 0, 4, false);
	if (strchr(shape, 'i'))
		see_row(v, in->lane.e, false);
	if (strchr(shape, 'o'))
		see_row(v, in->lane.e, true);
	see_row(v, in->d, true);
}

static void see_members(const struct visit *v, const struct uop *in)
{
	for (const char *c = uop_info[in->inner].rows; *c; c++) {
		u32 row = *c == 'a' ? in->a : *c == 'b' ? in->b : *c == 'c' ? in->c : in->d;

		see_row(v, row, *c >= 'A' && *c <= 'Z');
	}
}

/* Elements of 16 bytes are two rows each; only scalars that are one row have no list. */
static void see_atomic(const struct visit *v, const struct uop *in)
{
	u32 halves = in->mem.size == 16 ? 2 : 1, n = in->mem.count * halves;

	if (n == 1)
		return;
	see_list(v, 0, n, true);
	see_list(v, n, n + (in->atomic.action == ATOM_CAS ? halves : 0), false);
}

static void see_product(const struct visit *v, const struct uop_product *p)
{
	see_list(v, 0, p->d, true);
	see_list(v, p->d, (u32)p->a + p->b + p->c + p->more, false);
}

static void see_ext(const struct visit *v, const struct uop *in)
{
	u32 count = uop_has_access(in->inner) ? in->mem.count : 0;

	switch ((enum uop_list)uop_info[in->inner].list) {
	case LIST_NONE:
		break;
	case LIST_RESULTS:
		see_list(v, 0, count > 1 ? count : 0, true);
		break;
	case LIST_VALUES:
		see_list(v, 0, count > 1 ? count : 0, false);
		break;
	case LIST_FRAGMENT:
		see_list(v, 0, count, true);
		break;
	case LIST_CONTENTS:
		see_list(v, 0, count, false);
		break;
	case LIST_ATOMIC:
		see_atomic(v, in);
		break;
	case LIST_WARP:
		see_list(v, 1, 1, false);
		see_list(v, 0, 1, true);
		break;
	case LIST_IGNORE:
		see_list(v, 0, IGNORE_ROWS, false);
		break;
	case LIST_PARTS:
		see_list(v, 0, PARTS_ROWS, false);
		break;
	case LIST_BULK:
		see_list(v, 0, BULK_ROWS, false);
		break;
	case LIST_REMOTE:
		see_list(v, 0, 1 + count, false);
		break;
	case LIST_TENSOR:
		see_list(v, 0, TENSOR_ROWS, false);
		break;
	case LIST_FETCH:
		see_list(v, TEX_ROW_PRED + 1, TEX_ROWS - TEX_ROW_PRED - 1, false);
		see_list(v, 0, TEX_ROW_PRED + 1, true);
		break;
	case LIST_PLACE:
		see_list(v, 0, TEX_ROWS, false);
		break;
	case LIST_PRODUCT:
		see_product(v, &in->product);
		break;
	}
}

void uop_each_row(const struct uop *in, const u32 *ext, uop_row_fn *see, void *user)
{
	struct visit v = {ext + in->ext, see, user};

	see_row(&v, in->guard, false);
	if (uop_is_lane(in->inner)) {
		see_lane(&v, in);
		return;
	}
	see_members(&v, in);
	see_ext(&v, in);
}

struct search {
	u32 row;
	bool found;
};

static void compare_row(void *user, u32 row, bool write)
{
	struct search *s = user;

	s->found |= write && row == s->row;
}

bool uop_writes(const struct uop *in, const u32 *ext, u32 row)
{
	struct search s = {row, false};

	uop_each_row(in, ext, compare_row, &s);
	return s.found;
}
