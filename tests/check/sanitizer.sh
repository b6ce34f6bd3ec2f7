# Options of compute-sanitizer, each as its row says; docs/sanitizer.md has all of them.
. "${srcdir:-.}/tests/tap.sh"
page=$top/docs/sanitizer.md
rows=$(sed -n 's/^OPTION("\([^"]*\)", \(NULL\|"[^"]*"\), "\([^"]*\)", \([A-Z_]*\), .*/\1|\2|\3|\4/p' \
	"$top/src/tools/sanitizer/sanitizer.def")
ok "$([ "$(echo "$rows" | wc -l)" -ge 70 ]; echo $?)" "there are options"
cd "$scratch" || exit 1
: >known

# value_of VALUES OPTION: one that is allowed, the last of a list.
value_of()
{
	case $1:$2 in
	*:--tool) echo memcheck ;;
	*:--suppressions) echo known ;;
	*:--kernel* | *:--filter | *:--exclude) echo kns=a ;;
	*:--save) echo found.xml ;;
	\#:*) echo 7 ;;
	\**) echo word ;;
	*) echo "${1##*,}" ;;
	esac
}

echo "$rows" | while IFS='|' read -r option other values effect; do
	grep -q "^| \`$option\`" "$page" || echo "no row of $option"
	set -- "$option"
	[ ! "$values" ] || set -- "$option=$(value_of "$values" "$option")"
	case $option in
	--xml) set -- --xml --save found.xml ;;
	--save) set -- "$@" --xml ;;
	--track-unused-memory) set -- "$@" --tool initcheck ;;
	--unused-memory-threshold) set -- "$@" --tool initcheck --track-unused-memory ;;
	esac
	timeout 20 ptxloom-sanitizer "$@" true >out 2>err
	rc=$?
	case $effect in
	REFUSED) [ $rc = 2 ] && grep -q "error: $option is not supported: ." err ;;
	NOTED | DEFAULTS) [ $rc = 0 ] && grep -q "note: $option has no effect: ." err ;;
	MODE) [ $rc = 2 ] ;;
	*) [ $rc = 0 ] && ! grep -q note: err ;;
	esac || echo "$*: $rc, $(cat err)"
	if [ "$effect" = DEFAULTS ]; then
		timeout 20 ptxloom-sanitizer "$option" "${values%%,*}" true >out 2>err && [ ! -s err ] ||
			echo "$option: its default is noted"
	fi
	case $values in
	'*' | '') continue ;;
	esac
	timeout 20 ptxloom-sanitizer "$option" -1x true >out 2>err
	[ $? = 2 ] && grep -q "'-1x' is not a value of $option (" err || echo "$option takes a wrong value"
done >wrong
empty "$(cat wrong)" "each option does what its row says"

cp "$top/tests/check/race.ptx" "$top/tests/check/race.cu" .
mkdir sub
capture env PTXLOOM_CHECK_PREFIX='## 9%s' PTXLOOM_CHECK_STRIP=1 ptxloom exec --check=race race.ptx \
	--kernel race_no_barrier --block 64 --buffer 'o:u32[64]'
says err '^## 9%s Error: Race reported '
says err '^## 9%s RACECHECK SUMMARY: 1 hazard'
empty "$(grep '^=' err)" "no line has another prefix"
needs_clang
cp "$top/samples/checks/checks.cu" sub
succeeds "a program is built" ptxloom cc -g -lineinfo -arch=sm_80 sub/checks.cu -o checks
status 0 ptxloom-sanitizer --tool racecheck ./checks race
says err 'at reverse\(int\*\) in checks\.cu:[0-9]+$'
says err '^=========     launched by race\(\) in checks\.cu:[0-9]+$'
status 0 ptxloom-sanitizer --tool racecheck --strip-paths no ./checks race
says err 'at reverse\(int\*\) in /.*/sub/checks\.cu:[0-9]+$'
status 0 ptxloom-sanitizer --print-limit 0 --report-api-errors no ./checks invalid-access
says err '^========= Invalid __global__ write'
finish
