/*
 * `ptxloom cc`: builds CUDA C++ with clang alone, no toolkit: device code to PTX, PTX into a fat
 * binary, host code around it, linked with our runtime.
 */
#include "src/base/file.h"
#include "src/tools/cc/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char tool_help_cc[] =
	"Compiles and links CUDA C++ with clang and headers of ptxloom's own, without NVIDIA's toolkit.\n"
	"Files that end in .cu are CUDA, .c, .cc and .cpp are for the host; others (objects, libraries)\n"
	"go to the linker. Options are those of nvcc; unknown ones are passed to clang.\n"
	"\n"
	"  -o FILE            the result (default a.out, or the source's name with .o or .ptx)\n"
	"  -rdc=true, -dc     device code that uses functions and variables of other files; -dc stops\n"
	"                     after objects\n"
	"  -dlink             link device code alone, for programs that another linker links\n"
	"  -lib               put the objects into an archive\n"
	"  -c, -ptx, -E, -M   stop after objects, the device code as PTX, preprocessing, dependences\n"
	"  -x cu              all sources are CUDA\n"
	"  -arch=sm_XX        device code for this target (default sm_80), sm_60 to the newest that\n"
	"  -gencode SPEC      clang supports; of several the highest is used\n"
	"  -I, -D, -U, -include, -isystem, -L, -l, -std, -O, -g, -w, -shared, -MD, -MF   as of clang\n"
	"  -Xcompiler LIST    options, separated by commas, for host code and linking\n"
	"  -Xlinker LIST      options for the linker\n"
	"  -G, -lineinfo      line information in device code; -G does not optimise it\n"
	"  -use_fast_math, -ftz=, -fmad=, -prec-div=, -prec-sqrt=   as of nvcc\n"
	"  --no-rpath         do not store in the program where ptxloom's libraries are\n"
	"  -run               run the program after building it\n"
	"  -v, -dryrun        show the commands; run none\n"
	"  --help             this text\n"
	"\n"
	"Options for parts of nvcc (-Xptxas, -maxrregcount, -ccbin and others) are ignored.\n"
	"clang is found as $PTXLOOM_CLANG, clang-14 or clang. The program runs by itself, or with\n"
	"`ptxloom run`, whose options choose the device.\n"
	"Exit status: 0, or that of the compiler.\n";

/* The last part of the path, with another end. */
static void beside(char *out, size_t size, const char *path, const char *end)
{
	const char *name = file_base_name(path), *dot = strrchr(name, '.');

	snprintf(out, size, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, end);
}

static int compile_one(const struct cc *cc, u32 i)
{
	const struct cc_file *f = &cc->o.files[i];
	char object[CC_PATH_MAX], name[4200];
	const char *out = cc->o.output;

	cc_temp_name(cc, i, "o", object);
	beside(name, sizeof(name), f->path, cc->o.stop == CC_PTX ? ".ptx" : ".o");
	switch (cc->o.stop) {
	case CC_DEPEND:
		return cc_host_pass(cc, f->path, f->language == CC_CUDA ? "" : NULL, cc->o.depend,
				    out);
	case CC_PREPROCESS:
		return f->language == CC_CUDA ? cc_device_pass(cc, f->path, NULL, out)
					      : cc_host_pass(cc, f->path, NULL, "-E", out);
	case CC_PTX:
		return f->language == CC_CUDA ? cc_device_pass(cc, f->path, NULL, out ? out : name)
					      : 0;
	case CC_OBJECTS:
		out = out ? out : name;
		break;
	case CC_PROGRAM:
	case CC_LINK_DEVICE:
	case CC_ARCHIVE:
		out = object;
		break;
	}
	return f->language == CC_HOST ? cc_host_pass(cc, f->path, NULL, "-c", out)
				      : cc_compile_cuda(cc, i, out);
}

static void remove_temp(const struct cc *cc)
{
	static const char *const ends[] = {"ptx", "fatbin", "o", "ll", "named.fatbin"},
				 *const made[] = {"link.c", "link.o"};
	char path[CC_PATH_MAX];

	for (u32 i = 0; i < cc->o.files_len; i++)
		for (size_t k = 0; k < ARRAY_LEN(ends); k++)
			unlink(cc_temp_name(cc, i, ends[k], path));
	for (size_t k = 0; k < ARRAY_LEN(made); k++) {
		snprintf(path, sizeof(path), "%s/%s", cc->temp, made[k]);
		unlink(path);
	}
	rmdir(cc->temp);
}

static int run_program(const struct cc *cc)
{
	const char *out = cc->o.output ? cc->o.output : "a.out";
	struct cc_words c = {0};
	char self[4200], path[4300];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status;

	self[n > 0 ? n : 0] = 0;
	snprintf(path, sizeof(path), "%s%s", strchr(out, '/') ? "" : "./", out);
	cc_add(&c, self);
	cc_add(&c, "run");
	cc_add(&c, path);
	status = cc_run(cc, &c, NULL);
	cc_words_fini(&c);
	return status;
}

static int build(struct cc *cc)
{
	const char *out = cc->o.output ? cc->o.output : "a_dlink.o";
	int status = 0;
	bool made;

	for (u32 i = 0; i < cc->o.files_len && !status; i++)
		if (cc->o.files[i].language != CC_LINK)
			status = compile_one(cc, i);
	if (!status && cc->o.stop == CC_LINK_DEVICE)
		status = cc_link_device(cc, out, true, &made);
	if (!status && cc->o.stop == CC_ARCHIVE)
		status = cc_make_archive(cc);
	if (!status && cc->o.stop == CC_PROGRAM)
		status = cc_link_program(cc);
	if (!status && cc->o.stop == CC_PROGRAM && cc->o.run)
		status = run_program(cc);
	return status;
}

int tool_main_cc(const struct tool_command *self, int argc, char **argv)
{
	struct cc cc = {0};
	char arch[64];
	u32 version;
	int status;

	if (!cc_parse(&cc.o, self, argc, argv, &status)) {
		cc_options_fini(&cc.o);
		return status;
	}
	status = TOOL_USAGE;
	if (cc_choose_clang(&cc, &version)) {
		cc_choose_target(&cc, version, arch, sizeof(arch));
		if (!tool_find_include(cc.include, sizeof(cc.include)) ||
		    !tool_find_libs(cc.libdir, sizeof(cc.libdir))) {
			fputs("ptxloom cc: error: the headers or libraries of ptxloom are not found; is it "
			      "installed?\n",
			      stderr);
		} else if (!file_make_temp("ptxloom", cc.temp, sizeof(cc.temp))) {
			perror("ptxloom cc: error: temporary folder");
		} else {
			status = build(&cc);
			remove_temp(&cc);
		}
	}
	cc_options_fini(&cc.o);
	return status;
}
