/* `ptxloom report`: the lines of PTXLOOM_REPORT of many processes, merged. */
#ifndef PL_TOOLS_REPORT_H
#define PL_TOOLS_REPORT_H

#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/cover/model.h"

#include <cjson/cJSON.h>

/* A finding of one or several processes. Strings belong to `json`. */
struct report_finding {
	cJSON *json;
	const char *check, *kind, *message, *kernel, *file, *text; /* "": unknown */
	u32 line;                                                  /* 0: unknown */
	bool is_warning;
	u64 count, processes;
};

/* A claim, or a file of saved metrics, in all processes. Strings are owned. */
struct report_metrics {
	char *claim;
	u64 compared;       /* numbers */
	VEC(char *) broken; /* lines about those that are not as they should be */
};

struct report {
	VEC(struct report_finding) findings; /* by place */
	VEC(char *) injected;                /* acts of rules */
	VEC(char *) devices, checks, hosts;  /* each once, sorted */
	VEC(struct report_metrics) metrics;  /* by claim */
	u64 processes, launches, errors, warnings;
	u64 compared, broken; /* metrics */
	u32 files;            /* that were read */
	u64 damaged;          /* lines and profiles that were left out */
	struct cover_input covered;
	bool has_coverage;
	struct cover_model model; /* of `covered`, when has_coverage */
};

/* Add a file; damaged lines are named on standard error. False, with `why`: it cannot be read. */
bool report_read(struct report *r, const char *path, struct text *why);
/* Merge and sort, when all is read. */
void report_merge(struct report *r);
void report_fini(struct report *r);

/* The coverage that was read, when all is: report.covered. False after a message. */
bool report_cover(struct report *r, const struct cover_choice *choice);
void report_cover_text(const struct report *r, struct text *out);
void report_cover_markdown(const struct report *r, struct text *out);
void report_cover_json(const struct report *r, cJSON *root);

/* A line of type "metrics"; false: it is damaged. */
bool report_take_metrics(struct report *r, const cJSON *line);
void report_sort_metrics(struct report *r);
void report_metrics_text(const struct report *r, struct text *out);
void report_metrics_markdown(const struct report *r, struct text *out);
void report_metrics_json(const struct report *r, cJSON *root);
void report_free_metrics(struct report *r);

/* A cell of a table: no bars, no lines, no marks of HTML. */
void report_markdown_cell(struct text *t, const char *s);

/* A path as CI wants it: seen from the project's folder. */
const char *report_path(const char *path);

/* Writers: the whole document. */
void report_text(const struct report *r, struct text *out);
void report_markdown(const struct report *r, struct text *out);
void report_github(const struct report *r, struct text *out);
void report_sarif(const struct report *r, struct text *out);
void report_codequality(const struct report *r, struct text *out);
void report_json(const struct report *r, struct text *out);

#endif
