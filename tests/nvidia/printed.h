#ifndef ZETA_TESTS_NVIDIA_PRINTED_H
#define ZETA_TESTS_NVIDIA_PRINTED_H

/* What kernels/kinds.cl prints, on any device: kernel kinds with 0 and 1.5f, kernel wrong with 0.
 */

#define PRINTED_KINDS                                                                              \
    "nothing to say%\n"                                                                            \
    "-42|42|   42|42   |00042|+42| 42|007\n"                                                       \
    "4000000000|beef|BEEF|0xbeef|10|010\n"                                                         \
    "-1|-1|-9223372036854775808|255|65535|18446744073709551615\n"                                  \
    "1.500000|1.50|   1.500|1.5     |1.500000e+00|1.000000E-10|1e+20|1E-05|0x1p+0\n"               \
    "3.000000|2.500000|-inf|0.000000\n"                                                            \
    "ok|word|     right|left  |cu|\n"                                                              \
    "1.500000,-1.500000,inf,0.000000|1.5,-1.5,inf,0.0|1,-2,3|1,2,3,4,5,6,7,-8|"                    \
    "7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,255|-9223372036854775808,5|8000000000000000,5\n"    \
    "0.100000,100000000000000000000.000000|0.1,1e+20|0x1p+0,0x1p-1\n"                              \
    "   42|42   |1.50|     1.5\n"                                                                  \
    "(nil)|zero\n"                                                                                 \
    "3 deep\n"                                                                                     \
    "0:0 1:0 2:0 results 0\n"

#define PRINTED_WRONG                                                                              \
    "1 %? %?.\n"                                                                                   \
    "1.\n"                                                                                         \
    "%? %? %? %? %?\n"

#endif
