# The table "Ways in" of docs/programs.md: each of its rows is a kind of program, which is built here, each
# column a way to start it, each cell whether the emulated GPU is seen. Runtimes of the toolkit are stood in
# for by libraries that answer as they do without a driver.
. "${srcdir:-.}/tests/tap.sh"

here=$top/tests/programs
table=$top/docs/programs.md
: "${CC:=cc}"

# ---- programs ----

printf 'libcudart.so.12 {\n\t*;\n};\n' >"$scratch/map"
mkdir "$scratch/toolkit"
(
	set -e
	cd "$scratch"
	$CC -shared -fPIC "$here/runtime_standin.c" -o toolkit/libcudart.so.12 -Wl,-soname,libcudart.so.12 \
		-Wl,--version-script=map
	$CC "$here/runtime_user.c" "$here/runtime_standin.c" -o static_runtime
	$CC -c -fPIC -fvisibility=hidden "$here/runtime_standin.c" -o standin.o
	$CC -shared -fPIC -DLIBRARY "$here/runtime_user.c" standin.o -o libplugin.so
	cp libplugin.so libother.so
	$CC -shared -fPIC -DLIBRARY "$here/runtime_user.c" toolkit/libcudart.so.12 -o libshared_plugin.so \
		"-Wl,--enable-new-dtags,-rpath,$scratch/toolkit"
	echo 'int user_run(void); int puts(const char *);
		int main(void) { return user_run() || puts("all right") < 0; }' >caller.c
	$CC caller.c ./libplugin.so -o with_library
	for tags in enable disable; do
		$CC "$here/runtime_user.c" toolkit/libcudart.so.12 -o "$tags" \
			"-Wl,--$tags-new-dtags,-rpath,$scratch/toolkit"
	done
	$CC "$here/runtime_user.c" toolkit/libcudart.so.12 -o not_found
	echo 'int cuInit(unsigned); int puts(const char *);
		int main(void) { return cuInit(0) || puts("all right") < 0; }' >driver.c
	$CC driver.c -o driver "$libraries/libcuda.so.1" -Wl,--allow-shlib-undefined
	$CC "$here/opener.c" -o opener -ldl
	for name in first second; do
		$CC -shared -fPIC "-DNAME=\"$name\"" "$here/nvrtc_standin.c" -o lib$name.so -Wl,-soname,lib$name.so
		$CC -shared -fPIC "-DNAME=\"$name\"" -DUSER "$here/nvrtc_standin.c" -o ${name}_user.so ./lib$name.so \
			"-Wl,-rpath,$scratch"
	done
	$CC "$here/compilers.c" -o compilers -ldl
	$CC "$here/last_errors.c" -o last_errors "$libraries/libcudart.so.13" -Wl,--allow-shlib-undefined -ldl -lpthread
	printf '#!/bin/sh\n(exec ./driver)\n' >script
	printf 'all:\n\t@./driver\n' >makefile
	printf 'import subprocess, sys\nsys.exit(subprocess.run(["./driver"]).returncode)\n' >child.py
	chmod +x script
	cp driver set_user
) >"$scratch/out" 2>&1
verdict $? "the programs build"
cd "$scratch" || exit 1

asked='cudaGetDeviceCount cudaRuntimeGetVersion@libcudart.so.12'
# program ROW: the command of a row, empty: it cannot be had here.
program()
{
	case $1 in
	"with the static runtime") echo ./static_runtime ;;
	"linked with a library that has the static runtime") echo ./with_library ;;
	"that opens a library with the static runtime") echo ./opener ./libplugin.so user_run ;;
	"with a shared runtime, found by its \`RUNPATH\`") echo ./enable ;;
	"with a shared runtime, found by its \`RPATH\`") echo ./disable ;;
	"with a shared runtime that the loader does not find") echo ./not_found ;;
	"that opens a library with a shared runtime") echo ./opener ./libshared_plugin.so user_run ;;
	"that opens \`libcudart.so.12\`") echo ./opener libcudart.so.12 $asked ;;
	"that opens a runtime by its path") echo ./opener ./toolkit/libcudart.so.12 $asked ;;
	"linked with \`libcuda.so.1\`") echo ./driver ;;
	"that opens \`libcuda.so.1\`") echo ./opener libcuda.so.1 cuInit cuDeviceGetCount ;;
	"that opens \`libcuda.so\`") echo ./opener libcuda.so cuInit cuDeviceGetCount ;;
	"started by a shell script") echo ./script ;;
	"started by make") command -v make >/dev/null && echo make -s -f makefile ;;
	"started by Python") command -v python3 >/dev/null && echo python3 child.py ;;
	"built with \`ptxloom cc\`") [ -x ./by_cc ] && echo ./by_cc ;;
	"with another user's rights (setuid)") [ -u ./set_user ] && echo ./set_user ;;
	"linked statically") [ -x ./linked_statically ] && echo ./linked_statically ;;
	*) echo unknown ;;
	esac
}

ptxloom cc "$here/runtime_user.c" -o by_cc >/dev/null 2>&1 || rm -f by_cc
echo 'int main(void) { return 1; }' >static.c
$CC -static static.c -o linked_statically 2>/dev/null || rm -f linked_statically
# Only another user's rights count, and only the administrator can give them away.
[ "$(id -u)" -eq 0 ] && chmod 755 . && chown 65534 set_user && chmod u+s set_user

# seen WAY COMMAND...: prints what the table would say.
seen()
{
	way=$1
	shift
	(
		case $way in
		"\`LD_PRELOAD\`")
			LD_PRELOAD=$libraries/libptxloom-preload.so
			export LD_PRELOAD
			;;
		"\`LD_LIBRARY_PATH\`")
			LD_LIBRARY_PATH=$libraries
			export LD_LIBRARY_PATH
			;;
		"\`ptxloom env\`") eval "$(ptxloom env)" ;;
		"\`ptxloom run\`") set -- ptxloom run "$@" ;;
		nothing) ;;
		*) echo "unknown way" ;;
		esac
		"$@"
	) >out 2>err
	status=$?
	if [ "$status" -eq 0 ] && grep -q 'all right' out; then
		echo yes
	elif grep -q '^ptxloom.*: note: ' err; then
		echo "says so"
	else
		echo no
	fi
}

# ---- the table ----

# Lines "ROW|COLUMN|CELL" of the table that has a way "nothing".
awk -F ' *[|] *' '
	/^[|] program [|].* nothing [|]/ { for (i = 3; i < NF; i++) way[i] = $i; within = 1; next }
	/^[|]--/ { next }
	!/^[|]/ { within = 0 }
	within { for (i = 3; i < NF; i++) print $2 "|" way[i] "|" $i }' "$table" >cells
ok "$([ "$(wc -l <cells)" -ge 75 ]; echo $?)" "the table is there"
has_cuda=$(PATH=$PATH:/sbin ldconfig -p 2>/dev/null | grep 'libcuda\.so\.1')
while IFS='|' read -r row way cell; do
	command=$(program "$row")
	case $command in
	unknown)
		ok 1 "a program $row"
		continue
		;;
	"")
		skip "a program $row, $way: $cell" "it cannot be had here"
		continue
		;;
	esac
	if [ "$cell" != yes ] && [ -n "$has_cuda" ]; then
		skip "a program $row, $way: $cell" "the system has CUDA itself"
		continue
	fi
	# shellcheck disable=SC2086 # words
	got=$(seen "$way" $command)
	[ "$got" = "$cell" ]
	verdict $? "a program $row, $way: $cell"
done <cells

# ---- last errors ----

for way in static shared; do
	case $way in
	static) capture env "LD_PRELOAD=$libraries/libptxloom-preload.so" ./last_errors ./libplugin.so ./libother.so ;;
	shared) capture ptxloom run ./last_errors ./libplugin.so ./libshared_plugin.so ;;
	esac
	verdict $? "every copy of the runtime has its own last error: a library with a $way one"
done

# ---- run-time compilers ----

works "a library's compiler, which nobody else has" ptxloom run ./opener ./first_user.so compile_run
works "two compilers that were asked for their functions" \
	ptxloom run ./compilers ./libfirst.so first ./libsecond.so second

# ---- rights of its own ----

# For the administrator file capabilities add nothing, and only the administrator can give them.
rights="a program with file capabilities, run by another user"
cp ./opener ./capable
another="setpriv --reuid=65534 --regid=65534 --clear-groups $(command -v ptxloom)"
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip_rest "not the administrator, or no setpriv"
elif ! setcap cap_net_raw+ep ./capable 2>/dev/null; then
	skip_rest "setcap is not there or not allowed"
elif ! $another --version >/dev/null 2>&1; then
	skip_rest "another user cannot reach the build folder"
fi
chmod 755 . ./capable
# shellcheck disable=SC2086
capture $another run ./capable libm.so.6 cos
says err '^ptxloom.*: note: .*capable runs with rights of its own \(file capabilities\)' \
	"$rights: a note says that it will not see a GPU"
capture ptxloom run ./capable libm.so.6 cos
ok "$(! grep -q 'rights of its own' err; echo $?)" "the administrator has all rights anyway: no note"
finish
