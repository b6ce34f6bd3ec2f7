/*
 * Races between pieces of work, in words.
 */
#include "src/check/order/between_int.h"
#include "src/dev/whereabouts.h"

static const char *trace_side_name(u8 how)
{
	return how & TRACE_WRITES ? "Write" : "Read";
}

static const char *kernel_name(const struct order_piece *p)
{
	return p->kernel->func->name->text;
}

static void add_side(const struct between_race *r, u32 i, struct finding *f)
{
	const struct order_piece *p = &r->piece[i];
	const char *what = trace_side_name(r->clash.how[i]);
	const char *call = p->call.name ? p->call.name : "a copy";
	const struct host_frame *at = host_trace_place(p->call.from.trace);
	struct finding_side *s;
	struct text where = {0};

	if (p->kernel && r->program[i]) {
		finding_add_side(f, what, r->program[i], r->clash.pc[i]);
		return;
	}
	s = finding_add_side(f, what, NULL, 0);
	if (!s)
		return;
	finding_set_place(&s->place, call, at ? at->file : NULL, at ? at->line : 0, NULL, 0);
	if (at && at->file)
		return;
	host_from_say(p->call.from, &where);
	s->place.insn = where.at;
}

static void say_stream(const struct order_piece *p, struct text *t)
{
	if (p->is_legacy)
		text_puts(t, "the default stream");
	else
		text_printf(t, "stream %llu", (unsigned long long)p->stream_id);
}

static void say_no_order(const struct between_race *r, struct text *t)
{
	const struct order_piece *late = &r->piece[0], *early = &r->piece[1];

	text_puts(t, "    No order between the two: ");
	if (r->is_early) {
		text_puts(t, "the later kernel is launched to begin before the earlier one has "
			     "ended.\n    griddepcontrol.wait (cudaGridDependencySynchronize) "
			     "before the access orders them.\n");
		return;
	}
	if (late->is_graph && early->is_graph && late->stream_id == early->stream_id) {
		text_puts(t, "no edges of the graph lead from one node to the other.\n");
		return;
	}
	say_stream(late, t);
	text_puts(t, " does not wait for ");
	say_stream(early, t);
	if ((late->is_legacy && early->is_non_blocking) ||
	    (early->is_legacy && late->is_non_blocking))
		text_puts(t, " (cudaStreamNonBlocking)");
	text_puts(t, ", nor the host between the calls.\n"
		     "    An event recorded behind the earlier one and waited for before the later "
		     "one orders them.\n");
}

/* The one that was issued later comes first. */
static struct between_race in_order(const struct between_race *r)
{
	struct between_race x = *r;

	if (r->piece[0].issued > r->piece[1].issued)
		return x;
	for (u32 i = 0; i < 2; i++) {
		x.piece[i] = r->piece[!i];
		x.program[i] = r->program[!i];
		x.clash.pc[i] = r->clash.pc[!i];
		x.clash.how[i] = r->clash.how[!i];
	}
	return x;
}

/* Blocks of the heap pass from kernel to kernel by the allocator, which orders them. */
static bool is_internal(const struct between_race *r)
{
	struct mem_range range;

	if (!mem_find(&r->piece[0].dev->mem, r->clash.address, 1, &range))
		return false;
	return range.kind == MEM_KIND_HEAP || range.kind == MEM_KIND_BLOCK ||
	       range.kind == MEM_KIND_INTERNAL || range.kind == MEM_KIND_PARAM;
}

void between_tell(struct findings *found, const struct between_race *race)
{
	const struct between_race x = in_order(race), *r = &x;
	const struct order_piece *a = &x.piece[0], *b = &x.piece[1];
	struct mem *m = &a->dev->mem;
	struct finding f;

	if (is_internal(r))
		return;
	finding_init(&f, FINDING_STREAM_RACE);
	f.has_address = true;
	f.address = r->clash.address;
	f.mem = m;
	if (a->kernel || b->kernel)
		finding_set_kernel(&f, kernel_name(a->kernel ? a : b));
	add_side(r, 0, &f);
	add_side(r, 1, &f);
	text_printf(&f.text, "Error: Race reported between %s access ", f.side[0].what);
	finding_say_side(&f.side[0], &f.text);
	text_printf(&f.text, "\n    and %s access ", f.side[1].what);
	finding_say_side(&f.side[1], &f.text);
	text_printf(&f.text, "\n    on global address 0x%llx, which is ",
		    (unsigned long long)r->clash.address);
	device_describe_address(m, NULL, r->clash.address, &f.text);
	text_puts(&f.text, "\n");
	finding_add_host(&f, a->kernel ? "later launched" : "later called", a->call.from);
	finding_add_host(&f, b->kernel ? "earlier launched" : "earlier called", b->call.from);
	say_no_order(r, &f.text);
	findings_add(found, &f);
}

static void add_host_side(const struct host_access *a, struct finding *f)
{
	const struct host_frame *at = host_trace_place(a->from.trace);
	struct finding_side *s = finding_add_side(f, a->writes ? "Write" : "Read", NULL, 0);
	struct text where = {0};

	if (!s)
		return;
	finding_set_place(&s->place, at && at->function ? at->function : "the host",
			  at ? at->file : NULL, at ? at->line : 0, NULL, 0);
	if (at && at->file)
		return;
	host_from_say(a->from, &where);
	s->place.insn = where.at;
}

void between_tell_host(struct findings *found, const struct host_race *h)
{
	const struct order_piece *p = &h->race.piece[1];
	struct mem *m = &p->dev->mem;
	struct finding f;

	finding_init(&f, FINDING_HOST_RACE);
	f.has_address = true;
	f.address = h->access.address;
	f.mem = m;
	if (p->kernel)
		finding_set_kernel(&f, kernel_name(p));
	add_host_side(&h->access, &f);
	add_side(&h->race, 1, &f);
	text_printf(&f.text, "Error: Race reported between the host's %s access ", f.side[0].what);
	finding_say_side(&f.side[0], &f.text);
	text_printf(&f.text, "\n    and %s access ", f.side[1].what);
	finding_say_side(&f.side[1], &f.text);
	text_printf(&f.text, "\n    on address 0x%llx, which is ",
		    (unsigned long long)h->access.address);
	device_describe_address(m, NULL, h->access.address, &f.text);
	text_puts(&f.text, "\n");
	finding_add_host(&f, p->kernel ? "launched" : "called", p->call.from);
	text_puts(&f.text, "    No order between the two: the host has not waited for ");
	say_stream(p, &f.text);
	text_puts(&f.text,
		  ".\n    cudaStreamSynchronize, or another wait for it, before the access "
		  "orders them.\n");
	findings_add(found, &f);
}
