/*
 * Counters of the last step; what the caches of the device make of the launch in focus.
 */
#include "src/debugger/look_value.h"

#include "src/cache/rules.h"

void command_info_counters(struct debugger *x, const struct call *c PL_UNUSED)
{
	const struct counting *n = &x->counting;
	struct table t;

	if (n->was_back || !n->any) {
		say(x, n->was_back
			       ? "The last move went back in time: nothing was counted.\n"
			       : "Nothing has been counted: steps are, and with `set counters on` "
				 "all moves.\n");
		return;
	}
	say(x, "From time %llu on, warp %u of CTA %llu, and all warps:\n",
	    (unsigned long long)n->since, n->warp, (unsigned long long)n->cta);
	table_begin(&t, 5);
	table_put(&t, " ");
	table_put(&t, "warp");
	table_put(&t, "all");
	table_put(&t, "metric");
	table_put(&t, "what it is");
	for (u32 m = 0; m < WATCH_METRICS; m++) {
		if (!n->all.value[m] && m != WATCH_inst)
			continue;
		table_put(&t, " ");
		table_put(&t, "%llu", (unsigned long long)n->own.value[m]);
		table_put(&t, "%llu", (unsigned long long)n->all.value[m]);
		table_put(&t, "%s", watch_metric_name(m));
		table_put(&t, "%s", watch_metric_what(m));
	}
	table_say(x, &t);
}

void command_set_counters(struct debugger *x, const struct call *c)
{
	if (strcmp(c->args, "on") != 0 && strcmp(c->args, "off") != 0)
		say_error(x, "\"on\" or \"off\" expected");
	else
		x->counting.always = !strcmp(c->args, "on");
}

void command_show_counters(struct debugger *x, const struct call *c PL_UNUSED)
{
	say(x, "Counting is %s: %s are counted.\n", x->counting.always ? "on" : "off",
	    x->counting.always ? "all moves" : "steps");
}

void counters_write(struct debugger *x, struct text *out)
{
	if (x->counting.always)
		text_puts(out, "set counters on\n");
}

/* ---- caches ---- */

static void cache_say_sizes(struct debugger *x, const struct device *d)
{
	const struct exec_env *e = debug_env(x->grid);
	struct device_look look;
	struct arch_use use;
	struct cache_rules rules;
	u64 shared = 0;

	device_look_at(e, &look);
	use = (struct arch_use){
		.threads_per_cta = e->block[0] * e->block[1] * e->block[2],
		.registers_per_thread = look.registers,
		.smem_bytes = (u64)look.static_shared + look.dynamic_shared,
		.carveout_percent = look.kernel->carveout_percent,
	};
	arch_smem_config(d->arch, &use, &shared);
	cache_rules_of(d->arch, shared, &rules);
	say(x, "%s: an SM holds %u CTAs of this launch; %llu bytes of it are shared memory.\n",
	    d->arch->name, look.resident, (unsigned long long)shared);
	say(x,
	    "First cache: %u lines of %u bytes, %llu bytes in all; plain loads of global memory %s.\n",
	    rules.l1.lines, CACHE_LINE_BYTES, (unsigned long long)rules.l1.lines * CACHE_LINE_BYTES,
	    rules.loads_pass ? "go past it" : "go through it");
	say(x, "Second cache: %llu bytes in %u part%s; a read that misses fetches %u bytes.\n",
	    (unsigned long long)rules.l2.bytes, rules.l2.partitions,
	    rules.l2.partitions > 1 ? "s" : "", rules.l2.fetch_bytes);
}

/* An address, as caches divide it. */
static void cache_say_address(struct debugger *x, const char *text)
{
	struct look_evaluated v;
	struct dbg_number n = {0};
	struct text why = {0};
	struct mem_range r;

	if (!look_evaluate(x, text, &v))
		return;
	if (!dbg_value_number(&v.c, &v.v, &n, &why)) {
		look_say_why(x, &why);
	} else if (!mem_find(debug_env(x->grid)->mem, n.bits, 1, &r)) {
		say_error(x, "0x%llx is not in global memory", (unsigned long long)n.bits);
	} else {
		u64 line = n.bits / CACHE_LINE_BYTES * CACHE_LINE_BYTES;

		say(x,
		    "0x%llx: byte %llu of sector %llu of the line 0x%llx; byte %llu of its "
		    "allocation of %llu bytes, in line %llu of it.\n",
		    (unsigned long long)n.bits, (unsigned long long)n.bits % CACHE_SECTOR_BYTES,
		    (unsigned long long)(n.bits - line) / CACHE_SECTOR_BYTES,
		    (unsigned long long)line, (unsigned long long)(n.bits - r.base),
		    (unsigned long long)r.size,
		    (unsigned long long)(line - r.base / CACHE_LINE_BYTES * CACHE_LINE_BYTES) /
			    CACHE_LINE_BYTES);
	}
	text_fini(&why);
	look_evaluated_fini(&v);
}

void command_info_cache(struct debugger *x, const struct call *c)
{
	if (*c->args)
		cache_say_address(x, c->args);
	else
		cache_say_sizes(x, device_of_mem(debug_env(x->grid)->mem));
}
