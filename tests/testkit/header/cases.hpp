/*
 * What ptxloom_test.hpp does, for every framework: CASE(name) begins a test, WANT(condition) is the framework's check.
 * With FAILING in the environment the last ones fail.
 */
#include <string>
#include <vector>

static ptxloom::device &gpu()
{
	static ptxloom::device one("t4", {"mem,race"});
	return one;
}

static ptxloom::module &kernels()
{
	static ptxloom::module one = gpu().load("kernels.ptx");
	return one;
}

static bool is_failing()
{
	return std::getenv("FAILING");
}

using saxpy_type = void(int, float, const float *, float *);

CASE(launches)
{
	std::vector<float> x(1000), y(1000, 1.0f), want(1000);
	auto saxpy = kernels().kernel<saxpy_type>("saxpy");

	for (int i = 0; i < 1000; i++) {
		x[i] = static_cast<float>(i);
		want[i] = 2 * x[i] + 1;
	}
	auto r = saxpy.grid(4).block(256)(1000, 2.0f, ptxloom::in(x), ptxloom::inout(y));
	EXPECT_LAUNCH(r);
	EXPECT_NEAR_ALL(y, want);
	WANT(r.ran && r.status == 0 && r.findings.empty());
	WANT(r.text() == "the launch succeeded\n");
	// Arrays, pointers with counts, one array for two parameters.
	std::array<float, 4> a{{1, 2, 3, 4}};
	float c[4] = {3, 6, 9, 12};
	EXPECT_LAUNCH(saxpy.block(32)(4, 2, ptxloom::in(a), ptxloom::inout(a.data(), 4)));
	EXPECT_NEAR_ALL(a, c, ptxloom::ulp(0));
	// What a kernel does not write is not left as it was.
	std::vector<float> z(40, 5.0f);
	EXPECT_LAUNCH(saxpy.block(32)(0, 2.0f, ptxloom::in(x), ptxloom::out(z)));
	WANT(z[0] != z[0] && z[39] != z[39]);
	// A refusal leaves host memory alone.
	z.assign(40, 5.0f);
	auto refused = saxpy.block(4096)(40, 2.0f, ptxloom::in(x), ptxloom::out(z));
	WANT(!refused && !refused.ran && refused.rule.empty() && z[39] == 5.0f);
	WANT(refused.text().find("refused") != std::string::npos);
}

CASE(shapes)
{
	struct pair {
		unsigned a, b;
	};
	std::vector<unsigned> got(3), want(3, 2000 + 128 + 7);
	auto shape = kernels().kernel<void(unsigned *, pair)>("shape");

	EXPECT_LAUNCH(shape.grid(3, 2).shared(128).cluster(1)(ptxloom::out(got), pair{1, 7}));
	EXPECT_NEAR_ALL(got, want);
	EXPECT_NEAR_ALL(got, want, ptxloom::rel(0.1) | ptxloom::abs(2));
}

CASE(faults)
{
	std::vector<float> tiny(8), y(64);
	auto saxpy = kernels().kernel<saxpy_type>("saxpy(int, float, float const*, float*)");

	EXPECT_FAULT(saxpy.block(64)(64, 2.0f, ptxloom::in(tiny), ptxloom::inout(y)), out_of_bounds);
	EXPECT_FAULT(saxpy.block(64)(64, 2.0f, nullptr, ptxloom::inout(y)), out_of_bounds);
	auto r = saxpy.block(64)(64, 2.0f, ptxloom::in(tiny), ptxloom::inout(y));
	WANT(!r && r.ran && r.fault.ptx_line == 25 && r.message.find("kernels.ptx:25") != std::string::npos);
	// A fault harms no launch after it.
	EXPECT_LAUNCH(saxpy.block(64)(8, 2.0f, ptxloom::in(tiny), ptxloom::inout(y)));
}

CASE(findings)
{
	std::vector<unsigned> x(256, 1);

	EXPECT_FINDING(kernels().kernel<void(unsigned *)>("reverse<0>").block(256)(ptxloom::inout(x)), "race");
	EXPECT_LAUNCH(kernels().kernel<void(unsigned *)>("reverse<1>").block(256)(ptxloom::inout(x)));
	WANT(!gpu().findings().empty());
	WANT(gpu().findings().back().check == "race");
}

CASE(schedules)
{
	auto reverse = kernels().kernel<void(unsigned *)>("reverse<1>");
	unsigned runs = 0;

	WANT(ptxloom::for_each_schedule(gpu(), 4, [&] {
		std::vector<unsigned> x(256), want(256);

		for (unsigned i = 0; i < 256; i++)
			want[255 - i] = x[i] = i;
		runs++;
		EXPECT_LAUNCH(reverse.block(256)(ptxloom::inout(x)));
		EXPECT_NEAR_ALL(x, want);
	}));
	WANT(runs == (std::getenv("PTXLOOM_SEED") ? 1 : 4));
	WANT(!ptxloom::for_each_schedule(gpu(), 4, [&] { return gpu().seed() < 2; }) ||
	     std::getenv("PTXLOOM_SEED"));
	WANT(gpu().seed() == 0);
}

CASE(mistakes)
{
	std::vector<float> x(4);
	std::vector<unsigned> u(4);
	auto said = [](const ptxloom::result &r, const char *text) {
		return !r && !r.ran && r.text().find(text) != std::string::npos;
	};

	WANT(!gpu().load("nowhere.ptx"));
	WANT(!ptxloom::device("no_such_device"));
	WANT(said(ptxloom::device("no_such_device").load("kernels.ptx").kernel<void()>("shape")(), "no_such_device"));
	WANT(said(gpu().load("nowhere.ptx").kernel<void()>("shape")(), "nowhere.ptx"));
	WANT(said(kernels().kernel<void()>("shapes")(), "no kernel is called 'shapes'"));
	WANT(said(kernels().kernel<void(unsigned *)>("reverse")(ptxloom::inout(u)), "more than one kernel"));
	WANT(said(kernels().kernel<void(unsigned *)>("reverse<2>")(ptxloom::inout(u)), "    void reverse<1>(unsigned int*)"));
	WANT(said(kernels().kernel<void(unsigned *)>("shape")(ptxloom::inout(u)), "has 2 parameters, its type in the test 1"));
	WANT(said(kernels().kernel<void(int, int, float *, float *)>("saxpy")(4, 2, ptxloom::in(x), nullptr),
		  "parameter 2 of kernel saxpy(int, float, float const*, float*), a, is .f32 of 4 bytes, in the test an integer of 4"));
	WANT(said(kernels().kernel<void(long, float, float *, float *)>("saxpy")(4, 2, ptxloom::in(x), nullptr),
		  "n, is .u32 of 4 bytes, in the test an integer of 8"));
	WANT(said(kernels().kernel<saxpy_type>("saxpy").block(4)(3, 2, ptxloom::in(x.data(), 3), ptxloom::inout(x.data() + 1, 3)),
		  "parameters 3 and 4 overlap in part"));
}

CASE(metrics_of_kernels)
{
	ptxloom::settings how{"mem,race"};
	how.counters = PTXLOOM_COUNT_CACHES;
	ptxloom::device counted("t4", how);
	auto saxpy = counted.load("kernels.ptx").kernel<saxpy_type>("saxpy").grid(4).block(256);
	auto reverse = counted.load("kernels.ptx").kernel<void(unsigned *)>("reverse<1>").block(256);
	std::vector<float> x(1024), y(1024);
	std::vector<unsigned> u(256);
	auto first = saxpy(1024, 2.0f, ptxloom::in(x), ptxloom::inout(y));
	auto second = saxpy(32, 2.0f, ptxloom::in(x), ptxloom::inout(y));

	EXPECT_LAUNCH(reverse(ptxloom::inout(u)));
	EXPECT_METRIC(first, global_ld_sectors == 256);
	EXPECT_METRIC(first, "global_ld_sectors == 256");
	EXPECT_METRIC(second, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", <=, 8);
	EXPECT_METRIC(saxpy, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", ==, 264);
	EXPECT_METRIC(reverse, bank_conflicts == 0);
	EXPECT_METRIC(reverse, instructions <= 128 +- 20%);
	EXPECT_METRIC(first, "dram__sectors_read.sum", >=, 256);
	WANT(ptxloom::metric(reverse, "smsp__inst_executed_op_barrier.sum") !=
	     ptxloom::metric(reverse, "gpu__time_duration.sum"));
	auto why = [&](const char *claim) {
		return ptxloom::detail::claim_failure("r", first, claim);
	};
	WANT(why("global_ld_sectors == 255").find("r: global_ld_sectors is 256, expected == 255\n    most at ") == 0);
	WANT(why("global_ld_sectors == 255").find("kernels.ptx:25: ld.global.f32 %f2, [%d1]; (132)\n") != std::string::npos);
	WANT(why("instructions <= 1").find("depends on the compiler") != std::string::npos);
	WANT(why("bank_conflict == 0").find("did you mean bank_conflicts?") != std::string::npos);
	// Of a device that was opened anew there is nothing.
	counted.reopen(1);
	WANT(why("bank_conflicts == 0") == "r: the device was opened anew after the launch\n");
}

CASE(comparison)
{
	using ptxloom::detail::near_failure;
	std::vector<float> got{1, 2, 3}, want{1, 2, 4};
	std::vector<double> many(10, 1.0), others(10, 1.5);
	std::vector<float> zero{0.0f, NAN}, minus{-0.0f, NAN};
	std::vector<int> whole{1, 2}, next{1, 4};

	WANT(near_failure("y", got, want) == "y[2] = 3, expected 4\n");
	WANT(near_failure("y", got, std::vector<float>{1}) == "y has 3 elements, expected 1\n");
	others[7] = 9;
	WANT(near_failure("y", many, others).find("y[7] = 1, expected 9 is the worst\ny: 10 of 10 elements differ\n") !=
	     std::string::npos);
	WANT(near_failure("y", zero, minus).empty());
	WANT(!near_failure("y", zero, minus, ptxloom::ulp(0)).empty());
	WANT(near_failure("y", got, want, ptxloom::rel(0.25)).empty());
	WANT(!near_failure("y", got, want, ptxloom::rel(0.24)).empty());
	WANT(near_failure("y", got, want, ptxloom::abs(1)).empty());
	want[2] = std::nextafterf(std::nextafterf(3, 4), 4);
	WANT(near_failure("y", got, want, ptxloom::ulp(2)).empty());
	WANT(!near_failure("y", got, want, ptxloom::ulp(1)).empty());
	WANT(near_failure("y", whole, next, ptxloom::ulp(2)).empty());
	WANT(!near_failure("y", whole, next, ptxloom::ulp(1)).empty());
	std::vector<float> tiny{-1e-45f}, small{1e-45f}, huge{INFINITY};
	WANT(near_failure("y", tiny, small, ptxloom::ulp(2)).empty());
	WANT(!near_failure("y", small, huge, ptxloom::rel(1) | ptxloom::abs(1e300)).empty());
	WANT(ptxloom::devices("t4,,h100") == (std::vector<std::string>{"t4", "h100"}));
}

CASE(sources)
{
	if (is_failing())
		return;
	auto made = gpu().load("source.cu", {"-DFACTOR=3"});
	std::vector<double> x{1, 2, 3}, want{3, 6, 9};

	if (!made && made.error().find("clang is not found") != std::string::npos)
		return;
	EXPECT_LAUNCH(made.kernel<void(double *)>("scale<double>").block(3)(ptxloom::inout(x)));
	EXPECT_NEAR_ALL(x, want);
	auto r = made.kernel<void(double *)>("scale").block(4)(ptxloom::inout(x));
	EXPECT_FAULT(r, out_of_bounds);
	WANT(r.fault.source_line == 3);
	auto broken = gpu().load("source.cu");
	WANT(!broken && broken.error().find("FACTOR") != std::string::npos);
}

CASE(metrics)
{
	ptxloom::device plain("t4");
	auto reverse = plain.load("kernels.ptx").kernel<void(unsigned *)>("reverse<1>");
	std::vector<unsigned> x(256, 1);
	auto r = reverse.block(256)(ptxloom::inout(x));

	EXPECT_METRIC(r, bank_conflicts == 0);
	EXPECT_METRIC(r, barriers == 8);
	EXPECT_METRIC(r, global_ld_efficiency >= 0.9);
	EXPECT_METRIC(r, instructions <= 1000 +- 5%);
	EXPECT_METRIC(r, dram__sectors_read.sum >= 1 +- 1%);
	WANT(r.metric("barriers") == 8 && std::isnan(r.metric("no_metric")));
	// Each launch has its own.
	r = reverse.block(32)(ptxloom::inout(x));
	EXPECT_METRIC(r, barriers == 1);
	using ptxloom::detail::claim_failure;
	WANT(claim_failure("r", r, "barriers == 2").find("r: barriers is 1, expected == 2\n") == 0);
	WANT(claim_failure("r", r, "instructions == 1000").find("give it a tolerance") != std::string::npos);
	WANT(claim_failure("r", r, "registers <= 64").find("registers are ptxas's") != std::string::npos);
	WANT(claim_failure("r", r, "barrier == 1").find("did you mean barriers?") != std::string::npos);
	WANT(claim_failure("r", r, "barriers").find("is not METRIC OP NUMBER") != std::string::npos);
	r = reverse.block(4096)(ptxloom::inout(x));
	WANT(claim_failure("r", r, "barriers == 0").find("refused") != std::string::npos);
	// Devices with checks count, too.
	x.assign(256, 1);
	EXPECT_METRIC(kernels().kernel<void(unsigned *)>("reverse<1>").block(256)(ptxloom::inout(x)), barriers == 8);
	// What nothing asks for is not counted.
	ptxloom::settings how;
	how.counters = 9;
	WANT(ptxloom::device("t4", how).error().find("enum ptxloom_counting") != std::string::npos);
}

// Each fails, with a line of its own, if it is to.
CASE(of_launch)
{
	if (!is_failing())
		return;
	std::vector<float> tiny(8), y(64);

	EXPECT_LAUNCH(kernels().kernel<saxpy_type>("saxpy").block(64)(64, 2.0f, ptxloom::in(tiny), ptxloom::inout(y)));
}

CASE(of_near)
{
	if (!is_failing())
		return;
	std::vector<float> got{1, 2}, want{1, 3};

	EXPECT_NEAR_ALL(got, want, ptxloom::ulp(1));
}

CASE(of_fault)
{
	if (!is_failing())
		return;
	std::vector<float> x(64), y(64);

	EXPECT_FAULT(kernels().kernel<saxpy_type>("saxpy").block(64)(64, 2.0f, ptxloom::in(x), ptxloom::inout(y)), misaligned);
}

CASE(of_metric)
{
	if (!is_failing())
		return;
	ptxloom::device plain("a100", {"", 0, 1});
	std::vector<unsigned> x(256, 1);
	auto r = plain.load("kernels.ptx").kernel<void(unsigned *)>("reverse<1>").block(256)(ptxloom::inout(x));

	EXPECT_METRIC(r, barriers < 8);
}

CASE(of_race)
{
	if (!is_failing())
		return;
	std::vector<unsigned> x(256, 1);

	EXPECT_LAUNCH(kernels().kernel<void(unsigned *)>("reverse<0>").block(256)(ptxloom::inout(x)));
}

CASE(of_metric_of_kernel)
{
	if (!is_failing())
		return;
	std::vector<unsigned> x(256, 1);
	auto reverse = ptxloom::device("t4").load("kernels.ptx").kernel<void(unsigned *)>("reverse<1>");

	reverse.block(256)(ptxloom::inout(x));
	EXPECT_METRIC(reverse, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", <, 32);
}

CASE(of_schedules)
{
	if (!is_failing())
		return;
	ptxloom::device plain("a100");
	auto reverse = plain.load("kernels.ptx").kernel<void(unsigned *)>("reverse<0>");

	ptxloom::for_each_schedule(plain, 20, [&] {
		std::vector<unsigned> x(256), want(256);

		for (unsigned i = 0; i < 256; i++)
			want[255 - i] = x[i] = i;
		EXPECT_LAUNCH(reverse.block(256)(ptxloom::inout(x)));
		EXPECT_NEAR_ALL(x, want);
	});
}
