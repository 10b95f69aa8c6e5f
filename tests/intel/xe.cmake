# What counts through the xe driver.
foreach(name IN ITEMS parse stream)
    zeta_add_test(NAME plugin.intel.xe.${name} SOURCES test_xe_${name}.c LIBS intel_parts LABELS plugin)
endforeach()
