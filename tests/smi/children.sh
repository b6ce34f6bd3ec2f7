# Compilers that programs start below `ptxloom run` keep the PTX in what they make.
. "${srcdir:-.}/tests/tap.sh"
cd "$scratch" || exit 1

# words COMMAND...: what ptxas gets, as the commands of programs below `ptxloom run` start it.
cat >ptxas <<'END'
#!/bin/sh
echo "$@"
END
chmod +x ptxas
cp ptxas ptxas-info
words()
{
	ptxloom run "$@" >out 2>err
	cat out
}
equal()
{
	[ "$1" = "$2" ] || printf '# found: %s\n# wanted: %s\n' "$1" "$2"
	ok "$([ "$1" = "$2" ]; echo $?)" "$3"
}
equal "$(words sh -c './ptxas -arch sm_80 a.ptx; true')" "-arch sm_80 a.ptx --generate-line-info" \
	"from a shell"
equal "$(words env PATH="$scratch:$PATH" sh -c 'ptxas a.ptx; true')" "a.ptx --generate-line-info" \
	"by PATH"
equal "$(words env ./ptxas a.ptx)" "a.ptx --generate-line-info" "by execvp"
equal "$(words sh -c './ptxas -lineinfo a.ptx; true')" "-lineinfo a.ptx" "that keeps lines already"
equal "$(words sh -c './ptxas --version; true')" "--version" "that is asked for its version"
equal "$(words sh -c './ptxas-info a.ptx; true')" "a.ptx" "another program"
many=$(seq 1 600 | tr '\n' ' ')
equal "$(words sh -c "./ptxas $many; true")" "${many% }" "a line that is too long"
if python3 -c 'import os; os.posix_spawn' 2>/dev/null; then
	cat >start.py <<'END'
import os, subprocess
os.waitpid(os.posix_spawn("./ptxas", ["ptxas", "b.ptx"], os.environ), 0)
subprocess.run(["./ptxas", "c.ptx"])
END
	equal "$(words python3 start.py | tr '\n' ';')" "b.ptx --generate-line-info;c.ptx --generate-line-info;" \
		"from Python"
else
	skip "from Python" "no python3"
fi

if command -v cc >/dev/null 2>&1; then
	cat >list.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	char *env[] = {"A=1", NULL};
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			if (i == 0)
				execl("./ptxas", "ptxas", "d.ptx", (char *)NULL);
			else if (i == 1)
				execle("./ptxas", "ptxas", "e.ptx", (char *)NULL, env);
			else
				execlp("./ptxas", "ptxas", "f.ptx", (char *)NULL);
			_exit(1);
		}
		wait(NULL);
	}
	return 0;
}
END
	cc list.c -o list
	equal "$(words ./list | tr '\n' ';')" "$(for f in d e f; do
		printf '%s.ptx --generate-line-info;' $f; done)" "by execl, execle and execlp"
else
	skip "by execl, execle and execlp" "no cc"
fi

# NVIDIA's compilers, where they are.
if command -v ptxas >/dev/null 2>&1 && [ "$(command -v ptxas)" != "$scratch/ptxas" ]; then
	cp "$top/samples/saxpy.ptx" .
	succeeds "ptxas" ptxloom run sh -c 'ptxas -arch sm_80 saxpy.ptx -o saxpy.cubin; true'
	succeeds "a kernel of machine code that ptxas has made" ptxloom exec saxpy.cubin --block 4 --arg u32=4 \
		--arg f32=2 --buffer x:f32=1,2,3,4 --buffer y:f32[4]=ones --dump y
	says out '3 5 7 9' "runs from the PTX in it"
	ptxas -arch sm_80 saxpy.ptx -o old.cubin
	ends 1 "one that was made before" ptxloom exec old.cubin --block 4 --arg u32=4 --arg f32=2 \
		--buffer x:f32=1,2,3,4 --buffer y:f32[4]=ones
	says any 'a cache of an earlier run' "is named as such"
else
	skip "ptxas keeps PTX" "no ptxas"
fi
if command -v nvcc >/dev/null 2>&1 && nvcc --version 2>/dev/null | grep -q 'Copyright'; then
	echo 'extern "C" __global__ void one(int *p) { *p = 1; }' >one.cu
	succeeds "nvcc -cubin" ptxloom run nvcc -cubin -arch sm_80 one.cu -o one.cubin
	succeeds "what nvcc has made" ptxloom exec one.cubin --buffer p:s32[1] --dump p
	says out '= 1$' "runs"
else
	skip "nvcc keeps PTX" "no nvcc"
fi
finish
