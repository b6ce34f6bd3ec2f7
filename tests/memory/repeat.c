/*
 * Programs whose CTAs hand each other values (programs.h), again and again with several workers:
 * what depends on the order of accesses goes wrong rarely.
 *
 *     repeat [COUNT [PROGRAM ..]]
 *
 * COUNT launches of each program with 2, 4 and 8 workers, 4 when nothing is said. From 100 on two
 * processes compute beside and keep the cores busy; `repeat 10000` is what the documents speak of.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include "tests/progress/programs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURNERS 2u
#define BUSY_FROM 100u

static const u32 shapes[][2] = {{16, 128}, {7, 96}, {16, 33}, {2, 512}};

/* Launches that did not leave what they have to. */
static u32 wrong(struct ptxloom_kernel *k, const struct program_row *p, u32 *m, u32 count)
{
	u32 bad = 0, rounds = PROGRAM_ROUNDS;

	for (u32 i = 0; i < count; i++) {
		const u32 *x = shapes[i % ARRAY_LEN(shapes)];
		struct ptxloom_config c = {.grid = {x[0]}, .block = {x[1]}};

		memset(m, 0, PROGRAM_WORDS * sizeof(*m));
		bad += ptxloom_launch(k, &c, (void *[]){&m, &rounds}) || m[1] ||
		       m[0] != p->leaves(x[0], x[1], rounds);
	}
	return bad;
}

static void run(const struct program_row *p, u32 workers, u32 count)
{
	struct ptxloom_options o = {
		.size = sizeof(o), .device = "h100", .workers = workers, .timeout_ms = 120000};
	struct ptxloom_module *mod;
	struct ptxloom_device *dev;
	struct ptxloom_kernel *k;
	u32 *m;

	if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
		return;
	mod = program_load(dev, p, 9);
	k = mod ? ptxloom_module_kernel(mod, p->kernel) : NULL;
	m = ptxloom_alloc(dev, PROGRAM_WORDS * sizeof(*m));
	if (CHECK(k && m) && !CHECK_EQ(wrong(k, p, m, count), 0))
		printf("# %s, %u workers, of %u launches\n", p->kernel, workers, count);
	ptxloom_free(dev, m);
	ptxloom_module_unload(mod);
	ptxloom_device_close(dev);
}

/* Those of tests/memory, or those named. */
static bool is_wanted(const struct program_row *p, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], p->kernel))
			return true;
	return argc <= 2 && !strcmp(p->folder, "memory");
}

/* Keep a core busy as long as the test lives. */
static void compute(pid_t parent)
{
	for (volatile u32 x = 0; getppid() == parent;)
		for (u32 i = 0; i < 1000000; i++)
			x = x * 3 + 1;
	leave(0);
}

static void start_burners(pid_t *pid)
{
	pid_t parent = getpid();

	for (u32 i = 0; i < BURNERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			compute(parent);
	}
}

static void stop_burners(const pid_t *pid)
{
	for (u32 i = 0; i < BURNERS; i++)
		if (pid[i] > 0 && !kill(pid[i], SIGKILL))
			waitpid(pid[i], NULL, 0);
}

int main(int argc, char **argv)
{
	u32 count = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 4;
	pid_t burners[BURNERS] = {0};

	if (count >= BUSY_FROM)
		start_burners(burners);
	for (u32 workers = 2; workers <= 8; workers *= 2)
		for (size_t i = 0; i < ARRAY_LEN(programs); i++)
			if (is_wanted(&programs[i], argc, argv))
				run(&programs[i], workers, count);
	stop_burners(burners);
	return check_done();
}
