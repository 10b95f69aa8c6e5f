#include "report_forms.h"
void zeta_report_write_html(const struct zeta_report *report, const struct zeta_report_notes *notes,
                            FILE *file)
{
    (void)report;
    (void)notes;
    (void)file;
}
