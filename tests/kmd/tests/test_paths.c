/* Paths: which lead into the machine, and what programs see of nodes. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void assert_node(const struct stat *status, unsigned minor_number)
{
    assert_true(S_ISCHR(status->st_mode));
    assert_int_equal(major(status->st_rdev), 226);
    assert_int_equal(minor(status->st_rdev), minor_number);
}

static void stat__every_way__nodes_are_character_devices(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int directory = open("/dev/dri", O_RDONLY | O_DIRECTORY);
    const int fd = open("/dev/dri/card0", O_RDWR);
    struct stat status;
    struct stat64 status64;
    struct statx extended;

    (void)state;
    assert_int_equal(stat("/dev/dri/card0", &status), 0);
    assert_node(&status, 0);
    assert_int_equal(lstat("/dev/dri/renderD128", &status), 0);
    assert_node(&status, 128);
    assert_int_equal(fstat(fd, &status), 0);
    assert_node(&status, 0);
    assert_int_equal(fstatat(directory, "renderD128", &status, 0), 0);
    assert_node(&status, 128);
    assert_int_equal(stat64("/dev/dri/card0", &status64), 0);
    assert_true(S_ISCHR(status64.st_mode));
    assert_int_equal(statx(AT_FDCWD, "/dev/dri/card0", 0, STATX_ALL, &extended), 0);
    assert_true(S_ISCHR(extended.stx_mode));
    assert_int_equal(extended.stx_rdev_major, 226);
    assert_int_equal(stat("/sys/class/drm/card0/device/vendor", &status), 0);
    assert_true(S_ISREG(status.st_mode));
    (void)close(fd);
    (void)close(directory);
    kmd_stop(machine);
}

static void list__nodes__names_and_kinds(void **state)
{
    const struct kmd_config config = {
        .device_count = 2,
        .devices = {{.platform = "tgl-gt2"}, {.platform = "bmg", .has_render_node_only = true}}};
    struct kmd_machine *machine = bed_start_config(&config);
    DIR *directory = opendir("/dev/dri");
    struct dirent **list = NULL;
    struct dirent64 **list64 = NULL;
    struct dirent *entry;
    int cards = 0;
    int renders = 0;
    glob_t found;
    glob64_t found64;
    int count;

    (void)state;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        assert_int_equal(entry->d_type, DT_CHR);
        cards += strncmp(entry->d_name, "card", 4) == 0;
        renders += strncmp(entry->d_name, "renderD", 7) == 0;
    }
    (void)closedir(directory);
    assert_int_equal(cards, 1);
    assert_int_equal(renders, 2);

    assert_int_equal(glob("/dev/dri/render*", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 2);
    assert_string_equal(found.gl_pathv[0], "/dev/dri/renderD128");
    globfree(&found);
    count = scandir("/sys/bus/pci/devices", &list, NULL, alphasort);
    assert_int_equal(count, 4);
    assert_string_equal(list[2]->d_name, "0000:00:02.0");
    assert_string_equal(list[3]->d_name, "0000:04:00.0");
    while (count > 0)
        free(list[--count]);
    free(list);
    assert_int_equal(scandir64("/sys/class/drm", &list64, NULL, alphasort64), 7);
    assert_string_equal(list64[2]->d_name, "card0");
    while (count < 7)
        free(list64[count++]);
    free(list64);
    assert_int_equal(glob64("/dev/dri/card*", 0, NULL, &found64), 0);
    assert_int_equal(found64.gl_pathc, 1);
    globfree64(&found64);
    kmd_stop(machine);
}

static void read_text(const char *path, char *out_text, size_t bytes)
{
    FILE *file = fopen(path, "r");

    out_text[0] = '\0';
    assert_non_null(file);
    assert_non_null(fgets(out_text, (int)bytes, file));
    (void)fclose(file);
}

static void sysfs__device__ids_links_and_frequencies(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    char text[PATH_MAX];
    ssize_t length;

    (void)state;
    read_text("/sys/bus/pci/devices/0000:00:02.0/device", text, sizeof(text));
    assert_string_equal(text, "0x9a49\n");
    read_text("/sys/class/drm/card0/gt_max_freq_mhz", text, sizeof(text));
    assert_string_equal(text, "1300\n");
    read_text("/sys/dev/char/226:128/device/uevent", text, sizeof(text));
    assert_string_equal(text, "DRIVER=i915\n");
    read_text("/proc/sys/dev/i915/perf_stream_paranoid", text, sizeof(text));
    assert_string_equal(text, "0\n");
    assert_non_null(realpath("/sys/class/drm/renderD128/device", text));
    assert_string_equal(text, "/sys/devices/pci0000:00/0000:00:02.0");
    /* What realpath answered can be used. */
    assert_int_equal(access("/sys/devices/pci0000:00/0000:00:02.0/drm/card0", F_OK), 0);
    length = readlink("/sys/bus/pci/devices/0000:00:02.0/driver", text, sizeof(text));
    assert_cmp(length, >, 0);
    text[length] = '\0';
    assert_string_equal(strrchr(text, '/'), "/i915");
    assert_int_equal(access("/proc/sys/dev/xe/observation_paranoid", F_OK), -1);
    kmd_stop(machine);
}

static void sysfs__steps__lead_into_the_machine(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int root = open("/", O_PATH | O_DIRECTORY);
    const int sys = openat(root, "sys", O_PATH | O_DIRECTORY);
    const int class = openat(sys, "class", O_PATH | O_DIRECTORY);
    const int drm = openat(class, "drm", O_RDONLY | O_DIRECTORY);
    struct statfs system;
    char text[64];
    int fd;

    (void)state;
    assert_cmp(drm, >=, 0);
    assert_int_equal(fstatfs(drm, &system), 0);
    assert_int_equal(system.f_type, 0x62656572);
    fd = openat(drm, "card0/device/vendor", O_RDONLY);
    assert_int_equal(read(fd, text, sizeof(text)), 7);
    assert_memory_equal(text, "0x8086\n", 7);
    (void)close(fd);
    (void)close(drm);
    (void)close(class);
    (void)close(sys);
    (void)close(root);
    kmd_stop(machine);
}

static void forbidden__nodes__eacces(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .node_is_forbidden = true};
    struct kmd_machine *machine = bed_start_config(&config);
    struct stat status;

    (void)state;
    assert_int_equal(open("/dev/dri/renderD128", O_RDWR), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(access("/dev/dri/renderD128", R_OK | W_OK), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(access("/dev/dri/renderD128", F_OK), 0);
    assert_int_equal(stat("/dev/dri/renderD128", &status), 0);
    kmd_stop(machine);
}

/* A node by its path; a stream has none. */
static void link__of_descriptors__outside_names(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 10, 10);
    char path[64];
    char text[128];
    ssize_t length;

    (void)state;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", node);
    length = readlink(path, text, sizeof(text));
    assert_int_equal(length, strlen("/dev/dri/renderD128"));
    assert_memory_equal(text, "/dev/dri/renderD128", (size_t)length);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", stream);
    length = readlink(path, text, sizeof(text));
    assert_int_equal(length, strlen("anon_inode:[i915_perf]"));
    assert_memory_equal(text, "anon_inode:[i915_perf]", (size_t)length);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void machine__stopped__nothing_is_left(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    char folder[PATH_MAX];
    int value;

    (void)state;
    assert_cmp(strlen(kmd_folder(machine)), <, sizeof(folder));
    (void)strcpy(folder, kmd_folder(machine));
    assert_string_equal(getenv(KMD_VARIABLE), folder);
    kmd_stop(machine);
    assert_int_equal(access(folder, F_OK), -1);
    assert_null(getenv(KMD_VARIABLE));
    assert_int_equal(bed_ioctl(node, BED_GETPARAM, &value), -ENOTTY);
    (void)close(node);
    assert_null(
        kmd_start(&(struct kmd_config){.device_count = 1, .devices = {{.platform = "voodoo"}}}));
}

static void machine__every_platform__starts(void **state)
{
    (void)state;
    for (const char *const *name = kmd_platforms(); *name; name++) {
        struct kmd_machine *machine = bed_start(*name);
        const int node = bed_node();

        assert_cmp(node, >=, 0);
        (void)close(node);
        kmd_stop(machine);
    }
}

SUITE(paths)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat__every_way__nodes_are_character_devices),
        cmocka_unit_test(list__nodes__names_and_kinds),
        cmocka_unit_test(sysfs__device__ids_links_and_frequencies),
        cmocka_unit_test(sysfs__steps__lead_into_the_machine),
        cmocka_unit_test(forbidden__nodes__eacces),
        cmocka_unit_test(link__of_descriptors__outside_names),
        cmocka_unit_test(machine__stopped__nothing_is_left),
        cmocka_unit_test(machine__every_platform__starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
