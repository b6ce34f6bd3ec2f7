# Completion of the ptxloom command for fish.

# Names and aliases of devices: the first word of each line, and what stands behind the yes or no of the ITS column.
function __ptxloom_devices
	set -l command (commandline -opc)[1]
	$command devices 2>/dev/null | awk 'NR > 1 {
		print $1
		for (i = NF; i > 1 && $i !~ /^(yes|no)$/; i--)
			print $i
	}'
end

# A list of devices, each behind a number if there are several: 2xh100,t4.
function __ptxloom_device_list
	set -l before (string match -r '^(?:.*,)?(?:[0-9]+x)?' -- (commandline -ct))
	__ptxloom_devices | string replace -r '^' -- "$before[1]"
end

function __ptxloom_is
	set -l words (commandline -opc)
	test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __ptxloom_first
	test (count (commandline -opc)) -eq 1
end

complete -c ptxloom -f
complete -c ptxloom -n __ptxloom_first -l version -d 'which version'
complete -c ptxloom -l help -d explain
for entry in 'cc:compile CUDA C++ with clang' 'check:look for errors in a program' 'coverage:report which lines kernels have run' 'dap:debug kernels from an editor' 'debug:debug the kernels of a program' 'devices:show device descriptions' 'env:what to set so that programs find the CUDA libraries' \
	'exec:run one kernel' 'explore:search for an order of warps that fails' 'help:explain a command' 'inject:let calls fail' 'learn:recognise static runtimes' 'lint:check PTX' 'ls:list device code in files' 'profile:count what kernels do' 'report:print what processes found' 'test:run tests of kernels' \
	'ptx:extract PTX from files' 'run:run a program with emulated GPUs' 'smi:show devices as nvidia-smi does' 'toolkit:what build systems take for a CUDA toolkit'
	set -l parts (string split -m 1 : -- $entry)
	complete -c ptxloom -n __ptxloom_first -a $parts[1] -d $parts[2]
	complete -c ptxloom -n '__ptxloom_is help' -a $parts[1] -d $parts[2]
end
complete -c ptxloom -n '__ptxloom_is run check debug env exec explore inject profile' -s d -l device -x -a '(__ptxloom_device_list)' -d 'the GPUs there are'
complete -c ptxloom -n '__ptxloom_is smi' -s L -l list-gpus -d 'the devices'
complete -c ptxloom -n '__ptxloom_is smi' -s q -l query -d everything
complete -c ptxloom -n '__ptxloom_is smi' -s x -l xml-format -d 'as XML'
complete -c ptxloom -n '__ptxloom_is smi' -s d -l display -x -d 'these sections'
complete -c ptxloom -n '__ptxloom_is smi' -l query-gpu -x -d 'these fields of devices'
complete -c ptxloom -n '__ptxloom_is smi' -l query-compute-apps -x -d 'these fields of processes'
complete -c ptxloom -n '__ptxloom_is smi' -l format -x -a 'csv csv,noheader' -d how
complete -c ptxloom -n '__ptxloom_is smi' -l help-query-gpu -d 'the fields'
complete -c ptxloom -n '__ptxloom_is smi' -l help-query-compute-apps -d 'the fields'
complete -c ptxloom -n '__ptxloom_is smi' -s i -l id -x -d 'these devices'
complete -c ptxloom -n '__ptxloom_is smi' -s f -l filename -r -d 'print to'
complete -c ptxloom -n '__ptxloom_is smi' -s l -l loop -x -d 'again after seconds'
complete -c ptxloom -n '__ptxloom_is smi' -l loop-ms -x -d 'again after milliseconds'
complete -c ptxloom -n '__ptxloom_is smi' -l version -d 'which versions'
complete -c ptxloom -n '__ptxloom_is smi' -a topo -d 'how devices are connected'
complete -c ptxloom -n '__ptxloom_is toolkit' -l cmake -d 'a toolchain file for CMake'
complete -c ptxloom -n '__ptxloom_is devices' -a '(__ptxloom_devices)'
complete -c ptxloom -n '__ptxloom_is devices' -l ctest-resources -d 'what CTest shares out'
complete -c ptxloom -n '__ptxloom_is devices ls' -l json

complete -c ptxloom -n '__ptxloom_is run' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is check' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is profile' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is profile' -s k -l kernel-name -x -d 'these kernels'
complete -c ptxloom -n '__ptxloom_is profile' -l kernel-name-base -x -a 'function demangled mangled' -d 'which name'
complete -c ptxloom -n '__ptxloom_is profile' -s s -l launch-skip -x -d 'launches to leave out'
complete -c ptxloom -n '__ptxloom_is profile' -s c -l launch-count -x -d 'launches at most'
complete -c ptxloom -n '__ptxloom_is profile' -l launch-skip-before-match -x -d 'launches of any kernel to leave out'
complete -c ptxloom -n '__ptxloom_is profile' -l kernel-id -x -d 'this launch'
complete -c ptxloom -n '__ptxloom_is profile' -l devices -x -d 'on these devices'
complete -c ptxloom -n '__ptxloom_is profile' -l set -x -a 'basic detailed full roofline' -d 'set of sections'
complete -c ptxloom -n '__ptxloom_is profile' -l section -x -d 'a section'
complete -c ptxloom -n '__ptxloom_is profile' -l metrics -x -d 'these metrics'
complete -c ptxloom -n '__ptxloom_is profile' -l page -x -a 'details raw source json html annotate callgrind session trace' -d 'what is printed'
complete -c ptxloom -n '__ptxloom_is profile' -l print-source -x -a 'ptx cuda cuda,ptx' -d 'lines of the source page'
complete -c ptxloom -n '__ptxloom_is profile' -l csv -d 'comma-separated values'
complete -c ptxloom -n '__ptxloom_is profile' -l print-units -x -a 'auto base' -d 'units'
complete -c ptxloom -n '__ptxloom_is profile' -l print-metric-name -x -a 'label name label-name' -d 'names of metrics'
complete -c ptxloom -n '__ptxloom_is profile' -l cache-control -x -a 'all none off' -d 'when caches are emptied'
complete -c ptxloom -n '__ptxloom_is profile' -s o -l export -r -d 'write a report'
complete -c ptxloom -n '__ptxloom_is profile' -s f -l force-overwrite -d 'also over a file'
complete -c ptxloom -n '__ptxloom_is profile' -s i -l import -r -d 'print a report'
complete -c ptxloom -n '__ptxloom_is profile' -l diff -r -d 'compare two reports'
complete -c ptxloom -n '__ptxloom_is profile' -l diff-limit -x -d 'kernels to print'
complete -c ptxloom -n '__ptxloom_is profile' -l exit-code -d '1 if reports differ'
complete -c ptxloom -n '__ptxloom_is profile' -l variables -d 'count by variable and allocation'
complete -c ptxloom -n '__ptxloom_is profile' -l log-file -r -d 'print to a file'
complete -c ptxloom -n '__ptxloom_is profile' -l assert -x -d 'a budget'
complete -c ptxloom -n '__ptxloom_is profile' -l kernel -x -d 'kernel of the budget'
complete -c ptxloom -n '__ptxloom_is profile' -l query-metrics -d 'list metrics'
complete -c ptxloom -n '__ptxloom_is profile' -l list-sections -d 'list sections'
complete -c ptxloom -n '__ptxloom_is profile' -l list-sets -d 'list sets'
complete -c ptxloom -n '__ptxloom_is profile' -l quiet -d 'errors alone'
complete -c ptxloom -n '__ptxloom_is profile' -l timeout -x -d 'stop after this time'
complete -c ptxloom -n '__ptxloom_is profile' -l clock-control -x -d 'no effect'
complete -c ptxloom -n '__ptxloom_is profile' -l replay-mode -x -d 'no effect'
complete -c ptxloom -n '__ptxloom_is profile' -l show -x -d 'events that are counted'
complete -c ptxloom -n '__ptxloom_is profile' -l sort -x -d 'events to sort by'
complete -c ptxloom -n '__ptxloom_is profile' -l threshold -x -d 'least share'
complete -c ptxloom -n '__ptxloom_is profile' -l context -x -d 'lines around'
complete -c ptxloom -n '__ptxloom_is profile' -l nvtx -d 'ranges of NVTX'
complete -c ptxloom -n '__ptxloom_is profile' -l nvtx-include -x -d 'launches in these ranges'
complete -c ptxloom -n '__ptxloom_is profile' -l nvtx-exclude -x -d 'launches not in these ranges'
complete -c ptxloom -n '__ptxloom_is profile' -l profile-from-start -x -a 'on off' -d 'when profiling begins'
complete -c ptxloom -n '__ptxloom_is profile' -l disable-profiler-start-stop -d 'cudaProfilerStart changes nothing'
complete -c ptxloom -n '__ptxloom_is profile' -l print-summary -x -a 'none per-gpu per-kernel per-nvtx' -d 'put launches together'
complete -c ptxloom -n '__ptxloom_is profile' -l print-details -x -a 'all header body' -d 'parts of sections'
complete -c ptxloom -n '__ptxloom_is profile' -l print-fp -d 'two digits behind the point'
complete -c ptxloom -n '__ptxloom_is profile' -l print-raw-numbers -d 'no separators'
complete -c ptxloom -n '__ptxloom_is profile' -l print-kernel-base -x -a 'function demangled mangled' -d 'names of kernels'
complete -c ptxloom -n '__ptxloom_is profile' -l source-folder -r -d 'where sources are'
complete -c ptxloom -n '__ptxloom_is profile' -l source-folders -r -d 'where sources are'
complete -c ptxloom -n '__ptxloom_is profile' -l query-metrics-mode -x -a 'base all' -d 'names of metrics'
complete -c ptxloom -n '__ptxloom_is profile' -l import-source -x -a 'on off' -d 'no effect'
complete -c ptxloom -n '__ptxloom_is profile' -l list-metrics -d 'list the metrics that are chosen'
complete -c ptxloom -n '__ptxloom_is profile' -l version -d 'print the version'
complete -c ptxloom -n '__ptxloom_is profile' -l trace -d 'trace calls and work'
complete -c ptxloom -n '__ptxloom_is profile' -l trace-clock -x -a 'time order' -d 'the time of a trace'
complete -c ptxloom -n '__ptxloom_is profile' -l target-processes -x -a 'all' -d 'all'
complete -c ptxloom -n '__ptxloom_is run check exec' -l check -x -a 'mem race init sync leak api' -d 'look for faults'
complete -c ptxloom -n '__ptxloom_is check' -l format -x -a 'text json xml sarif github' -d 'how findings are written'
complete -c ptxloom -n '__ptxloom_is check' -l log-file -r -d 'where findings are written'
complete -c ptxloom -n '__ptxloom_is check' -l leak-check -x -a 'memory full' -d 'what leaks'
complete -c ptxloom -n '__ptxloom_is check' -l volatile -x -a 'strong weak' -d 'what volatile accesses are'
complete -c ptxloom -n '__ptxloom_is check' -l print-limit -x -d 'how many are printed'
complete -c ptxloom -n '__ptxloom_is check' -l kernel-name -x -d 'check these kernels'
complete -c ptxloom -n '__ptxloom_is check' -l kernel-name-exclude -x -d 'do not check these kernels'
complete -c ptxloom -n '__ptxloom_is check' -l launch-skip -x -d 'launches that are not checked first'
complete -c ptxloom -n '__ptxloom_is check' -l launch-count -x -d 'launches that are checked'
complete -c ptxloom -n '__ptxloom_is check' -l padding -x -d 'distance between allocations'
complete -c ptxloom -n '__ptxloom_is check' -l print-level -x -a 'info warn error fatal' -d 'least findings that are printed'
complete -c ptxloom -n '__ptxloom_is check' -l suppressions -r -d 'findings that are known'
complete -c ptxloom -n '__ptxloom_is check' -l show-backtrace -x -a 'yes no host device' -d 'which stacks'
complete -c ptxloom -n '__ptxloom_is check' -l num-callers -x -d 'frames of a host stack'
complete -c ptxloom -n '__ptxloom_is check' -l track-unused-memory -d 'report allocations that are never written'
complete -c ptxloom -n '__ptxloom_is check' -x -l unused-memory-threshold -d 'percent that is to be unused for that'
complete -c ptxloom -n '__ptxloom_is check' -l target-processes -x -a 'all application-only' -d 'processes that are checked'
complete -c ptxloom -n '__ptxloom_is check' -l warnings-as-errors -d 'warnings change the exit status'
complete -c ptxloom -n '__ptxloom_is check' -l error-exitcode -x -d 'the exit status if anything is found'
complete -c ptxloom -n '__ptxloom_is run' -l deterministic -d 'the same every time'
complete -c ptxloom -n '__ptxloom_is run' -l coverage -r -d 'count lines'
complete -c ptxloom -n '__ptxloom_is run' -l report -r -d 'add what is found'
complete -c ptxloom -n '__ptxloom_is report' -F
complete -c ptxloom -n '__ptxloom_is report' -s o -l output -r -d 'where to write'
complete -c ptxloom -n '__ptxloom_is report' -l text -d 'for people'
complete -c ptxloom -n '__ptxloom_is report' -l sarif -d 'for code scanning'
complete -c ptxloom -n '__ptxloom_is report' -l github -d annotations
complete -c ptxloom -n '__ptxloom_is report' -l markdown -d 'a table'
complete -c ptxloom -n '__ptxloom_is report' -l codequality -d 'for GitLab'
complete -c ptxloom -n '__ptxloom_is report' -l json -d everything
complete -c ptxloom -n '__ptxloom_is report' -l fail -d 'errors are failures'
complete -c ptxloom -n '__ptxloom_is report' -l require -x -d 'checks that have to be on'
complete -c ptxloom -n '__ptxloom_is coverage' -F -a 'report html merge'
complete -c ptxloom -n '__ptxloom_is coverage' -s o -r -d 'where to write'
complete -c ptxloom -n '__ptxloom_is coverage' -l lcov -d 'for lcov'
complete -c ptxloom -n '__ptxloom_is coverage' -l cobertura -d XML
complete -c ptxloom -n '__ptxloom_is coverage' -l json -d everything
complete -c ptxloom -n '__ptxloom_is coverage' -l llvm-json -d 'as llvm-cov export'
complete -c ptxloom -n '__ptxloom_is coverage' -l gcovr -x -d 'for gcovr'
complete -c ptxloom -n '__ptxloom_is coverage' -l root -r -d 'files below it'
complete -c ptxloom -n '__ptxloom_is coverage' -l map -x -d 'where sources are now'
complete -c ptxloom -n '__ptxloom_is coverage' -l instances -d 'functions apart'
complete -c ptxloom -n '__ptxloom_is coverage' -l lanes -d 'branches by warps'
complete -c ptxloom -n '__ptxloom_is coverage' -l fail-under-lines -x -d 'least percentage'
complete -c ptxloom -n '__ptxloom_is coverage' -l fail-under-branches -x -d 'least percentage'
complete -c ptxloom -n '__ptxloom_is run' -l weak -x -d 'weak memory'
complete -c ptxloom -n '__ptxloom_is run debug' -l schedule -x -d 'the order of warps'
complete -c ptxloom -n '__ptxloom_is explore' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is explore' -s n -x -d 'how many schedules'
complete -c ptxloom -n '__ptxloom_is explore' -s j -x -d 'runs at a time'
complete -c ptxloom -n '__ptxloom_is explore' -l time -x -d 'begin none later'
complete -c ptxloom -n '__ptxloom_is explore' -l strategy -x -a 'mixed pct random starve exhaustive' -d 'how they are chosen'
complete -c ptxloom -n '__ptxloom_is explore' -l depth -x -d 'changes of priority'
complete -c ptxloom -n '__ptxloom_is explore' -l weak -d 'weak memory'
complete -c ptxloom -n '__ptxloom_is explore' -l same-output -d 'compare what the host gets'
complete -c ptxloom -n '__ptxloom_is explore' -l all -d 'each distinct failure'
complete -c ptxloom -n '__ptxloom_is explore' -l check -x -a 'mem race init sync leak api all' -d 'that may find nothing'
complete -c ptxloom -n '__ptxloom_is explore' -l inject -x -d 'what goes wrong'
complete -c ptxloom -n '__ptxloom_is explore' -l minimise -x -d 'runs to make it smaller'
complete -c ptxloom -n '__ptxloom_is explore' -l shard -x -d 'a part of them'
complete -c ptxloom -n '__ptxloom_is explore' -l timeout -x -d 'when a run hangs'
complete -c ptxloom -n '__ptxloom_is explore' -l replay -x -d 'one schedule'
complete -c ptxloom -n '__ptxloom_is run' -l stable -d 'the same with any number of workers'
complete -c ptxloom -n '__ptxloom_is run' -l memory -x -a 'auto' -d 'what devices have at most'
complete -c ptxloom -n '__ptxloom_is run' -l after-fault -x -a 'stick reset exit continue' -d 'what comes after a fault'
complete -c ptxloom -n '__ptxloom_is run' -l limit -x -d 'how long it may take'
complete -c ptxloom -n '__ptxloom_is run' -l inject -x -d 'what goes wrong'
complete -c ptxloom -n '__ptxloom_is run' -l stats -d 'say where the time went'
complete -c ptxloom -n '__ptxloom_is run' -l inject-strict -d 'rules that never act are errors'
complete -c ptxloom -n '__ptxloom_is inject' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is inject' -l sweep -x -d 'these calls fail one by one'
complete -c ptxloom -n '__ptxloom_is inject' -l error -x -d 'what they answer'
complete -c ptxloom -n '__ptxloom_is run' -l inject-dry-run -d 'say it, and do nothing'
complete -c ptxloom -n '__ptxloom_is inject' -l check -x -a 'mem race init sync leak api all' -d 'that may find nothing'
complete -c ptxloom -n '__ptxloom_is inject' -l schedules -x -d 'random orders for each call'
complete -c ptxloom -n '__ptxloom_is inject' -s n -d 'a dry run; N: so many results change'
complete -c ptxloom -n '__ptxloom_is inject' -l dry-run -d 'list what would be done'
complete -c ptxloom -n '__ptxloom_is inject' -l runs -x -d 'so many results change'
complete -c ptxloom -n '__ptxloom_is inject' -l group -x -a 'all fp64 fp32 ld pr gp' -d 'of these instructions'
complete -c ptxloom -n '__ptxloom_is inject' -l model -x -a '1 2 random zero' -d 'how they change'
complete -c ptxloom -n '__ptxloom_is inject' -l kernel -x -d 'in these kernels'
complete -c ptxloom -n '__ptxloom_is inject' -l seed -x -d 'other ones'
complete -c ptxloom -n '__ptxloom_is inject' -l rules -x -d 'rules of a dry run'
complete -c ptxloom -n '__ptxloom_is inject' -l golden -r -d 'what is to be printed'
complete -c ptxloom -n '__ptxloom_is inject' -l timeout -x -d 'when a run hangs'
complete -c ptxloom -n '__ptxloom_is run' -l debug-wait -d 'wait for a debugger'
complete -c ptxloom -n '__ptxloom_is run' -l timeout -x -d 'how long it may take'
complete -c ptxloom -n '__ptxloom_is run' -l record -r -d 'inputs of a launch that faults'
complete -c ptxloom -n '__ptxloom_is run' -l record-launch -x -d 'of another launch'
complete -c ptxloom -n '__ptxloom_is debug exec' -l replay -r -d 'a recorded launch'
complete -c ptxloom -n '__ptxloom_is run' -l fork -x -a 'error fresh' -d 'children by fork'
complete -c ptxloom -n '__ptxloom_is run' -l progress -x -a 'auto always never' -d 'a line about long launches'

complete -c ptxloom -n '__ptxloom_is dap' -l port -x -d 'wait at this TCP port'
complete -c ptxloom -n '__ptxloom_is debug' -F -a '(__fish_complete_command)'
complete -c ptxloom -n '__ptxloom_is debug' -s x -l command -r -F -d 'commands of a file first'
complete -c ptxloom -n '__ptxloom_is debug' -s p -l pid -x -a '(__fish_complete_pids)' -d 'a program that waits'
complete -c ptxloom -n '__ptxloom_is debug' -o ex -x -d 'a command first'
complete -c ptxloom -n '__ptxloom_is debug' -l eval-command -x -d 'a command first'
complete -c ptxloom -n '__ptxloom_is debug' -l batch -d 'end after them'
complete -c ptxloom -n '__ptxloom_is debug' -l color -x -a 'auto always never' -d 'use colours'

complete -c ptxloom -n '__ptxloom_is cc' -F
for option in c dryrun E g G lineinfo M ptx run use_fast_math v
	complete -c ptxloom -n '__ptxloom_is cc' -o $option
end
for option in gencode l Xcompiler
	complete -c ptxloom -n '__ptxloom_is cc' -o $option -x
end
for option in I L o
	complete -c ptxloom -n '__ptxloom_is cc' -o $option -r -F
end
complete -c ptxloom -n '__ptxloom_is cc' -o arch -x -a 'sm_60 sm_61 sm_70 sm_75 sm_80 sm_86'
complete -c ptxloom -n '__ptxloom_is cc' -o std -x -a 'c++11 c++14 c++17 c++20'
complete -c ptxloom -n '__ptxloom_is cc' -l no-rpath -d 'no path to the libraries'

complete -c ptxloom -n '__ptxloom_is exec learn ls ptx lint' -F
for option in kernel grid block shared cluster arg buffer dump expect tolerance expect-fault expect-metric allow seeds
	complete -c ptxloom -n '__ptxloom_is exec' -l $option -x
end
for option in cooperative count caches host-functions dump-program
	complete -c ptxloom -n '__ptxloom_is exec' -l $option
end
complete -c ptxloom -n '__ptxloom_is exec' -l trace -r -F
complete -c ptxloom -n '__ptxloom_is exec' -l save-places -d 'save also what metrics are mostly of'
complete -c ptxloom -n '__ptxloom_is exec profile test' -l save-metrics -r -F -d 'write metrics'
complete -c ptxloom -n '__ptxloom_is exec profile test' -l against -r -F -d 'compare metrics with'
complete -c ptxloom -n '__ptxloom_is profile test' -l allow -x -d 'by how much they may differ'
complete -c ptxloom -n '__ptxloom_is test' -l metrics -d 'metrics into JUnit XML'
complete -c ptxloom -n '__ptxloom_is test' -F
complete -c ptxloom -n '__ptxloom_is test' -s j -x -d 'cases at a time'
complete -c ptxloom -n '__ptxloom_is test' -l filter -x -d 'cases whose names fit'
complete -c ptxloom -n '__ptxloom_is test' -l shard -x -d 'a part of the cases'
complete -c ptxloom -n '__ptxloom_is test' -l junit -r -d 'results as XML'
complete -c ptxloom -n '__ptxloom_is test' -l coverage -r -d 'count lines in'
complete -c ptxloom -n '__ptxloom_is test' -l list -d 'print the names'

complete -c ptxloom -n '__ptxloom_is lint' -l max-errors -x
for option in dump print rows
	complete -c ptxloom -n '__ptxloom_is lint' -l $option
end
complete -c ptxloom -n '__ptxloom_is lint' -s q -l quiet
complete -c ptxloom -n '__ptxloom_is learn' -s o -r -d 'the table'
complete -c ptxloom -n '__ptxloom_is learn' -l name -x -d 'what to call it'
complete -c ptxloom -n '__ptxloom_is learn' -l find -d 'list what is recognised'
complete -c ptxloom -n '__ptxloom_is ls' -l kernels
complete -c ptxloom -n '__ptxloom_is ls ptx' -l scan
complete -c ptxloom -n '__ptxloom_is ptx' -s o -l output -r -F
complete -c ptxloom -n '__ptxloom_is ptx' -l index -x
complete -c ptxloom -n '__ptxloom_is ptx' -l arch -x
