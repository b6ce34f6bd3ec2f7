# Recorded launches of programs: repeated without the program, they fault at the same place or leave the same
# values, or say that there are too few addresses.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

needs_clang

# what FILE: the report of a fault, without where the host launched it.
what()
{
	grep -v '^ptxloom: note:\|^    launched by' "$1"
}

succeeds "the program is built" ptxloom cc -lineinfo -o "$scratch/walk" samples/walk.cu
status 1 ptxloom run --record "$scratch/w.rec" "$scratch/walk" broken
what "$scratch/err" | grep -v '^an illegal memory access' >"$scratch/first"
says err 'the launch of walk\(node const\*, int\*, int\) is recorded'
status 1 ptxloom exec --replay "$scratch/w.rec"
what "$scratch/err" >"$scratch/second"
ok "$([ -s "$scratch/first" ] && cmp "$scratch/first" "$scratch/second"; echo $?)" \
	"a program's fault comes again without the program"
status 1 sh -c "ulimit -v 1500000; ptxloom exec --replay $scratch/w.rec"
for which in walk 2; do
	succeeds "a launch of a program is recorded ($which)" \
		ptxloom run --record "$scratch/s.rec" --record-launch $which "$scratch/walk"
	succeeds "and repeated" ptxloom exec --replay "$scratch/s.rec" --dump arg1:s32
	says out '199\] = .* 41$' "its results are the same ($which)"
done
finish
