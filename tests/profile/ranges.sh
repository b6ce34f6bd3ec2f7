# ptxloom profile and ranges: those of NVTX, by ncu's filters, and cudaProfilerStart and cudaProfilerStop.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/ranges
succeeds "the program is built" ptxloom cc tests/profile/ranges.cu -o "$app"
inst=smsp__inst_executed.sum

# profiled NAMES OPTIONS...: the kernels of the launches that are shown, in their order.
profiled()
{
	names=$1
	shift
	capture ptxloom profile --csv --metrics $inst "$@" "$app" graph
	got=$(sed -n 's/^"[0-9]*",.*"127.0.0.1".*,"\([a-z]*\)()",.*/\1/p' "$scratch/out" | tr '\n' ',')
	[ "$got" = "$names" ] || skipping || echo "# got: $got"
	verdict "$([ "$got" = "$names" ]; echo $?)" "$* profiles $names"
}

profiled "plain,outer,inner,threaded,started,ofdomain," --nvtx
profiled "outer,inner," --nvtx --nvtx-include "step/"
profiled "inner," --nvtx --nvtx-include "step/solve/"
profiled "inner," --nvtx --nvtx-include "solve]"
profiled "outer,inner," --nvtx --nvtx-include "[step"
profiled "" --nvtx --nvtx-include "[solve"
profiled "outer," --nvtx --nvtx-include "step]"
profiled "inner," --nvtx --nvtx-include "step/*/solve"
profiled "inner," --nvtx --nvtx-include "step/+"
profiled "inner," --nvtx --nvtx-include "regex:^st/regex:ol/"
profiled "started," --nvtx --nvtx-include long
profiled "started,ofdomain," --nvtx --nvtx-include 'app@phase\, 1/'
profiled "started," --nvtx --nvtx-include 'long,app@phase\, 1/'
profiled "" --nvtx --nvtx-include 'phase\, 1/'
profiled "outer,inner,started," --nvtx --nvtx-include step/ --nvtx-include long
profiled "plain,threaded,started,ofdomain," --nvtx --nvtx-exclude "step/"
profiled "outer," --nvtx --nvtx-include "step/" --nvtx-exclude "solve/"
profiled "outer,inner," --nvtx --nvtx-include "step/" -c 2
profiled "inner," --nvtx --nvtx-include "step/" -s 1
profiled "started,ofdomain," --profile-from-start off
all=plain,outer,inner,threaded,started,ofdomain,captured,captured,plain,
profiled "$all" --disable-profiler-start-stop
profiled "captured," --nvtx --disable-profiler-start-stop --nvtx-include "graph/"

# What is shown of them.
status 0 ptxloom profile --nvtx --nvtx-include solve/ --csv --metrics $inst "$app"
says out '"1  ""<default domain>:step:none:none:none:none:none:none""  ""<default domain>:solve:.*","","inner'
says out '"Host Name","thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg","Id:Domain:Start'
status 0 ptxloom profile --nvtx --nvtx-include solve/ --metrics $inst "$app"
says out '^       <0,step>$'
says out '^         <1,solve>$'
status 0 ptxloom profile --nvtx -o "$scratch/report" "$app"
status 0 ptxloom profile -i "$scratch/report" --nvtx --nvtx-include long --page json
says out '"kernel": "started\(\)"'
says out '"ranges": \[\{"domain": "<default domain>", "name": "long", "kind": "start"\}, \{"domain": "app"'
ok "$([ "$(grep -c '"kernel"' "$scratch/out")" = 1 ] || skipping; echo $?)" "a report is filtered, too"
refused 2 "need --nvtx" "filters alone" ptxloom profile --nvtx-include x true
refused 2 "a range is DOMAIN@NAME" "a filter that is none" ptxloom profile --nvtx --nvtx-include "a@" true
refused 2 "is no regular expression" "an expression that is none" ptxloom profile --nvtx --nvtx-include "regex:(/" true
refused 2 "nothing would be profiled" "two that exclude each other" \
	ptxloom profile --profile-from-start off --disable-profiler-start-stop true
# Without the profiler they do nothing.
status 0 "$bin/ptxloom" run "$app"

# The header of the CUDA toolkit, where there is one.
toolkit=$(find -L /usr/local/cuda/include /usr/include /usr/local/include -maxdepth 2 \
	-path '*/nvtx3/nvToolsExt.h' 2>/dev/null | head -n 1)
if [ -n "$toolkit" ] && mkdir "$scratch/nvtx" && cp -r "$(dirname "$toolkit")" "$scratch/nvtx/nvtx3" &&
	ptxloom cc -I"$scratch/nvtx" tests/profile/ranges.cu -o "$app" 2>/dev/null &&
	grep -q InitializeInjectionNvtx2_fnptr "$app"; then
	profiled "inner," --nvtx --nvtx-include "step/solve/"
	profiled "started," --nvtx --nvtx-include 'long,app@phase\, 1/'
else
	skip "NVTX of the toolkit" "its header is not here"
fi
finish
