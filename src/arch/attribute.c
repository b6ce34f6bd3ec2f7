/*
 * Device attributes by number, from attributes.def.
 */
#include "src/arch/arch_int.h"

struct row {
	enum arch_answer answer;
	enum arch_field field; /* ARCH_FIELD_COUNT: `value` */
	int value;
};

static const struct row rows[ARCH_ATTRIBUTE_MAX + 1] = {
	[0] = {.answer = ARCH_ANSWER_NONE},
#define ATTRIBUTE(number, name) [number] = {ARCH_ANSWER_VALUE, ARCH_FIELD_##name, 0},
#define PER_DEVICE(number, what) [number] = {ARCH_ANSWER_PER_DEVICE, ARCH_FIELD_COUNT, 0},
#define ALWAYS(number, answer) [number] = {ARCH_ANSWER_VALUE, ARCH_FIELD_COUNT, answer},
#include "src/arch/attributes.def"
};

static int clip(u64 v)
{
	return (int)min_u64(v, INT32_MAX);
}

enum arch_answer arch_attribute(const struct arch *a, int number, int *value)
{
	const struct row *row;
	const void *p;

	*value = 0;
	if (number < 1 || number > ARCH_ATTRIBUTE_MAX)
		return ARCH_ANSWER_NONE;
	row = &rows[number];
	*value = row->value;
	if (row->field == ARCH_FIELD_COUNT)
		return row->answer;
	if (!arch_is_known(a, row->field))
		return ARCH_ANSWER_UNKNOWN;
	p = arch_member(a, row->field);
	if (arch_field_info(row->field)->type == ARCH_INT)
		*value = *(const s32 *)p;
	else if (arch_field_info(row->field)->type == ARCH_BOOL)
		*value = *(const bool *)p;
	else
		*value = clip(*(const u64 *)p);
	return ARCH_ANSWER_VALUE;
}
