/*
 * What goes over the links between devices, and between devices and the host: accesses of launches,
 * and copies.
 */
#ifndef PL_PROFILE_LINKS_H
#define PL_PROFILE_LINKS_H

#include "src/profile/profile.h"

struct arch_devices;
struct l2_counts;
struct mem_system;
struct profile_links;

/* Begin to count copies. NULL without memory; profile_links_free takes that. */
struct profile_links *profile_links_new(void);
void profile_links_free(struct profile_links *x);
/* What devices there are, and how they are linked: borrowed. */
void profile_links_say_devices(struct profile_links *x, const struct arch_devices *devices);
void profile_links_say_memory(struct profile_links *x, struct mem_system *system);
/* Add to a launch on the device what it asked of others' memory. False without memory. */
bool profile_links_end(const struct profile_links *x, const struct l2_counts *n,
		       struct profile_launch *l);
/* Add to the process what was copied. False without memory. */
bool profile_links_copies(const struct profile_links *x, struct profile_process *p);

/* As a member of a launch in a report; as that of --page json; as a section of the details page. */
void profile_links_write(const struct profile_launch *l, struct text *out);
void profile_links_json(const struct profile_launch *l, struct text *out);
void profile_links_text(const struct profile_launch *l, struct text *out);
/* The same of copies: of a process, and of all of a report. */
void profile_copies_write(const struct profile_process *p, struct text *out);
void profile_copies_json(const struct profile_report *r, struct text *out);
void profile_copies_text(const struct profile_report *r, struct text *out);
/* An end: "Device 1", "Host"; in a report, where -1 is the host; a member, where null is. */
void profile_link_end_say(u32 end, struct text *out);
void profile_link_end_write(u32 end, struct text *out);
void profile_link_end_json(const char *name, u32 end, struct text *out);

#endif
