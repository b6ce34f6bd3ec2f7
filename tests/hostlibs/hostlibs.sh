# Sourced by the tests of this folder, after tap.sh: their programs, which print TAP, and what is expected of them.
: "${CC:=cc}"
here=$top/tests/hostlibs

# program NAME...: the programs of these sources, in the scratch folder; they find libraries' functions by dlsym.
program()
{
	for program_name in "$@"; do
		$CC -std=gnu11 -O1 -w -I"$top" "$here/$program_name.c" -o "$scratch/$program_name" -ldl -lm \
			>"$scratch/out" 2>&1 || return
	done
}

# standin SONAME: a library that stands in for NVIDIA's.
standin()
{
	$CC -shared -fPIC "$here/standin.c" -o "$scratch/$1" -Wl,-soname,"$1" >"$scratch/out" 2>&1
}

# program_with SONAME NAME: the program of that source, linked with it.
program_with()
{
	standin "$1" && $CC -std=gnu11 -O1 -w -I"$top" "$here/$2.c" -o "$scratch/$2" -Wl,--no-as-needed "$scratch/$1" \
		-Wl,-rpath,"$scratch" -ldl -lm >"$scratch/out" 2>&1
}

# passes LEAST DESCRIPTION OPTION... PROGRAM...: below `ptxloom run` at least so many of its checks pass, none fails.
passes()
{
	passes_least=$1
	passes_what=$2
	shift 2
	ptxloom run "$@" >"$scratch/out" 2>"$scratch/err"
	passes_wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
	[ "$(grep -c '^ok ' "$scratch/out")" -ge "$passes_least" ] ||
		passes_wrong="$passes_wrong $(tail -n 3 "$scratch/err")"
	empty "$passes_wrong" "$passes_what"
}

# said_once PATTERN: that it is not emulated.
said_once()
{
	[ "$(grep -c "$1" "$scratch/err")" = 1 ]
	verdict $? "that it is not emulated is said once"
}
