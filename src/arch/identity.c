/*
 * What tells the devices of a machine apart: UUIDs and PCI buses.
 */
#include "src/arch/arch.h"

#include <stdio.h>

/* FNV-1a with two seeds. */
void arch_uuid(const struct arch *a, u32 number, u8 *out)
{
	for (u64 half = 0; half < 2; half++) {
		u64 h = hash_more(HASH_SEED + half, a->id, strlen(a->id));

		h = (h ^ (number + 1)) * HASH_PRIME;
		h ^= h >> 29;
		memcpy(out + 8 * half, &h, 8);
	}
	out[6] = (u8)((out[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
	out[8] = (u8)((out[8] & 0x3f) | 0x80);
}

void arch_uuid_text(const u8 *uuid, char *out)
{
	out += sprintf(out, "GPU-");
	for (u32 i = 0; i < ARCH_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		out += sprintf(out, "%02x", uuid[i]);
	}
}

u32 arch_pci_bus(u32 number)
{
	return number + 1;
}
