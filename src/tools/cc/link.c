/*
 * What is made of objects: programs, archives, linked device code.
 */
#include "src/base/text.h"
#include "src/tools/cc/build.h"
#include "src/tools/toolkit/device_link.h"

#include <stdio.h>
#include <stdlib.h>

/* Programs find the libraries by themselves. False: no memory. */
static bool add_rpath(const struct cc *cc, struct cc_words *c, struct text *rpath)
{
	char *whole = realpath(cc->libdir, NULL);

	text_printf(rpath, "-Wl,--enable-new-dtags,-rpath,%s", whole ? whole : cc->libdir);
	free(whole);
	if (rpath->at)
		cc_add(c, rpath->at);
	return !rpath->failed;
}

/* What is linked: the files that were given, and those that were made of sources. */
static void add_objects(struct cc *cc, struct cc_words *c)
{
	for (u32 i = 0; i < cc->o.files_len; i++) {
		const struct cc_file *f = &cc->o.files[i];
		struct text name = {0};

		if (f->language == CC_LINK) {
			cc_add(c, f->path);
			continue;
		}
		text_printf(&name, "%s/%u.o", cc->temp, i);
		if (!name.at)
			abort();
		cc_add(&cc->o.owned, name.at);
		cc_add(c, name.at);
	}
}

static int compile_link_source(const struct cc *cc, const char *source, const char *out)
{
	const char *words[] = {"-x", "c", "-O1", "-fPIC", "-c", source, "-o", out};
	struct cc_words c = {0};

	cc_add(&c, cc->clang);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		cc_add(&c, words[i]);
	return cc_compile(cc, &c);
}

/*
 * Link the device code of all objects. out: the object that is made; always: one is wanted, even if
 * there is nothing to link. *made: there is one.
 */
int cc_link_device(struct cc *cc, const char *out, bool always, bool *made)
{
	struct cc_words files = {0};
	enum device_link_result r;
	char source[CC_PATH_MAX];

	*made = false;
	if (cc->o.dry)
		return 0;
	snprintf(source, sizeof(source), "%s/link.c", cc->temp);
	add_objects(cc, &files);
	device_link_archives(&cc->o, &files);
	r = device_link(&files, cc->sm, source);
	cc_words_fini(&files);
	if (r == DEVICE_LINK_NONE && always)
		r = device_link_nothing(source) ? DEVICE_LINK_MADE : DEVICE_LINK_FAILED;
	if (r == DEVICE_LINK_FAILED)
		return TOOL_FINDINGS;
	*made = r == DEVICE_LINK_MADE;
	return *made ? compile_link_source(cc, source, out) : 0;
}

int cc_make_archive(struct cc *cc)
{
	struct cc_words c = {0};
	int status;

	cc_add(&c, "ar");
	cc_add(&c, "rcs");
	cc_add(&c, cc->o.output ? cc->o.output : "a.a");
	add_objects(cc, &c);
	status = cc_run(cc, &c, NULL);
	cc_words_fini(&c);
	return status;
}

int cc_link_program(struct cc *cc)
{
	static const char *const words[] = {
		"-l:libcudart.so.13",         "-lstdc++", "-lm", "-lpthread", "-ldl", "-lrt",
		"-Wl,--allow-shlib-undefined"};
	struct cc_words c = {0};
	struct text rpath = {0};
	char linked[CC_PATH_MAX];
	bool made = false;
	int status = 0;

	snprintf(linked, sizeof(linked), "%s/link.o", cc->temp);
	if (!cc->o.no_device_link)
		status = cc_link_device(cc, linked, false, &made);
	if (status)
		return status;
	cc_add(&c, cc->clang);
	if (made)
		cc_add(&c, linked);
	add_objects(cc, &c);
	cc_add(&c, "-o");
	cc_add(&c, cc->o.output ? cc->o.output : "a.out");
	cc_add(&c, "-L");
	cc_add(&c, cc->libdir);
	cc_add_all(&c, &cc->o.link);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		cc_add(&c, words[i]);
	status = cc->o.no_rpath || add_rpath(cc, &c, &rpath) ? cc_compile(cc, &c) : TOOL_USAGE;
	text_fini(&rpath);
	return status;
}
