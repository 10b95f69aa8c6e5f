/*
 * Who a device is and which devices are there, as settings and variables of the environment say.
 * Each case is a process of its own, because a process is initialised once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* What a process found. */
struct found {
    uint32_t device_count;
    ze_device_properties_t properties[8];
    uint32_t tiles[8];
    uint32_t tile_ids[8][4];
    bool has_root[8];
    ze_pci_address_ext_t address[8];
    char vendor[ZES_STRING_PROPERTY_SIZE]; /* of the first device */
};

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != ZE_RESULT_SUCCESS) {                                                         \
            fprintf(stderr, "%s failed\n", #call);                                                 \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void look_at(ze_device_handle_t device, uint32_t i, struct found *found)
{
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    ze_device_properties_t tile = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_device_handle_t tiles[4];
    ze_device_handle_t root = NULL;
    uint32_t count = 4;

    if (i == 0) {
        zes_device_properties_t sysman = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};

        MUST(zesDeviceGetProperties((zes_device_handle_t)device, &sysman));
        (void)snprintf(found->vendor, sizeof(found->vendor), "%s", sysman.vendorName);
    }
    found->properties[i].stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    MUST(zeDeviceGetProperties(device, &found->properties[i]));
    MUST(zeDevicePciGetPropertiesExt(device, &pci));
    found->address[i] = pci.address;
    MUST(zeDeviceGetRootDevice(device, &root));
    found->has_root[i] = root != NULL;
    MUST(zeDeviceGetSubDevices(device, &count, tiles));
    found->tiles[i] = count;
    for (uint32_t k = 0; k < count; k++) {
        MUST(zeDeviceGetProperties(tiles[k], &tile));
        found->tile_ids[i][k] = tile.subdeviceId;
    }
}

/* Looks at the devices in a child with more variables; names and values in pairs. */
static void look(const char *const *variables, struct found *out_found)
{
    int ends[2], status = 0;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        static struct found found;
        ze_device_handle_t devices[8];
        ze_driver_handle_t driver = NULL;
        uint32_t count = 1;

        (void)alarm(600);
        for (; *variables; variables += 2)
            (void)setenv(variables[0], variables[1], 1);
        MUST(zeInit(0));
        MUST(zeDriverGet(&count, &driver));
        found.device_count = 8;
        MUST(zeDeviceGet(driver, &found.device_count, devices));
        for (uint32_t i = 0; i < found.device_count; i++)
            look_at(devices[i], i, &found);
        _exit(write(ends[1], &found, sizeof(found)) == (ssize_t)sizeof(found) ? 0 : 1);
    }
    close(ends[1]);
    for (size_t have = 0; have < sizeof(*out_found);) {
        ssize_t got = read(ends[0], (char *)out_found + have, sizeof(*out_found) - have);

        assert_cmp(got, >, 0);
        have += (size_t)got;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void check_identity(const struct found *found)
{
    const ze_device_properties_t *p = &found->properties[0];

    assert_int_equal(found->device_count, 1);
    assert_string_equal(p->name, "Any Vendor's Graphics, a very special one");
    assert_int_equal(p->vendorId, 0x123456);
    assert_int_equal(p->deviceId, 0x42);
    for (int i = 0; i < 16; i++)
        assert_int_equal(p->uuid.id[i], i * 17);
    assert_int_equal(found->address[0].domain, 0x7a);
    assert_int_equal(found->address[0].bus, 0x3b);
    assert_int_equal(found->address[0].device, 0x1f);
    assert_int_equal(found->address[0].function, 7);
}

/* Rule 4.5. */
static void identity__from_the_environment__is_what_programs_see(void **state)
{
    static const char *const variables[] = {"ZETA_PLUGIN_VGPU_NAME",
                                            "Any Vendor's Graphics, a very special one",
                                            "ZETA_PLUGIN_VGPU_VENDOR_ID",
                                            "0x123456",
                                            "ZETA_PLUGIN_VGPU_DEVICE_ID",
                                            "0x42",
                                            "ZETA_PLUGIN_VGPU_UUID",
                                            "00112233-4455-6677-8899-aabbccddeeff",
                                            "ZETA_PLUGIN_VGPU_PCI",
                                            "7a:3b:1f.7",
                                            NULL};
    struct found found;

    (void)state;
    look(variables, &found);
    check_identity(&found);
}

/* Rule 4.5. */
static void identity__from_a_file__is_what_programs_see(void **state)
{
    static const char text[] = "plugins:\n"
                               "  vgpu:\n"
                               "    name: \"Any Vendor's Graphics, a very special one\"\n"
                               "    vendor_id: 0x123456\n"
                               "    device_id: 0x42\n"
                               "    uuid: 00112233445566778899AABBCCDDEEFF\n"
                               "    pci: \"7a:3b:1f.7\"\n";
    char path[] = "/tmp/zeta-identity-XXXXXX";
    const char *const variables[] = {"ZETA_CONFIG", path, NULL};
    int file = mkstemp(path);
    struct found found;

    (void)state;
    assert_cmp(file, >=, 0);
    assert_int_equal(write(file, text, sizeof(text) - 1), sizeof(text) - 1);
    close(file);
    look(variables, &found);
    (void)unlink(path);
    check_identity(&found);
}

/* The words, and nothing by which somebody would take it for hardware. Rule 4.12. */
static void identity__intel_like__has_the_words_and_own_ids(void **state)
{
    static const char *const alike[] = {"ZETA_PLUGIN_VGPU_IDENTITY", "intel-like", NULL};
    static const char *const named[] = {"ZETA_PLUGIN_VGPU_IDENTITY",
                                        "intel-like",
                                        "ZETA_PLUGIN_VGPU_NAME",
                                        "Mine",
                                        "ZETA_PLUGIN_VGPU_VENDOR",
                                        "Me",
                                        NULL};
    static const char *const plain[] = {NULL};
    struct found own, found;

    (void)state;
    look(plain, &own);
    assert_string_equal(own.properties[0].name, "Zeta Virtual GPU");
    assert_string_equal(own.vendor, "Zeta");
    look(alike, &found);
    assert_non_null(strstr(found.properties[0].name, "Intel(R)"));
    assert_non_null(strstr(found.properties[0].name, "Zeta Virtual GPU"));
    assert_non_null(strstr(found.vendor, "Intel(R) Corporation"));
    assert_int_equal(found.properties[0].vendorId, own.properties[0].vendorId);
    assert_cmp(found.properties[0].vendorId, >, 0xffff);
    assert_int_equal(found.properties[0].deviceId, own.properties[0].deviceId);
    assert_memory_equal(&found.address[0], &own.address[0], sizeof(own.address[0]));
    assert_memory_equal(found.properties[0].uuid.id, own.properties[0].uuid.id, 16);
    look(named, &found);
    assert_string_equal(found.properties[0].name, "Mine");
    assert_string_equal(found.vendor, "Me");
}

/* Rule 4.5. */
static void name__of_255_characters__is_whole(void **state)
{
    char name[256];
    const char *const variables[] = {"ZETA_PLUGIN_VGPU_NAME", name, NULL};
    struct found found;

    (void)state;
    memset(name, 'n', 255);
    name[255] = '\0';
    look(variables, &found);
    assert_string_equal(found.properties[0].name, name);
}

#define TWO_TILES "ZETA_PLUGIN_VGPU_TILES", "2"

/* Rule 4.4. */
static void hierarchy__each_model__shows_tiles_as_it_says(void **state)
{
    static const char *const composite[] = {TWO_TILES, NULL};
    static const char *const flat[] = {TWO_TILES, "ZE_FLAT_DEVICE_HIERARCHY", "FLAT", NULL};
    static const char *const combined[] = {TWO_TILES, "ZE_FLAT_DEVICE_HIERARCHY", "combined", NULL};
    static const char *const wrong[] = {TWO_TILES, "ZE_FLAT_DEVICE_HIERARCHY", "round", NULL};
    struct found found;

    (void)state;
    look(composite, &found);
    assert_int_equal(found.device_count, 1);
    assert_int_equal(found.tiles[0], 2);
    assert_false(found.has_root[0]);
    look(flat, &found);
    assert_int_equal(found.device_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(found.tiles[i], 0);
        assert_false(found.has_root[i]);
        assert_int_equal(found.properties[i].flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE, 0);
    }
    look(combined, &found);
    assert_int_equal(found.device_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(found.tiles[i], 0);
        assert_true(found.has_root[i]);
        assert_cmp((found.properties[i].flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE), !=, 0);
    }
    look(wrong, &found);
    assert_int_equal(found.device_count, 1);
}

/* Rule 4.3. */
static void affinity__any_mask__shows_what_it_names(void **state)
{
    static const struct {
        const char *mask;
        const char *hierarchy;
        uint32_t devices;
        uint32_t tiles; /* of the first device */
    } cases[] = {
        {"", "", 1, 3},
        {"0", "", 1, 3},
        {"1", "", 0, 0},
        {"0.0,0.2", "", 1, 2},
        {" 0.1 , 0.2 ", "", 1, 2},
        {"0.1", "", 1, 0},
        {"0.7", "", 0, 0},
        {"0.1,nonsense", "", 1, 0},
        {"0,0.1", "", 1, 3},
        {"1", "FLAT", 1, 0},
        {"0,2", "FLAT", 2, 0},
        {"1.0,2.1", "FLAT", 1, 0},
        {"99999999999", "", 0, 0},
    };
    struct found found;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const variables[] = {"ZETA_PLUGIN_VGPU_TILES",
                                         "3",
                                         "ZE_AFFINITY_MASK",
                                         cases[i].mask,
                                         "ZE_FLAT_DEVICE_HIERARCHY",
                                         cases[i].hierarchy,
                                         NULL};

        look(variables, &found);
        if (found.device_count != cases[i].devices ||
            (found.device_count > 0 && found.tiles[0] != cases[i].tiles))
            fail_msg("mask '%s': %u devices, %u tiles", cases[i].mask, found.device_count,
                     found.tiles[0]);
    }
}

/* Rule 4.3. */
static void affinity__one_tile__is_that_tile_without_a_root(void **state)
{
    static const char *const variables[] = {"ZETA_PLUGIN_VGPU_TILES", "3", "ZE_AFFINITY_MASK",
                                            "0.2", NULL};
    static const char *const two[] = {"ZETA_PLUGIN_VGPU_TILES", "3", "ZE_AFFINITY_MASK", "0.2,0.0",
                                      NULL};
    struct found all, found;

    (void)state;
    look(two, &found);
    assert_int_equal(found.tile_ids[0][0], 0);
    assert_int_equal(found.tile_ids[0][1], 2);
    look((const char *const[]){"ZETA_PLUGIN_VGPU_TILES", "3", NULL}, &all);
    look(variables, &found);
    assert_false(found.has_root[0]);
    assert_int_equal(found.properties[0].flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE, 0);
    assert_cmp(found.properties[0].numSlices, <, all.properties[0].numSlices);
    assert_memory_not_equal(&found.properties[0].uuid, &all.properties[0].uuid, 16);
}

SUITE(identity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity__from_the_environment__is_what_programs_see),
        cmocka_unit_test(identity__from_a_file__is_what_programs_see),
        cmocka_unit_test(identity__intel_like__has_the_words_and_own_ids),
        cmocka_unit_test(name__of_255_characters__is_whole),
        cmocka_unit_test(hierarchy__each_model__shows_tiles_as_it_says),
        cmocka_unit_test(affinity__any_mask__shows_what_it_names),
        cmocka_unit_test(affinity__one_tile__is_that_tile_without_a_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
