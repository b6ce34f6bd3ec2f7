# The tarball has every file of the repository: it is built from lists, which a new header or program is easily
# missing from.
. "${srcdir:-.}/tests/tap.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

(cd "$top" && git ls-files) >"$scratch/files" 2>/dev/null && [ -s "$scratch/files" ] || skip_rest "no git repository"
(cd "$bin" && ${MAKE:-make} -s dist-list) >"$scratch/listed"
verdict $? "what the tarball has can be listed"
grep -v '^\.gitignore$\|/\.gitkeep$' "$scratch/files" | sort >"$scratch/wanted"
# A folder that is named stands for all that is in it.
awk 'NR == FNR { has[$0]; next } {
	path = $0
	while (!(path in has) && sub("/[^/]*$", "", path))
		;
	if (!(path in has))
		print
}' "$scratch/listed" "$scratch/wanted" >"$scratch/missing"
empty "$(cat "$scratch/missing")" "it has every file of the repository"
ok "$([ "$(wc -l <"$scratch/wanted")" -ge 1000 ]; echo $?)" "there are files"
finish
