# PTXLOOM_* variables: a name that there is not, or a value that makes no sense, is an error with a
# message in the command, in programs under it, and in the C interface; options take the same values.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# setting_refused SETTING MESSAGE COMMAND...: exit status 2 and exactly this message.
setting_refused()
{
	setting=$1
	message=$2
	shift 2
	env "$setting" "$@" >"$scratch/out" 2>&1
	got=$?
	empty "$([ "$got" -eq 2 ] && [ "$(cat "$scratch/out")" = "ptxloom: error: $message" ] ||
		{ echo "exit status $got"; cat "$scratch/out"; })" "$1 ${2-}, $setting: $message"
}

add="ptxloom exec samples/vector_add.ptx --buffer a:f32[4] --buffer b:f32[4] --buffer c:f32[4] --arg u32=4"
for command in "$add" "ptxloom run true" "ptxloom lint samples/saxpy.ptx"; do
	# shellcheck disable=SC2086
	setting_refused PTXLOOM_CHEK=mem "there is no variable PTXLOOM_CHEK; did you mean PTXLOOM_CHECK?" $command
done
setting_refused PTXLOOM_QQQQQQQQ=1 "there is no variable PTXLOOM_QQQQQQQQ; ptxloom(1) lists those that there are" $add
setting_refused PTXLOOM_WORKERS=two "PTXLOOM_WORKERS takes a number up to 1024, not 'two'" $add
setting_refused PTXLOOM_WORKERS=1025 "PTXLOOM_WORKERS takes a number up to 1024, not '1025'" $add
setting_refused PTXLOOM_SEED=abc "PTXLOOM_SEED takes a number up to 18446744073709551615, not 'abc'" $add
setting_refused PTXLOOM_SEED=-1 "PTXLOOM_SEED takes a number up to 18446744073709551615, not '-1'" $add
for time in 5x s -5 5s5 99999999999h 0x; do
	setting_refused "PTXLOOM_TIMEOUT=$time" "PTXLOOM_TIMEOUT takes a time in milliseconds, or with a unit: \
5000, 500ms, 5s, 2m, 1h, not '$time'" $add
done
setting_refused PTXLOOM_ASYNC=lazy "PTXLOOM_ASYNC takes late or eager, not 'lazy'" $add
setting_refused PTXLOOM_CHECK=mem,men \
	"PTXLOOM_CHECK takes a list of mem, race, init, sync, leak, api or all, not 'mem,men'" $add
setting_refused PTXLOOM_HOST_ACCESS=yes "PTXLOOM_HOST_ACCESS takes 0 or 1, not 'yes'" $add
setting_refused PTXLOOM_HOST_ISA=v9 "PTXLOOM_HOST_ISA takes base, v2, v3 or v4, not 'v9'" $add

# What is set and empty is not set.
for setting in PTXLOOM_SEED= PTXLOOM_CHECK=mem, PTXLOOM_CHECK=all PTXLOOM_CHECK=mem,all \
	PTXLOOM_TIMEOUT=60s PTXLOOM_TIMEOUT=2m PTXLOOM_TIMEOUT=70000ms; do
	succeeds "$setting is taken" env "$setting" $add
done

wrong="^ptxloom run: error: --check takes a list of mem, race, init, sync, leak, api or all, not 'men'"
ends 86 "all checks" ptxloom exec "$top/tests/check/race.ptx" --kernel race_no_barrier --block 64 \
	--buffer o:u32[64] --check=all
says err 'Race reported' "are those by name"
refused 2 "$wrong" "an option takes what its variable takes" ptxloom run --check=men true
refused 2 "$wrong" "an option takes its value as the next word, too" ptxloom run --check men true
for device in "-d t4" "--device t4" --device=t4; do
	# shellcheck disable=SC2086
	empty "$(ptxloom run $device sh -c 'echo $PTXLOOM_DEVICE' 2>&1 | grep -vx t4)" "ptxloom run $device"
	# shellcheck disable=SC2086
	ptxloom env $device | grep -q "PTXLOOM_DEVICE='*t4"
	ok $? "ptxloom env $device"
done
for way in "run -d qqq" "run --device=qqq" "env --device=qqq"; do
	# shellcheck disable=SC2086
	ptxloom $way true >"$scratch/out" 2>&1
	ok "$([ $? -eq 2 ] && ! grep -q PTXLOOM_DEVICE "$scratch/out"; echo $?)" "ptxloom $way is refused"
done
PTXLOOM_DEVICE=qqq ptxloom run echo started >"$scratch/out" 2>&1
ok "$([ $? -eq 2 ] && grep -q "no device 'qqq'" "$scratch/out" && ! grep -q started "$scratch/out" &&
	grep -q "value of PTXLOOM_DEVICE" "$scratch/out"; echo $?)" \
	"a device that the environment names wrongly is refused"
PTXLOOM_DEVICE=qqq ptxloom run -d t4 true
ok $? "the option goes before the environment"
PTXLOOM_CHEK=mem ptxloom --help >/dev/null 2>&1
ok $? "help is given whatever the environment"

# A program under the libraries: its first call fails with an initialisation error.
cat >"$scratch/count.c" <<'END'
#include <stdio.h>
extern int cudaGetDeviceCount(int *);
extern const char *cudaGetErrorName(int);
int main(void)
{
	int n = 7, e = cudaGetDeviceCount(&n);

	printf("%s %d\n", cudaGetErrorName(e), n);
	return 0;
}
END
${CC:-cc} -o "$scratch/count" "$scratch/count.c" "$libraries/libcudart.so.13" -Wl,--allow-shlib-undefined
for setting in PTXLOOM_CHEK=mem PTXLOOM_SEED=abc PTXLOOM_DEVICE=none; do
	env "$setting" LD_LIBRARY_PATH="$libraries" "$scratch/count" >"$scratch/out" 2>"$scratch/err"
	empty "$([ "$(cat "$scratch/out")" = "cudaErrorInitializationError 0" ] &&
		grep -q error: "$scratch/err" || cat "$scratch/out" "$scratch/err")" \
		"$setting: a program is told and gets an initialisation error"
done
finish
