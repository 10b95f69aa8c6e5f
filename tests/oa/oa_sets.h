/*
 * Every set of an XML file, imported and loaded for differently fused devices: what exists, what is
 * programmed and what is calculated agree with the XML itself, which is evaluated token by token.
 *
 * Floats agree to the last bit: both sides calculate in double, in the order of the equation, and
 * round to f32 at the end.
 */
#ifndef ZETA_TESTS_OA_OA_SETS_H
#define ZETA_TESTS_OA_OA_SETS_H

/** Runs all cases on a file whose name says the platform: .../oa-NAME.xml. The exit status. */
int oa_sets_run(const char *path);

#endif
