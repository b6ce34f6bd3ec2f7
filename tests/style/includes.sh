# Which folder may include which, and that every header compiles alone.
. "${srcdir:-.}/tests/tap.sh"

# The engine. src/exec is its public face.
engine="src/base src/isa src/ir src/arch src/mem src/num src/uop"
engine="$engine src/ops src/mma src/tex src/async src/host src/lower src/exec src/tier"

# FOLDER: the folders whose headers it may include, itself among them.
allowed()
{
	case $1 in
	src/base) echo src/base ;;
	src/isa) echo src/base src/isa ;;
	src/ir) echo src/base src/isa src/ir ;;
	grammar) echo src/base src/isa src/ir grammar ;;
	src/hostlibs) echo src/base src/num src/hostlibs ;;
	src/arch) echo src/base src/arch ;;
	src/mem) echo src/base src/arch src/mem ;;
	src/num) echo src/base src/num ;;
	# The rooms of the engine: what each really needs of the others.
	src/uop) echo "src/base src/mem src/tex src/exec src/uop" ;;
	src/ops) echo "src/base src/num src/uop src/host src/exec src/tier src/ops" ;;
	src/tier) echo "src/base src/uop src/ops src/exec src/tier" ;;
	src/mma) echo "src/base src/num src/uop src/ops src/exec src/mma" ;;
	src/tex) echo "src/mem src/num src/uop src/ops src/tex" ;;
	src/async) echo "src/base src/uop src/ops src/exec src/async" ;;
	src/host) echo "src/base src/ops src/lower src/exec src/host" ;;
	src/lower)
		echo "src/base src/isa src/ir src/num src/uop src/ops src/async src/host src/exec src/tier src/lower"
		;;
	src/exec) echo "src/base src/ir src/arch src/mem src/uop src/ops src/async src/host src/exec" ;;
	src/sched) echo "$engine src/sched" ;;
	src/dev) echo "$engine grammar src/sched src/dev" ;;
	src/profile) echo "$engine src/sched src/dev src/cache src/watch src/managed src/profile include" ;;
	src/cover) echo "$engine grammar src/sched src/dev src/cover" ;;
	src/check) echo "$engine src/sched src/dev src/watch src/check include" ;;
	src/api) echo "$engine src/sched src/dev src/watch src/check src/profile src/api include" ;;
	src/managed) echo "src/base src/mem src/dev src/managed" ;;
	src/cache) echo "src/base src/arch src/cache" ;;
	src/watch) echo "$engine src/sched src/cache src/watch" ;;
	# The functions that rules may name are those of the CUDA libraries' tables.
	src/inject) echo "src/base src/dev runtime src/inject" ;;
	# What the preloaded library has of it, before anything else runs.
	src/signature) echo "src/base src/signature" ;;
	src/usage) echo "src/base src/usage" ;;
	src/report) echo "$engine src/sched src/watch src/report" ;;
	# What the debugger knows of programs knows nothing of how they are run.
	src/dbg) echo "src/base src/isa src/ir src/arch src/num grammar src/dbg" ;;
	src/dap) echo "src/base src/debugger src/dap" ;;
	src/debugger) echo "$engine grammar src/sched src/dev src/cache src/watch src/check src/dbg src/debugger" ;;
	runtime)
		echo "src/base src/arch src/mem src/async src/tex src/tier src/sched src/dev src/watch"
		echo "src/dbg src/debugger src/report src/profile src/cover src/inject src/signature src/usage"
		echo "$1 src/check src/hostlibs include"
		;;
	src/tools)
		echo "$engine grammar src/sched src/dev src/cache src/watch src/dbg src/debugger src/report"
		echo "src/check src/cover src/dap src/profile src/inject src/signature src/tools runtime include"
		;;
	include) echo include ;;
	esac
}

cd "$srcdir" || exit 1
here=$srcdir
srcdir=.
files=$(sources '*.c' '*.h' '*.inc' '*.def' '*.l' '*.y' | grep -E '^(src|grammar|runtime|include)/')

# A line for each folder: itself and those whose headers it may include.
echo "$files" | sed 's,^\(src/[^/]*\)/.*,\1,; t; s,/.*,,' | sort -u | while read -r folder; do
	echo "$folder" $(allowed "$folder")
done >"$scratch/rules"
wrong=$(echo "$files" | tr '\n' '\0' | xargs -0 awk -v rules="$scratch/rules" '
	function folder(path, part, n) {
		n = split(path, part, "/")
		return part[1] == "src" && n > 2 ? part[1] "/" part[2] : n > 1 ? part[1] : ""
	}
	BEGIN {
		while ((getline <rules) > 0) {
			known[$1] = NF > 1
			for (i = 2; i <= NF; i++)
				may[$1, $i]
		}
	}
	FNR == 1 {
		from = folder(FILENAME)
		if (!known[from])
			print FILENAME ": folder " from " has no rule here"
	}
	/^[ \t]*#[ \t]*include "/ {
		split($0, part, "\"")
		path = part[2]
		if (path == "src/config.h")
			next
		to = path == "ptxloom.h" ? "include" : folder(path)
		if (!((from, to) in may))
			print FILENAME ":" FNR ": " from " may not include " path
		if (path ~ /_int\.h$/ && from != to)
			print FILENAME ":" FNR ": " path " is private to " to
		if (path !~ /\.(h|def|inc)$/)
			print FILENAME ":" FNR ": only .h, .def and .inc are included, not " path
	}')
empty "$wrong" "includes go one way"

empty "$(echo "$files" | grep -vE '/hostcall\.c$|^src/api/api_bind\.c$' | tr '\n' '\0' |
	xargs -0 grep -nE '#[ 	]*include <ffi\.h>' /dev/null
echo "$files" | grep -v '^runtime/' | tr '\n' '\0' |
	xargs -0 grep -nE '#[ 	]*include [<"]cuda[a-z_]*\.h' /dev/null)" \
	"libffi is used where functions are called and made, CUDA headers in runtime alone"

# graph_stream.h is what streams, events and their work see of them.
empty "$(echo "$files" | grep -vE '^src/dev/([a-z]+/)?(graph[a-z_]*|capture)\.[ch]$' | tr '\n' '\0' |
	xargs -0 grep -nE '#[ 	]*include "[^"]*/graph_int\.h"' /dev/null)" "only graphs look inside graphs"

empty "$(sources '*.c' '*.inc' '*.l' '*.y' | grep -E '^(src|grammar|runtime)/' | grep -v '^src/tools/' |
	tr '\n' '\0' | xargs -0 grep -nE '(^|[^a-zA-Z_])(printf|puts|putchar)\(' /dev/null)" \
	"only the command prints to standard output"

# Builds for coverage write there what was counted.
empty "$(sources '*.c' '*.h' '*.inc' | grep -E '^(src|runtime|tests/(api|memory|oracle|progress|unit))/' |
	grep -v '^src/base/leave\.h$' | tr '\n' '\0' | xargs -0 grep -nE '(^|[^a-z_])_exit\(' /dev/null)" \
	"processes that end at once do so by leave()"

# A folder that fits on a page explains itself.
empty "$(sources '*.c' '*.h' '*.inc' '*.def' '*.l' '*.y' | grep -E '^(src|grammar|runtime|tests/ref|tests/unit)/' |
	sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 36 { print $2 ": " $1 " files, at most 36" }')" \
	"no folder has more files than one can survey"

headers=$(sources '*.h' | grep -E '^(src|grammar|runtime|include)/|^tests/[a-z_]*\.h$')
# An empty translation unit is fine here; unused static functions too.
mkdir "$scratch/alone"
for header in $headers; do
	echo "#include \"$header\"" >"$scratch/alone/$(echo "$header" | tr / :).c"
done
bad=$(printf '%s\0' "$scratch"/alone/*.c |
	xargs -0 ${CC:-gcc} -std=gnu11 -fopenmp-simd -fsyntax-only -DEXEC_BASE -Wall -Wextra -Wno-unused-function \
		-Werror -D_GNU_SOURCE -I"$here" -I. -Iinclude -I"$OLDPWD/$builddir" -I"$OLDPWD/$builddir/src" \
		-DPTXLOOM_DATADIR='""' ${TEST_CPPFLAGS:-} 2>&1 | head -n 40)
empty "$bad" "every header compiles alone"
ok "$([ "$(echo "$headers" | wc -l)" -gt 5 ]; echo $?)" "headers were found"

# The guard is PL_ and the file's name, so that no two headers hide each other.
guards=$(echo "$headers" | tr '\n' '\0' | xargs -0 grep -m1 -E '^#ifndef PL_[A-Z0-9_]+_H$')
empty "$(echo "$guards" | sed 's/:.*//' | sort >"$scratch/guarded"
echo "$headers" | grep -v '^include/ptxloom\.h$' | sort | comm -23 - "$scratch/guarded" |
	sed 's/$/: no include guard PL_..._H/'
echo "$guards" | sed 's/^[^:]*://' | sort | uniq -d)" "every header has an include guard of its own"
finish
