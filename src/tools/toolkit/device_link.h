/*
 * Relocatable device code: what separate compilation needs of it, and its link. PTX of several
 * files stays PTX: a program has all of it, and its device links it when it is loaded. Linking a
 * program checks that it can, and makes the functions by which objects register what they have.
 */
#ifndef PL_TOOLS_DEVICE_LINK_H
#define PL_TOOLS_DEVICE_LINK_H

#include "src/tools/cc/cc.h"

enum device_link_result {
	DEVICE_LINK_NONE,  /* there is no relocatable device code, or it is linked already */
	DEVICE_LINK_MADE,  /* the source that has to be compiled was written */
	DEVICE_LINK_FAILED /* after a message */
};

/* files: objects and archives; sm: the target, 80; source: the C source that is to be written. */
enum device_link_result device_link(const struct cc_words *files, u32 sm, const char *source);
/* Add the archives that words of the link name with -l, in the folders of -L. */
void device_link_archives(struct cc_options *o, struct cc_words *files);
/* The source of a link of nothing. False after a message. */
bool device_link_nothing(const char *source);

/*
 * clang 14 defines static variables that the host uses under a name with a suffix and uses them
 * without; and those of unnamed namespaces have the same name in each object. Mend the PTX; seed:
 * what tells this object from others. False after a message.
 */
bool device_link_mend(const char *ptx, const char *seed);
/*
 * Before clang 15 variables of unnamed namespaces are taken for constants, or vanish, though the
 * host writes to them. Does the host's object register any? Then they are to be named in clang's
 * intermediate code. False after a message.
 */
bool device_link_has_unnamed(const char *object);
bool device_link_name_unnamed(const char *code);
/*
 * The host's part of device_link_mend. And clang's ids of objects are made of the source's name
 * alone: this object's becomes one of the seed, so that a source may be compiled twice. False after
 * a message.
 */
bool device_link_finish_object(const char *object, const char *ptx, const char *seed);

#endif
