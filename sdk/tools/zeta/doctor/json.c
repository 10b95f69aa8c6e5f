/* The report of zeta doctor as JSON. */
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/output/file.h"

static const char *outcome_name(enum zeta_doctor_outcome outcome)
{
    static const char *const names[] = {"works", "absent", "refused", "crashed", "hung", "untried"};

    return names[outcome];
}

static void put_known(struct json_object *object, const char *key, const char *text)
{
    if (text)
        zeta_json_put_text(object, key, text);
}

static void put_probe(struct json_object *object, const struct zeta_doctor_probe *probe)
{
    struct json_object *devices = zeta_json_put_array(object, "devices");

    zeta_json_put_text(object, "outcome", outcome_name(probe->outcome));
    put_known(object, "library", probe->library);
    put_known(object, "version", probe->version);
    put_known(object, "zeta_version", probe->zeta);
    put_known(object, "error", probe->error);
    if (probe->has_init)
        zeta_json_put_u64(object, "init", probe->init);
    for (size_t i = 0; i < probe->device_count; i++)
        (void)json_object_array_add(devices, json_object_new_string(probe->devices[i]));
}

static void put_loading(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *object;
    struct json_object *array;

    if (doctor->program.name) {
        object = zeta_json_put_object(document, "program");
        zeta_json_put_text(object, "name", doctor->program.name);
        put_known(object, "path", doctor->program.path);
        if (doctor->program.path)
            zeta_json_put_text(object, "link", zeta_doctor_link_name(doctor->program.link));
    }
    put_probe(zeta_json_put_object(document, "loader"), &doctor->loader);
    array = zeta_json_put_array(document, "drivers");
    for (size_t i = 0; i < doctor->driver_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "name", doctor->drivers[i].name);
        put_probe(object, &doctor->drivers[i].probe);
    }
    object = zeta_json_put_object(document, "libzeta");
    zeta_json_put_text(object, "path", doctor->own_library);
    zeta_json_put_text(object, "command_version", ZETA_TOOL_VERSION);
    put_probe(object, &doctor->own);
}

static void put_plugins(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *array = zeta_json_put_array(document, "plugins");
    struct json_object *object;

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];

        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "id", plugin->id);
        zeta_json_put_text(object, "state", zeta_plugin_state_name(plugin->state));
        zeta_json_put_text(object, "reason", plugin->reason);
        zeta_json_put_text(object, "manifest", plugin->manifest);
    }
    array = zeta_json_put_array(document, "devices");
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *entry = &doctor->devices.entries[i];

        object = zeta_json_append_object(array);
        zeta_json_put_u64(object, "index", entry->index);
        zeta_json_put_text(object, "name", entry->properties.name);
        zeta_json_put_text(object, "id", entry->info.id);
        zeta_json_put_text(object, "class", entry->info.device_class);
        zeta_json_put_text(object, "compute", entry->info.compute);
        if (doctor->samplings && doctor->samplings[i].was_tried)
            zeta_json_put_bool(object, "can_be_sampled", !doctor->samplings[i].error);
    }
}

static void put_places(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *object;

    if (doctor->compiler.is_wanted) {
        object = zeta_json_put_object(document, "compiler");
        zeta_json_put_text(object, "path", doctor->compiler.path);
        zeta_json_put_bool(object, "works", doctor->compiler.works);
        put_known(object, "error", doctor->compiler.error);
    }
    object = zeta_json_put_object(document, "sharing");
    zeta_json_put_text(object, "path", doctor->place.path);
    zeta_json_put_text(object, "origin", doctor->place.origin);
    zeta_json_put_u64(object, "free_bytes", doctor->place.free_bytes);
    put_known(object, "error", doctor->place.error);
}

static void put_values(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *array = zeta_json_put_array(document, "variables");
    struct json_object *object;

    for (size_t i = 0; i < doctor->variable_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "variable", doctor->variables[i].text);
        put_known(object, "meaning", doctor->variables[i].meaning);
        zeta_json_put_bool(object, "dropped", doctor->variables[i].is_dropped);
    }
    array = zeta_json_put_array(document, "settings");
    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "name", doctor->settings[i].name);
        zeta_json_put_text(object, "value", doctor->settings[i].value);
        zeta_json_put_text(object, "origin", doctor->settings[i].origin);
    }
    array = zeta_json_put_array(document, "findings");
    for (size_t i = 0; i < doctor->finding_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_bool(object, "problem", doctor->findings[i].is_problem);
        zeta_json_put_text(object, "what", doctor->findings[i].what);
        put_known(object, "repair", doctor->findings[i].repair);
    }
}

int zeta_doctor_put(const struct zeta_doctor *doctor, const char *path)
{
    struct json_object *document = json_object_new_object();

    if (document) {
        zeta_json_put_text(document, "schema", "zeta.doctor/1");
        zeta_json_put_bool(document, "ok", doctor->problem_count == 0);
        put_loading(document, doctor);
        put_plugins(document, doctor);
        put_places(document, doctor);
        put_values(document, doctor);
    }
    return zeta_output_put_json(path, document);
}
