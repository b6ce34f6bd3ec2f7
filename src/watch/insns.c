/*
 * From counts to instructions.
 */
#include "src/watch/insns.h"

struct watch_insns watch_insns_of(const struct program *p, const struct exec_count *counts)
{
	struct watch_insns x = {p, counts, p->insn_len};
	u32 pc = p->insn_len ? counts[p->cut_at].missing : 0;

	for (u32 i = 0; pc && i < p->insn_len; i++)
		if (p->insns[i].func == p->uop[pc - 1].func && p->insns[i].ir == p->uop[pc - 1].ir)
			x.cut = i;
	return x;
}

struct watch_insn watch_insn_at(const struct watch_insns *x, u32 i)
{
	const struct program_insn *insn = &x->program->insns[i];
	const struct exec_count *lanes = &x->counts[insn->lanes], *guard, *cut;
	struct watch_insn n = {.warps = lanes->warps, .threads = lanes->lanes};

	/* Lanes that faulted have not come to what shares its count and is behind. */
	if (i > x->cut && insn->lanes == x->program->insns[x->cut].lanes) {
		cut = &x->counts[x->program->cut_at];
		n.warps -= min_u64(n.warps, cut->warps);
		n.threads -= min_u64(n.threads, cut->lanes);
	}
	n.threads_on = n.threads;
	if (insn->guard == NO_COUNT)
		return n;
	guard = &x->counts[insn->guard];
	n.threads_on = guard->lanes;
	n.divergent = guard->warps - guard->all;
	return n;
}
