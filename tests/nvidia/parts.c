#include "tests/nvidia/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SETTINGS = 8 };

char parts_sentence[ZETA_HOST_TEXT_BYTES];
uint32_t parts_result;

static struct {
    char name[64], value[1024];
} settings[SETTINGS];

static void log_text(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host;
    (void)level;
    (void)text;
}

static void remember(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)host;
    parts_result = result;
    (void)snprintf(parts_sentence, sizeof(parts_sentence), "%.*s", (int)text.size, text.data);
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
    static struct nvidia_cupti cupti;

    if (cupti.lib.handle)
        return &cupti;
    parts_set("libcupti", CUDA_LIBRARIES);
    if (!nvidia_cupti_open(&cupti, &parts_host, ""))
        fail_msg("%s", cupti.lib.problem);
    return &cupti;
}

void parts_expect_sentence(const char *part)
{
    if (!strstr(parts_sentence, part))
        fail_msg("\"%s\" is not in \"%s\"", part, parts_sentence);
}
