/*
 * Names and texts of statuses.
 */
#include "src/dev/status.h"

static const struct status_info infos[] = {
#define STATUS(number, id, driver, runtime, text) {number, driver, runtime, text},
#include "src/dev/status.def"
#undef STATUS
};

/* The table rises. */
const struct status_info *status_info(int number)
{
	size_t lo = 0, hi = ARRAY_LEN(infos);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (infos[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ARRAY_LEN(infos) && infos[lo].number == number ? &infos[lo] : NULL;
}
