/*
 * Which image of a container a device gets, and what to tell the user when there is none.
 */
#include "src/dev/image/image_int.h"

#include "src/arch/arch.h"

/* A family target (100f) runs on devices of its major number from its own on: 100, 103, not 120. */
static bool same_family(u32 target, u32 sm)
{
	return target / 10 == sm / 10 && target <= sm;
}

u32 image_match_target(struct image_target t, u32 sm, enum image_match *match)
{
	u32 specific = t.suffix == 'a' ? 2 : t.suffix == 'f' ? 1 : 0;
	u32 number = (u32)min_u64(t.sm, 1u << 24);

	if ((t.suffix == 'a' && t.sm != sm) || (t.suffix == 'f' && !same_family(t.sm, sm)))
		return 0;
	*match = t.sm == sm ? IMAGE_MATCH_EXACT : t.sm < sm ? IMAGE_MATCH_BELOW : IMAGE_MATCH_ABOVE;
	/* Below every score of the line after it, and falling as the target rises. */
	if (*match == IMAGE_MATCH_ABOVE)
		return (1u << 25) - number;
	return 1u << 28 | number << 2 | specific;
}

/* An image that could be taken. Higher keys are better; the lower index breaks ties. */
struct candidate {
	u64 key;
	u32 image;
};

/*
 * Machine code runs on devices of its major number from its own minor number on; the suffixes say
 * less than that or, with 'f', the same. A GPU refuses a cubin for another one, and so is it here,
 * although its PTX could be run.
 */
static bool runs_binary(struct image_target t, u32 sm)
{
	return t.sm / 10 == sm / 10 && t.sm <= sm && (t.suffix != 'a' || t.sm == sm);
}

/* The key of an image for a device, 0: not for it. */
static u64 candidate_key(const struct image *img, u32 sm)
{
	enum image_match match;
	u64 score = image_match_target(img->target, sm, &match);

	if (img->kind == IMAGE_SASS && !runs_binary(img->target, sm))
		return 0;
	return score ? score << 32 | (u64)img->isa_major << 16 | img->isa_minor : 0;
}

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->image < b->image ? -1 : 1;
}

static u32 best_ptx(const struct image_list *l, const struct image_container *c, u32 sm)
{
	u32 best = UINT32_MAX;
	u64 best_key = 0, key;

	for (u32 i = c->first; i < c->first + c->count; i++) {
		key = l->images.at[i].kind == IMAGE_PTX ? candidate_key(&l->images.at[i], sm) : 0;
		if (key > best_key) {
			best_key = key;
			best = i;
		}
	}
	return best;
}

bool image_select_code(const struct image_list *l, u32 container, u32 sm, u32 *image)
{
	const struct image_container *c = &l->containers.at[container];
	u64 best = 0, key;

	for (u32 i = c->first; i < c->first + c->count; i++) {
		const struct image *img = &l->images.at[i];

		key = img->kind == IMAGE_SASS ? candidate_key(img, sm) : 0;
		if (key > best) {
			best = key;
			*image = i;
		}
	}
	return best != 0;
}

/*
 * The best cubin that carries PTX in its debug sections; cubins are opened in order of
 * preference.
 */
static enum image_result best_cubin(const struct image_list *l, const struct image_container *c,
				    u32 sm, u32 *best)
{
	VEC(struct candidate) v = {0};
	enum image_result r = IMAGE_NONE;

	for (u32 i = c->first; i < c->first + c->count; i++) {
		const struct image *img = &l->images.at[i];
		struct candidate one = {.key = img->kind == IMAGE_SASS ? candidate_key(img, sm) : 0,
					.image = i};

		if (one.key && !VEC_PUSH(&v, one)) {
			VEC_FREE(&v);
			return image_no_memory(l);
		}
	}
	if (v.len)
		qsort(v.at, v.len, sizeof(*v.at), compare_candidates);
	for (size_t i = 0; i < v.len && r == IMAGE_NONE; i++) {
		struct image_bytes bytes;

		*best = v.at[i].image;
		r = image_read_ptx(l, &l->images.at[*best], 0, &bytes);
		image_bytes_fini(&bytes);
	}
	VEC_FREE(&v);
	return r;
}

enum image_result image_select(const struct image_list *l, u32 container, u32 sm,
			       struct image_choice *out)
{
	const struct image_container *c = &l->containers.at[container];
	enum image_result r = IMAGE_OK;

	out->image = best_ptx(l, c, sm);
	if (out->image == UINT32_MAX)
		r = best_cubin(l, c, sm, &out->image);
	if (r == IMAGE_OK)
		image_match_target(l->images.at[out->image].target, sm, &out->match);
	return r;
}

#define TARGETS_LISTED 32

u32 image_list_targets(const struct image_list *l, u32 container, enum image_kind kind,
		       struct text *t)
{
	struct image_target seen[TARGETS_LISTED];
	char name[24];
	u32 n = 0, j;

	for (size_t i = 0; i < l->images.len; i++) {
		const struct image *img = &l->images.at[i];

		if (img->kind != kind || (container != UINT32_MAX && img->container != container))
			continue;
		for (j = 0; j < n; j++)
			if (seen[j].sm == img->target.sm && seen[j].suffix == img->target.suffix)
				break;
		if (j < n)
			continue;
		if (n == TARGETS_LISTED) {
			text_puts(t, ", ...");
			break;
		}
		seen[n++] = img->target;
		text_printf(t, "%s%s", n > 1 ? ", " : "", image_target_name(img, name));
	}
	return n;
}

/* The SM to compile for when the caller has no device in mind: the lowest there is code for. */
static u32 lowest_target(const struct image_list *l, u32 container)
{
	u32 sm = 0;

	for (size_t i = 0; i < l->images.len; i++) {
		const struct image *img = &l->images.at[i];

		if ((container == UINT32_MAX || img->container == container) &&
		    (!sm || img->target.sm < sm))
			sm = img->target.sm;
	}
	return sm ? sm : 80;
}

/* Is any machine code there for this device? No device in mind: as if. */
static bool runs_any(const struct image_list *l, u32 container, u32 sm)
{
	bool any = !sm;

	for (size_t i = 0; i < l->images.len; i++) {
		const struct image *img = &l->images.at[i];

		any |= img->kind == IMAGE_SASS &&
		       (container == UINT32_MAX || img->container == container) &&
		       runs_binary(img->target, sm);
	}
	return any;
}

/* First nvcc release that cannot compile for less than compute_75. */
#define OLDEST_OF_NVCC_13 75

/* A device that can run some PTX of the container; NULL: none of the built-in ones. */
static const struct arch *device_for(const struct image_list *l, u32 container)
{
	const struct arch *a;

	for (u32 k = 0; (a = arch_nth(k)); k++)
		for (size_t i = 0; i < l->images.len; i++) {
			const struct image *img = &l->images.at[i];

			if (img->kind == IMAGE_PTX &&
			    (container == UINT32_MAX || img->container == container) &&
			    candidate_key(img, a->sm))
				return a;
		}
	return NULL;
}

void image_explain_no_ptx(const struct image_list *l, u32 container, u32 sm, struct text *what,
			  struct text *hint)
{
	struct text ptx = {0}, sass = {0}, lto = {0};
	u32 for_sm = sm ? sm : lowest_target(l, container);
	u32 ptx_count = image_list_targets(l, container, IMAGE_PTX, &ptx);
	u32 sass_count = image_list_targets(l, container, IMAGE_SASS, &sass);
	u32 lto_count = image_list_targets(l, container, IMAGE_LTO, &lto);
	const struct arch *other;

	if (ptx_count)
		text_printf(what, "its PTX is for %s only, which sm_%u cannot run", ptx.at, sm);
	else if (sass_count && !runs_any(l, container, sm))
		text_printf(what, "its machine code is for %s only, which sm_%u cannot run",
			    sass.at, sm);
	else if (sass_count)
		text_printf(what, "no PTX, only machine code for %s", sass.at);
	else if (lto_count)
		text_printf(what, "no PTX, only link-time code for %s", lto.at);
	else
		text_puts(what, "no PTX and no machine code");
	other = ptx_count && sm ? device_for(l, container) : NULL;
	if (other)
		text_printf(hint, "run it with `-d %s`, or ", other->id);
	text_printf(
		hint,
		"rebuild with `-gencode arch=compute_%u,code=compute_%u` added to nvcc's options",
		for_sm, for_sm);
	if (for_sm < OLDEST_OF_NVCC_13)
		text_printf(hint, " (nvcc 13 and later: compute_%u, which runs here too)",
			    OLDEST_OF_NVCC_13);
	if (sass_count)
		text_puts(hint,
			  ", or keep the options and add `-lineinfo`; if it is from a cache of an "
			  "earlier run (of CuPy, Triton, JAX ..), empty that");
	text_fini(&ptx);
	text_fini(&sass);
	text_fini(&lto);
}
