/*
 * Links of modules that were built apart.
 *
 * The driver links nothing to what it has loaded, so a module with imports is loaded when it is
 * linked: compiled once more, together with the modules that define them, of which it gets the
 * code. Variables that these have in memory already are the same for all: they become their
 * addresses. Modules that import from each other are made together, the others one after the other.
 */
#include "compute.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "image.h"

/* A list of modules. */
struct modules {
    struct zeta_plugin_module **list;
    size_t count;
    size_t room;
    bool is_short; /* there was no memory for some */
};

struct link {
    struct zeta_plugin *self;
    struct zeta_plugin_device *device; /* of all */
    struct modules all;                /* that were given */
    struct modules open;               /* those of them whose imports are looked for */
    const struct zeta_plugin_log_sink *log;
    char first[400]; /* problem */
    unsigned problems;
};

void *nvidia_module_handle(const struct zeta_plugin_module *module)
{
    return module->linked ? module->linked->handle : module->handle;
}

const struct nvidia_image *nvidia_module_loaded(const struct zeta_plugin_module *module)
{
    return module->linked ? module->linked->contents : module->contents;
}

void nvidia_module_unlink(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    struct nvidia_linked *linked = module->linked;
    struct nvidia_entered entered;

    free((void *)module->givers);
    module->givers = NULL;
    module->linked = NULL;
    module->unit = 0;
    if (!linked || --linked->users > 0)
        return;
    if (nvidia_enter(self, module->device, &entered) == ZETA_PLUGIN_SUCCESS) {
        (void)self->nvidia->driver.cuModuleUnload(linked->handle);
        nvidia_leave(self, &entered);
    }
    nvidia_image_free(linked->contents);
    free(linked);
}

static bool is_open(const struct zeta_plugin_module *module)
{
    return module->contents->imports.count > 0 && !module->linked;
}

static size_t index_of(const struct modules *modules, const struct zeta_plugin_module *module)
{
    size_t i = 0;

    while (i < modules->count && modules->list[i] != module)
        i++;
    return i;
}

/* Adds a module that is not among them. */
static void add(struct modules *modules, struct zeta_plugin_module *module)
{
    if (modules->count == modules->room) {
        const size_t room = modules->room ? modules->room * 2 : 8;
        struct zeta_plugin_module **grown =
            realloc((void *)modules->list, room * sizeof(struct zeta_plugin_module *));

        modules->is_short |= !grown;
        if (!grown)
            return;
        modules->list = grown;
        modules->room = room;
    }
    modules->list[modules->count++] = module;
}

/* ---- problems ---------------------------------------------------------------------------------
 */

static void write_log(const struct link *link, const char *text, size_t size)
{
    if (link->log && link->log->write)
        link->log->write(link->log->context, (struct zeta_plugin_string){text, size});
}

static void __attribute__((format(printf, 2, 3)))
complain(struct link *link, const char *format, ...)
{
    char text[400];
    va_list values;

    va_start(values, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    if (link->problems++ == 0)
        memcpy(link->first, text, sizeof(text));
    write_log(link, text, strlen(text));
    write_log(link, "\n", 1);
}

static uint32_t fail(const struct link *link)
{
    return zeta_host_fail(&link->self->host, ZETA_PLUGIN_MODULE_LINK_FAILURE,
                          "%s: the modules cannot be linked: %s", link->device->id, link->first);
}

/* ---- imports ----------------------------------------------------------------------------------
 */

/* Who defines a name that a module needs; NULL with a problem. */
static struct zeta_plugin_module *find_giver(struct link *link,
                                             const struct zeta_plugin_module *taker,
                                             struct zeta_plugin_string name)
{
    struct zeta_plugin_module *found = NULL;

    for (size_t i = 0; i < link->all.count; i++) {
        struct zeta_plugin_module *each = link->all.list[i];

        if (each == taker || !nvidia_names_have(&each->contents->exports, name))
            continue;
        if (found) {
            complain(link, "several modules export: %.*s", zeta_string_shown(name), name.data);
            return NULL;
        }
        found = each;
    }
    if (!found)
        complain(link, "no module exports: %.*s", zeta_string_shown(name), name.data);
    return found;
}

/* False without memory. */
static bool find_givers(struct link *link)
{
    for (size_t i = 0; i < link->open.count; i++) {
        struct zeta_plugin_module *module = link->open.list[i];
        const struct nvidia_names *imports = &module->contents->imports;

        module->givers = calloc(imports->count, sizeof(struct zeta_plugin_module *));
        if (!module->givers)
            return false;
        for (uint32_t k = 0; k < imports->count; k++)
            module->givers[k] = find_giver(link, module, imports->list[k]);
    }
    return true;
}

/* Adds the givers of a module, theirs, and so on; those that are open, or those that are loaded. */
static void add_givers(struct modules *modules, const struct zeta_plugin_module *module,
                       bool wants_open)
{
    for (uint32_t i = 0; module->givers && i < module->contents->imports.count; i++) {
        struct zeta_plugin_module *giver = module->givers[i];

        if (is_open(giver) != wants_open || index_of(modules, giver) < modules->count)
            continue;
        add(modules, giver);
        if (!modules->is_short)
            add_givers(modules, giver, wants_open);
    }
}

/*
 * What is made next: a module whose givers are all loaded, or some that need each other. Of those
 * that need fewest others, none needs one outside.
 */
static void choose(const struct link *link, struct modules *out_next)
{
    struct modules fewest = {0};

    for (size_t i = 0; i < link->open.count; i++) {
        struct modules needed = {0};

        if (!is_open(link->open.list[i]))
            continue;
        add(&needed, link->open.list[i]);
        add_givers(&needed, link->open.list[i], true);
        if (fewest.count == 0 || needed.count < fewest.count || needed.is_short) {
            free((void *)fewest.list);
            fewest = needed;
        } else {
            free((void *)needed.list);
        }
        if (fewest.is_short)
            break;
    }
    *out_next = fewest;
}

/* One program has one kernel of a name. */
static void check_kernels(struct link *link, const struct modules *next)
{
    for (size_t i = 1; i < next->count; i++) {
        const struct nvidia_image *image = next->list[i]->contents;

        for (uint32_t k = 0; k < image->count; k++) {
            const char *name = image->entries[k].name;

            for (size_t m = 0; m < i; m++) {
                if (nvidia_image_find(next->list[m]->contents, name, strlen(name)))
                    complain(link, "modules that import from each other both have a kernel %.200s",
                             name);
            }
        }
    }
}

/* ---- programs ---------------------------------------------------------------------------------
 */

/* A word of options: what is none of usual names gets a backslash. */
static void put_name(FILE *options, struct zeta_plugin_string name)
{
    for (size_t i = 0; i < name.size; i++) {
        if (strchr("\\\"'", name.data[i]))
            (void)fputc('\\', options);
        (void)fputc(name.data[i], options);
    }
}

/* Where a variable of a module is that is loaded. The context is current. */
static void put_place(struct link *link, FILE *options, const struct zeta_plugin_module *module,
                      const struct nvidia_variable *variable)
{
    uint64_t address = 0;
    size_t bytes = 0;

    if (link->self->nvidia->driver.cuModuleGetGlobal_v2(
            &address, &bytes, nvidia_module_handle(module), variable->own) != NVIDIA_CUDA_SUCCESS) {
        complain(link, "the driver does not say where variable %.200s is", variable->name);
        return;
    }
    (void)fputs("--place ", options);
    put_name(options, zeta_string(variable->name));
    (void)fprintf(options, "=0x%" PRIx64 " ", address);
}

/* Where all of a module are that others have to share. */
static void put_places(struct link *link, FILE *options, const struct zeta_plugin_module *module)
{
    const struct nvidia_image *image = nvidia_module_loaded(module);

    for (uint32_t i = 0; i < image->variable_count; i++) {
        if (image->variables[i].unit == module->unit && image->variables[i].is_writable)
            put_place(link, options, module, &image->variables[i]);
    }
}

/* Where an import comes from: a variable that is there, or a module of those that are compiled. */
static void put_import(struct link *link, FILE *options, const struct modules *next,
                       const struct modules *givers, struct zeta_plugin_module *giver,
                       struct zeta_plugin_string name)
{
    const size_t near = index_of(next, giver);
    const struct nvidia_variable *variable =
        near < next->count ? NULL
                           : nvidia_image_variable(nvidia_module_loaded(giver), giver->unit, name);

    if (variable && variable->is_writable) {
        put_place(link, options, giver, variable);
        return;
    }
    (void)fputs("--import ", options);
    put_name(options, name);
    (void)fprintf(options, "=%zu ", near < next->count ? near : near + index_of(givers, giver));
}

/* The options of one module; NULL without memory. */
static char *make_options(struct link *link, const struct modules *next,
                          const struct modules *givers, size_t unit)
{
    const struct zeta_plugin_module *module =
        unit < next->count ? next->list[unit] : givers->list[unit - next->count];
    const struct nvidia_names *imports = &module->contents->imports;
    char *text = NULL;
    size_t size = 0;
    FILE *options = open_memstream(&text, &size);

    if (!options)
        return NULL;
    (void)fprintf(options, "--gpu sm_%u%u --unit %zu ", module->device->cc_major,
                  module->device->cc_minor, unit);
    if (unit >= next->count) {
        (void)fputs("--loaded ", options);
        put_places(link, options, module);
    }
    for (uint32_t i = 0; i < imports->count; i++)
        put_import(link, options, next, givers, module->givers[i], imports->list[i]);
    if (fclose(options) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static void write_kept(void *context, struct zeta_plugin_string text)
{
    (void)fwrite(text.data, 1, text.size, context);
}

/* Makes the program and gives it to its modules. The log has what was said only if that failed. */
static uint32_t load(struct link *link, const struct modules *next,
                     const struct zeta_compiler_input *inputs, size_t count)
{
    struct nvidia_linked *linked = calloc(1, sizeof(*linked));
    char *said = NULL;
    size_t said_bytes = 0;
    FILE *kept = open_memstream(&said, &said_bytes);
    const struct zeta_plugin_log_sink log = {kept, write_kept};
    struct zeta_plugin_module *module = NULL;
    struct zeta_compiled built;
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!linked || !kept)
        goto finish;
    zeta_compile_sources(link->self->nvidia->compiler, inputs, count, &built);
    result = nvidia_module_from(link->self, link->device, &built, (struct zeta_plugin_string){0},
                                &log, &module);
    zeta_compiled_free(&built);
    if (result == ZETA_PLUGIN_SUCCESS) {
        linked->handle = module->handle;
        linked->contents = module->contents;
        module->handle = NULL;
        module->contents = NULL;
        nvidia_module_destroy(link->self, module);
        for (size_t i = 0; i < next->count; i++) {
            next->list[i]->linked = linked;
            next->list[i]->unit = (uint32_t)i;
            linked->users++;
        }
        linked = NULL;
    }

finish:
    if (kept && fclose(kept) == 0 && result != ZETA_PLUGIN_SUCCESS) {
        (void)snprintf(link->first, sizeof(link->first), "%.*s", (int)strcspn(said, "\n"), said);
        write_log(link, said, said_bytes);
    }
    free(said);
    free(linked);
    return result == ZETA_PLUGIN_MODULE_BUILD_FAILURE ? fail(link) : result;
}

static uint32_t make(struct link *link, const struct modules *next)
{
    struct modules givers = {0};
    struct zeta_compiler_input *inputs = NULL;
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    size_t count;
    bool fine;

    check_kernels(link, next);
    for (size_t i = 0; i < next->count && !givers.is_short; i++)
        add_givers(&givers, next->list[i], false);
    count = next->count + givers.count;
    if (!next->is_short && !givers.is_short)
        inputs = calloc(count, sizeof(*inputs));
    fine = inputs != NULL;
    for (size_t i = 0; i < count && fine; i++) {
        inputs[i].source =
            i < next->count ? &next->list[i]->source : &givers.list[i - next->count]->source;
        inputs[i].options = make_options(link, next, &givers, i);
        fine = inputs[i].options != NULL;
    }
    if (fine)
        result = link->problems > 0 ? fail(link) : load(link, next, inputs, count);
    for (size_t i = 0; inputs && i < count; i++)
        free((char *)(uintptr_t)inputs[i].options);
    free(inputs);
    free((void *)givers.list);
    return result;
}

/* ---- link -------------------------------------------------------------------------------------
 */

/* Makes all that is open. The context is current. */
static uint32_t make_all(struct link *link)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    if (!find_givers(link))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (link->problems > 0)
        return fail(link);
    while (result == ZETA_PLUGIN_SUCCESS) {
        struct modules next;

        choose(link, &next);
        if (next.count == 0)
            return next.is_short ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY : ZETA_PLUGIN_SUCCESS;
        result = make(link, &next);
        free((void *)next.list);
    }
    return result;
}

/* The modules, and those that are open. */
static uint32_t read_modules(struct link *link, const struct zeta_plugin_array *modules)
{
    for (uint64_t i = 0; i < modules->count; i++) {
        struct zeta_plugin_module *module;

        memcpy(&module, (const char *)modules->data + i * modules->stride,
               sizeof(struct zeta_plugin_module *));
        add(&link->all, module);
        if (is_open(module))
            add(&link->open, module);
        link->device = module->device;
        if (link->all.is_short || link->open.is_short)
            return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        if (link->device != link->all.list[0]->device) {
            complain(link, "they are of several devices");
            return fail(link);
        }
    }
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                            const struct zeta_plugin_log_sink *log)
{
    struct link link = {.self = self, .log = log};
    struct nvidia_entered entered;
    uint32_t result = read_modules(&link, modules);

    if (result == ZETA_PLUGIN_SUCCESS && link.open.count > 0)
        result = nvidia_enter(self, link.device, &entered);
    if (result == ZETA_PLUGIN_SUCCESS && link.open.count > 0) {
        result = make_all(&link);
        /* All or nothing. */
        for (size_t i = 0; i < link.open.count && result != ZETA_PLUGIN_SUCCESS; i++)
            nvidia_module_unlink(self, link.open.list[i]);
        nvidia_leave(self, &entered);
    }
    free((void *)link.all.list);
    free((void *)link.open.list);
    return result;
}
