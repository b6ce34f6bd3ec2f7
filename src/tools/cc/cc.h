/*
 * `ptxloom cc`: what the command line asks for, sorted by the run of clang that each word is for.
 */
#ifndef PL_TOOLS_CC_H
#define PL_TOOLS_CC_H

#include "src/tools/tools.h"

/* Words of a command line. They are not owned. */
struct cc_words {
	const char **at;
	u32 len, cap;
};

void cc_add(struct cc_words *w, const char *word);
void cc_add_all(struct cc_words *w, const struct cc_words *more);
void cc_words_fini(struct cc_words *w);

enum cc_language {
	CC_CUDA,
	CC_HOST, /* C or C++ without device code */
	CC_LINK, /* an object or a library */
};

struct cc_file {
	const char *path;
	enum cc_language language;
};

/* How far to go. */
enum cc_stop {
	CC_PROGRAM,
	CC_OBJECTS,     /* -c */
	CC_PTX,         /* -ptx */
	CC_PREPROCESS,  /* -E */
	CC_DEPEND,      /* -M, -MM */
	CC_LINK_DEVICE, /* -dlink */
	CC_ARCHIVE,     /* -lib */
};

struct cc_options {
	const char *arch;   /* "sm_80", as asked for */
	const char *output; /* NULL: the default */
	struct cc_file *files;
	u32 files_len, files_cap;
	struct cc_words both, device, host, link; /* for clang */
	struct cc_words owned;                    /* strings to free */
	enum cc_stop stop;
	const char *depend; /* "-M" or "-MM" */
	bool all_cuda;      /* -x cu */
	bool verbose, dry, run, debug_device, has_std, no_rpath;
	bool relocatable;    /* device code of several files is linked: -rdc=true, -dc */
	bool no_device_link; /* another command does that */
};

/*
 * Do the messages of a compiler or linker that failed say that a part of NVIDIA's toolkit is
 * missing? Then that is said instead: they need not be shown.
 */
bool cc_explain_missing(const char *messages);

/* The name of the compiler; NULL after a message. Not owned. */
const char *cc_find_clang(void);

/*
 * False after a message, or after --help or --version was answered: then *status is the exit
 * status.
 */
bool cc_parse(struct cc_options *o, const struct tool_command *self, int argc, char **argv,
	      int *status);
void cc_options_fini(struct cc_options *o);

#endif
