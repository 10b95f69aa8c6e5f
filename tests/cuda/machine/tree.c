/* The files by which programs find NVIDIA GPUs and learn how their driver was loaded. */

#include "tests/cuda/machine/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders above a file of the tree. */
static void make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755); /* most are there */
        *slash = '/';
    }
}

__attribute__((format(printf, 3, 4))) static bool write_file(const char *folder, const char *name,
                                                             const char *format, ...)
{
    char path[4096];
    va_list arguments;
    FILE *file;
    bool is_written;

    (void)snprintf(path, sizeof(path), "%.3800s/root/%.200s", folder, name);
    make_folders(path, strlen(folder) + 1);
    file = fopen(path, "w");
    if (!file)
        return false;
    va_start(arguments, format);
    is_written = vfprintf(file, format, arguments) >= 0;
    va_end(arguments);
    return fclose(file) == 0 && is_written;
}

static bool write_gpu(const char *folder, uint32_t index, const struct cuda_chip *chip)
{
    char name[160], path[4096];
    bool is_written;

    (void)snprintf(name, sizeof(name), "dev/nvidia%u", index);
    is_written = write_file(folder, name, "%s", "");
    (void)snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/vendor", chip->pci);
    is_written = write_file(folder, name, "0x10de\n") && is_written;
    (void)snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/device", chip->pci);
    is_written = write_file(folder, name, "0x%04x\n", (unsigned)(chip->pci_id >> 16)) && is_written;
    (void)snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/class", chip->pci);
    is_written = write_file(folder, name, "0x030200\n") && is_written;
    (void)snprintf(path, sizeof(path), "%.3800s/root/sys/bus/pci/devices/%s/driver", folder,
                   chip->pci);
    return is_written && symlink("../../../../bus/pci/drivers/nvidia", path) == 0;
}

bool cuda_tree_write(const char *folder, const struct cuda_description *machine)
{
    bool is_written = write_file(folder, "dev/nvidiactl", "%s", "") &&
                      write_file(folder, "dev/nvidia-uvm", "%s", "") &&
                      write_file(folder, "proc/driver/nvidia/params", "RmProfilingAdminOnly: %d\n",
                                 machine->permits ? 0 : 1) &&
                      write_file(folder, "proc/driver/nvidia/version",
                                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  of a test\n",
                                 cuda_driver_text(machine)) &&
                      write_file(folder, "sys/bus/pci/drivers/nvidia/module", "%s", "");

    for (uint32_t i = 0; i < machine->gpu_count && is_written; i++)
        is_written = write_gpu(folder, i, &machine->gpus[i]);
    return is_written;
}
