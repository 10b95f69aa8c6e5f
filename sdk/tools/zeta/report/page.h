/*
 * The parts of the page that zeta report writes; the files are in page/ and part of the program.
 */
#ifndef ZETA_TOOLS_REPORT_PAGE_H
#define ZETA_TOOLS_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char zeta_page_css[];
extern const size_t zeta_page_css_bytes;
extern const unsigned char zeta_page_script[];
extern const size_t zeta_page_script_bytes;

#endif
