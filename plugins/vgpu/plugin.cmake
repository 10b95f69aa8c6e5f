# The plugin: the interface to libzeta around the engine.
zeta_add_plugin(vgpu
    SOURCES
        adopt.c
        cache_dir.c
        compiler.c
        compiler_process.c
        compiler_request.c
        copy.c
        describe.c
        device.c
        eu_watch.c
        instance.c
        instance_count.c
        instance_eu.c
        instance_file.c
        instance_ip.c
        instance_log.c
        instance_trace.c
        instance_unit.c
        ip_stream.c
        memory.c
        meter.c
        module.c
        oa_moments.c
        oa_report.c
        oa_ring.c
        oa_sampler.c
        oa_select.c
        oa_stream.c
        plugin.c
        pool.c
        query.c
        queue.c
        share.c
        shared_file.c
        spirv.c
        tile.c
        trace.c
        trace_event.c
        trace_file.c
        trace_merge.c
        trace_writer.c
        turns.c
        virtual.c
    LIBS vgpu_engine zeta_sdk PkgConfig::YAML PkgConfig::MD)

# Manifest and data. Data lie beside the manifest, in the folder that has the plugin's id.
set(manifests plugins.d)
set(data plugins.d/vgpu)
configure_file(90-vgpu.yaml ${ZETA_DATA_OUTPUT_DIRECTORY}/${manifests}/90-vgpu.yaml COPYONLY)
configure_file(device.yaml ${ZETA_DATA_OUTPUT_DIRECTORY}/${data}/device.yaml COPYONLY)
install(FILES 90-vgpu.yaml DESTINATION ${ZETA_DATA_INSTALL_DIR}/${manifests})
install(FILES device.yaml DESTINATION ${ZETA_DATA_INSTALL_DIR}/${data})
file(GLOB sets CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/metrics/*.yaml)
foreach(set_file IN LISTS sets)
    get_filename_component(name ${set_file} NAME)
    configure_file(${set_file} ${ZETA_DATA_OUTPUT_DIRECTORY}/${data}/metrics/${name} COPYONLY)
    install(FILES ${set_file} DESTINATION ${ZETA_DATA_INSTALL_DIR}/${data}/metrics)
endforeach()
