/*
 * Objects of CUDA: which bytes are meant, and who knows what they say.
 */
#include "src/debugger/object/object.h"

/* ---- mbarriers: where a word is ---- */

/* The word of shared memory at an address, in a CTA of the focus' cluster; NULL: it is in none. */
static u64 *shared_word(const struct debugger *x, struct cta *c, enum dbg_space space, u64 address)
{
	u64 base = debug_env(x->grid)->mem->shared_base;

	if (space == DBG_GENERIC && address - base < MEM_SHARED_WINDOW)
		address -= base;
	else if (space != DBG_SHARED)
		return NULL;
	/* Of the focus' own CTA; those of others of the cluster have their rank in the address. */
	if (!c || address % 8 || address + 8 > debug_env(x->grid)->shared_bytes)
		return NULL;
	return (u64 *)(void *)(c->shared + address);
}

static void describe_mbarrier(struct debugger *x, const struct dbg_lane *lane,
			      const struct dbg_object_at *at, struct text *out)
{
	struct cta *c = x->grid ? debug_cta(x->grid, lane->cta) : NULL;
	const u64 *place =
		at->in_memory && x->grid ? shared_word(x, c, at->space, at->address) : NULL;
	u64 word;

	memcpy(&word, at->bytes, sizeof(word));
	object_mbarrier(x, place ? c : NULL, place, word, out);
}

enum dbg_answer object_describe(void *user, const struct dbg_lane *lane,
				const struct dbg_object_at *at, struct text *out)
{
	struct debugger *x = user;
	bool known = true;
	u64 handle;

	switch (at->kind) {
	case DBG_TENSOR_MAP:
		known = object_tensor_map(at->bytes, out);
		break;
	case DBG_MBARRIER:
		describe_mbarrier(x, lane, at, out);
		break;
	case DBG_TEXTURE:
	case DBG_SURFACE:
		memcpy(&handle, at->bytes, sizeof(handle));
		known = object_texture(x, at->kind, handle, out);
		break;
	case DBG_NO_OBJECT:
	case DBG_OBJECTS:
		known = false;
	}
	return known ? DBG_OK : DBG_NO_ACCESS;
}

/* ---- print/KIND ---- */

static const char *kind_words(enum dbg_object kind)
{
	static const char *const words[DBG_OBJECTS] = {[DBG_TENSOR_MAP] = "tensor map",
						       [DBG_MBARRIER] = "mbarrier",
						       [DBG_TEXTURE] = "texture",
						       [DBG_SURFACE] = "surface"};

	return words[kind];
}

/* Does a value of a type without structure lie where an mbarrier can be? */
static bool is_shared_value(const struct debugger *x, const struct dbg_value *v)
{
	return v->store == DBG_MEMORY && x->grid &&
	       (v->space == DBG_SHARED ||
		(v->space == DBG_GENERIC &&
		 v->address - debug_env(x->grid)->mem->shared_base < MEM_SHARED_WINDOW));
}

/* Where the object is that a value stands for. */
static bool object_place(struct debugger *x, struct look_evaluated *v, enum dbg_object kind,
			 struct dbg_value *out, struct text *why)
{
	struct dbg_type *t;
	struct dbg_number n;

	if (!dbg_value_referred(&v->c, &v->v, out, why))
		return false;
	t = dbg_type_strip(out->type);
	if (t->kind == DBG_STRUCT || t->kind == DBG_ARRAY ||
	    (t->kind != DBG_POINTER && kind == DBG_MBARRIER && is_shared_value(x, out)))
		return true;
	if (!dbg_value_number(&v->c, out, &n, why))
		return false;
	*out = (struct dbg_value){.type = &dbg_type_ulong,
				  .store = DBG_MEMORY,
				  .space = t->kind == DBG_POINTER ? t->space : DBG_GENERIC,
				  .address = n.bits};
	/* What PTX has in registers of 32 bits are offsets in shared memory. */
	if (kind == DBG_MBARRIER && t->kind != DBG_POINTER && n.bits <= UINT32_MAX)
		out->space = DBG_SHARED;
	return true;
}

static bool read_object(struct debugger *x, struct look_evaluated *v, enum dbg_object kind,
			struct dbg_value *place, u8 *bytes, struct text *why)
{
	struct dbg_number n;
	u32 size = dbg_object_bytes(kind);

	if (kind == DBG_TEXTURE || kind == DBG_SURFACE) {
		*place = (struct dbg_value){.type = &dbg_type_ulong};
		if (!dbg_value_number(&v->c, &v->v, &n, why))
			return false;
		memcpy(bytes, &n.bits, size);
		return true;
	}
	if (!object_place(x, v, kind, place, why))
		return false;
	return dbg_value_read(&v->c, place, 0, bytes, size, why);
}

void object_print(struct debugger *x, const char *text, enum dbg_object kind)
{
	u8 bytes[DBG_OBJECT_BYTES_MAX];
	struct text out = {0}, why = {0};
	struct look_evaluated v;
	struct dbg_value place;

	if (!look_evaluate(x, text, &v))
		return;
	if (!read_object(x, &v, kind, &place, bytes, &why))
		look_say_why(x, &why);
	else if (!dbg_value_object(&v.c, &place, kind, bytes, &out))
		say_error(x, "%s is no %s", text, kind_words(kind));
	else
		say(x, "%s\n", out.at ? out.at : "");
	text_fini(&out);
	text_fini(&why);
	look_evaluated_fini(&v);
}
