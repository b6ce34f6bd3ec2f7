/*
 * The focus: which launch, CTA, warp, lane and frame commands are about.
 */
#include "src/debugger/debugger_int.h"

void command_focus(struct debugger *x, const struct call *c)
{
	(void)c;
	say(x, "launch %llu, CTA %llu, warp %u, lane %u, frame %u\n",
	    (unsigned long long)x->focus.launch, (unsigned long long)x->focus.cta, x->focus.warp,
	    x->focus.lane, x->focus.frame);
}
