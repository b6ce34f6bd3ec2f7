/*
 * Module variables in device memory, for running a module without the driver around it.
 */
#include "tests/ref/ref_int.h"

u64 ref_const_base(const struct ir_module *m, const u64 *address)
{
	u64 base = UINT64_MAX;

	for (u32 i = 0; i < m->vars.len; i++)
		if (m->vars.at[i]->space == M_const)
			base = min_u64(base, address[i]);
	return base;
}

static u64 symbol_address(const struct ir_module *m, const struct mem *mem, const u64 *address,
			  const struct ir_reloc *r)
{
	const struct ir_var *v;

	if (r->is_func)
		return (u64)r->index + 1;
	v = m->vars.at[r->index];
	if (v->space == M_const && !r->generic)
		return address[r->index] - ref_const_base(m, address);
	return address[r->index] + (r->generic && v->space == M_shared ? mem->shared_base : 0);
}

bool ref_place_variables(const struct ir_module *m, struct mem *mem, u64 *address)
{
	for (u32 i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];

		address[i] = 0;
		if (v->space != M_global && v->space != M_const)
			continue;
		address[i] = mem_alloc(mem, max_u64(v->size_bytes, 1), v->align,
				       v->space == M_const ? MEM_KIND_CONST : MEM_KIND_DEVICE);
		if (!address[i])
			return false;
	}
	for (u32 i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];
		u8 *at = mem_pointer(mem, address[i]);

		if (at && v->data)
			memcpy(at, v->data, v->data_len);
		for (u32 k = 0; at && k < v->relocs_len; k++) {
			const struct ir_reloc *r = &v->relocs[k];
			u64 x = (symbol_address(m, mem, address, r) + (u64)r->addend) >> r->shift;

			memcpy(at + r->at, &x, r->size);
		}
	}
	return true;
}
