# samples/testkit, as a newcomer copies it: configured, built, tested on five devices, covered.
. "${srcdir:-.}/tests/tap.sh"

needs_clang
if ! command -v cmake >/dev/null || ! command -v c++ >/dev/null; then
	skip_rest "cmake or c++ is not installed"
fi
cd "$scratch" || exit 1
skipping || cp -R "$top/samples/testkit" copy
skipping || chmod -R u+w copy
# Where packages are installed, Python finds its own.
PYTHONPATH=$top/python
PYTHONDONTWRITEBYTECODE=1
PTXLOOM_WORKERS=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXLOOM_WORKERS
succeeds "it is built, tested and covered" timeout 600 copy/run.sh tree
says out '100% tests passed(, 0 tests failed)? out of' "every test passes"
says out '^lines: 9[0-9]\.[0-9]%|^lines: 100' "lines are covered"
for device in p100 v100 t4 a100 h100; do
	skipping || grep -q "name=\"clamp.$device\"" tree/junit.xml
	ok $? "clamp.$device is in JUnit's file"
done
says out 'race.h100.explore .*Passed' "orders are searched"
for word in clamp_test:GoogleTest pytest:pytest; do
	if grep -q "${word%:*} .*Skipped" out; then
		skip "${word#*:}" "it is not installed"
	else
		says out "${word%:*} .*Passed" "${word#*:} passes"
	fi
done
skipping || grep -q '^SF:clamp.cu' tree/device.info
ok $? "lcov's format has its sources"
skipping || ! grep -q optimised tree/device.txt
ok $? "no code of it is optimised"
ends 1 "coverage that is too low" \
	ptxloom coverage report tree/ptxloom-coverage --root copy --fail-under-branches 100

# A mistake of the kernel is seen by each kind of test.
skipping || sed 's/if (v > high)/if (v > high + 1)/' "$top/samples/testkit/clamp.cu" >copy/clamp.cu
ends 8 "a kernel that is wrong" env DEVICES=t4 timeout 600 copy/run.sh tree
says any 'clamp.t4 \(Failed\)' "fails the program"
says any 'table \(Failed\)' "fails the table"
finish
