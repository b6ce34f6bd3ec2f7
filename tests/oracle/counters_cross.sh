#!/bin/sh
# Counts with Nsight Compute, on a GPU, what the kernels of tests/counters/access.h do to memory, and
# writes a table such as tests/counters/h200.tsv: lines "@" with the names of counters, and below them
# operation, pattern and what was counted. Needs a GPU of compute capability 9.0, its driver, and ncu.
#
#   tests/oracle/counters_cross.sh BUILD >TABLE
#
# BUILD: build directory, with tests/oracle/counters_cross; LIBCUDA: the GPU's driver library; PARTS:
# runs of the profiler for each family of instructions (2), ONLY: those wanted; FAMILIES: of
# instructions; SECONDS_EACH: time limit of a run (60); KEEP: a folder for the profiler's own tables.
set -u
program=${1:?usage: counters_cross.sh BUILD >TABLE}/tests/oracle/counters_cross
if [ -n "${KEEP:-}" ]; then
	work=$KEEP
else
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
fi
parts=${PARTS:-2}

requests=l1tex__t_requests_pipe_lsu_mem
sectors=l1tex__t_sectors_pipe_lsu_mem
waves=l1tex__data_pipe_lsu_wavefronts_mem_shared_op
conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op
sass=smsp__sass_l1tex

# counters FAMILY: which are asked for. The fewer, the faster the profiler is.
counters()
{
	case $1 in
	global) echo "${requests}_global_op_ld ${sectors}_global_op_ld" \
		"${requests}_global_op_st ${sectors}_global_op_st" ;;
	atomic) echo "${requests}_global_op_atom ${sectors}_global_op_atom" \
		"${requests}_global_op_red ${sectors}_global_op_red" ;;
	shared) echo "${waves}_ld ${waves}_st" \
		"${conflicts}_ld ${conflicts}_st" ;;
	shared_atomic) echo "${waves}_atom ${conflicts}_atom" \
		"${waves}_ld ${waves}_st" ;;
	local) echo "${requests}_local_op_ld ${sectors}_local_op_ld" \
		"${requests}_local_op_st ${sectors}_local_op_st" ;;
	copy) echo "${sass}_data_pipe_lsu_wavefronts_mem_shared_op_ldsm" \
		"${sass}_data_pipe_lsu_wavefronts_mem_shared_op_stsm" \
		"${sass}_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts" \
		"${sass}_t_requests_pipe_lsu_mem_global_op_ldgsts" \
		"${sass}_t_sectors_pipe_lsu_mem_global_op_ldgsts" ;;
	esac
}

# measure FAMILY PART: prints a line "@ counters", and lines "operation pattern values".
measure()
{
	csv=$work/$1.$2.csv
	list=$work/$1.$2.list
	metrics=$(counters "$1" | sed 's/ /.sum,/g; s/$/.sum/')
	timeout "${SECONDS_EACH:-60}" ncu --csv --page raw --print-units base \
		--cache-control none --clock-control none --metrics "$metrics" --log-file "$csv" \
		"$program" "${LIBCUDA:-libcuda.so.1}" "$1" "$2" "$parts" >"$list" 2>"$work/why" ||
		echo "counters_cross: $1, part $2: $(cat "$work/why" "$csv" | head -n 3 | tr '\n' ' ')" >&2
	# The first line of the table names the columns, the second their units.
	awk -v list="$list" '
		function split_line(line, to) {
			gsub(/^"|"$/, "", line)
			return split(line, to, /","/)
		}
		BEGIN { row = 0; while ((getline line <list) > 0) name[n++] = line }
		function wanted(name) { return name ~ /^(l1tex__|smsp__sass).*[.]sum$/ }
		/^"ID"/ {
			columns = split_line($0, column)
			units = 1
			printf "@"
			for (i = 1; i <= columns; i++)
				if (wanted(column[i]))
					printf "\t%s", column[i]
			printf "\n"
			next
		}
		columns && units { units = 0; next }
		columns && /^"/ {
			split_line($0, value)
			printf "%s", name[row]
			for (i = 1; i <= columns; i++)
				if (wanted(column[i])) {
					gsub(/,/, "", value[i])
					printf "\t%s", value[i]
				}
			printf "\n"
			row++
		}' "$csv"
}

for part in ${ONLY:-$(seq 0 $((parts - 1)))}; do
	for family in ${FAMILIES:-global atomic shared shared_atomic local copy}; do
		measure "$family" "$part"
	done
done
