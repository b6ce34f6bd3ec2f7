/*
 * Which build of the handlers runs on this host.
 */
#include "src/exec/exec.h"

extern const struct exec_ops exec_ops_base;
#ifdef HOST_X86_64
extern const struct exec_ops exec_ops_v2, exec_ops_v3, exec_ops_v4;
#endif

struct level {
	const struct exec_ops *ops;
	bool supported;
};

const struct exec_ops *exec_ops_select(const char *level)
{
#ifdef HOST_X86_64
	const struct level levels[] = {
		{&exec_ops_v4, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")},
		{&exec_ops_v3, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")},
		{&exec_ops_v2, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")},
		{&exec_ops_base, true},
	};
#else
	const struct level levels[] = {{&exec_ops_base, true}};
#endif

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (levels[i].supported && (!level || !strcmp(level, levels[i].ops->level)))
			return levels[i].ops;
	return NULL;
}
