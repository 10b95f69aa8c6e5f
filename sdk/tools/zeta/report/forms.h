/*
 * The forms that zeta report writes a recording in.
 */
#ifndef ZETA_TOOLS_REPORT_FORMS_H
#define ZETA_TOOLS_REPORT_FORMS_H

#include <stdio.h>

#include "sdk/tools/zeta/recording/recording.h"

struct json_object;

enum {
    ZETA_REPORT_NOTE_BYTES = 640,
    ZETA_REPORT_MAX_NOTES = 24,
    ZETA_REPORT_MAX_LANES = 64 /**< queues that the page draws */
};

/** What a reader must know about the figures, a sentence each. */
struct zeta_report_notes {
    char text[ZETA_REPORT_MAX_NOTES][ZETA_REPORT_NOTE_BYTES];
    uint32_t count;
};

void zeta_report_notes_make(const struct zeta_report *report, struct zeta_report_notes *out_notes);

/** Tables. */
void zeta_report_print(const struct zeta_report *report, const struct zeta_report_notes *notes,
                       FILE *stream);

/** Schema "zeta.stat/1" with more members. The caller releases it. */
struct json_object *zeta_report_to_json(const struct zeta_report *report,
                                        const struct zeta_report_notes *notes);

/** One page that needs nothing else. Errors of the file stay in it. */
void zeta_report_write_html(const struct zeta_report *report, const struct zeta_report_notes *notes,
                            FILE *file);

/** The length of the recording, or of the range that was asked for, in ns. */
uint64_t zeta_report_length(const struct zeta_report *report);

#endif
