/*
 * The cache of indexed constants.
 */
#include "src/cache/constant.h"

/* Lines of the parameters, which are no addresses of a program; they are of one set. */
#define PARAMETER_LINE ((u64)1 << 48)

bool constant_look(struct constant_cache *c, u64 line, bool is_counted)
{
	u64 *set = c->line[line % CONSTANT_SETS];
	u32 way = 0;
	bool hit;

	while (way < CONSTANT_WAYS - 1 && set[way] != line + 1)
		way++;
	hit = set[way] == line + 1;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = line + 1;
	c->hit += hit && !is_counted;
	c->miss += !hit && !is_counted;
	return hit;
}

void constant_reset(struct constant_cache *c)
{
	memset(c->line, 0, sizeof(c->line));
	constant_look(c, PARAMETER_LINE, true);
	constant_look(c, PARAMETER_LINE + CONSTANT_SETS, true);
}
