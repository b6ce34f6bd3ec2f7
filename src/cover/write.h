/*
 * Reports of coverage in the formats of other tools, and our own.
 */
#ifndef PL_COVER_WRITE_H
#define PL_COVER_WRITE_H

#include "src/cover/model.h"

struct cover_style {
	bool lanes;        /* what groups of lanes do at branches, instead of lanes */
	bool instances;    /* functions apart, too */
	u32 lcov;          /* 1: as lcov 1 reads it, 2: with FNL, FNA and names of branches */
	const char *gcovr; /* the version of gcovr's format */
};

/* Each adds a whole document. out->failed: no memory. */
void cover_write_text(const struct cover_model *m, const struct cover_style *s, struct text *out);
void cover_write_lcov(const struct cover_model *m, const struct cover_style *s, struct text *out);
void cover_write_cobertura(const struct cover_model *m, const struct cover_style *s,
			   struct text *out);
void cover_write_json(const struct cover_model *m, const struct cover_style *s, struct text *out);
void cover_write_llvm(const struct cover_model *m, const struct cover_style *s, struct text *out);
void cover_write_gcovr(const struct cover_model *m, const struct cover_style *s, struct text *out);
/* Pages, in a folder that is made. False, with a line in `why`. */
bool cover_write_html(const struct cover_model *m, const struct cover_style *s, const char *folder,
		      struct text *why);

/* What a site can do, as reports count it: directions of lanes, or outcomes of groups. */
u32 cover_ways(const struct cover_site *x, const struct cover_style *s);
u64 cover_way_taken(const struct cover_site *x, const struct cover_style *s, u32 way);
void cover_way_text(const struct cover_site *x, const struct cover_style *s, u32 way,
		    struct text *out);
/* The sites of a line of a file: the first, among the model's, and how many. */
u32 cover_sites_of(const struct cover_model *m, const struct cover_file *f, u32 line, u32 *n);

#endif
