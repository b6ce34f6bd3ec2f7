/*
 * Which build of the handlers runs on this host.
 */
#include "src/base/piece.h"
#include "src/exec/exec.h"

extern const struct exec_ops exec_ops_base;
#ifdef HOST_X86_64
extern const struct exec_ops exec_ops_v2, exec_ops_v3, exec_ops_v4;
#endif

struct level {
	const struct exec_ops *ops;
	bool supported;
};

/* Best first; the last one always works. Returns how many there are. */
#ifdef HOST_X86_64
static size_t levels_of_host(struct level out[4])
{
	__builtin_cpu_init();
	__atomic_store_n(&piece_locked, !__builtin_cpu_supports("avx"), __ATOMIC_RELAXED);
	out[0] = (struct level){&exec_ops_v4, __builtin_cpu_supports("avx512f") &&
						      __builtin_cpu_supports("avx512bw") &&
						      __builtin_cpu_supports("avx512dq") &&
						      __builtin_cpu_supports("avx512vl")};
	out[1] = (struct level){&exec_ops_v3, __builtin_cpu_supports("avx2") &&
						      __builtin_cpu_supports("fma") &&
						      __builtin_cpu_supports("bmi2")};
	out[2] = (struct level){&exec_ops_v2, __builtin_cpu_supports("sse4.2") &&
						      __builtin_cpu_supports("popcnt")};
	out[3] = (struct level){&exec_ops_base, true};
	return 4;
}
#else
static size_t levels_of_host(struct level out[4])
{
	out[0] = (struct level){&exec_ops_base, true};
	return 1;
}
#endif

const struct exec_ops *exec_ops_select(const char *level)
{
	struct level levels[4];
	size_t n = levels_of_host(levels);

	for (size_t i = 0; i < n; i++)
		if (levels[i].supported && (!level || !strcmp(level, levels[i].ops->level)))
			return levels[i].ops;
	return NULL;
}
