/*
 * Kernels that wait for what the program itself writes, late and from where it can: none of them is
 * taken for one that waits for ever.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <ptxloom.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry k(.param .u64 p) { .reg .u64 a; .reg .u32 x; .reg .pred q; ld.param.u64 a, [p];\n"
	"L: ld.volatile.global.u32 x, [a]; setp.eq.u32 q, x, 0; @q bra L; st.global.u32 [a+4], 7; ret; }\n"
	/* A loop that counts its turns may end by itself: nothing is said of it. */
	".visible .entry counts(.param .u64 p) { .reg .u64 a; .reg .u32 x, n; .reg .pred q; .reg .u64 t, e;\n"
	"ld.param.u64 a, [p]; mov.u64 t, %globaltimer; add.u64 e, t, 200000000;\n"
	"L: ld.volatile.global.u32 x, [a+8]; mov.u64 t, %globaltimer; setp.lt.u64 q, t, e; @q bra L; ret; }\n";

static volatile unsigned *flag;

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void *set_late(void *user)
{
	(void)user;
	rest_ms(1500);
	*flag = 1;
	return NULL;
}

static void on_signal(int which)
{
	(void)which;
	*flag = 1;
}

static void by_the_caller(struct ptxloom_device *dev, struct ptxloom_kernel *k,
			  struct ptxloom_config *c)
{
	flag[0] = flag[1] = 0;
	CHECK_EQ(ptxloom_launch_async(k, c, (void *[]){(void *)&flag}), 0);
	rest_ms(1500);
	*flag = 1;
	CHECK_EQ(ptxloom_device_sync(dev), 0);
	CHECK_EQ(flag[1], 7);
}

static void by_another_thread(struct ptxloom_kernel *k, struct ptxloom_config *c)
{
	pthread_t t;

	flag[0] = flag[1] = 0;
	pthread_create(&t, NULL, set_late, NULL);
	CHECK_EQ(ptxloom_launch(k, c, (void *[]){(void *)&flag}), 0);
	CHECK_EQ(flag[1], 7);
	pthread_join(t, NULL);
}

/* Another process sends the signal: every thread of this one waits for the kernel. */
static void by_a_handler(struct ptxloom_kernel *k, struct ptxloom_config *c, int number)
{
	pid_t sender;

	flag[0] = flag[1] = 0;
	signal(number, on_signal);
	sender = fork();
	if (!sender) {
		rest_ms(1500);
		kill(getppid(), number);
		leave(0);
	}
	CHECK_EQ(ptxloom_launch(k, c, (void *[]){(void *)&flag}), 0);
	CHECK_EQ(flag[1], 7);
	signal(number, SIG_DFL);
	waitpid(sender, NULL, 0);
}

/* Nothing writes: the same kernel never ends, and says so. */
static void by_nothing(struct ptxloom_device *dev, struct ptxloom_kernel *k,
		       struct ptxloom_config *c)
{
	struct ptxloom_fault f = {0};

	flag[0] = flag[1] = 0;
	CHECK_EQ(ptxloom_launch(k, c, (void *[]){(void *)&flag}), PTXLOOM_LAUNCH_TIMEOUT);
	ptxloom_last_fault(dev, &f);
	CHECK(strstr(f.message, "livelock"));
	CHECK(strstr(f.message, "@q bra L") || strstr(f.message, "ld.volatile"));
}

int main(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .workers = 2};
	struct ptxloom_config c = {.grid = {2}, .block = {64}};
	struct ptxloom_module *mod;
	struct ptxloom_device *dev;
	struct ptxloom_kernel *k;

	if (!CHECK(!ptxloom_device_open(&o, &dev)) ||
	    !CHECK(!ptxloom_module_load(dev, text, sizeof(text) - 1, &mod)))
		return check_done();
	flag = ptxloom_alloc(dev, 64);
	k = ptxloom_module_kernel(mod, "k");
	by_the_caller(dev, k, &c);
	by_another_thread(k, &c);
	by_a_handler(k, &c, SIGALRM);
	by_a_handler(k, &c, SIGINT);
	by_a_handler(k, &c, SIGTERM);
	CHECK_EQ(
		ptxloom_launch(ptxloom_module_kernel(mod, "counts"), &c, (void *[]){(void *)&flag}),
		0);
	by_nothing(dev, k, &c);
	ptxloom_device_close(dev);
	return check_done();
}
