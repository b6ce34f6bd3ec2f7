/* Opens the libraries for video as programs do, and prints what they answer. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int one_fn(void *argument);

static one_fn *find(void *library, const char *name)
{
	one_fn *f = library ? (one_fn *)(uintptr_t)dlsym(library, name) : NULL;

	if (!f)
		printf("no %s\n", name);
	return f;
}

static void show(const char *what, int answer)
{
	printf("%s %d\n", what, answer);
}

int main(void)
{
	void *decode = dlopen("libnvcuvid.so.1", RTLD_NOW);
	void *encode = dlopen("libnvidia-encode.so.1", RTLD_NOW);
	one_fn *caps = find(decode, "cuvidGetDecoderCaps"),
	       *create = find(decode, "cuvidCreateDecoder"),
	       *parser = find(decode, "cuvidCreateVideoParser"),
	       *state = find(decode, "cuvidGetVideoSourceState"),
	       *version = find(encode, "NvEncodeAPIGetMaxSupportedVersion"),
	       *instance = find(encode, "NvEncodeAPICreateInstance");
	unsigned char asked[88 + 8];
	unsigned number = 0;
	int answered = 0;

	if (!caps || !create || !parser || !state || !version || !instance)
		return 1;
	memset(asked, 0xff, sizeof(asked));
	show("caps of nothing", caps(NULL));
	show("caps", caps(asked));
	for (size_t i = 0; i < sizeof(asked); i++)
		answered += !asked[i];
	show("bytes answered", answered);
	show("before them", asked[23]);
	show("behind them", asked[88]);
	show("decoder", create(asked));
	show("parser", parser(asked));
	show("state", state(NULL));
	show("version of nothing", version(NULL));
	show("version", version(&number));
	show("number", (int)number);
	show("encoder of nothing", instance(NULL));
	show("encoder", instance(asked));
	return 0;
}
