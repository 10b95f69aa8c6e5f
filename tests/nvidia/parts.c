#include "tests/nvidia/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cuda/tests/bed.h"

enum { SETTINGS = 8 };

uint32_t parts_log_count;
char parts_log[ZETA_HOST_TEXT_BYTES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads of the plugin log, too */
char parts_sentence[ZETA_HOST_TEXT_BYTES];
uint32_t parts_result;

static struct {
    char name[64], value[1024];
} settings[SETTINGS];

static void log_text(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host;
    if (level > ZETA_PLUGIN_LOG_WARN)
        return;
    (void)pthread_mutex_lock(&lock);
    parts_log_count++;
    (void)snprintf(parts_log, sizeof(parts_log), "%.*s", (int)text.size, text.data);
    (void)pthread_mutex_unlock(&lock);
}

static void remember(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)host;
    (void)pthread_mutex_lock(&lock);
    parts_result = result;
    (void)snprintf(parts_sentence, sizeof(parts_sentence), "%.*s", (int)text.size, text.data);
    (void)pthread_mutex_unlock(&lock);
}

static uint32_t look_up(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                        struct zeta_plugin_string *out_value)
{
    (void)host;
    for (size_t i = 0; i < SETTINGS; i++) {
        if (settings[i].name[0] != '\0' && zeta_string_is(name, settings[i].name)) {
            *out_value = zeta_string(settings[i].value);
            return ZETA_PLUGIN_SUCCESS;
        }
    }
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static const struct zeta_plugin_host_ops ops = {
    .struct_size = sizeof(ops), .log = log_text, .fail = remember, .setting = look_up};

const struct zeta_host parts_host = {.ops = &ops, .id = "nvidia", .data_dir = ""};

void parts_set(const char *name, const char *value)
{
    size_t i = 0;

    while (i < SETTINGS && settings[i].name[0] != '\0' && strcmp(settings[i].name, name) != 0)
        i++;
    assert_true(i < SETTINGS);
    (void)snprintf(settings[i].name, sizeof(settings[i].name), "%s", name);
    (void)snprintf(settings[i].value, sizeof(settings[i].value), "%s", value);
}

const struct nvidia_cupti *parts_cupti(void)
{
    static struct nvidia_cupti opened;

    if (opened.lib.handle)
        return &opened;
    parts_set("libcupti", CUDA_LIBRARIES);
    if (!nvidia_cupti_open(&opened, &parts_host, ""))
        fail_msg("%s", opened.lib.problem);
    return &opened;
}

struct zeta_plugin_device *parts_device(void)
{
    static struct zeta_plugin plugin;
    char root[1024];

    plugin.host = parts_host;
    (void)snprintf(root, sizeof(root), "%s/root", cuda_folder(bed_machine));
    parts_set("root", root);
    parts_set("libcuda", CUDA_LIBRARIES);
    parts_set("libcupti", CUDA_LIBRARIES);
    parts_set("libnvidia_ml", CUDA_LIBRARIES);
    if (nvidia_init(&plugin) != ZETA_PLUGIN_SUCCESS)
        fail_msg("%s", parts_sentence);
    assert_true(plugin.nvidia->device_count > 0);
    return &plugin.nvidia->devices[0];
}

void parts_expect_sentence(const char *part)
{
    if (!strstr(parts_sentence, part))
        fail_msg("\"%s\" is not in \"%s\"", part, parts_sentence);
}
