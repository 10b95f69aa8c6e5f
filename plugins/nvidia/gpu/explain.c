/*
 * Why CUDA shows no GPU, or fewer than there are, and what users of those that it shows should
 * know: sentences with the cause, the current value and a command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/c_locale.h>
#include <zeta/compiler/compiler.h>

#include "plugins/nvidia/gpu/nvidia.h"

#define VISIBLE "CUDA_VISIBLE_DEVICES"

void nvidia_say(struct nvidia_sentences *sentences, const char *format, ...)
{
    const size_t length = strlen(sentences->text);
    va_list arguments;

    if (length + 2 >= sizeof(sentences->text))
        return;
    (void)strcpy(sentences->text + length, length > 0 ? " " : "");
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(sentences->text + strlen(sentences->text),
                           sizeof(sentences->text) - strlen(sentences->text), format, arguments);
    va_end(arguments);
}

/* ---- what the machine shows ----------------------------------------------------------------- */

/* Nodes of GPUs; a container has only those that it was given. */
static uint32_t count_nodes(const struct nvidia *nvidia)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    uint32_t count = 0;

    (void)snprintf(pattern, sizeof(pattern), "%s/dev/nvidia[0-9]*", nvidia->root);
    if (glob(pattern, 0, NULL, &found) == 0)
        count = (uint32_t)found.gl_pathc;
    globfree(&found);
    return count;
}

/* Says of a node that it is missing, or that this process may not open it. */
static void explain_node(const struct nvidia *nvidia, const char *path,
                         struct nvidia_sentences *out)
{
    const char *name = path + strlen(nvidia->root);
    const struct group *group;
    struct stat status;

    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
        return;
    if (errno == ENOENT || stat(path, &status) != 0) {
        nvidia_say(out,
                   "%s is not there: sudo nvidia-modprobe -u -c=0 makes it; a container gets it by "
                   "--gpus all (nvidia-container-toolkit).",
                   name);
        return;
    }
    group = getgrgid(status.st_gid);
    nvidia_say(out, "%s may not be read and written: it has mode %04o and group %s.", name,
               (unsigned)(status.st_mode & 07777), group ? group->gr_name : "without a name");
    if (group && group->gr_gid != 0 && (status.st_mode & 0060) == 0060)
        nvidia_say(out, "Become a member of it: sudo usermod -aG %s USER, then log in again.",
                   group->gr_name);
    else
        nvidia_say(out,
                   "Set NVreg_DeviceFileMode=0666 for the module nvidia in /etc/modprobe.d; "
                   "until then: sudo chmod 0666 %s.",
                   name);
}

static void explain_nodes(const struct nvidia *nvidia, struct nvidia_sentences *out)
{
    static const char *const names[] = {"nvidiactl", "nvidia-uvm", "nvidia[0-9]*"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        glob_t found = {0};

        (void)snprintf(path, sizeof(path), "%s/dev/%s", nvidia->root, names[i]);
        if (glob(path, GLOB_NOCHECK, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc; k++)
                explain_node(nvidia, found.gl_pathv[k], out);
        }
        globfree(&found);
    }
}

bool nvidia_parse_module_version(const char *line, char *out_text, size_t capacity_bytes)
{
    static const char blanks[] = " \t\n", version[] = "0123456789.";

    for (const char *word = line + strspn(line, blanks); *word; word += strspn(word, blanks)) {
        const size_t length = strcspn(word, blanks);

        if (strspn(word, version) == length && memchr(word, '.', length) &&
            length < capacity_bytes) {
            (void)memcpy(out_text, word, length);
            out_text[length] = '\0';
            return true;
        }
        word += length;
    }
    return false;
}

/* Version of the kernel module; else "unknown" and false. */
static bool read_module_version(const struct nvidia *nvidia, char *text, size_t bytes)
{
    char path[PATH_MAX], line[256] = "";
    FILE *file;

    (void)snprintf(text, bytes, "unknown");
    (void)snprintf(path, sizeof(path), "%s/proc/driver/nvidia/version", nvidia->root);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    (void)fclose(file);
    return nvidia_parse_module_version(line, text, bytes);
}

/* ---- why CUDA cannot be used ---------------------------------------------------------------- */

void nvidia_explain_no_driver(const struct nvidia *nvidia, struct nvidia_sentences *out)
{
    char version[64];

    nvidia_say(out, "%s", nvidia->driver.lib.problem);
    if (read_module_version(nvidia, version, sizeof(version)))
        nvidia_say(out, "The kernel module has version %s.", version);
    else
        nvidia_say(out, "No kernel module of NVIDIA is loaded.");
}

void nvidia_explain_cuda(const struct nvidia *nvidia, int result, struct nvidia_sentences *out)
{
    const struct nvidia_driver *driver = &nvidia->driver;
    const char *visible = getenv(VISIBLE);
    char version[64], file[PATH_MAX];

    if (!realpath(driver->lib.path, file)) /* libcuda.so.1 is a link to libcuda.so.580.65.06 */
        (void)snprintf(file, sizeof(file), "%s", driver->lib.path);
    (void)read_module_version(nvidia, version, sizeof(version));
    switch (result) {
    case NVIDIA_CUDA_NO_DEVICE:
    case NVIDIA_CUDA_INVALID_DEVICE:
        if (visible) {
            nvidia_say(out,
                       "CUDA shows no GPU: " VISIBLE " is \"%.100s\", which names none of the %u "
                       "that are there. Unset it, or take indices or uuids of: nvidia-smi -L.",
                       visible, count_nodes(nvidia));
            return;
        }
        nvidia_say(out, "CUDA shows no GPU, although the kernel module is loaded (version %s).",
                   version);
        explain_nodes(nvidia, out);
        nvidia_say(out, "The log of the kernel may say why: sudo dmesg | grep NVRM.");
        return;
    case NVIDIA_CUDA_STUB_LIBRARY:
        nvidia_say(out,
                   "%.300s is the stub of a CUDA toolkit, which programs are linked with and which "
                   "does nothing. Take its folder out of LD_LIBRARY_PATH; the real one comes with "
                   "the driver (version of the kernel module: %s).",
                   file, version);
        return;
    case NVIDIA_CUDA_NEWER_DRIVER:
        nvidia_say(out,
                   "The driver is too old for this libcuda (%.300s): its kernel module has version "
                   "%s. Install a newer driver, then reboot.",
                   file, version);
        return;
    case NVIDIA_CUDA_SYSTEM_NOT_READY:
        nvidia_say(out,
                   "The GPUs are not ready: on machines with NVSwitch the fabric manager has to "
                   "run, in the version of the driver (%s). See: systemctl status "
                   "nvidia-fabricmanager; start it with: sudo systemctl start "
                   "nvidia-fabricmanager.",
                   version);
        return;
    case NVIDIA_CUDA_DRIVER_MISMATCH:
        nvidia_say(out,
                   "Driver and library differ: the kernel module has version %s, the library is "
                   "%.300s. After an update reboot, or load the module again (sudo rmmod "
                   "nvidia_uvm nvidia_drm nvidia_modeset nvidia; sudo modprobe nvidia); in a "
                   "container take the library of the host.",
                   version, file);
        return;
    case NVIDIA_CUDA_NO_FORWARD_COMPATIBILITY:
        nvidia_say(out,
                   "%.300s is newer than the driver (kernel module %s), and this GPU is not among "
                   "those that allow that. Take the folder of cuda-compat out of LD_LIBRARY_PATH, "
                   "or install a newer driver.",
                   file, version);
        return;
    case NVIDIA_CUDA_DEVICE_UNAVAILABLE:
        nvidia_say(out,
                   "CUDA may not use the GPU: its compute mode allows one process (exclusive) and "
                   "another one has it, or none (prohibited). See: nvidia-smi -q -d COMPUTE; "
                   "everybody may with: sudo nvidia-smi -c DEFAULT.");
        return;
    case NVIDIA_CUDA_NOT_INITIALIZED:
        nvidia_say(out,
                   "This process was forked from one that had started CUDA, which cannot be used "
                   "in such a child. Start a new program instead of forking.");
        return;
    default:
        nvidia_say(out,
                   "CUDA cannot be used: cuInit returns %s (library %.200s, kernel module %s).",
                   nvidia_driver_text(driver, result).text, file, version);
        explain_nodes(nvidia, out);
    }
}

/* ---- what users should know of GPUs that work ------------------------------------------------ */

/* GPUs that CUDA does not show, and why. */
static void explain_hidden(const struct nvidia *nvidia, struct nvidia_sentences *out)
{
    const char *visible = getenv(VISIBLE);
    const uint32_t nodes = count_nodes(nvidia);
    uint32_t shown = 0;
    bool has_instance = false;

    for (uint32_t i = 0; i < nvidia->device_count; i++) {
        const struct zeta_plugin_device *device = &nvidia->devices[i];

        has_instance = has_instance || device->is_instance;
        shown += i == 0 || strcmp(device->address, nvidia->devices[i - 1].address) != 0;
    }
    if (has_instance)
        nvidia_say(out,
                   "A GPU is divided (MIG): CUDA shows a program one instance, which has its own "
                   "memory and SMs; counters of what instances share are not there. " VISIBLE
                   " chooses another one: nvidia-smi -L lists them.");
    if (shown >= nodes)
        return;
    if (visible)
        nvidia_say(out, VISIBLE " is \"%.100s\": it shows %u of %u GPUs.", visible, shown, nodes);
    else if (!has_instance)
        nvidia_say(out,
                   "CUDA shows %u of %u GPUs. The log of the kernel may say why: sudo dmesg | grep "
                   "NVRM.",
                   shown, nodes);
}

/* What keeps metrics away, as far as that can be seen without CUPTI. */
static void explain_counters(const struct nvidia *nvidia, struct nvidia_sentences *out)
{
    char why[ZETA_HOST_TEXT_BYTES];
    const char *advice;

    if (!nvidia_cupti_is_there(nvidia->host, nvidia->root, &advice))
        nvidia_say(out, "libcupti is not installed. %s", advice);
    if (nvidia->device_count == 0 || nvidia_may_read_counters(nvidia->root))
        return;
    nvidia_explain_permission(nvidia->root, why, sizeof(why));
    nvidia_say(out, "Metrics are not available: %s.", why);
}

bool nvidia_explain_mode(const struct zeta_plugin_device *device, struct nvidia_sentences *out)
{
    /* As cuDeviceGetAttribute numbers them. */
    static const char *const modes[] = {
        [2] = "prohibited: no program can compute on it",
        [3] = "exclusive: one process at a time can compute on it",
    };

    if (device->compute_mode >= sizeof(modes) / sizeof(modes[0]) || !modes[device->compute_mode])
        return false;
    nvidia_say(out,
               "The compute mode of %s is %s; everybody can with: sudo nvidia-smi -i %s -c "
               "DEFAULT.",
               device->id, modes[device->compute_mode], device->address);
    return true;
}

void nvidia_explain_devices(const struct nvidia *nvidia, struct nvidia_sentences *out)
{
    char lack[ZETA_COMPILER_LACK_BYTES];

    explain_hidden(nvidia, out);
    for (uint32_t i = 0; i < nvidia->device_count; i++)
        (void)nvidia_explain_mode(&nvidia->devices[i], out);
    explain_counters(nvidia, out);
    if (zeta_compiler_lacks(nvidia->compiler, lack))
        nvidia_say(out, "Programs with kernels in SPIR-V do not run on NVIDIA GPUs: %s.", lack);
}
