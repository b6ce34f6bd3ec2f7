/*
 * What profiles say of source files: lines, branches, functions. See docs/coverage.md for the
 * rules.
 */
#ifndef PL_COVER_MODEL_H
#define PL_COVER_MODEL_H

#include "src/base/text.h"
#include "src/cover/profile.h"

/* What lanes did on a line, of one copy of its code or of all. */
struct cover_tally {
	u64 count;       /* lanes that ran it */
	u64 warps, full; /* groups of lanes that came by together; those of them with 32 */
	u64 diverged;    /* groups that diverged at a branch of it */
	u32 mask;        /* numbers of the lanes */
	u32 missing;     /* the most lanes that a group lacked; count 0: nothing */
};

struct cover_line {
	u32 file; /* of the model */
	u32 line;
	struct cover_tally tally;
};

/* A place where lanes choose, merged over the copies of the code. */
struct cover_site {
	u32 file, line, column, ordinal; /* ordinal: among those of a line and column */
	u8 kind;                         /* enum site_kind of lower/sites.h */
	bool reached;
	u32 ways;
	u64 *taken; /* lanes by way, owned: of predicates those that take it, and the others */
	/* By groups of lanes that came together: all of them take it, none, they part. */
	u64 all, none, diverged;
};

struct cover_function {
	u32 file, line, end;          /* first and last line that it has there */
	char *name, *shown;           /* as in PTX, demangled; owned */
	u64 count;                    /* lanes that entered it */
	u32 copies;                   /* in how many texts it is */
	VEC(struct cover_line) lines; /* of it alone, if they are kept apart; by file and line */
};

struct cover_file {
	char *path;      /* relative to the root, or whole outside of it; owned */
	char *source;    /* to be read; owned */
	char *text;      /* lines of the source, ended by zeros; owned, NULL: not there */
	const char **at; /* its lines */
	u32 lines_len;
	u32 first_line, lines; /* of the model's, which are sorted by file */
	u32 first_site, sites, first_function, functions;
};

struct cover_model {
	VEC(struct cover_file) files;         /* by path */
	VEC(struct cover_line) lines;         /* by file and line */
	VEC(struct cover_site) sites;         /* by file, line, column, kind, ordinal */
	VEC(struct cover_function) functions; /* by file, line, name */
	char *root;                           /* owned */
	bool at_root;                         /* it is the working folder */
	bool is_optimised;                    /* some text was not compiled for debugging */
	VEC(char *) left_out;                 /* paths outside of the root; owned */
	u32 damaged; /* texts that could not be used, which were reported */
};

struct cover_map {
	const char *old, *new;
	size_t old_len;
};

struct cover_choice {
	const char *root; /* NULL: the git work tree, or the working folder */
	VEC(struct cover_map) maps;
	bool instances; /* keep lines of functions apart, too */
};

/* What was counted, and the folders that texts may be in. */
struct cover_input {
	struct cover_profile profile;
	VEC(char *) folders; /* owned */
	u32 files, damaged;  /* profiles that were read, and those that could not be */
};

/*
 * Add a profile, or all of a folder. Damaged ones are named on standard error and counted. False
 * after a message: there is none.
 */
bool cover_input_read(struct cover_input *in, const char *path);
void cover_input_free(struct cover_input *in);

struct cover_sum {
	u32 lines, lines_hit, ways, ways_hit, functions, functions_hit;
};

/* Make it of what profiles say; messages about what cannot be used go to standard error. */
bool cover_model_make(struct cover_model *m, const struct cover_input *in,
		      const struct cover_choice *c);
/* Where the text with this hash is, to be freed; where it should be if it is nowhere. */
char *cover_module_path(const struct cover_input *in, struct cover_hash hash);
void cover_model_free(struct cover_model *m);
struct cover_sum cover_sum_file(const struct cover_model *m, const struct cover_file *f);
struct cover_sum cover_sum_all(const struct cover_model *m);
/* 100.0 where there is nothing. */
double cover_percent(u32 hit, u32 all);
/* Line `line` of a file's source, NULL: not there. */
const char *cover_source_line(const struct cover_file *f, u32 line);
/* "jump", "fall", "true", "false", "case 3" */
void cover_way_name(const struct cover_site *s, u32 way, struct text *out);

#endif
