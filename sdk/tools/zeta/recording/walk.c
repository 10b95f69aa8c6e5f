#include "sdk/tools/zeta/recording/walk.h"

#include <stdio.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

static const char *last_error(void)
{
    const char *sentence = zetaGetLastError();

    return sentence ? sentence : "";
}

/* Counts a damage. False when nothing behind it can be read: it is the same once more. */
static bool note_damage(struct zeta_report_condition *condition, char *last, size_t last_bytes)
{
    char sentence[sizeof(condition->damage)];

    (void)snprintf(sentence, sizeof(sentence), "%s", last_error());
    zeta_text_clean(sentence, strlen(sentence));
    if (condition->damaged > 0 && strcmp(sentence, last) == 0)
        return false;
    if (condition->damaged++ == 0)
        memcpy(condition->damage, sentence, sizeof(sentence));
    (void)snprintf(last, last_bytes, "%s", sentence);
    return true;
}

static int walk(struct zeta_recording_reader *reader, const char *path, zeta_report_take take,
                void *user, struct zeta_report_condition *condition)
{
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    char last[sizeof(condition->damage)] = "";
    int status = ZETA_EXIT_OK;

    while (status == ZETA_EXIT_OK) {
        const ze_result_t result = zetaRecordingNext(reader, &chunk);

        if (result == ZE_RESULT_NOT_READY) {
            condition->is_cut = true;
            return ZETA_EXIT_OK;
        }
        if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
            if (!note_damage(condition, last, sizeof(last)))
                return ZETA_EXIT_OK;
            continue;
        }
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot go on reading %s", path);
        if (chunk.type == ZETA_CHUNK_END)
            return ZETA_EXIT_OK;
        status = take(user, reader, &chunk);
    }
    return status;
}

int zeta_report_walk(const char *path, zeta_report_take take, void *user,
                     struct zeta_report_condition *out_condition)
{
    struct zeta_recording_reader *reader = NULL;
    const ze_result_t result = zetaRecordingOpen(path, &reader);
    int status;

    *out_condition = (struct zeta_report_condition){0};
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot open %s", path);
    status = walk(reader, path, take, user, out_condition);
    zetaRecordingClose(reader);
    return status;
}
