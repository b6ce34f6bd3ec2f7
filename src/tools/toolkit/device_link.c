/*
 * Device linking: the PTX of the objects is checked, and a C source is written that has a function
 * for each of them. When the last object has registered, that source hands all of them to the
 * runtime as one program.
 */
#include "src/tools/toolkit/device_link.h"
#include "src/base/demangle.h"
#include "src/dev/device.h"
#include "src/dev/image/image.h"
#include "src/tools/toolkit/objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct link_texts {
	VEC(struct device_text) list;
	struct diag diag;
};

/* The image of a container that the target would run, or else any with PTX. */
static bool choose_image(const struct image_list *l, u32 container, u32 sm, u32 *at)
{
	const struct image_container *c = &l->containers.at[container];
	struct image_choice choice;

	for (u32 i = 0; i <= c->count; i++) {
		u32 target = i ? l->images.at[c->first + i - 1].target.sm : sm;

		if (image_select(l, container, target, &choice) == IMAGE_OK) {
			*at = choice.image;
			return true;
		}
	}
	return false;
}

static bool add_link_text(struct link_texts *to, const struct image_list *l, u32 image,
			  const struct object_unit *u)
{
	struct image_bytes b = {0};
	enum image_result r;

	for (u32 n = 0; (r = image_read_ptx(l, &l->images.at[image], n, &b)) == IMAGE_OK; n++) {
		struct device_text t = {
			.name = u->name, .size = b.size, .owned = malloc(b.size + 1)};

		if (t.owned)
			memcpy(t.owned, b.data, b.size);
		image_bytes_fini(&b);
		t.text = t.owned;
		if (!t.owned || !VEC_PUSH(&to->list, t)) {
			free(t.owned);
			diag_at(&to->diag, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL, "out of memory");
			return false;
		}
	}
	return r == IMAGE_NONE;
}

static bool add_unit_texts(struct link_texts *to, const struct object_unit *u, u32 sm)
{
	struct text what = {0}, hint = {0};
	struct image_list l;
	u32 image;
	bool ok;

	image_list_init(&l, &to->diag, u->name);
	ok = image_list_add(&l, u->data, u->size, 0) == IMAGE_OK;
	for (u32 c = 0; c < l.containers.len && ok; c++) {
		if (!l.containers.at[c].count)
			continue;
		ok = choose_image(&l, c, sm, &image) && add_link_text(to, &l, image, u);
		if (ok || to->diag.errors)
			continue;
		image_explain_no_ptx(&l, c, 0, &what, &hint);
		diag_at(&to->diag, DIAG_ERROR, &l.source, DIAG_NOWHERE, hint.at, "%s",
			what.at ? what.at : "no PTX");
	}
	if (!ok && !to->diag.errors)
		diag_at(&to->diag, DIAG_ERROR, &l.source, DIAG_NOWHERE, NULL,
			"this object registers device code but has none");
	text_fini(&what);
	text_fini(&hint);
	image_list_fini(&l);
	return ok;
}

static bool check_device_link(const struct objects *o, u32 sm)
{
	struct link_texts texts = {0};
	bool ok = true;

	demangle_prepare();
	diag_init(&texts.diag, diag_print, stderr);
	for (size_t i = 0; i < o->units.len && ok; i++)
		ok = add_unit_texts(&texts, &o->units.at[i], sm);
	ok = ok && device_texts_link(texts.list.at, (u32)texts.list.len, &texts.diag);
	for (size_t i = 0; i < texts.list.len; i++)
		free(texts.list.at[i].owned);
	VEC_FREE(&texts.list);
	diag_fini(&texts.diag);
	return ok;
}

/* ---- the source ---- */

/*
 * Version 2 of what describes a fat binary: behind the container of linked code, which is empty,
 * comes a list of those of the objects.
 */
static const char before[] =
	"#define HIDDEN __attribute__((visibility(\"hidden\")))\n"
	"struct wrapper { int magic, version; const void *data, *units; };\n"
	"extern void **__cudaRegisterFatBinary(void *);\n"
	"extern void __cudaRegisterFatBinaryEnd(void **);\n"
	"extern void __cudaUnregisterFatBinary(void **);\n"
	"extern int atexit(void (*)(void));\n"
	"static const struct { unsigned magic; unsigned short version, header; unsigned long long rest; } "
	"nothing __attribute__((section(\".nv_fatbin\"), aligned(8))) = {0xba55ed50u, 1, 16, 0};\n"
	"static const void *units[COUNT + 1];\n"
	"static void (*callbacks[COUNT])(void **);\n"
	"static struct wrapper all __attribute__((section(\".nvFatBinSegment\"), aligned(8))) = "
	"{0x466243b1, 2, &nothing, units};\n"
	"static void **handle;\n"
	"static void leave(void) { __cudaUnregisterFatBinary(handle); }\n"
	"static void add(const struct wrapper *unit, void (*callback)(void **))\n"
	"{\n"
	"	static int n;\n"
	"	units[n] = unit->data;\n"
	"	callbacks[n] = callback;\n"
	"	if (++n < COUNT)\n"
	"		return;\n"
	"	handle = __cudaRegisterFatBinary(&all);\n"
	"	atexit(leave);\n"
	"	for (n = 0; n < COUNT; n++)\n"
	"		callbacks[n](handle);\n"
	"	__cudaRegisterFatBinaryEnd(handle);\n"
	"}\n"
	"#define UNIT(id) extern HIDDEN const struct wrapper __fatbinwrap##id; \\\n"
	"HIDDEN void __cudaRegisterLinkedBinary##id(void (*callback)(void **), void *w, void *i, "
	"void (*use)(void *)) \\\n"
	"{ (void)w, (void)i, (void)use; add(&__fatbinwrap##id, callback); }\n";

static bool write_source(const struct objects *o, const char *path)
{
	FILE *to = fopen(path, "w");
	bool ok = to != NULL;

	if (ok && o->units.len) {
		ok = fprintf(to, "#define COUNT %zu\n%s", o->units.len, before) > 0;
		for (size_t i = 0; i < o->units.len; i++)
			ok &= fprintf(to, "UNIT(%s)\n", o->units.at[i].id) > 0;
	}
	ok = to && !fclose(to) && ok;
	if (!ok)
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", path, strerror(errno));
	return ok;
}

/* Ids become parts of names in C. */
static bool check_ids(const struct objects *o)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	for (size_t i = 0; i < o->units.len; i++)
		if (o->units.at[i].id[strspn(o->units.at[i].id, letters)]) {
			fprintf(stderr,
				"ptxloom cc: error: '%s' has device code of an unusable id, '%s'\n",
				o->units.at[i].name, o->units.at[i].id);
			return false;
		}
	return true;
}

enum device_link_result device_link(const struct cc_words *files, u32 sm, const char *source)
{
	enum device_link_result result = DEVICE_LINK_FAILED;
	struct objects o = {0};
	bool ok = true;

	for (u32 i = 0; i < files->len && ok; i++)
		ok = objects_add(&o, files->at[i]);
	objects_drop_linked(&o);
	if (ok && !o.units.len)
		result = DEVICE_LINK_NONE;
	else if (ok && check_ids(&o) && check_device_link(&o, sm) && write_source(&o, source))
		result = DEVICE_LINK_MADE;
	objects_fini(&o);
	return result;
}

bool device_link_nothing(const char *source)
{
	struct objects none = {0};

	return write_source(&none, source);
}
