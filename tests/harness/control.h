/* The control tables of the scripted device. */
#ifndef ZETA_TESTS_HARNESS_CONTROL_H
#define ZETA_TESTS_HARNESS_CONTROL_H

/** A table, as "stream_control", of the scripted device that libzeta has opened from this tree. */
const void *harness_control(const char *table);

#endif
