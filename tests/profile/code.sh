# Launches of programs with machine code, as an H200 counted them: tests/counters/code.tsv.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
columns=$(sed -n 's/^@\t//p' tests/counters/code.tsv)
metrics=$(echo "$columns" | tr '\t' '\n' | sed '/^launch__/!s/$/.sum/' | tr '\n' ',')

# near COLUMN HERE GPU: sectors of DRAM differ by up to 4 from launch to launch.
near()
{
	[ "$3" = - ] || [ "$2" = "$3" ] || {
		[ "$1" = dram__sectors_read ] && [ $(($2 - $3)) -le 4 ] && [ $(($3 - $2)) -le 4 ]
	}
}

compare_launches()
{
	while IFS='	' read -r options values; do
		status 0 ptxloom profile --csv --page raw --metrics "${metrics%,}" --log-file "$scratch/raw" \
			ptxloom exec tests/counters/code.fatbin -d h200 $options
		got=$(awk -v columns="$columns" '
			!/^"/ { next }
			{ gsub(/^"|"$/, ""); n = split($0, value, /","/) }
			/^ID"/ { for (i = 1; i <= n; i++) { sub(/[.]sum$/, "", value[i]); at[value[i]] = i }; next }
			{ last = $0 }
			END {
				split(last, value, /","/)
				n = split(columns, name, /\t/)
				for (i = 1; i <= n; i++) { x = value[at[name[i]]]; gsub(/,/, "", x); print x }
			}' "$scratch/raw")
		bad=
		set -- $got
		for column in $columns; do
			want=${values%%	*}
			values=${values#*	}
			near "$column" "$1" "$want" || bad="$bad $column is $1, on the GPU $want;"
			shift
		done
		verdict "$([ -z "$bad" ]; echo $?)" "$(echo "$options" | cut -d' ' -f2-6):${bad:- as on the GPU}"
	done
}

grep -v '^[#@]' tests/counters/code.tsv >"$scratch/launches"
compare_launches <"$scratch/launches"
finish
