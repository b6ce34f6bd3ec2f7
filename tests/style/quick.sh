# `make check-quick` runs what `make check` runs, but for tests that are known to be slow: each of these exists, and
# every folder of tests keeps one that is quick.
. "${srcdir:-.}/tests/tap.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

# listed TARGET: what the makefile says, one a line.
listed()
{
	# Makefiles that are out of date are made again first, and say so.
	(cd "$bin" && ${MAKE:-make} -s "$1") >"$scratch/out" 2>"$scratch/err" &&
		grep '^tests/' "$scratch/out" >"$scratch/$1"
}
listed quick-list
verdict $? "the quick tests can be listed"
listed check-list
verdict $? "and all of them"
ok "$([ "$(wc -l <"$scratch/quick-list")" -ge 80 ]; echo $?)" "most tests are quick"
empty "$(sort "$scratch/quick-list" | uniq -d)" "none is run twice"
sort "$scratch/quick-list" >"$scratch/quick"
sort "$scratch/check-list" >"$scratch/all"
empty "$(comm -23 "$scratch/quick" "$scratch/all")" "a quick test is a test"

comm -13 "$scratch/quick" "$scratch/all" >"$scratch/left_out"
listed slow-list
sort "$scratch/slow-list" | comm -23 - "$scratch/all" >"$scratch/unknown"
empty "$(while read -r test; do
	[ -e "$top/$test" ] || [ -e "$top/$test.c" ] || echo "$test"
done <"$scratch/unknown")" "what is left out exists"
ok "$([ "$(wc -l <"$scratch/left_out")" -ge 10 ]; echo $?)" "slow ones are left out"
for test in tests/progress/table.sh tests/programs/attend.sh; do
	! grep -qx "$test" "$scratch/all" || grep -qx "$test" "$scratch/left_out"
	ok $? "$test is left out"
done
empty "$(grep '^tests/unit/' "$scratch/left_out")" "every unit test is run"

# Folders with nothing but slow tests would not be looked at.
empty "$(sed 's,/[^/]*$,,' "$scratch/all" | sort -u | while read -r folder; do
	grep -q "^$folder/" "$scratch/quick" || echo "$folder"
done)" "every folder of tests keeps a quick one"

grep -q "check-quick" "$top/CONTRIBUTING.md"
ok $? "CONTRIBUTING.md tells of it"
finish
