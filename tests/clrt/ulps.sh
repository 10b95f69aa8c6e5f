#!/bin/sh
# ulps.sh LOG [LOG]: the worst errors in units in the last place that logs of the suite `math` tell, one column for
# each type and log (of the virtual GPU, then of a GPU), and the bounds of OpenCL 1.2: those of half are ours.
set -u
awk '
FNR == 1 { log_number++ }
$1 == "ulp" {
    if (!($2 in seen)) {
        seen[$2] = 1
        names[++count] = $2
    }
    worst[$2, $3, log_number] = $4
    bound[$2, $3] = $5
}
END {
    split("half float double", types, " ")
    printf "%-16s", "function"
    for (t = 1; t <= 3; t++)
        for (n = 0; n <= log_number; n++)
            printf " %8s", n == 0 ? types[t] : n == 1 ? "virtual" : "GPU"
    printf "\n"
    for (i = 1; i <= count; i++) {
        printf "%-16s", names[i]
        for (t = 1; t <= 3; t++) {
            b = bound[names[i], types[t]]
            printf " %8s", b == "" ? "" : b == 0 ? "0.5" : "" b
            for (n = 1; n <= log_number; n++)
                printf " %8s", worst[names[i], types[t], n]
        }
        printf "\n"
    }
}' "$@"
