/*
 * Recording: which launch, the copy of what it reads, the file.
 */
#include "src/base/demangle.h"
#include "src/base/setting.h"
#include "src/dev/attend.h"
#include "src/dev/record/record_int.h"
#include "src/exec/program.h"
#include "src/mem/guard.h"

#include <errno.h>
#include <unistd.h>

struct recorder {
	struct record_settings settings;
	char *path;
	char *kernel; /* the launch that is asked for, by its kernel; NULL: by number */
	u64 number;   /* 0, without a kernel: the one that faults */
	u64 launches; /* so far; atomic */
	bool done;    /* the file is there, or cannot be; atomic */
};

struct record_shot {
	struct wire w;       /* what the file will hold */
	const char *refusal; /* why there will be none, NULL: there will */
	char kernel[256];
};

/* ---- what is asked for ---- */

/* A program may change its folder; %p is the process, as there may be several. */
static char *file_path(const char *path)
{
	const char *p = strstr(path, "%p");
	size_t n = p ? (size_t)(p - path) : strlen(path);
	char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
	struct text t = {0};

	if (cwd)
		text_printf(&t, "%s/", cwd);
	text_add(&t, path, n);
	if (p)
		text_printf(&t, "%ld%s", (long)getpid(), p + 2);
	free(cwd);
	if (t.failed)
		text_fini(&t);
	return t.at;
}

static bool read_which(struct recorder *r, struct text *why)
{
	const char *which = setting_text(SETTING_RECORD_LAUNCH);

	if (!which)
		return true;
	if (which[strspn(which, "0123456789")]) {
		r->kernel = strdup(which);
		return r->kernel != NULL;
	}
	errno = 0;
	r->number = strtoull(which, NULL, 10);
	if (r->number && !errno)
		return true;
	text_printf(why, "PTXLOOM_RECORD_LAUNCH: launches are counted from 1, '%s' is none", which);
	return false;
}

static void recorder_free(struct recorder *r)
{
	free(r->path);
	free(r->kernel);
	free(r);
}

struct recorder *recorder_open(const struct device_settings *s, struct text *why)
{
	const char *path = setting_text(SETTING_RECORD);
	struct recorder *r;

	if (!path) {
		if (setting_text(SETTING_RECORD_LAUNCH))
			text_puts(why,
				  "PTXLOOM_RECORD_LAUNCH needs PTXLOOM_RECORD, the file to write");
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r || !(r->path = file_path(path)) || !read_which(r, why)) {
		if (!why->len)
			text_puts(why, "PTXLOOM_RECORD: no memory left");
		if (r)
			recorder_free(r);
		return NULL;
	}
	r->settings = (struct record_settings){
		.seed = s->sched.seed,
		.timeout_ms = s->sched.timeout_ms,
		.workers = s->sched.workers,
		.deterministic = s->sched.deterministic,
		.async_eager = s->async_eager,
	};
	mem_fix_addresses();
	return r;
}

void recorder_say_end(const struct recorder *r)
{
	struct text t = {0};

	if (__atomic_load_n(&r->done, __ATOMIC_ACQUIRE) || (!r->number && !r->kernel))
		return;
	text_printf(&t, "ptxloom: note: %s is not written: ", r->path);
	if (r->kernel)
		text_printf(&t, "no kernel '%s' was launched\n", r->kernel);
	else
		text_printf(&t, "there were %llu launches\n", (unsigned long long)r->launches);
	attend_put(&t);
	text_fini(&t);
}

void recorder_close(struct recorder *r)
{
	if (r)
		recorder_free(r);
}

/* Is it the name in the PTX, or that of the function in the source without template arguments? */
static bool is_named(const struct device_kernel *k, const char *name)
{
	const char *in_ptx = k->func->name->text, *begin, *end;
	struct text t = {0};
	bool same = !strcmp(in_ptx, name);

	if (same)
		return true;
	demangle(in_ptx, &t);
	if (t.at) {
		end = t.at + strcspn(t.at, "<(");
		for (begin = end; begin > t.at && begin[-1] != ' '; begin--)
			;
		same = !strcmp(t.at, name) || (strlen(name) == (size_t)(end - begin) &&
					       !memcmp(begin, name, (size_t)(end - begin)));
	}
	text_fini(&t);
	return same;
}

static bool is_wanted(struct recorder *r, const struct device_flight *f)
{
	u64 n = __atomic_add_fetch(&r->launches, 1, __ATOMIC_RELAXED);

	if (__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		return false;
	if (r->kernel)
		return is_named(f->kernel, r->kernel);
	return !r->number || n == r->number;
}

/* ---- what is recorded ---- */

static char *profile_text(const struct arch *a)
{
	struct text t = {0};

	for (u32 i = 0; i < ARCH_FIELD_COUNT; i++) {
		enum arch_field f = (enum arch_field)i;

		if (f == ARCH_FIELD_aliases || !arch_is_known(a, f))
			continue;
		text_printf(&t, "%s = ", arch_field_info(f)->name);
		arch_format(&t, a, f);
		text_puts(&t, "\n");
	}
	if (t.failed)
		text_fini(&t);
	return t.at;
}

static bool fill_texts(struct record *r, const struct device_program *p)
{
	bool ok = true;

	r->mode = p->mode;
	for (u32 i = 0; i < p->given && ok; i++) {
		struct record_text t = {p->names[i], (u8 *)(uintptr_t)p->sources[i].text,
					p->sources[i].size};

		ok = VEC_PUSH(&r->texts, t);
	}
	for (size_t i = 0; i < p->allocations.len && ok; i++)
		ok = VEC_PUSH(&r->places, p->allocations.at[i]);
	return ok;
}

static void fill_launch(struct record_launch *l, const struct device_flight *f)
{
	const struct device_kernel *k = f->kernel;
	bool in_clusters = k->func->has_perf[IR_BLOCKSARECLUSTERS];

	*l = (struct record_launch){
		.kernel = (char *)(uintptr_t)k->func->name->text,
		.dynamic_bytes = f->dynamic_bytes,
		.max_dynamic_bytes = k->max_dynamic_bytes,
		.cooperative = f->cooperative,
		.nonportable_cluster = k->nonportable_cluster,
		.carveout = (u32)k->carveout_percent,
		.grid_id = f->grid_id,
		.place = f->place,
		.params = f->params->address,
		.params_cap = f->params->cap,
		.workspace = f->params->workspace,
		.values = f->values,
		.value_bytes = k->param_bytes,
	};
	for (u32 i = 0; i < 3; i++) {
		l->grid[i] = f->shape.grid[i] / (in_clusters ? f->shape.cluster[i] : 1);
		l->block[i] = f->shape.block[i];
		l->cluster[i] = f->shape.explicit_cluster ? f->shape.cluster[i] : 0;
		l->cluster_required[i] = k->cluster_required[i];
	}
}

/* May device `index` touch what is recorded of this arena? */
static bool device_reaches(const struct mem *of, const struct mem *by, const struct mem_range *r)
{
	if (of == by)
		return true;
	if (r->freed)
		return false;
	return of == &by->system->host || (r->devices >> by->index & 1) ||
	       (of != &by->system->maps && of->index < MEM_DEVICES_MAX &&
		(__atomic_load_n(&by->peers, __ATOMIC_ACQUIRE) >> of->index & 1));
}

typedef VEC(struct mem_range) range_list;

static bool add_reached(struct mem *of, const struct mem *by, range_list *to)
{
	bool ok = true;

	if (!of || !of->arena)
		return true;
	pthread_mutex_lock(&of->lock);
	for (u32 i = 0; i < of->len && ok; i++)
		if (device_reaches(of, by, &of->ranges[i]))
			ok = VEC_PUSH(to, of->ranges[i]);
	pthread_mutex_unlock(&of->lock);
	return ok;
}

/* All that the device reaches; its own first: *own of them. */
static bool list_ranges(struct mem *m, range_list *to, size_t *own)
{
	struct mem_system *s = m->system;
	bool ok = add_reached(m, m, to);

	*own = to->len;
	if (!s)
		return ok;
	ok = ok && add_reached(&s->host, m, to) && add_reached(&s->maps, m, to);
	for (u32 i = 0; i < MEM_DEVICES_MAX && ok; i++)
		if (i != m->index)
			ok = add_reached(__atomic_load_n(&s->device[i], __ATOMIC_ACQUIRE), m, to);
	return ok;
}

/* ---- what it lacks ---- */

static bool add_note(struct record *r, const char *text)
{
	return VEC_PUSH(&r->notes, (char *)(uintptr_t)text);
}

static bool calls(const struct program *p, const char *name)
{
	for (u32 i = 0; i < p->extern_len; i++)
		if (!strcmp(p->externs[i].name, name))
			return true;
	return false;
}

/* Of the host, or of the device's runtime? */
static bool calls_out(const struct program *p, const struct exec_extern *externs, bool host)
{
	for (u32 i = 0; i < p->extern_len; i++) {
		if (host && p->externs[i].symbol)
			return true;
		for (const struct exec_extern *x = externs; !host && x && x->name; x++)
			if (!strcmp(p->externs[i].name, x->name))
				return true;
	}
	return false;
}

static bool note_ranges(struct record *r, const range_list *all, size_t own)
{
	bool host = false, other = false;

	for (size_t i = own; i < all->len; i++) {
		u8 kind = all->at[i].kind;

		host |= kind == MEM_KIND_HOST || kind == MEM_KIND_PINNED ||
			kind == MEM_KIND_MANAGED;
		other |= kind != MEM_KIND_HOST && kind != MEM_KIND_PINNED &&
			 kind != MEM_KIND_MANAGED;
	}
	return (!host ||
		add_note(
			r,
			"the host may write pinned, registered and managed memory while the kernel runs; "
			"it is recorded as it was at the start")) &&
	       (!other ||
		add_note(r, "mapped memory and that of other devices is recorded as it was at "
			    "the start"));
}

static bool note_lacks(struct record *r, const struct device_flight *f, const range_list *all,
		       size_t own)
{
	const struct program *p = f->program;
	struct device *d = f->dev;
	bool heap = false, ok = note_ranges(r, all, own);
	u64 running;

	for (size_t i = 0; i < own; i++)
		heap |= all->at[i].kind == MEM_KIND_HEAP && !all->at[i].freed;
	pthread_mutex_lock(&d->lock);
	running = d->running;
	pthread_mutex_unlock(&d->lock);
	if (ok && running > 1)
		ok = add_note(
			r,
			"other launches were under way: what they wrote during this one is not recorded");
	if (ok && heap && (calls(p, "malloc") || calls(p, "free")))
		ok = add_note(
			r, "which blocks of the heap were in use is not recorded: malloc and free "
			   "behave differently");
	if (ok && calls_out(p, NULL, true))
		ok = add_note(r, "the kernel calls functions of the host, which are not recorded");
	if (ok && calls_out(p, d->externs, false))
		ok = add_note(
			r, "the kernel calls the device's runtime, which launches kernels: that is "
			   "not recorded");
	return ok;
}

/* Why a launch cannot be recorded at all. */
static const char *find_refusal(const struct program *p)
{
	for (u32 i = 0; i < p->uops; i++) {
		enum uop_kind k = uop_kind(p->uop[i].inner);

		if (k == UOP_TEXTURE || k == UOP_SURFACE)
			return "textures and surfaces are not recorded";
	}
	return NULL;
}

/* ---- contents ---- */

struct span {
	struct wire *w;
	u64 address, bytes;
	const u8 *at;
};

static bool is_zero(const u8 *p, u64 n)
{
	return !*p && !memcmp(p, p + 1, n - 1);
}

static void put_run(struct wire *w, u64 address, const u8 *at, u64 bytes)
{
	if (!bytes)
		return;
	wire_u64(w, &address);
	wire_u64(w, &bytes);
	wire_bytes(w, (void *)(uintptr_t)at, bytes);
}

/* Pages that are not zero, those in a row together. */
static void put_span(void *arg)
{
	const struct span *s = arg;
	u64 begin = 0, at = 0;

	while (at < s->bytes) {
		u64 n = min_u64(MEM_HOST_PAGE - ((s->address + at) & (MEM_HOST_PAGE - 1)),
				s->bytes - at);

		if (is_zero(s->at + at, n)) {
			put_run(s->w, s->address + begin, s->at + begin, at - begin);
			begin = at + n;
		}
		at += n;
	}
	put_run(s->w, s->address + begin, s->at + begin, at - begin);
}

/* The arena as far as it is open: kernels may read what lies between allocations. */
static void put_contents(struct wire *w, const struct record *r, const struct mem *m,
			 const range_list *all, size_t own)
{
	u64 arena = r->device.arena, none = 0;
	struct span s = {w, arena, r->device.open - arena,
			 (const u8 *)(uintptr_t)(arena + m->bias)};

	put_span(&s);
	for (size_t i = own; i < all->len; i++) {
		const struct mem_range *x = &all->at[i];
		size_t before = w->out.len;

		s = (struct span){w, x->base, x->size, mem_host(x, x->base)};
		/* Registered memory is the program's, which may have taken it away. */
		if (!mem_guard(put_span, &s, NULL))
			w->out.len = before;
	}
	wire_u64(w, &none);
	wire_u64(w, &none);
}

static bool add_record_ranges(struct record *r, const range_list *all)
{
	bool ok = true;

	for (size_t i = 0; i < all->len && ok; i++) {
		const struct mem_range *x = &all->at[i];
		struct record_range to = {x->base, x->size, x->kind, x->freed};

		ok = VEC_PUSH(&r->ranges, to);
	}
	return ok;
}

static bool fill_record(struct record *r, const struct recorder *by, const struct device_flight *f)
{
	struct device *d = f->dev;

	r->from = program_invocation_short_name;
	r->settings = by->settings;
	r->settings.check_mem = d->mem.strict;
	r->device = (struct record_device){
		.id = (char *)(uintptr_t)d->arch->id,
		.profile = profile_text(d->arch),
		.number = d->number,
		.count = d->count,
		.stack_bytes = d->stack_bytes,
		.heap_limit = exec_heap_limit(d->syscalls.heap),
	};
	fill_launch(&r->launch, f);
	return r->device.profile && fill_texts(r, f->kernel->owner);
}

static void note_arena(struct record_device *to, struct mem *m)
{
	pthread_mutex_lock(&m->lock);
	to->arena = (u64)(uintptr_t)m->arena;
	to->open = m->open;
	to->next = m->next;
	to->window = m->window;
	pthread_mutex_unlock(&m->lock);
}

static bool copy_inputs(struct wire *w, const struct recorder *by, const struct device_flight *f)
{
	struct record r = {0};
	range_list all = {0};
	struct mem *m = &f->dev->mem;
	size_t own = 0;
	bool ok = fill_record(&r, by, f) && list_ranges(m, &all, &own) &&
		  add_record_ranges(&r, &all) && note_lacks(&r, f, &all, own);

	if (ok) {
		note_arena(&r.device, m);
		record_walk(w, &r);
		put_contents(w, &r, m, &all, own);
	}
	free(r.device.profile);
	VEC_FREE(&r.texts);
	VEC_FREE(&r.places);
	VEC_FREE(&r.ranges);
	VEC_FREE(&r.notes);
	VEC_FREE(&all);
	return ok && !w->failed;
}

/* ---- the file ---- */

static void say_recorded(const struct recorder *r, const struct record_shot *s, int error)
{
	struct text t = {0};

	text_puts(&t, error || s->refusal ? "ptxloom: error: " : "ptxloom: note: ");
	text_puts(&t, "the launch of ");
	demangle(s->kernel, &t);
	if (s->refusal)
		text_printf(&t, " is not recorded: %s\n", s->refusal);
	else if (error)
		text_printf(&t, " is not recorded: %s: %s\n", r->path, strerror(error));
	else
		text_printf(&t, " is recorded; repeat it by `ptxloom debug --replay %s`\n",
			    r->path);
	attend_put(&t);
	text_fini(&t);
}

static void write_record(struct recorder *r, struct record_shot *s, const char *fault)
{
	struct wire head = {0};
	u32 version = RECORD_VERSION, packing = WIRE_ZSTD;
	char *end = (char *)(uintptr_t)fault;
	int error = 0;

	if (__atomic_exchange_n(&r->done, true, __ATOMIC_ACQ_REL))
		return;
	wire_text(&s->w, &end);
	wire_bytes(&head, (void *)(uintptr_t)RECORD_MAGIC, strlen(RECORD_MAGIC));
	wire_u32(&head, &version);
	wire_u32(&head, &packing);
	if (!s->refusal && (head.failed || s->w.failed))
		s->refusal = "no memory left";
	if (!s->refusal && !wire_save(&s->w, head.out.at, head.out.len, WIRE_ZSTD, r->path))
		error = errno ? errno : EIO;
	say_recorded(r, s, error);
	wire_fini(&head);
}

static void shot_free(struct record_shot *s)
{
	wire_fini(&s->w);
	free(s);
}

struct record_shot *recorder_begin(struct recorder *r, const struct device_flight *f)
{
	struct record_shot *s = is_wanted(r, f) ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	snprintf(s->kernel, sizeof(s->kernel), "%s", f->kernel->func->name->text);
	s->refusal = find_refusal(f->program);
	if (!s->refusal && !copy_inputs(&s->w, r, f))
		s->refusal = "no memory left";
	if (!r->kernel && !r->number)
		return s;
	write_record(r, s, "");
	shot_free(s);
	return NULL;
}

void recorder_end(struct recorder *r, struct record_shot *s, const struct device_fault *fault)
{
	if (fault)
		write_record(r, s, fault->message.at ? fault->message.at : "");
	shot_free(s);
}
