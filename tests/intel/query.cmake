# Queries of whole GPUs.
zeta_add_test(NAME plugin.intel.totals SOURCES test_totals.c LIBS intel_parts LABELS plugin)
zeta_add_test(NAME plugin.intel.sampler SOURCES test_sampler.c LIBS intel_parts LABELS plugin)
