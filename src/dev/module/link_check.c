/*
 * Do texts of device code link? Asked where a program is built, so that what is missing or defined
 * twice is reported there and not when the program loads its code.
 */
#include "src/dev/device.h"
#include "src/dev/module/builtin.h"
#include "src/dev/module/module.h"

#include <stdlib.h>

/* Functions of the device's runtime, which the CUDA libraries provide (nested.def and others). */
static bool is_of_device_runtime(const char *name)
{
	static const char *const begins[] = {"cuda", "__cudaCDP2"};

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

struct check {
	VEC(struct diag_source) sources;
	VEC(struct ir_module *) units;
	VEC(const char *) names; /* that may stay open */
};

static bool add_unit(struct check *c, const struct diag_source *source, struct diag *d)
{
	struct ir_module *m = module_parse(source, MODULE_LOAD, d);

	if (!m)
		return false;
	if (!VEC_PUSH(&c->units, m)) {
		ir_module_free(m);
		return false;
	}
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (!f->has_body && is_of_device_runtime(f->name->text) &&
		    !VEC_PUSH(&c->names, f->name->text))
			return false;
	}
	return true;
}

static bool check_units(struct check *c, struct diag *d)
{
	for (const char *const *n = exec_extern_names; *n; n++)
		if (!VEC_PUSH(&c->names, *n))
			return false;
	for (size_t i = 0; i < c->sources.len; i++)
		if (!add_unit(c, &c->sources.at[i], d))
			return false;
	if (builtin_is_needed(c->units.at, (u32)c->units.len) && !add_unit(c, &builtin_source, d))
		return false;
	return VEC_PUSH(&c->names, NULL) &&
	       ir_link(c->units.at, c->units.len, IR_LINK_PARTS, c->names.at, d);
}

bool device_texts_link(const struct device_text *texts, u32 len, struct diag *d)
{
	struct check c = {0};
	u32 errors = d->errors;
	bool ok = true;

	for (u32 i = 0; i < len && ok; i++) {
		struct diag_source s = {texts[i].name, texts[i].text, texts[i].size};

		ok = VEC_PUSH(&c.sources, s);
	}
	ok = ok && check_units(&c, d);
	if (!ok && d->errors == errors)
		diag_at(d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL, "out of memory while linking");
	for (size_t i = 0; i < c.units.len; i++)
		ir_module_free(c.units.at[i]);
	VEC_FREE(&c.units);
	VEC_FREE(&c.sources);
	VEC_FREE(&c.names);
	return ok;
}
