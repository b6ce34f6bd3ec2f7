/*
 * Pages: what Nsight Compute prints of a report, in its layouts.
 */
#ifndef PL_PROFILE_PAGE_H
#define PL_PROFILE_PAGE_H

#include "src/base/file.h"
#include "src/profile/page/events.h"
#include "src/profile/report.h"
#include "src/profile/page/sections.h"

enum page_kind {
	PAGE_DETAILS,
	PAGE_RAW,
	PAGE_SOURCE,
	PAGE_JSON,
	PAGE_HTML,
	PAGE_CALLGRIND,
	PAGE_ANNOTATE,
	PAGE_SESSION,
	PAGE_TRACE,
	PAGE_KINDS,
};
enum page_names { NAMES_LABEL, NAMES_NAME, NAMES_BOTH };
/* What launches are put together by. */
enum page_summary { SUMMARY_NONE, SUMMARY_DEVICE, SUMMARY_KERNEL, SUMMARY_RANGE };
/* Of sections: their tables, what stands out and further tables, both. */
enum page_details { DETAILS_ALL, DETAILS_HEADER, DETAILS_BODY };
/* The lines of the source page. */
enum page_source { SOURCE_PTX, SOURCE_CUDA, SOURCE_CUDA_PTX };

struct page {
	enum page_kind kind;
	enum page_names names;
	enum page_source source;
	bool is_csv, is_base; /* units without prefixes */
	bool has_ranges;      /* of NVTX */
	enum page_summary summary;
	enum page_details details;
	struct metric_style numbers;
	u32 name_base; /* enum profile_base + 1: which names kernels are shown with; 0: demangled */
	u32 sections;  /* a bit each */
	struct metric_list metrics;
	/*
	 * Annotated sources: events, those to sort by, the percentage below which nothing is shown,
	 * lines around those that have counts.
	 */
	struct event_list show, sort;
	double threshold;
	u32 context;
	const struct profile_report *report; /* for its trace; NULL: there is none */
	bool is_order;                       /* the trace's clock */
	const char *source_folder;           /* where sources are, too; NULL: nowhere else */
	VEC(const struct profile_launch *) launches; /* those to show, of the report */
};

/* Add the page. */
void page_write(const struct page *p, struct text *out);

/* ---- pieces ---- */

/* The name of the launch's kernel, as the page shows names. */
void page_launch_name(const struct page *p, const struct profile_launch *l, struct text *out);
/* A kernel's name as Nsight Compute writes it: "stencil(const float *, int)". */
void page_kernel_name(const char *demangled, struct text *out);
/* What a metric is called in a section, where it has a label (else NULL): as is asked for. */
void page_metric_name(const struct page *p, const char *label, u32 metric, struct text *out);
/* A field of CSV, in quotes; first: without a comma in front. */
void page_csv_field(const char *s, bool first, struct text *out);

void page_text(const struct page *p, struct text *out);
void page_csv(const struct page *p, struct text *out);
void page_source(const struct page *p, struct text *out);
void page_json(const struct page *p, struct text *out);
/* With a summary: minimum, maximum and average of each metric. */
void page_summary(const struct page *p, struct text *out);
void page_trace(const struct page *p, struct text *out);
void page_session(const struct page *p, struct text *out);
void page_callgrind(const struct page *p, struct text *out);
void page_annotate(const struct page *p, struct text *out);
/* Of one report, or of two that are compared. */
void page_html(const struct page *const *reports, u32 len, struct text *out);

#endif
