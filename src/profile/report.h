/*
 * Files of profiles: a line of JSON each for the process, for every kernel that it has launched,
 * for every launch, and for its end. Several files one after the other are a file, too, so reports
 * of several processes are put together by cat.
 *
 *     {"ptxloom_profile": 1, "version": "..", "process": 12, "name": "/tmp/app",
 *      "columns": ["inst", ..]}
 *     {"program": 1, "kernel": "_Z5scalePf", "name": "scale(float*)", "ptx": "..",
 *      "compiler": "..", "insns": [[function, PTX line, file, line, "text"], ..], "functions": [..], "files": [..]}
 *     {"launch": 0, "program": 1, "device": 0, "device_name": "..", "context": 1, "stream": 1,
 *      "grid": [..], "block": [..], "cluster": [..],
 *      "thread": 1, "ranges": [[domain, name, number of one that was started or 0], ..],
 *      "values": {"inst": 12, ..}, "spread": {"l1tex__t_requests": [8, 16], ..},
 *      "shared": [[name, bytes, requests, wavefronts, those without conflicts], ..],
 *      "links": [[device or -1 for the host, "NVLink", bytes read, bytes written], ..],
 *      "variables": [[name, bytes, sectors, hits, misses, sectors of L2, misses, DRAM], ..],
 *      "rows": [[instruction, the columns ..], ..]}
 *     {"call": 1, "name": "cudaMalloc", "thread": 1, "status": 0, "begin": 12, "end": 15}
 *     {"work": 0, "name": "scale(float*)", "launch": 1, "device": 0, "stream": 7, "call": 1,
 *      "begin": 13, "end": 14}
 *     {"end": 1, "copies": [[from, to, "NVLink", copies, bytes], ..]}
 *
 * Values are those of values.def, without those that are 0; unknown ones are ignored, so that new
 * ones do no harm.
 */
#ifndef PL_PROFILE_REPORT_H
#define PL_PROFILE_REPORT_H

#include "src/profile/profile.h"

/*
 * Add what the text of a file says to the report. name: in messages. may_be_cut: the process may
 * have been killed while it wrote the last line, which is then left out. False, with a line in
 * `why`: it is no such file, or a damaged one.
 */
bool profile_report_read(struct profile_report *r, const char *name, const char *text, size_t size,
			 bool may_be_cut, struct text *why);
void profile_report_fini(struct profile_report *r);
/* Take out the launches whose bits in `keep`, by number, are not set; number the others anew. */
void profile_report_keep(struct profile_report *r, const bool *keep);
/* Of the launch's rows; NULL: there is no such instruction. */
const struct profile_insn *profile_insn_of(const struct profile_launch *l,
					   const struct profile_row *row);

/* One more is to free it. */
const struct profile_program *profile_program_hold(const struct profile_program *p);
/* NULL is allowed. */
void profile_program_free(struct profile_program *p);
void profile_launch_free(struct profile_launch *l);
/* Of a copy: forget what the launch that it was copied from owns, rows and tables. */
void profile_launch_bare(struct profile_launch *l);
/* Free its variables and links alone. */
void profile_launch_forget(struct profile_launch *l);

/* ---- writing: each adds its line ---- */

void profile_process_write(const struct profile_process *p, struct text *out);
void profile_program_write(const struct profile_program *p, struct text *out);
void profile_launch_write(const struct profile_launch *l, struct text *out);
void profile_end_write(const struct profile_process *p, u64 launches, struct text *out);
/* All of it. */
void profile_report_write(const struct profile_report *r, struct text *out);

#endif
