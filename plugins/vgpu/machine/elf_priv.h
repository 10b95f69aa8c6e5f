#ifndef ZETA_PLUGINS_VGPU_MACHINE_ELF_PRIV_H
#define ZETA_PLUGINS_VGPU_MACHINE_ELF_PRIV_H

/* What the files that read ELF share. */

#include "elf.h"

/** No real image lies beyond; sums of two such numbers never wrap. */
#define ZETA_VGPU_ELF_ADDRESS_LIMIT (UINT64_C(1) << 47)

/** True when the file has all of these bytes. */
bool zeta_vgpu_elf_in_file(const struct zeta_vgpu_elf *elf, uint64_t offset, uint64_t bytes);

/**
 * Relocates a loaded image to run at @base. Relocations of symbols that the file does not define
 * are left for zeta_vgpu_elf_bind(); those of weak ones become 0 meanwhile.
 */
bool zeta_vgpu_elf_relocate(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                            struct zeta_vgpu_message *message);

#endif
