# What is packed of this build, and what jobs of CI include, as far as it can be tried here: Debian
# packages (lintian, and their own tests from a folder where they are unpacked), the action for GitHub
# with its steps run by bash, GitLab's file, the recipe of the container. `make check-packages`.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1
# Paths in what is compiled are those of this run.
CCACHE_DISABLE=1
export CCACHE_DISABLE

# ---- Debian ----

capture sh "$top/share/packages/build_deb.sh" "$top" "$bin" "$scratch/debs"
tap_got=$?
[ "$tap_got" -ne 77 ] || skip_rest "$(cat err)"
verdict "$tap_got" "Debian packages are built"
skipping || for deb in debs/*.deb; do
	dpkg-deb -x "$deb" root
done
for name in ptxloom ptxloom-cuda libptxloom0 libptxloom-dev python3-ptxloom; do
	skipping || ls debs/"$name"_*.deb >/dev/null 2>&1
	ok $? "$name is one"
done
# Every file that make installs is in one of them.
skipping || make -C "$bin" -s install DESTDIR="$scratch/all" prefix=/usr libdir=/usr/lib/x86_64-linux-gnu >out 2>&1
skipping || (cd all && find . -type f ! -name '*.la' ! -name ptxloom.bash | sort) >wanted
skipping || (cd root && find . -type f -o -type l | sed 's/\.gz$//' | sort) >packed
empty "$(skipping || comm -23 wanted packed)" "they have all that is installed"
if command -v lintian >/dev/null 2>&1; then
	succeeds "lintian has nothing to say" lintian --allow-root --fail-on error,warning debs/*.changes
	is out ""
else
	skip "lintian has nothing to say" "lintian is not installed"
fi

# Where they are unpacked is like where they are installed: all is found by where it lies.
# unpacked TEST: one of debian/tests.
unpacked()
{
	(
		cd "$top" || exit 1
		mkdir "$scratch/$1"
		PATH=$scratch/root/usr/bin:$(printf '%s' "$PATH" | tr ':' '\n' | grep -vF "$bin" | paste -sd:)
		AUTOPKGTEST_TMP=$scratch/$1 PYTHONDONTWRITEBYTECODE=1 \
			PYTHONPATH=$scratch/root/usr/lib/python3/dist-packages \
			LD_LIBRARY_PATH=$scratch/root/usr/lib/x86_64-linux-gnu \
			timeout 300 sh "debian/tests/$1"
	)
}

has_clang || skip_rest "$tap_no_clang"
succeeds "their test of the command" unpacked run
says out 'all right' "runs a program"
skip_rest "$(command -v cmake >/dev/null && command -v c++ >/dev/null || echo "cmake or c++ is not installed")"
succeeds "their test of CMake" unpacked ctest
says out '100% tests passed' "builds and tests a project"
skip_rest "$(/usr/bin/python3 -c 'import pytest' 2>/dev/null || echo "pytest is not installed")"
succeeds "their test of Python" unpacked python
skip_rest ""

# ---- GitHub and GitLab ----

/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip_rest "python3-yaml is not installed"
cat >steps.py <<'END_OF_SCRIPT'
"""The action's steps become files, as a runner makes them: expressions are replaced."""
import re, sys, yaml
action = yaml.safe_load(open(sys.argv[1]))
assert action["runs"]["using"] == "composite"
given = dict(device="t4", run="ptxloom run ./short || true", coverage="cov")
inputs = {}
for name, row in action["inputs"].items():
    assert set(row) <= {"description", "required", "default"}, name
    inputs[name] = given.get(name, row.get("default"))
    assert inputs[name] is not None, name
def expanded(text):
    out = re.sub(r"\$\{\{ *inputs\.([a-z]+) *\}\}", lambda m: inputs[m[1]], str(text))
    out = re.sub(r"\$\{\{ *github\.workspace *\}\}", sys.argv[2], out)
    assert "${{" not in out, out
    return out
for i, step in enumerate(action["runs"]["steps"]):
    assert step["shell"] == "bash" and set(step) <= {"name", "shell", "env", "run", "if"}, step
    assert "${{" not in step["run"], "values reach scripts by the environment alone"
    with open("step%d" % i, "w") as out:
        for name, value in step.get("env", {}).items():
            out.write("export %s='%s'\n" % (name, expanded(value).replace("'", "'\\''")))
        out.write(step["run"])
job = yaml.safe_load(open(sys.argv[3]))[".ptxloom"]
assert job["before_script"] and job["artifacts"]["reports"]["codequality"]
for name in sys.argv[4:]:
    assert yaml.safe_load(open(name)), name
END_OF_SCRIPT
succeeds "the action, GitLab's file and the sample's jobs are well-formed" \
	/usr/bin/python3 steps.py "$top/share/ci/action.yml" "$scratch" "$top/share/ci/gitlab.yml" \
	"$top/samples/testkit/.github/workflows/kernels.yml" \
	"$top/samples/testkit/.gitlab-ci.yml"
has_clang || skip_rest "$tap_no_clang"
cat >short.cu <<'END_OF_SOURCE'
__global__ void k(int *p)
{
	p[threadIdx.x] = 1;
}
int main()
{
	int *p;
	cudaMalloc(&p, 32 * sizeof(int));
	k<<<1, 64>>>((int *)8);
	return cudaDeviceSynchronize() != 0;
}
END_OF_SOURCE
succeeds "a program for it" ptxloom cc -G short.cu -o short
# The first step builds ptxloom, which we have.
RUNNER_TEMP=$scratch/temp GITHUB_PATH=$scratch/path GITHUB_STEP_SUMMARY=$scratch/summary
GITHUB_WORKSPACE=$scratch GITHUB_ACTION_PATH=$top/share/ci GITHUB_ACTIONS=true
export RUNNER_TEMP GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_WORKSPACE GITHUB_ACTION_PATH GITHUB_ACTIONS
mkdir -p temp/ptxloom/bin
ln -s "$bin/ptxloom" temp/ptxloom/bin/ptxloom
succeeds "its first step" bash -euo pipefail step0
same path - "puts the command into PATH" <<END_OF_PATH
$scratch/temp/ptxloom/bin
END_OF_PATH
succeeds "its second" bash -euo pipefail step1
succeeds "its third" bash -euo pipefail step2
says out '^::error file=short.cu,line=3,' "has annotations"
grep -q '"short.cu"' ptxloom.sarif
ok $? "SARIF"
grep -q '^| short.cu:3 ' summary
ok $? "a summary"
grep -q '^SF:' device.info
ok $? "and coverage"
sed -i '1s/.*/{"torn/' ptxloom.jsonl
rm -f ptxloom.sarif device.info summary
ends 1 "a line that is damaged is told" bash -euo pipefail step2
[ -s ptxloom.sarif ] && [ -s device.info ] && [ -s summary ]
ok $? "and the rest is there"
rm ptxloom.jsonl
succeeds "nothing was run" bash -euo pipefail step2
grep -q '"results"' ptxloom.sarif
ok $? "SARIF, all the same"
unset GITHUB_ACTIONS GITHUB_WORKSPACE
skip_rest ""

# ---- the container ----

recipe=$top/share/packages/Containerfile
empty "$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$recipe" | grep -vE '^#|^$|^(FROM|COPY|RUN|ENV) ')" \
	"the container's recipe has instructions that there are"
sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$recipe" | sed -n 's/^RUN //p' >run.sh
succeeds "whose commands a shell takes" sh -n run.sh
skip_rest "$(. /etc/os-release && [ "$ID$VERSION_ID" = debian12 ] || echo "this is not Debian 12")"
# Libraries that what is built needs are there without the packages for building.
needed=$(skipping || ldd "$bin/.libs/ptxloom" "$bin/ptxloom" "$libraries"/libptxloom*.so 2>/dev/null |
	sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -vF "$bin" | sort -u | while read -r file; do
	dpkg -S "$(readlink -f "$file")" 2>/dev/null || dpkg -S "${file##*/}" | head -n 1
done | sed 's/:.*//' | sort -u | grep -vxE 'libc6.*|libgcc-s1|libtinfo6')
empty "$(skipping || for name in $needed; do grep -qw -- "$name" "$recipe" || echo "$name"; done)" \
	"it has the libraries that are needed"
finish
