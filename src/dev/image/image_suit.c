/*
 * Which of the built-in devices the code of a program was made for.
 */
#include "src/dev/image/image_int.h"

#include "src/arch/arch.h"

static bool has_ptx_image(const struct image_list *l, const struct image_container *c)
{
	for (u32 i = c->first; i < c->first + c->count; i++)
		if (l->images.at[i].kind == IMAGE_PTX)
			return true;
	return false;
}

static void add_container(struct image_suits *s, const struct image_list *l, u32 container)
{
	struct image_choice choice;
	const struct arch *a;

	for (u32 k = 0; k < IMAGE_SUITS_MAX && (a = arch_nth(k)); k++) {
		if (image_select(l, container, (u32)a->sm, &choice) != IMAGE_OK)
			s->refused[k]++;
		else if (choice.match == IMAGE_MATCH_ABOVE)
			s->newer[k]++;
	}
}

void image_suits_add(struct image_suits *s, const struct image_list *l, u32 *cubins)
{
	for (u32 c = 0; c < l->containers.len; c++) {
		if (!has_ptx_image(l, &l->containers.at[c])) {
			if (!*cubins)
				continue;
			--*cubins;
		}
		add_container(s, l, c);
	}
}

/* What is refused counts before what is for newer devices. */
static u64 suits_cost(const struct image_suits *s, u32 k)
{
	return (u64)s->refused[k] << 32 | s->newer[k];
}

static u32 suits_number(const struct arch *a)
{
	const struct arch *other;

	for (u32 k = 0; k < IMAGE_SUITS_MAX && (other = arch_nth(k)); k++)
		if (other == a)
			return k;
	return IMAGE_SUITS_MAX;
}

const struct arch *image_suits_better(const struct image_suits *s, const struct arch *than)
{
	u32 best = suits_number(than);
	const struct arch *a, *found = NULL;

	if (best == IMAGE_SUITS_MAX)
		return NULL;
	for (u32 k = 0; k < IMAGE_SUITS_MAX && (a = arch_nth(k)); k++)
		if (suits_cost(s, k) < suits_cost(s, best)) {
			best = k;
			found = a;
		}
	return found;
}
