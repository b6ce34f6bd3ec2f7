/*
 * Words for spaces and answers.
 */
#include "src/dbg/dbg.h"

static const char *const space_names[DBG_SPACES] = {
	[DBG_GENERIC] = "generic", [DBG_GLOBAL] = "global", [DBG_CONST] = "constant",
	[DBG_SHARED] = "shared",   [DBG_LOCAL] = "local",   [DBG_PARAM] = "parameter",
};

const char *dbg_space_name(enum dbg_space space)
{
	return space < DBG_SPACES ? space_names[space] : "?";
}

enum dbg_space dbg_space_find(const char *name, size_t n)
{
	static const struct {
		const char *name;
		enum dbg_space space;
	} others[] = {{"const", DBG_CONST}, {"param", DBG_PARAM}};

	for (u32 i = 0; i < DBG_SPACES; i++)
		if (strlen(space_names[i]) == n && !memcmp(space_names[i], name, n))
			return i;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strlen(others[i].name) == n && !memcmp(others[i].name, name, n))
			return others[i].space;
	return DBG_SPACES;
}

enum dbg_space dbg_space_of(const struct ir_var *v)
{
	switch (v->space) {
	case M_global:
		return DBG_GLOBAL;
	case M_const:
		return DBG_CONST;
	case M_shared:
		return DBG_SHARED;
	case M_local:
		return DBG_LOCAL;
	case M_param:
		return DBG_PARAM;
	default:
		return DBG_SPACES;
	}
}

const char *dbg_answer_text(enum dbg_answer a)
{
	switch (a) {
	case DBG_OK:
		return NULL;
	case DBG_NOT_SET:
		return "not set yet";
	case DBG_NO_ACCESS:
		return "cannot be accessed";
	case DBG_GONE:
		return "the thread has exited";
	case DBG_NOT_KNOWN:
		return "not known here";
	}
	return NULL;
}

u32 dbg_object_bytes(enum dbg_object kind)
{
	return kind == DBG_TENSOR_MAP ? DBG_OBJECT_BYTES_MAX : 8;
}
