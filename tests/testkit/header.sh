# ptxloom_test.hpp with each framework that is installed, by g++ and clang++ without a warning; its samples; a project
# of CMake.
. "${srcdir:-.}/tests/tap.sh"

here=$top/tests/testkit/header
cp "$here"/*.ptx "$here"/*.cu "$here"/*.cc "$here"/*.hpp "$scratch"
cp "$here/project/CMakeLists.txt" "$top"/samples/testkit/clamp* "$top/samples/testkit/suite.cc" "$scratch"
cd "$scratch" || exit 1
PTXLOOM_WORKERS=2
export PTXLOOM_WORKERS

no_library=
[ -e "$libraries/libptxloom.so" ] || no_library="no shared library"

# build COMPILER NAME [WORD...]: NAME.cc becomes NAME.
build()
{
	build_with=$1
	build_what=$2
	shift 2
	"$build_with" -std=c++17 -Wall -Wextra -Werror -I"$top/include" "$build_what.cc" -o "$build_what" \
		-L"$libraries" "-Wl,-rpath,$libraries" -lptxloom "$@"
}

# has COMPILER HEADER: both are there.
has()
{
	printf '#include <%s>\n' "$2" | "$1" -std=c++17 -E -x c++ - >/dev/null 2>&1
}

# passes COMPILER NAME HEADER LIBRARIES PASSED: builds cases.hpp with a framework and runs it, which says PASSED.
passes()
{
	skip_rest "$no_library"
	if ! command -v "$1" >/dev/null; then
		skip_rest "no $1"
	elif ! has "$1" "$3"; then
		skip_rest "no <$3>"
	fi
	# shellcheck disable=SC2086
	succeeds "$2, $1: builds" build "$1" "$2" $4
	succeeds "$2, $1: passes" "./$2"
	says any "$5" "$2, $1: all of it"
}

# fails NAME FAILED: after `passes`, with the tests that fail; FAILED is how many.
fails()
{
	skipping || FAILING=1 ./"$1" >out 2>err
	ok $((! $?)) "$1: fails"
	says any "$2" "$1: those tests that are to fail"
	says any 'kernels.ptx:25: ld.global.f32' "$1: shows a fault"
	says any 'got\[1\] = 2, expected 3' "$1: shows elements"
	says any 'a fault misaligned is expected, but the launch succeeded' "$1: misses a fault"
	says any 'Race reported' "$1: shows a finding"
	says any 'r: barriers is 8, expected < 8' "$1: shows a metric"
	says any 'op_st.sum is 32, expected < 32$' "$1: shows one of a kernel"
	says any 'most at kernels.ptx:[0-9]+: st.global.u32 \[%d1\], %r2; \(32\)$' "$1: and what it is of"
	says err '^ptxloom: fails in schedule [0-9]+ of 20; PTXLOOM_SEED=[0-9]+ repeats it' "$1: says which seed"
	seed=$(sed -n 's/^ptxloom: fails in .* of 20; PTXLOOM_SEED=\([0-9]*\) .*/\1/p' err)
	skipping || FAILING=1 PTXLOOM_SEED=$seed ./"$1" >out 2>err
	says err "^ptxloom: fails in schedule 1 of 20; PTXLOOM_SEED=$seed repeats it" "$1: which repeats it"
}

fails_with=g++
command -v g++ >/dev/null || fails_with=clang++
passes g++ alone vector "" '^0 not met'
passes clang++ alone vector "" '^0 not met'
fails alone '^7 not met'

# What the environment asks for is counted where claims need less.
cat >caches.cc <<'END'
#include <ptxloom_test.hpp>
int main()
{
	ptxloom::device gpu("t4");
	std::vector<unsigned> x(256);
	auto r = gpu.load("kernels.ptx").kernel<void(unsigned *)>("reverse<1>").block(256)(ptxloom::inout(x));

	EXPECT_METRIC(r, barriers == 8);
	EXPECT_METRIC(r, barriers == 8 at kernels.ptx:72);
	std::printf("%d %d\n", r.metric("dram__sectors_read.sum") > 0, int(ptxloom::failures()));
}
END
skip_rest "$no_library"
succeeds "a claim that needs no caches: builds" build "$fails_with" caches
succeeds "it runs" ./caches
is out '0 0'
sed 's/barriers == 8 at/barriers == 9 at/' caches.cc >line.cc
succeeds "a claim about a line that is wrong: builds" build "$fails_with" line
capture ./line
says any 'barriers at kernels.ptx:72 is 8, expected == 9' "is not met"
succeeds "it runs with caches" env PTXLOOM_COUNTERS=caches ./caches
is out '1 0'
succeeds "with a value that there is not" env PTXLOOM_COUNTERS=cache ./caches
says err "PTXLOOM_COUNTERS takes nothing, exact or caches, not 'cache'" "which is named"

# Static libraries of frameworks follow the program that needs them.
gtest="-lgtest_main -lgtest -lpthread"
passes g++ with_gtest gtest/gtest.h "$gtest" '\[  PASSED  \] 18 tests'
passes clang++ with_gtest gtest/gtest.h "$gtest" '\[  PASSED  \] 18 tests'
fails with_gtest ' 8 FAILED TESTS'
passes g++ with_doctest doctest/doctest.h "" 'test cases: +19 \| +19 passed'
passes clang++ with_doctest doctest/doctest.h "" 'test cases: +19 \| +19 passed'
fails with_doctest 'test cases: +19 \| +11 passed \| +8 failed'
catch=catch2/catch.hpp
catch_libraries=
if has "$fails_with" catch2/catch_all.hpp; then
	catch=catch2/catch_all.hpp
	catch_libraries="-lCatch2Main -lCatch2"
fi
# Catch2's one header takes long: one compiler builds, the other looks for errors and warnings.
passes clang++ with_catch "$catch" "$catch_libraries" 'All tests passed \([0-9]+ assertions in 19 test cases\)'
fails with_catch 'test cases: +19 \| +11 passed \| +8 failed'
skip_rest "$(command -v g++ >/dev/null || echo no g++)"
has g++ "$catch" || skip_rest "no <$catch>"
succeeds "with_catch, g++: compiles" build g++ with_catch -fsyntax-only

# What does not fit is an error of the compiler that says so.
skip_rest "$no_library"
command -v "$fails_with" >/dev/null || skip_rest "no compiler for C++"
# rejected TEXT MESSAGE: a launch of f<float> with these arguments.
rejected()
{
	cat >wrong.cc <<-END
	#include <ptxloom_test.hpp>
	int main()
	{
		std::vector<int> whole(4);
		const std::vector<float> fixed(4);
		std::vector<bool> bits(4);
		auto f = ptxloom::device("t4").load("x.ptx").kernel<void(float *, int)>("f");
		return !f($1);
	}
	END
	capture build "$fails_with" wrong
	[ $? -ne 0 ] && grep -q -- "$2" err
	verdict $? "$1: $2"
}
rejected 'ptxloom::inout(whole), 4' "the elements are not of the type that the kernel's parameter points to"
rejected 'ptxloom::out(fixed), 4' 'what is const cannot be written'
rejected 'ptxloom::in(bits), 4' 'elements have to lie in a row'
rejected 'nullptr' 'as many arguments as the kernel has parameters'
rejected 'nullptr, 4.5' 'a floating-point number is given for an integer'
rejected 'nullptr, ptxloom::in(whole)' 'elements are given for a parameter that is no pointer'

# The samples.
needs_clang
[ -z "$no_library" ] || skip_rest "$no_library"
has "$fails_with" gtest/gtest.h || skip_rest "no <gtest/gtest.h>"
succeeds "clamp_test: builds" build "$fails_with" clamp_test $gtest
succeeds "clamp_test: passes" ./clamp_test
says out '\[  PASSED  \] 3 tests' "all of it"
succeeds "suite: builds" ptxloom cc -x cu -I"$top/include" suite.cc -lgtest -o suite
ends 1 "stick" ptxloom run --after-fault=stick ./suite
says out ' 2 FAILED TESTS' "all tests after a fault fail"
ends 1 "reset" ptxloom run -d t4 --after-fault=reset ./suite --gtest_output=xml:suite.xml
says out ' 1 FAILED TEST$' "the test that faults fails"
says suite.xml '"ptxloom.device" value="t4"' "reports have the device"
ends 86 "exit" ptxloom run --after-fault=exit ./suite
says out 'RUN .*suite.out_of_bounds' "it ends in the second"
ok "$(! grep -q 'suite.last' out; echo $?)" "and has no third"

# A project by find_package.
needs_clang
[ -z "$no_library" ] || skip_rest "$no_library"
command -v cmake >/dev/null && command -v c++ >/dev/null || skip_rest "cmake or c++ is not installed"
skipping || kit=$(ptxloom toolkit)
succeeds "CMake configures" timeout 300 cmake -S . -B tree -Dptxloom_DIR="$kit/lib/cmake/ptxloom"
succeeds "it builds" timeout 300 cmake --build tree
cp kernels.ptx source.cu tree
succeeds "CTest runs" timeout 300 ctest --test-dir tree --output-on-failure
says out '100% tests passed(, 0 tests failed)? out of 2' "on a device, in two orders"
finish
