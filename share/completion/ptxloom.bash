# Completion of the ptxloom command for bash.

# Names and aliases of devices: the first word of each line, and what stands behind the yes or no of the ITS column.
_ptxloom_devices()
{
	"${COMP_WORDS[0]}" devices 2>/dev/null | awk 'NR > 1 {
		print $1
		for (i = NF; i > 1 && $i !~ /^(yes|no)$/; i--)
			print $i
	}'
}

# Files whose names end with one of these words, and folders.
_ptxloom_files()
{
	local word=$1 end
	shift
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -d -- "$word"))
	for end in "$@"; do
		COMPREPLY+=($(compgen -f -X "!*.$end" -- "$word"))
	done
	# None of these: any file will do.
	[[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$word"))
}

# The value of the option before: sets COMPREPLY; fails where there is none to be completed.
_ptxloom_value()
{
	local word=$1 option=$2 command=$3
	case $command:$option in
	run:-d | run:--device | profile:-d | profile:--device | check:-d | check:--device | debug:-d | debug:--device | env:-d | env:--device | explore:-d | explore:--device | inject:-d | inject:--device | exec:-d | exec:--device)
		# The last of a list, behind a number: 2xh100, t4,a100.
		local before=${word%"${word##*,}"} number=
		word=${word##*,}
		[[ $word =~ ^[0-9]+x ]] && number=${BASH_REMATCH[0]}
		COMPREPLY=($(compgen -P "$before$number" -W "$(_ptxloom_devices)" -- "${word#"$number"}"))
		;;
	explore:--strategy) COMPREPLY=($(compgen -W "mixed pct random starve exhaustive" -- "$word")) ;;
	debug:--color) COMPREPLY=($(compgen -W "auto always never" -- "$word")) ;;
	debug:-ex | debug:--eval-command) COMPREPLY=() ;;
	cc:-o | learn:-o | check:--log-file | profile:--log-file | profile:-o | profile:--export | profile:-i | profile:--import | check:--suppressions | inject:--golden | exec:--trace | exec:--save-metrics | exec:--against | test:--save-metrics | test:--against | profile:--save-metrics | profile:--against | debug:-x | debug:--command) _ptxloom_files "$word" ;;
	cc:-arch | cc:-arch=*) COMPREPLY=($(compgen -W "sm_60 sm_61 sm_70 sm_75 sm_80 sm_86" -- "$word")) ;;
	cc:-I | cc:-L | cc:-isystem | ptx:-o | coverage:--root | coverage:--root= | run:--coverage | run:--coverage= | test:--coverage | test:--coverage=) COMPREPLY=($(compgen -d -- "$word")) ;;
	coverage:-o | run:--report | report:-o | report:--output | test:--junit) _ptxloom_files "$word" ;;
	coverage:--map | coverage:--gcovr | coverage:--fail-under-lines | coverage:--fail-under-branches | exec:--kernel | exec:--grid | exec:--block | exec:--shared | exec:--cluster | exec:--arg | exec:--buffer | exec:--dump | exec:--expect | exec:--tolerance | exec:--expect-fault | exec:--expect-metric | exec:--seeds | exec:--allow | test:--allow | profile:--allow | report:--require | test:-j | test:--filter | test:--shard)
		COMPREPLY=()
		;;
	*) return 1 ;;
	esac
}

_ptxloom()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
	local commands="cc check coverage dap debug devices env exec explore help inject learn lint ls profile ptx report run smi test toolkit"
	local options="--help" i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
		return
	fi
	# --check=mem comes as three words.
	if [[ $word == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 1]}=
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}=
	fi
	if [[ $before == --check= ]]; then
		COMPREPLY=($(compgen -W "api init leak mem race sync" -- "$word"))
		return
	fi
	if [[ $before == --format= ]]; then
		COMPREPLY=($(compgen -W "text json xml sarif github" -- "$word"))
		return
	fi
	if [[ $before == -arch= ]]; then
		before=-arch
	fi
	_ptxloom_value "$word" "$before" "$command" && return
	case $command in
	help)
		COMPREPLY=($(compgen -W "$commands" -- "$word"))
		return
		;;
	run | check | debug | explore | inject | profile)
		# Behind the program: its own arguments are its own business.
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			-d | --device | -p | --pid | -x | --command | -ex | --eval-command | --color | --record | --record-launch | --schedule | --weak | -n | -j | --time | --strategy | --depth | --minimise | --shard | --inject | --fork | --memory | --report | --group | --model | --kernel | --seed | --schedules | --runs | --rules | --sweep | --error | --golden | --replay | --log-file | --print-limit | --print-level | --kernel-name | --kernel-name-exclude | --launch-skip | --launch-count | --padding | --num-callers | --suppressions | --error-exitcode) ((i++)) ;;
			-k | -s | -c | -o | -i | --kernel-name-base | --launch-skip-before-match | --kernel-id | --devices | --set | --section | --metrics | --page | --print-source | --print-units | --print-metric-name | --cache-control | --export | --import | --assert | --save-metrics | --against | --allow | --kernel | --show | --sort | --threshold | --context | --clock-control | --replay-mode | --target-processes) ((i++)) ;;
			--check | --coverage | --progress | --format | --leak-check | --volatile | --show-backtrace) ((i += 2)) ;;
			--timeout) [[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2)) || ((i++)) ;;
			--) ;;
			-*) ;;
			*)
				compopt -o filenames 2>/dev/null
				COMPREPLY=($(compgen -f -- "$word"))
				return
				;;
			esac
		done
		if [[ $word == -* && $command == debug ]]; then
			COMPREPLY=($(compgen -W "$options -d --device -p --pid -x --command -ex --eval-command --batch --check= --schedule --color --replay --" -- "$word"))
		elif [[ $word == -* && $command == explore ]]; then
			COMPREPLY=($(compgen -W "$options -n -j -d --device --time --strategy --depth --same-output --all --check --inject --weak --minimise --shard --timeout --replay --" -- "$word"))
		elif [[ $word == -* && $command == inject ]]; then
			COMPREPLY=($(compgen -W "$options -d --device --sweep --error --schedules -n --runs --dry-run --group --model --kernel --seed -j --rules --check --golden --timeout --" -- "$word"))
		elif [[ $word == -* && $command == profile ]]; then
			COMPREPLY=($(compgen -W "$options -k --kernel-name --kernel-name-base -s --launch-skip -c --launch-count --launch-skip-before-match --kernel-id --devices --set --section --metrics --page --diff --diff-limit --exit-code --print-source --csv --show --sort --threshold --context --nvtx --nvtx-include --nvtx-exclude --profile-from-start --disable-profiler-start-stop --print-summary --print-details --print-fp --print-raw-numbers --print-kernel-base --source-folder --source-folders --query-metrics-mode --import-source --list-metrics --version --trace --variables --trace-clock --print-units --print-metric-name --cache-control -o --export -f --force-overwrite -i --import --log-file --assert --save-metrics --against --allow --kernel --query-metrics --list-sections --list-sets --quiet -d --device --timeout --clock-control --replay-mode --target-processes --" -- "$word"))
		elif [[ $word == -* ]]; then
			[[ $command == check ]] &&
				options="$options --format= --log-file --print-level --kernel-name --kernel-name-exclude --launch-skip --launch-count --padding --print-limit --suppressions --leak-check= --volatile= --show-backtrace= --num-callers --track-unused-memory --unused-memory-threshold --target-processes --warnings-as-errors --error-exitcode"
			COMPREPLY=($(compgen -W "$options -d --device --check= --debug-wait --deterministic --stable --memory --after-fault --timeout --limit --fork= --progress= --record --record-launch --schedule --weak --inject --inject-dry-run --inject-strict --coverage= --report --stats --" -- "$word"))
			[[ ${COMPREPLY-} == *= ]] && compopt -o nospace 2>/dev/null
		else
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
		fi
		return
		;;
	cc) options="$options -arch=sm_ -c -dryrun -E -g -G -gencode -I -l -L -lineinfo -M -o -O --no-rpath -ptx -run -std= -use_fast_math -v -Xcompiler" ;;
	exec)
		options="$options --check= --kernel --grid --block --shared --cluster --cooperative --arg --buffer --dump --expect --tolerance --expect-fault --expect-metric --save-metrics --save-places --against --allow --seeds --count --caches --trace -d --device --host-functions --dump-program --replay"
		;;
	coverage)
		((COMP_CWORD == 2)) && options="report html merge --help"
		options="$options -o --lcov --lcov=2 --cobertura --json --llvm-json --gcovr= --root --map --instances --lanes --fail-under-lines --fail-under-branches"
		;;
	test)
		options="$options -j --filter --shard --junit --metrics --save-metrics --against --allow --coverage= --list"
		;;
	report) options="$options --text --sarif --github --markdown --codequality --json -o --output --fail --require" ;;
	smi) options="$options -L --list-gpus -q --query -x --xml-format -d --display= --query-gpu= --query-compute-apps= --format= --help-query-gpu --help-query-compute-apps -i --id= -f --filename= -l --loop= -lms --loop-ms= --version" ;;
	env) options="$options -d --device" ;;
	dap) options="$options --port=" ;;
	toolkit) options="$options --cmake" ;;
	lint) options="$options --max-errors= --dump --print --rows -q --quiet" ;;
	learn) options="$options -o --name --find" ;;
	ls) options="$options --json --kernels --scan" ;;
	ptx) options="$options -o --output= --index= --arch= --scan" ;;
	devices)
		options="$options --json --ctest-resources"
		COMPREPLY=($(compgen -W "$(_ptxloom_devices)" -- "$word"))
		;;
	esac
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace 2>/dev/null
		return
	fi
	case $command in
	smi) COMPREPLY=($(compgen -W "topo" -- "$word")) ;;
	devices | env | toolkit) ;;
	cc) _ptxloom_files "$word" cu cpp cc c o a so ;;
	lint) _ptxloom_files "$word" ptx ;;
	exec) _ptxloom_files "$word" ptx fatbin cubin ;;
	test) _ptxloom_files "$word" ktest ;;
	*) _ptxloom_files "$word" ;;
	esac
}
complete -F _ptxloom ptxloom
