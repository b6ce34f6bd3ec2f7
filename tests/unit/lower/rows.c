/*
 * The state of the instruction table against what lowering makes of the instructions in
 * tests/forms/legal: a row that is marked as run has instructions that run, one that is marked as
 * checked only is refused with a message.
 */
#include "grammar/parse.h"
#include "src/lower/lower.h"
#include "src/base/file.h"
#include "src/exec/exec.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdlib.h>

static u32 runs[ISA_ROWS], refused[ISA_ROWS];

/* Instructions of the kernel itself: do any of their micro-ops fault? */
static void count(const struct ir_func *f, const struct program *p)
{
	bool *bad = calloc(f->insns.len + 1, sizeof(*bad));

	for (u32 i = p->funcs[0].first; bad && i < p->funcs[0].end; i++)
		bad[p->uop[i].ir] |= p->uop[i].inner == OP_poison;
	for (size_t i = 0; bad && i < f->insns.len; i++)
		if (f->insns.at[i].form)
			(bad[i] ? refused : runs)[f->insns.at[i].form->row->row]++;
	free(bad);
}

/* What a device of this architecture makes of a module. Returns how many kernels it took. */
static u32 read_module(const char *path, const char *device)
{
	struct lower_options options = {.warps = 1};
	struct diag_source source = {.name = path};
	struct ir_module *m;
	struct file file;
	struct diag d;
	u64 *address;
	u32 kernels = 0;

	if (!file_open(&file, path))
		return 0;
	source.text = (const char *)file.data;
	source.size = file.size;
	diag_init(&d, NULL, NULL);
	m = ptx_parse(&source, NULL, &d);
	address = m ? calloc(m->vars.len + 1, sizeof(*address)) : NULL;
	for (size_t i = 0; address && i < m->vars.len; i++)
		address[i] = 65536;
	for (size_t i = 0; address && i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];
		struct program *p = NULL;

		if (f->is_entry && f->insns.len)
			p = exec_lower(m, f, arch_find(device), address, &options, &d);
		if (p)
			count(f, p);
		kernels += p != NULL;
		exec_program_free(p);
	}
	free(address);
	ir_module_free(m);
	diag_fini(&d);
	file_close(&file);
	return kernels;
}

int main(void)
{
	const char *src = getenv("srcdir");
	char folder[512], path[1024];
	struct dirent *e;
	u32 kernels = 0, seen = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/tests/forms/legal", src ? src : ".");
	dir = opendir(folder);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (strstr(e->d_name, ".ptx"))
			kernels += read_module(path, "h200") + read_module(path, "gb202");
	}
	if (dir)
		closedir(dir);
	CHECK_MSG(kernels > 500, "modules were found");
	for (u32 i = 0; i < ISA_ROWS; i++) {
		const struct isa_row *r = isa_row(i);

		if (!runs[i] && !refused[i])
			continue;
		seen++;
		if (r->state == ISA_RUN ? !runs[i] : runs[i] != 0)
			printf("# %s is marked as %s\n", r->id,
			       r->state == ISA_RUN ? "run, and never does" : "checked, and runs");
		CHECK(r->state == ISA_RUN ? runs[i] != 0 : runs[i] == 0);
	}
	printf("# %u kernels, %u of %u rows\n", kernels, seen, ISA_ROWS);
	return check_done();
}
