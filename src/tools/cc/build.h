/*
 * One build of `ptxloom cc`, step by step. Steps return an exit status, after a message if it is
 * not 0, and run nothing with -dryrun.
 */
#ifndef PL_TOOLS_CC_BUILD_H
#define PL_TOOLS_CC_BUILD_H

#include "src/base/text.h"
#include "src/tools/cc/cc.h"

/* Of the temporary files. */
#define CC_PATH_MAX 4300u

struct cc {
	struct cc_options o;
	const char *clang;
	const char *arch; /* what clang is asked for */
	const char *ptx;  /* the newest PTX version that clang writes, as its feature */
	u32 sm, version;  /* the target; clang's major version */
	char include[4200], libdir[4200], temp[CC_PATH_MAX - 64];
};

/* Find clang: its name and version. False after a message. */
bool cc_choose_clang(struct cc *cc, u32 *version);

/*
 * The nearest target to the one asked for that clang makes and our headers are for; its option goes
 * to `text`.
 */
void cc_choose_target(struct cc *cc, u32 version, char *text, size_t size);

/* Run a command. messages: takes its standard error; NULL: that goes to ours. */
int cc_run(const struct cc *cc, const struct cc_words *c, struct text *messages);

/* Run the compiler or the linker, and free the words. */
int cc_compile(const struct cc *cc, struct cc_words *c);

/* The name of the temporary file `end` of source `i`; returns `out`. */
char *cc_temp_name(const struct cc *cc, u32 i, const char *end, char out[CC_PATH_MAX]);

/* Device code to PTX. code: where clang's intermediate code goes, instead of the PTX; or NULL. */
int cc_device_pass(const struct cc *cc, const char *source, const char *code, const char *ptx);

/*
 * Compile for the host. fatbin: the device code, or NULL for a file without. stage: "-c", "-E" ...
 */
int cc_host_pass(const struct cc *cc, const char *source, const char *fatbin, const char *stage,
		 const char *out);

/* Device code of source `i`, and host code around it, as object `out`. */
int cc_compile_cuda(const struct cc *cc, u32 i, const char *out);

/*
 * Link the device code of all objects. out: the object that is made; always: one is wanted, even if
 * there is nothing to link. *made: there is one.
 */
int cc_link_device(struct cc *cc, const char *out, bool always, bool *made);

/* Put all objects into an archive; link all objects. */
int cc_make_archive(struct cc *cc);
int cc_link_program(struct cc *cc);

#endif
