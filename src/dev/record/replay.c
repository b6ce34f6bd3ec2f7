/*
 * Repeating a recorded launch: the file is read and checked, memory is put where it was.
 */
#include "src/base/setting.h"
#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/dev/module/nested.h"
#include "src/dev/record/record_int.h"
#include "src/mem/place.h"

#include <errno.h>
#include <sys/mman.h>

/* Pages outside the device's arena. */
struct mapped {
	u64 base, bytes;
};

struct replay {
	struct file file;
	const char *path; /* borrowed */
	struct wire w;
	struct record record;
	char *fault; /* how the launch ended; "": not known */
	struct device *dev;
	struct device_kernel *kernel;
	VEC(struct mapped) mapped;
};

/* ---- the file ---- */

static const char *read_head(struct wire *head, const struct file *f)
{
	char magic[sizeof(RECORD_MAGIC) - 1];
	u32 version, packing;

	if (f->size < RECORD_HEAD || !wire_open(head, f->data, f->size, WIRE_PLAIN))
		return "this is not a record of a launch";
	wire_bytes(head, magic, sizeof(magic));
	wire_u32(head, &version);
	wire_u32(head, &packing);
	if (memcmp(magic, RECORD_MAGIC, sizeof(magic)) != 0)
		return "this is not a record of a launch";
	if (version != RECORD_VERSION)
		return "this record is of another version of ptxloom";
	return packing > WIRE_ZSTD ? "this record is packed in an unknown way" : NULL;
}

/* What the walk has not checked by itself. */
static bool makes_sense(const struct record *r)
{
	const struct record_launch *l = &r->launch;

	return r->texts.len && l->kernel && *l->kernel && r->device.id && r->device.profile &&
	       l->params_cap >= l->value_bytes && l->params_cap;
}

static const char *read_record(struct replay *r)
{
	struct wire head;
	const char *bad = read_head(&head, &r->file);

	if (bad)
		return bad;
	if (!wire_open(&r->w, head.in, head.left,
		       r->file.data[RECORD_HEAD - 4] ? WIRE_ZSTD : WIRE_PLAIN))
		return "no memory left";
	record_walk(&r->w, &r->record);
	return r->w.failed || !makes_sense(&r->record) ? "the record is damaged" : NULL;
}

struct replay *replay_open(const char *path, struct text *why)
{
	struct replay *r = calloc(1, sizeof(*r));
	const char *bad;

	if (!r || !file_open(&r->file, path)) {
		text_printf(why, "%s: %s", path, strerror(r ? errno : ENOMEM));
		free(r);
		return NULL;
	}
	r->path = path;
	bad = read_record(r);
	if (!bad)
		return r;
	text_printf(why, "%s: %s", path, bad);
	replay_close(r);
	return NULL;
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->mapped.len; i++)
		munmap((void *)(uintptr_t)r->mapped.at[i].base, r->mapped.at[i].bytes);
	VEC_FREE(&r->mapped);
	wire_fini(&r->w);
	record_fini(&r->record);
	free(r->fault);
	file_close(&r->file);
	free(r);
}

/* ---- what it ran with ---- */

void replay_settings(const struct replay *r, struct device_settings *s)
{
	const struct record_settings *from = &r->record.settings;

	s->sched.seed = from->seed;
	s->sched.timeout_ms = from->timeout_ms;
	s->sched.workers = from->workers;
	s->sched.deterministic = from->deterministic;
	s->async_eager = from->async_eager;
}

struct arch *replay_profile(const struct replay *r, struct diag *d)
{
	const struct record_device *from = &r->record.device;

	return arch_parse(&(struct diag_source){from->id, from->profile, strlen(from->profile)}, d);
}

u32 replay_texts(const struct replay *r, struct device_text *out, u32 max)
{
	u32 n = (u32)r->record.texts.len;

	for (u32 i = 0; i < n && i < max; i++) {
		const struct record_text *t = &r->record.texts.at[i];

		out[i] = (struct device_text){
			.name = t->name, .text = (const char *)t->text, .size = t->size};
	}
	return n;
}

void replay_place(const struct replay *r)
{
	mem_place_next(r->record.device.arena);
}

void replay_describe(const struct replay *r, struct text *out)
{
	const struct record_launch *l = &r->record.launch;

	text_puts(out, "ptxloom: note: this repeats the launch of ");
	demangle(l->kernel, out);
	text_printf(out, "<<<(%u,%u,%u), (%u,%u,%u), %u>>> of %s on %s\n", l->grid[0], l->grid[1],
		    l->grid[2], l->block[0], l->block[1], l->block[2], l->dynamic_bytes,
		    r->record.from, r->record.device.id);
	for (size_t i = 0; i < r->record.notes.len; i++)
		text_printf(out, "ptxloom: note: %s\n", r->record.notes.at[i]);
}

/* ---- memory ---- */

/* [from, to) in whole pages, without what is mapped already, as ranges may share a page. */
static bool map_recorded(struct replay *r, u64 from, u64 to)
{
	u64 done = r->mapped.len ? r->mapped.at[r->mapped.len - 1].base +
					   r->mapped.at[r->mapped.len - 1].bytes
				 : 0;
	struct mapped m;
	void *at;

	from = from & ~(u64)(MEM_HOST_PAGE - 1);
	if (!size_align_up(to, MEM_HOST_PAGE, &to))
		return false;
	if (from < done && r->mapped.at[r->mapped.len - 1].base <= from)
		from = done;
	if (from >= to)
		return true;
	at = mmap((void *)(uintptr_t)from, to - from, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	m = (struct mapped){(u64)(uintptr_t)at, to - from};
	if (m.base == from && VEC_PUSH(&r->mapped, m))
		return true;
	munmap(at, to - from);
	return false;
}

static bool place_range(struct replay *r, const struct record_range *x)
{
	struct mem *m = &r->dev->mem;
	struct mem_range to = {
		.base = x->base, .size = x->size, .kind = (u8)x->kind, .freed = x->freed};

	if (mem_in_arena(m, x->base))
		return mem_place_range(m, &to);
	/* Of the host or of other devices. */
	return !x->freed && x->size && map_recorded(r, x->base, x->base + x->size) &&
	       mem_insert(m, to);
}

static bool place_recorded(struct replay *r, struct text *why)
{
	const struct record_device *d = &r->record.device;
	struct mem *m = &r->dev->mem;

	if ((u64)(uintptr_t)m->arena != d->arena) {
		text_printf(
			why,
			"%s: the device's memory was at 0x%llx, which this process cannot have: "
			"something else is there, or the limit on addresses (ulimit -v) is too low",
			r->path, (unsigned long long)d->arena);
		return false;
	}
	for (size_t i = 0; i < r->record.ranges.len; i++) {
		const struct record_range *x = &r->record.ranges.at[i];

		if (place_range(r, x))
			continue;
		text_printf(why, "%s: %llu bytes of memory at 0x%llx cannot be had: ", r->path,
			    (unsigned long long)x->size, (unsigned long long)x->base);
		text_puts(why, mem_in_arena(m, x->base)
				       ? "the record is damaged, or the host has no memory left"
				       : "something else of this process is there");
		return false;
	}
	if (mem_place_resume(m, d->open, d->next, d->window))
		return true;
	text_printf(why, "%s: the record is damaged", r->path);
	return false;
}

/* Where the host has memory that a record may fill; NULL: it may not. */
static void *recorded_bytes(const struct replay *r, u64 address, u64 bytes)
{
	struct mem *m = &r->dev->mem;
	struct mem_range x;

	if (mem_in_arena(m, address))
		return size_inside(address, bytes, (u64)(uintptr_t)m->arena,
				   r->record.device.open - (u64)(uintptr_t)m->arena)
			       ? (void *)(uintptr_t)(address + m->bias)
			       : NULL;
	return mem_find_own(m, address, bytes, &x) ? mem_host(&x, address) : NULL;
}

static bool fill_memory(struct replay *r)
{
	u64 address, bytes;
	void *to;

	for (;;) {
		wire_u64(&r->w, &address);
		wire_u64(&r->w, &bytes);
		if (r->w.failed || !bytes)
			break;
		to = recorded_bytes(r, address, bytes);
		if (!to)
			return false;
		wire_bytes(&r->w, to, bytes);
	}
	wire_text(&r->w, &r->fault);
	return wire_is_over(&r->w);
}

/* ---- the program ---- */

/* Kernels of other grids, streams and memory of the interfaces are not there. */
static enum fault_kind not_recorded(struct exec_call *c)
{
	struct fault *f = c->gang->fault;

	snprintf(f->text, sizeof(f->text), "%s: a repeated launch has no device runtime",
		 c->ext->name);
	return FAULT_TRAP;
}

static const struct exec_extern externs[] = {
#define NESTED(name, function)                                                                     \
	{"cuda" #name, not_recorded}, {"__cudaCDP2" #name, not_recorded},                          \
		{"cuda" #name "_ptsz", not_recorded}, {"__cudaCDP2" #name "_ptsz", not_recorded},
#include "src/dev/module/nested.def"
#undef NESTED
	{"cudaGraphSetConditional", not_recorded},
	{"cudaFuncGetAttributes", not_recorded},
	{"__cudaCDP2FuncGetAttributes", not_recorded},
	{"cudaGraphLaunch", not_recorded},
	{"cudaGraphKernelNodeSetParam", not_recorded},
	{"cudaGraphKernelNodeSetEnabled", not_recorded},
	{"cudaGraphKernelNodeSetGridDim", not_recorded},
	{"cudaGraphKernelNodeUpdatesApply", not_recorded},
	{NULL, NULL},
};

static bool load_texts(struct replay *r, struct diag *d, struct device_program **p)
{
	struct device_places places = {r->record.places.at, r->record.places.len, 0};
	u32 n = (u32)r->record.texts.len;
	struct device_text *texts = calloc(n, sizeof(*texts));
	enum status status = STATUS_OUT_OF_MEMORY;

	if (texts) {
		replay_texts(r, texts, n);
		r->dev->places = &places;
		r->dev->externs = externs;
		status = device_program_load(r->dev, texts, n, (enum ir_link_mode)r->record.mode, d,
					     p);
		r->dev->places = NULL;
	}
	free(texts);
	return status == STATUS_SUCCESS;
}

/* Parameters lie in a live allocation, and so does the workspace of cooperative launches. */
static bool place_params(struct replay *r)
{
	const struct record_launch *l = &r->record.launch;
	struct mem *m = &r->dev->mem;
	struct device_params *b;
	struct mem_range x;

	if (!mem_find_own(m, l->params, l->params_cap, &x) || !mem_in_arena(m, x.base) ||
	    (l->workspace && (!mem_find_own(m, l->workspace, 2 * sizeof(u32), &x) ||
			      !mem_in_arena(m, x.base) || l->workspace % sizeof(u32))))
		return false;
	b = calloc(1, sizeof(*b));
	if (!b)
		return false;
	*b = (struct device_params){.address = l->params,
				    .host = mem_pointer(m, l->params),
				    .cap = l->params_cap,
				    .workspace = l->workspace};
	r->dev->spare_params = b;
	return true;
}

static bool find_kernel(struct replay *r, struct device_program *p)
{
	const struct record_launch *l = &r->record.launch;
	struct device_kernel *k = device_program_kernel(p, l->kernel);

	if (!k || k->param_bytes != l->value_bytes)
		return false;
	k->max_dynamic_bytes = l->max_dynamic_bytes;
	k->nonportable_cluster = l->nonportable_cluster;
	k->carveout_percent = (s32)l->carveout;
	memcpy(k->cluster_required, l->cluster_required, sizeof(k->cluster_required));
	r->kernel = k;
	return true;
}

static void set_device(struct device *dev, const struct record *r)
{
	dev->number = r->device.number;
	dev->count = r->device.count;
	dev->stack_bytes = r->device.stack_bytes;
	dev->grids = r->launch.grid_id - 1;
	dev->mem.strict = r->settings.check_mem;
	exec_heap_resize(dev->syscalls.heap, r->device.heap_limit);
}

bool replay_load(struct replay *r, struct device *dev, struct diag *d, struct device_program **p,
		 struct text *why)
{
	r->dev = dev;
	set_device(dev, &r->record);
	if (!place_recorded(r, why) || !load_texts(r, d, p))
		return false;
	if (fill_memory(r) && place_params(r) && find_kernel(r, *p))
		return true;
	text_printf(why, "%s: the record is damaged", r->path);
	return false;
}

/* ---- the launch ---- */

void replay_launch_of(const struct replay *r, struct device_launch *out)
{
	const struct record_launch *l = &r->record.launch;

	*out = (struct device_launch){
		.kernel = r->kernel,
		.dynamic_bytes = l->dynamic_bytes,
		.cooperative = l->cooperative,
		.may_inline = true,
		.packed = l->values,
		.packed_bytes = (u32)l->value_bytes,
	};
	memcpy(out->grid, l->grid, sizeof(out->grid));
	memcpy(out->block, l->block, sizeof(out->block));
	memcpy(out->cluster, l->cluster, sizeof(out->cluster));
}

enum status replay_launch(struct replay *r, device_done *done, void *user)
{
	struct device_launch l;
	struct device_flight *f;
	enum status status;

	replay_launch_of(r, &l);
	status = device_flight_prepare(&l, &f);
	if (status != STATUS_SUCCESS)
		return status;
	f->place = r->record.launch.place;
	return device_flight_start(f, l.may_inline, done, user);
}
