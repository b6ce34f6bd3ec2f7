# Sourced by tests that run sessions, after tap.sh.

# build_programs: those of tests/debug, into $scratch/programs; without a compiler $no_programs says why not.
build_programs()
{
	no_programs=
	has_clang || no_programs=$tap_no_clang
	[ -z "$no_programs" ] || return 0
	mkdir "$scratch/programs"
	for source in "$top"/tests/debug/*.cu; do
		succeeds "$(basename "$source") is built" ptxloom cc -G "$source" \
			-o "$scratch/programs/$(basename "$source" .cu)"
	done
}

# build_by_nvcc NAME...: into $scratch/by_nvcc; without nvcc $no_programs says so.
build_by_nvcc()
{
	nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || nvcc=
	no_programs=
	[ -n "$nvcc" ] || no_programs="no nvcc"
	[ -z "$no_programs" ] || return 0
	mkdir -p "$scratch/by_nvcc"
	for name in "$@"; do
		succeeds "$name.cu is built by nvcc" "$nvcc" -G -arch=sm_80 "$top/tests/debug/$name.cu" \
			-o "$scratch/by_nvcc/$name"
	done
}

# sessions MODE CHECKS ARGUMENTS...: a result for each check (sessions.py).
sessions()
{
	mode=$1
	checks=$2
	shift 2
	why=
	command -v python3 >/dev/null 2>&1 || why="no python3"
	case $1 in --programs) why=${why:-$no_programs} ;; esac
	if [ -n "$why" ]; then
		skip "sessions, $mode" "$why"
		return
	fi
	python3 "$top/tests/debug/sessions.py" "$bin/ptxloom" "$top/tests/debug" "$checks" "$@" >"$scratch/results" 2>&1
	ran=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) ok 0 "$mode: ${line#ok }" ;;
		"not ok "*) ok 1 "$mode: ${line#not ok }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$scratch/results"
	ok "$ran" "$mode: all of them ran"
}

# answers TITLE DEBUGGER ARGUMENTS...: a result for each command of values.txt (values.py).
answers()
{
	title=$1
	shift
	python3 "$top/tests/debug/values.py" "$top/tests/debug/values.txt" "$@" >"$scratch/results" 2>&1
	ran=$?
	grep '^#' "$scratch/results"
	answered=$(grep -c '^ok' "$scratch/results")
	ok $((ran || $(grep -c '^not ok' "$scratch/results"))) \
		"$title: $answered commands of $(grep -c '^> [^br]' "$top/tests/debug/values.txt")"
}
