/*
 * Collecting what launches do: an observer for each device, and a file for the process to which
 * each launch adds a line when it ends (report.h says what is in it).
 *
 * Counts are kept by worker and added up at the end of a launch, so that their order and number do
 * not matter.
 */
#ifndef PL_PROFILE_COLLECT_H
#define PL_PROFILE_COLLECT_H

#include "src/dev/device.h"

struct profile_collect;
struct profile_device;
struct profile_ranges;
struct profile_launch;

/*
 * Begin to collect as PTXLOOM_PROFILE and PTXLOOM_PROFILE_* say. NULL when nothing is asked for, or
 * with a line in `why`: it cannot be written.
 */
struct profile_collect *profile_open(struct text *why);
/*
 * The same without a file: each launch that has ended is told, from any thread, one at a time. It
 * is valid during the call. caches: their model runs, too. NULL without memory.
 */
struct profile_collect *profile_open_told(bool caches,
					  void (*tell)(void *user, const struct profile_launch *l),
					  void *user);
/* Launches are told as well, those too that are not chosen for the file. Before the first one. */
void profile_tell(struct profile_collect *c,
		  void (*tell)(void *user, const struct profile_launch *l), void *user);
/* After the last launch. Says on standard error what could not be written. NULL is allowed. */
void profile_close(struct profile_collect *c);
/* Why there is no profile in a debugger. */
extern const char profile_why_not_debugged[];
/* Are launches to run in the order in which they are issued, for numbers that do not change? */
bool profile_needs_order(const struct profile_collect *c);
/* Are accesses counted by allocation? NULL is allowed: they are not. */
bool profile_has_variables(const struct profile_collect *c);
/* What adds where the allocation at an address was made, before the first launch. */
void profile_say_origin(struct profile_collect *c, void (*origin)(u64 base, struct text *out));
/* What devices there are, which is borrowed; NULL is allowed. */
void profile_say_devices(struct profile_collect *c, const struct arch_devices *devices);
/* For what the program marks. */
struct profile_ranges *profile_ranges_of(struct profile_collect *c);
/*
 * Observe a device, before its first program is loaded, behind what else observes it: both are told
 * of launches. NULL without memory, after a message.
 * profile_device_close before the device's storage is used for another; its launches have ended.
 */
struct profile_device *profile_device_open(struct profile_collect *c, struct device *d);
void profile_device_close(struct profile_device *d);
/* What the program sets aside of the second cache for persisting lines, one byte at least. */
void profile_device_set_aside(struct profile_device *d, u64 bytes);
/* Do launches find the second cache as others have left it? NULL is allowed: they do not. */
bool profile_device_keeps_lines(const struct profile_device *d);
/* Persisting lines that launches have left there become normal. */
void profile_device_reset_persisting(struct profile_device *d);

#endif
