# What the completion for bash offers.
. "${srcdir:-.}/tests/style/tap.sh"
PATH=$(cd "${builddir:-.}" && pwd):$PATH
export PATH
top=$(cd "$srcdir" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir folder
touch kernel.ptx source.cu note.txt
if ! command -v bash >/dev/null; then
	skip "completion" "no bash"
	finish
fi

# offers WORDS... -- EXPECTED: for a command line of these words, the last being completed, all of it in order.
offers()
{
	words=
	while [ "$1" != -- ]; do
		words="$words '$1'"
		shift
	done
	shift
	got=$(bash -c ". '$top/share/completion/ptxloom.bash'
		compopt() { :; }
		COMP_WORDS=($words)
		COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
		_ptxloom
		printf '%s\n' \"\${COMPREPLY[@]}\" | sort | tr '\n' ' '")
	[ "$got" = "$* " ]
	result=$?
	[ "$result" -eq 0 ] || echo "# got: $got"
	ok "$result" "$words: $*"
}

offers ptxloom r -- run
# Which devices there are is theirs to say: what is offered are their names.
names=$(ptxloom devices | awk 'NR > 1 { print $1; for (i = NF; i > 1 && $i !~ /^(yes|no)$/; i--) print $i }' |
	grep '^v' | sort | tr '\n' ' ')
# shellcheck disable=SC2086
offers ptxloom run -d v -- $names
# shellcheck disable=SC2086
offers ptxloom exec --device v -- $names
# shellcheck disable=SC2086
offers ptxloom env -d v -- $names
# shellcheck disable=SC2046
offers ptxloom run -d t4,2xv -- $(for name in $names; do echo "t4,2x$name"; done)
offers ptxloom run --ch -- --check=
offers ptxloom run --check = '' -- mem
offers ptxloom run --check = m -- mem
offers ptxloom run -d v100 ./note -- ./note.txt
offers ptxloom run true no -- note.txt
offers ptxloom cc '' -- folder source.cu
offers ptxloom lint '' -- folder kernel.ptx
offers ptxloom exec k -- kernel.ptx
offers ptxloom cc -arch = sm_7 -- sm_70 sm_75
offers ptxloom ls n -- note.txt
offers ptxloom cc -li -- -lineinfo
finish
