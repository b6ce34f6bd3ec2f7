/*
 * Programs: from images to variables with addresses and kernels by name.
 */
#include "src/base/demangle.h"
#include "src/dev/module/builtin.h"
#include "src/dev/device.h"
#include "src/dev/image/image.h"
#include "src/dev/module/module.h"
#include "src/dev/texture/texref.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- linking ---- */

typedef VEC(const char *) name_list;

static bool add_host_functions(const struct device *dev, const struct ir_module *m,
			       name_list *names)
{
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (!f->has_body && hostcall_is_allowed(dev->host_functions, f->name->text) &&
		    dlsym(RTLD_DEFAULT, f->name->text) && !VEC_PUSH(names, f->name->text))
			return false;
	}
	return true;
}

/* Of functions without a definition: which ones the host has, and how they may be called. */
static void note_host_functions(const struct device_program *p, struct diag *d)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->funcs.len; i++) {
			const struct ir_func *f = p->units[u]->funcs.at[i];
			struct diag_span where = {f->begin, f->begin + f->name->len};

			if (f->has_body || f->definition != f ||
			    hostcall_is_allowed(p->dev->host_functions, f->name->text) ||
			    !dlsym(RTLD_DEFAULT, f->name->text))
				continue;
			diag_at(d, DIAG_NOTE, &p->units[u]->source, where, NULL,
				"the host has a function '%s'; PTXLOOM_HOST_FUNCTIONS=%s lets kernels call it",
				f->name->text, f->name->text);
		}
}

/*
 * Names may stay open when the engine has such a function, or the process one that may be called.
 */
static bool link_units(struct device_program *p, enum ir_link_mode mode, struct diag *d)
{
	name_list names = {0};
	bool ok = true;

	for (const char *const *n = exec_extern_names; *n && ok; n++)
		ok = VEC_PUSH(&names, *n);
	for (u32 u = 0; u < p->len && ok; u++)
		ok = add_host_functions(p->dev, p->units[u], &names);
	for (const struct exec_extern *x = p->dev->externs; x && x->name && ok; x++)
		ok = VEC_PUSH(&names, x->name);
	ok = ok && VEC_PUSH(&names, NULL);
	if (ok && !ir_link(p->units, p->len, mode, names.at, d)) {
		note_host_functions(p, d);
		ok = false;
	}
	VEC_FREE(&names);
	return ok;
}

/* ---- variables ---- */

static bool has_address(const struct ir_var *v)
{
	return v->space == M_global || v->space == M_const;
}

static bool place(struct device_program *p, u32 unit, u32 i, struct map *where)
{
	const struct ir_var *v = p->units[unit]->vars.at[i];
	enum mem_kind kind = v->space == M_const ? MEM_KIND_CONST
			     : v->managed        ? MEM_KIND_MANAGED
						 : MEM_KIND_DEVICE;
	u64 at;

	if (!has_address(v) || v->definition != v || v->linkage == IR_EXTERN)
		return true;
	at = mem_alloc(&p->dev->mem, v->size_bytes, v->align, kind);
	if (!at)
		return false;
	p->address[unit][i] = at;
	if (v->data)
		memcpy(mem_pointer(&p->dev->mem, at), v->data, v->data_len);
	return VEC_PUSH(&p->allocations, at) && map_set(where, map_key(v), at);
}

/* Variables defined in another unit share its address. */
static void share(struct device_program *p, u32 unit, const struct map *where)
{
	const struct ir_module *m = p->units[unit];

	for (size_t i = 0; i < m->vars.len; i++) {
		const u64 *at = m->vars.at[i]->definition
					? map_get(where, map_key(m->vars.at[i]->definition))
					: NULL;

		if (at && has_address(m->vars.at[i]))
			p->address[unit][i] = *at;
	}
}

/*
 * Addresses in initial data. Global and generic addresses are the same here; constant ones are
 * offsets.
 */
static void relocate(struct device_program *p, u32 unit, u32 i)
{
	const struct ir_module *m = p->units[unit];
	const struct ir_var *v = m->vars.at[i];
	u8 *at = mem_pointer(&p->dev->mem, p->address[unit][i]);

	for (u32 k = 0; at && v->definition == v && k < v->relocs_len; k++) {
		const struct ir_reloc *r = &v->relocs[k];
		u64 value = r->is_func
				    ? exec_function_address(p->exec_units, p->len, unit, r->index)
				    : p->address[unit][r->index];

		if (!r->is_func && !r->generic && m->vars.at[r->index]->space == M_const)
			value -= exec_const_base(p->exec_units, p->len);
		value = (value + (u64)r->addend) >> r->shift;
		memcpy(at + r->at, &value, r->size);
	}
}

static bool place_variables(struct device_program *p)
{
	struct map where = {0};
	bool ok = true;

	for (u32 u = 0; u < p->len && ok; u++) {
		p->address[u] = ARENA_ARRAY(&p->arena, u64, p->units[u]->vars.len + 1);
		p->exec_units[u] = (struct exec_unit){p->units[u], p->address[u]};
		ok = p->address[u] != NULL;
		for (u32 i = 0; i < p->units[u]->vars.len && ok; i++)
			ok = place(p, u, i, &where);
	}
	for (u32 u = 0; u < p->len && ok; u++)
		share(p, u, &where);
	for (u32 u = 0; u < p->len && ok; u++)
		for (u32 i = 0; i < p->units[u]->vars.len; i++)
			relocate(p, u, i);
	map_fini(&where);
	return ok;
}

bool device_program_variable(struct device_program *p, const char *name, u64 *address, u64 *bytes)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->vars.len; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			if (v->func != IR_NONE || !p->address[u][i] || strcmp(v->name->text, name))
				continue;
			*address = p->address[u][i];
			*bytes = v->definition->size_bytes;
			return true;
		}
	return false;
}

bool device_program_is_managed(const struct device_program *p, const char *name)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->vars.len; i++) {
			const struct ir_var *v = p->units[u]->vars.at[i];

			if (v->func == IR_NONE && v->managed && !strcmp(v->name->text, name))
				return true;
		}
	return false;
}

/* ---- loading ---- */

static enum status load(struct device_program *p, const struct device_text *texts,
			enum ir_link_mode mode, struct diag *d)
{
	u32 errors = d->errors;

	for (u32 i = 0; i < p->len; i++) {
		p->names[i] = arena_strdup(&p->arena, texts[i].name, strlen(texts[i].name));
		p->sources[i] = (struct diag_source){p->names[i], texts[i].text, texts[i].size};
		p->units[i] = module_parse(&p->sources[i], MODULE_LOAD, d);
		if (!p->units[i])
			return STATUS_INVALID_PTX;
	}
	if (builtin_is_needed(p->units, p->len)) {
		p->sources[p->len] = builtin_source;
		p->units[p->len] = module_parse(&builtin_source, MODULE_LOAD, d);
		if (!p->units[p->len++])
			return STATUS_OUT_OF_MEMORY;
	}
	if (!link_units(p, mode, d))
		return mode == IR_LINK_WHOLE ? STATUS_INVALID_PTX : STATUS_UNKNOWN;
	if (!place_variables(p)) {
		diag_at(d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL,
			"the variables of '%s' do not fit the device's memory", p->names[0]);
		return STATUS_OUT_OF_MEMORY;
	}
	return d->errors == errors ? texref_load(p) : STATUS_INVALID_PTX;
}

enum status device_program_load(struct device *dev, const struct device_text *texts, u32 len,
				enum ir_link_mode mode, struct diag *d, struct device_program **out)
{
	struct device_program *p = calloc(1, sizeof(*p));
	enum status status;

	*out = NULL;
	if (p) {
		u32 units = len + 1; /* with that of builtin.h */

		p->dev = dev;
		p->units = ARENA_ARRAY(&p->arena, struct ir_module *, units);
		p->exec_units = ARENA_ARRAY(&p->arena, struct exec_unit, units);
		p->sources = ARENA_ARRAY(&p->arena, struct diag_source, units);
		p->names = ARENA_ARRAY(&p->arena, char *, units);
		p->owned = ARENA_ARRAY(&p->arena, void *, units);
		p->address = ARENA_ARRAY(&p->arena, u64 *, units);
	}
	if (!p || !p->units || !p->exec_units || !p->sources || !p->names || !p->owned ||
	    !p->address) {
		for (u32 i = 0; i < len; i++)
			free(texts[i].owned);
		if (p)
			arena_fini(&p->arena);
		free(p);
		return STATUS_OUT_OF_MEMORY;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->len = len;
	for (u32 i = 0; i < len; i++)
		p->owned[i] = texts[i].owned;
	status = load(p, texts, mode, d);
	if (status == STATUS_SUCCESS)
		*out = p;
	else
		device_program_unload(p);
	return status;
}

void device_program_unload(struct device_program *p)
{
	struct device_kernel *k;

	if (!p)
		return;
	while ((k = p->kernels)) {
		p->kernels = k->next;
		for (u32 i = 0; i <= GANG_WARPS; i++)
			if (k->lowered[i]) {
				sched_forget(p->dev->pool, k->lowered[i]);
				exec_program_free(k->lowered[i]);
			}
	}
	texref_unload(p);
	for (size_t i = 0; i < p->allocations.len; i++)
		mem_free(&p->dev->mem, p->allocations.at[i]);
	VEC_FREE(&p->allocations);
	for (u32 i = 0; i < p->len; i++)
		ir_module_free(p->units[i]);
	for (u32 i = 0; i < p->len; i++)
		free(p->owned[i]);
	arena_fini(&p->arena);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- images ---- */

/* IMAGE_NONE: there are not so many texts. */
static enum image_result add_text(const struct image_list *l, const struct image *img, u32 number,
				  const char *name, struct device_text *out)
{
	struct image_bytes b = {0};
	enum image_result r = image_read_ptx(l, img, number, &b);

	if (r != IMAGE_OK)
		return r;
	*out = (struct device_text){
		.name = name, .text = (const char *)b.data, .size = b.size, .owned = b.owned};
	if (!b.owned) {
		/* The image is only lent. */
		out->owned = malloc(b.size + 1);
		if (out->owned)
			memcpy(out->owned, b.data, b.size);
		out->text = out->owned;
	}
	if (!out->text)
		diag_at(l->diag, DIAG_ERROR, &l->source, DIAG_NOWHERE, NULL, "out of memory");
	return out->text ? IMAGE_OK : IMAGE_BAD;
}

/*
 * The device's runtime comes as PTX with programs that launch from kernels. Its functions are built
 * in (nested.h); its own, lower ones are known by this beginning of their names.
 */
static bool is_device_runtime(const struct device_text *t)
{
	static const char name[] = "cnpGetParameterBuffer";

	return memmem(t->text, t->size, name, sizeof(name) - 1) != NULL;
}

struct texts {
	VEC(struct device_text) list;
};

/*
 * The texts of the containers from `first` up to `end` that have one for the device. False: one is
 * damaged.
 */
static bool gather_range(struct image_list *l, struct device *dev, const char *name, size_t first,
			 size_t end, struct texts *to)
{
	enum image_result r = IMAGE_NONE;
	struct image_choice choice;
	struct device_text t;

	for (size_t c = first; c < end && r == IMAGE_NONE; c++) {
		if (image_select(l, (u32)c, (u32)dev->arch->sm, &choice) != IMAGE_OK)
			continue;
		for (u32 n = 0;
		     (r = add_text(l, &l->images.at[choice.image], n, name, &t)) == IMAGE_OK; n++)
			if (is_device_runtime(&t) || !VEC_PUSH(&to->list, t))
				free(t.owned);
	}
	return r == IMAGE_NONE;
}

static void drop_texts(struct texts *all)
{
	for (size_t i = 0; i < all->list.len; i++)
		free(all->list.at[i].owned);
	VEC_FREE(&all->list);
}

/* With -G linked machine code has the units' texts as well: they are not to be taken twice. */
static enum status gather(struct image_list *l, struct device *dev, const char *name,
			  struct device_text **texts, u32 *len)
{
	struct text what = {0}, hint = {0};
	struct texts all = {0};

	/* What is damaged has been reported; the rest would be a program that lacks something. */
	if (!gather_range(l, dev, name, l->linked, l->containers.len, &all) ||
	    (!all.list.len && l->linked && !gather_range(l, dev, name, 0, 1, &all))) {
		drop_texts(&all);
		return STATUS_INVALID_IMAGE;
	}
	*texts = all.list.at;
	*len = (u32)all.list.len;
	if (*len)
		return STATUS_SUCCESS;
	image_explain_no_ptx(l, UINT32_MAX, (u32)dev->arch->sm, &what, &hint);
	diag_at(l->diag, DIAG_ERROR, &l->source, DIAG_NOWHERE, hint.at, "%s",
		what.at ? what.at : "no PTX for this device");
	text_fini(&what);
	text_fini(&hint);
	return STATUS_NO_BINARY_FOR_GPU;
}

enum status device_image_texts(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d, struct device_text **texts, u32 *len)
{
	enum status status = STATUS_INVALID_IMAGE;
	enum image_result found;
	struct image_list l;
	u32 errors = d->errors;

	*texts = NULL;
	*len = 0;
	image_list_init(&l, d, name);
	found = size ? image_list_add(&l, image, size, 0) : image_list_add_pointer(&l, image);
	if (found == IMAGE_OK)
		status = gather(&l, dev, name, texts, len);
	else if (d->errors == errors)
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE, NULL,
			"this is neither PTX nor a file that can hold it");
	image_list_fini(&l);
	return status;
}

enum status device_program_load_image(struct device *dev, const void *image, size_t size,
				      const char *name, struct diag *d, struct device_program **out)
{
	struct device_text *texts;
	enum status status;
	u32 len;

	*out = NULL;
	status = device_image_texts(dev, image, size, name, d, &texts, &len);
	if (status == STATUS_SUCCESS)
		status = device_program_load(dev, texts, len,
					     len == 1 ? IR_LINK_WHOLE : IR_LINK_PARTS, d, out);
	free(texts);
	return status;
}

/* What nvcc can compile for at least: its PTX may be newer than an old device. */
#define LOWEST_TARGET 75u
#define NEWEST_ISA 9u

enum status device_image_check(struct device *dev, const void *image, size_t size, const char *name,
			       struct diag *d)
{
	enum status status = STATUS_SUCCESS;
	const struct image *img;
	struct image_list l;
	u32 sm = (u32)dev->arch->sm, most = sm > LOWEST_TARGET ? sm : LOWEST_TARGET;

	image_list_init(&l, d, name);
	if ((size ? image_list_add(&l, image, size, 0) : image_list_add_pointer(&l, image)) !=
	    IMAGE_OK)
		goto out;
	img = l.images.len == 1 ? &l.images.at[0] : NULL;
	if (!img || img->kind != IMAGE_PTX || img->data != (const u8 *)image)
		goto out;
	if (img->isa_major > NEWEST_ISA) {
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE, NULL,
			"PTX ISA version %u.%u is not known; the newest is %u", img->isa_major,
			img->isa_minor, NEWEST_ISA);
		status = STATUS_UNSUPPORTED_PTX_VERSION;
	} else if (img->target.sm > most) {
		diag_at(d, DIAG_ERROR, &l.source, DIAG_NOWHERE,
			"choose a newer device with PTXLOOM_DEVICE or `ptxloom run -d`",
			"this PTX is for sm_%u and newer, the device is sm_%u", img->target.sm, sm);
		status = STATUS_INVALID_PTX;
	}
out:
	image_list_fini(&l);
	return status;
}

/*
 * An instruction that is kept although it cannot be run: does the table of instructions not have it
 * at all?
 */
static bool is_unknown(const struct diag_source *source, u32 at, struct diag *d)
{
	const char *opcode = source->text + at;
	size_t n = 0;
	struct arena arena;
	struct isa_complaint c;
	bool known;

	while (at + n < source->size && !strchr(" \t\r\n;/", opcode[n]))
		n++;
	arena_init(&arena, 0);
	known = isa_match(&arena, opcode, n);
	arena_fini(&arena);
	if (known)
		return false;
	isa_explain(opcode, n, &c);
	diag_words(d, "error   : %s", c.words.at ? c.words.at : "");
	diag_at(d, DIAG_ERROR, source, (struct diag_span){at + c.begin, at + c.end},
		c.row ? c.row->hint : NULL, "%s", c.text.at ? c.text.at : "out of memory");
	isa_complaint_fini(&c);
	return true;
}

bool device_program_is_whole(const struct device_program *p, struct diag *d)
{
	bool whole = true;

	for (u32 u = 0; u < p->len; u++) {
		const struct ir_module *m = p->units[u];

		for (size_t i = 0; i < m->funcs.len && m->version < 10 * (NEWEST_ISA + 1); i++) {
			const struct ir_func *f = m->funcs.at[i];

			for (size_t k = 0; k < f->poisons.len; k++)
				whole &= !is_unknown(&p->sources[u],
						     f->insns.at[f->poisons.at[k].insn].begin, d);
		}
	}
	return whole;
}

/* ---- kernels ---- */

static bool fill_params(struct device_kernel *k, struct arena *a)
{
	const struct ir_func *f = k->func;
	u64 at = 0;

	k->params = ARENA_ARRAY(a, struct device_param, f->params_len + 1);
	if (!k->params)
		return false;
	k->param_len = f->params_len;
	for (u32 i = 0; i < f->params_len; i++) {
		const struct ir_var *v = k->unit->vars.at[f->params[i]];

		at = align_up(at, v->align);
		k->params[i] = (struct device_param){
			.name = v->name->text,
			.type = v->type,
			.is_array = v->is_array,
			.is_pointer = v->ptr,
			.offset = (u32)at,
			.bytes = (u32)v->size_bytes,
			.align = v->align,
		};
		at += v->size_bytes;
	}
	k->param_bytes = (u32)at;
	return true;
}

static struct device_kernel *make_kernel(struct device_program *p, u32 unit,
					 const struct ir_func *f)
{
	struct device_kernel *k = ARENA_NEW(&p->arena, struct device_kernel), **at;

	if (!k)
		return NULL;
	*k = (struct device_kernel){
		.owner = p,
		.unit = p->units[unit],
		.func = f,
		.unit_index = unit,
		.max_dynamic_bytes = DEVICE_DYNAMIC_PLAIN,
		.carveout_percent = -1,
	};
	if (!fill_params(k, &p->arena))
		return NULL;
	for (at = &p->kernels; *at; at = &(*at)->next)
		;
	return *at = k;
}

/* Kernels are made when asked for; once made they stay. */
static struct device_kernel *kernel_of(struct device_program *p, u32 unit, const struct ir_func *f)
{
	struct device_kernel *k;

	/* Lines of the source may name functions that were inlined. */
	if (demangle_wants(f->name->text) || p->units[unit]->locs.len)
		demangle_prepare();
	pthread_mutex_lock(&p->lock);
	for (k = p->kernels; k && k->func != f; k = k->next)
		;
	if (!k)
		k = make_kernel(p, unit, f);
	pthread_mutex_unlock(&p->lock);
	return k;
}

static bool is_kernel(const struct ir_func *f)
{
	return f->is_entry && f->has_body && f->definition == f;
}

struct device_kernel *device_program_kernel(struct device_program *p, const char *name)
{
	for (u32 u = 0; u < p->len; u++) {
		const struct ir_func *f = ir_find_func(p->units[u], name);

		if (f && is_kernel(f))
			return kernel_of(p, u, f);
	}
	return NULL;
}

struct device_kernel *device_program_nth(struct device_program *p, u32 n)
{
	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->funcs.len; i++)
			if (is_kernel(p->units[u]->funcs.at[i]) && !n--)
				return kernel_of(p, u, p->units[u]->funcs.at[i]);
	return NULL;
}

u32 device_program_kernels(const struct device_program *p)
{
	u32 n = 0;

	for (u32 u = 0; u < p->len; u++)
		for (size_t i = 0; i < p->units[u]->funcs.len; i++)
			n += is_kernel(p->units[u]->funcs.at[i]);
	return n;
}

const struct program *device_kernel_lower(struct device_kernel *k, u32 threads, struct diag *d)
{
	u32 warps = (threads + WARP_LANES - 1) / WARP_LANES,
	    gang = warps < GANG_WARPS ? warps : GANG_WARPS;
	struct device_program *p = k->owner;
	struct lower_options options = {
		.warps = warps,
		.units = p->exec_units,
		.unit_len = p->len,
		.externs = p->dev->externs,
		.host_functions = p->dev->host_functions,
		.no_fusion = p->dev->observer != NULL,
		.contract = !k->unit->debug,
	};
	struct program *lowered;

	lowered = __atomic_load_n(&k->lowered[gang], __ATOMIC_ACQUIRE);
	if (lowered)
		return lowered;
	pthread_mutex_lock(&p->lock);
	lowered = k->lowered[gang];
	if (!lowered) {
		lowered = exec_lower(k->unit, k->func, p->dev->arch, p->address[k->unit_index],
				     &options, d);
		__atomic_store_n(&k->lowered[gang], lowered, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&p->lock);
	return lowered;
}
