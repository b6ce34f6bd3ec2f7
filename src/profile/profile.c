/*
 * Names of what is counted.
 */
#include "src/profile/profile.h"

#include <stdlib.h>

#define NAMES_OF_ACCESS(id)                                                                        \
#id "_insts", #id "_requests", #id "_sectors", #id "_ideal", #id "_passes", #id "_parts",  \
		#id "_bytes", #id "_distinct"
#define NAMES_OF_FIRST(id)                                                                         \
	"l1_" #id "_requests", "l1_" #id "_tags", "l1_" #id "_sectors", "l1_" #id "_hit",          \
		"l1_" #id "_miss"
#define NAMES_OF_SECOND(id)                                                                        \
	"l2_" #id "_requests", "l2_" #id "_request_hit", "l2_" #id "_sectors", "l2_" #id "_hit",   \
		"l2_" #id "_miss", "l2_" #id "_fabric", "l2_" #id "_fabric_hit",                   \
		"l2_" #id "_fabric_requests", "l2_" #id "_fabric_request_hit"

static const char *const value_names[] = {
#define VALUE(id) #id,
#define ACCESS(id, what) NAMES_OF_ACCESS(id),
#define FIRST(id) NAMES_OF_FIRST(id),
#define SECOND(id) NAMES_OF_SECOND(id),
#include "src/profile/values.def"
#undef VALUE
#undef ACCESS
#undef FIRST
#undef SECOND
};

_Static_assert(ARRAY_LEN(value_names) == PROFILE_VALUES, "each value has a name");

static const struct {
	enum profile_value first;
	const char *title;
} accesses[] = {
#define VALUE(id)
#define ACCESS(id, what) {VALUE_##id##_insts, what},
#define FIRST(id)
#define SECOND(id)
#include "src/profile/values.def"
#undef VALUE
#undef ACCESS
#undef FIRST
#undef SECOND
};

static const struct {
	const char *name, *title, *what;
} columns[] = {
#define COLUMN(id, title, what) {#id, title, what},
#include "src/profile/columns.def"
#undef COLUMN
};

enum profile_value profile_access_value(enum profile_access a)
{
	return accesses[a].first;
}

const char *profile_value_name(u32 value)
{
	return value < PROFILE_VALUES ? value_names[value] : NULL;
}

const char *profile_access_title(u32 access)
{
	return access < PROFILE_ACCESSES ? accesses[access].title : NULL;
}

const char *profile_column_name(u32 column)
{
	return column < PROFILE_COLUMNS ? columns[column].name : NULL;
}

const char *profile_column_title(u32 column)
{
	return column < PROFILE_COLUMNS ? columns[column].title : NULL;
}

const char *profile_column_what(u32 column)
{
	return column < PROFILE_COLUMNS ? columns[column].what : NULL;
}

void profile_ranges_view_free(struct profile_ranges_view *v)
{
	for (u32 i = 0; v && i < v->len; i++) {
		free(v->at[i].domain);
		free(v->at[i].name);
	}
	free(v);
}
