# Completion of the ptxloom command for bash.
_ptxloom()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}
	local commands="cc devices env exec help lint ls ptx run"
	local options="--help"

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
		return
	fi
	case $command in
	help)
		COMPREPLY=($(compgen -W "$commands" -- "$word"))
		return
		;;
	run)
		# A program: its own arguments are its own business.
		if [[ $word == -* ]]; then
			COMPREPLY=($(compgen -W "$options -d --device --check= --" -- "$word"))
		else
			compopt -o filenames 2>/dev/null
			COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
		fi
		return
		;;
	cc) options="$options -arch=sm_ -c -dryrun -E -g -G -gencode -I -l -L -lineinfo -M -o -O -ptx -run -std= -use_fast_math -v -Xcompiler" ;;
	exec)
		options="$options --kernel --grid --block --shared --cluster --cooperative --arg --buffer --dump --count --trace -d --device --host-functions --dump-program"
		;;
	env) options="$options -d --device" ;;
	lint) options="$options --max-errors= --dump --print --rows -q --quiet" ;;
	ls) options="$options --json --kernels --scan" ;;
	ptx) options="$options -o --output= --index= --arch= --scan" ;;
	devices)
		options="$options --json"
		# The first word of each line, and the aliases behind the yes or no of the ITS column.
		COMPREPLY=($(compgen -W "$(ptxloom devices 2>/dev/null | awk 'NR > 1 {
			print $1
			for (i = NF; i > 1 && $i !~ /^(yes|no)$/; i--)
				print $i
		}')" -- "$word"))
		;;
	esac
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
	elif [[ $command == ptx && ${COMP_WORDS[COMP_CWORD - 1]} == -o ]]; then
		COMPREPLY=($(compgen -d -- "$word"))
	elif [[ $command != devices ]]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}
complete -F _ptxloom ptxloom
