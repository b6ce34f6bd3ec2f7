/*
 * A library that looks like one with a static runtime, with functions that cannot be overwritten
 * among them: one in which another begins, one whose symbol lies in data, one that is shorter than
 * a jump.
 */
#define ANSWERS(name, value)                                                                       \
	int name(void);                                                                            \
	__attribute__((noinline)) int name(void)                                                   \
	{                                                                                          \
		static volatile int answer = value;                                                \
		return answer;                                                                     \
	}

ANSWERS(__cudaRegisterFatBinary, 1)
ANSWERS(cudaRuntimeGetVersion, 2)
ANSWERS(cudaGetDeviceCount, 3)
ANSWERS(cudaOfNobody, 4)

__asm__(".text\n.p2align 4\n"
	".globl cudaEntered\n.type cudaEntered, @function\n"
	".globl entered\n.type entered, @function\n"
	"cudaEntered:\n\tmovl $5, %eax\n\tret\n"
	".set entered, cudaEntered + 3\n.size entered, 3\n.size cudaEntered, 6\n"
	".globl cudaShort\n.type cudaShort, @function\n"
	"cudaShort:\n\tret\n.size cudaShort, 1\n"
	".data\n.globl cudaInData\n.type cudaInData, @function\n"
	"cudaInData:\n\t.quad 6\n.size cudaInData, 8\n.text\n");
