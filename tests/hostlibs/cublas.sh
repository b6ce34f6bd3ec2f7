# cuBLAS as the host computes it, for a program that does not have the library; then what PTXLOOM_LIBS chooses, with a
# library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"

here=$top/tests/hostlibs
: "${CC:=cc}"

# build NAME: the program of that source
build()
{
	$CC -std=gnu11 -O1 -w -I"$top" "$here/$1.c" -o "$scratch/$1" -ldl -lm >"$scratch/out" 2>&1
}

build cublas && build cublas_level2 && build cublas_types
verdict $? "the programs build"
for program in "cublas_level2 30" "cublas_types 15"; do
	ptxloom run -d t4 --check=mem "$scratch/${program% *}" >"$scratch/out" 2>"$scratch/err"
	wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
	[ "$(grep -c '^ok ' "$scratch/out")" -ge "${program#* }" ] || wrong="$wrong $(tail -n 3 "$scratch/err")"
	empty "$wrong" "${program% *}"
done
for how in "-d t4" "-d gb202 --check=mem --deterministic" "-d h100"; do
	# shellcheck disable=SC2086
	ptxloom run $how "$scratch/cublas" >"$scratch/out" 2>"$scratch/err"
	wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
	[ "$(grep -c '^ok ' "$scratch/out")" -gt 80 ] || wrong="$wrong $(tail -n 3 "$scratch/err")"
	empty "$wrong" "BLAS with $how"
done
said=$(grep -c "the host computes" "$scratch/err")
[ "$said" = 1 ]
ok $? "that it is not emulated is said once"
grep -q "the host computes .* and all others in place" "$scratch/err"
ok $? "without the library, that it is all of it"
grep -q "illegal address: read of 16384 bytes by cublasSgemm_v2" "$scratch/err"
ok $? "a bad pointer is a fault of the device, with the function's name"

# ---- whose code ----

cd "$scratch" || exit 1
# shellcheck disable=SC2086
$CC -shared -fPIC "$here/standin.c" -o libcublas.so.13 -Wl,-soname,libcublas.so.13 &&
	$CC "$here/user.c" -o linked ./libcublas.so.13 -Wl,-rpath,"$scratch" &&
	$CC -DOPENS "$here/user.c" -o opens -ldl
verdict $? "a library that stands in for NVIDIA's builds"
for program in ./linked ./opens; do
	for way in ":host own" "own:own own" "host:host host" "cublas=own:own own" "own,cublas=host:host host" \
		"host,cublas=own:own own" "cufft=own:host own"; do
		got=$(PTXLOOM_LIBS=${way%%:*} ptxloom run $program 2>/dev/null)
		[ "$got" = "${way#*:}" ] || printf '%s with %s: %s\n' "$program" "$way" "$got"
	done
done >wrong
empty "$(cat wrong)" "PTXLOOM_LIBS chooses, whether a program links the library or opens it"
PTXLOOM_LIBS=cubas=host ptxloom run ./linked >out 2>err
[ $? -ne 0 ] && grep -q "PTXLOOM_LIBS" err
ok $? "an unknown choice is refused"

finish
