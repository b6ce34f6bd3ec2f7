/*
 * Watchpoints: values that are compared, memory whose accesses are seen. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_WATCH_H
#define PL_DEBUGGER_WATCH_H

#include "src/dbg/expr.h"
#include "src/exec/observer.h"

struct debugger;
struct watch;

/* What a value lies in: bytes of memory, or a register of a lane. */
struct watch_range {
	bool is_register;
	u8 space; /* enum mem_space: global, shared or local */
	u64 address, bytes;
	u64 cta; /* whose shared memory; the lane of a register or of local memory */
	u32 warp, lane, frame;
	const struct ir_func *func;
	u32 reg;
};

/* Where a value lies. False with a line in `why`. */
bool watch_range_of(struct debugger *x, const struct dbg_context *c, const struct dbg_value *v,
		    struct watch_range *out, struct text *why);
/* The lanes of an access that touch it. */
u32 watch_range_touched(const struct watch_range *r, const struct exec_access *a);
/* Does the access write (memory of the range)? */
bool watch_writes(const struct exec_access *a);
bool watch_reads(const struct exec_access *a);

/* "hw watchpoint", .. */
const char *watch_type(const struct watch *w);
void watch_free(struct watch *w);
/* Could its expression hold something of the module of these names? */
bool watch_uses(const struct watch *w, const struct dbg_names *names);

/* Is anything to be compared before each instruction? */
bool watches_active(struct debugger *x);
void watches_access(struct debugger *x, const struct exec_access *a);
/* Another launch continues: changes up to now were not made by it. */
void watches_elsewhere(struct debugger *x);
/* A launch begins: what the host wrote in between does not count as this launch's. */
void watches_launch(struct debugger *x);
/*
 * Has a watched value changed by what ran last? Returns the lanes that did it, with x->at set to
 * them; names and values are added to `names` and x->out.
 */
u32 watches_check(struct debugger *x, struct text *names);
/* After going elsewhere in time: what values are now. */
void watches_refresh(struct debugger *x);
/*
 * Going over a launch again: has a watched value changed by what ran last? Returns the lanes that
 * did it, with x->at set to them; *number is that of the watchpoint.
 */
u32 watches_scan(struct debugger *x, u32 *number);
/* Gone back to before a change: its values, as seen in that direction. */
void watch_say_back(struct debugger *x, u32 number, struct text *names);

#endif
