# The libraries that decode and encode video say that there is no engine for it.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"
$CC -std=gnu11 -w "$top/tests/smi/video.c" -o "$scratch/video" -ldl >"$scratch/out" 2>&1
verdict $? "the program builds"
succeeds "it finds the libraries" ptxloom run "$scratch/video"
is out "caps of nothing 1
caps 0
bytes answered 64
before them 255
behind them 255
decoder 801
parser 801
state -1
version of nothing 6
version 0
number 208
encoder of nothing 6
encoder 1"
[ "$(grep -c 'no engines for video: cuvidCreateDecoder answers CUDA_ERROR_NOT_SUPPORTED' "$scratch/err")" -eq 1 ]
verdict $? "of decoders that is said once"
says err 'no engines for video: NvEncodeAPICreateInstance answers NV_ENC_ERR_NO_ENCODE_DEVICE' "and of encoders"

finish
