/* A graph as a picture: text in the language of graphviz. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/event/event.h"
#include "core/list/graph.h"
#include "core/module/module.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static const char *const command_names[] = {
    [ZETA_PLUGIN_COMMAND_BARRIER] = "barrier",
    [ZETA_PLUGIN_COMMAND_LAUNCH] = "launch",
    [ZETA_PLUGIN_COMMAND_COPY] = "copy",
    [ZETA_PLUGIN_COMMAND_COPY_REGION] = "copy of a region",
    [ZETA_PLUGIN_COMMAND_FILL] = "fill",
    [ZETA_PLUGIN_COMMAND_TIMESTAMP] = "time stamp",
    [ZETA_PLUGIN_COMMAND_EVENT_RESET] = "event reset",
    [ZETA_PLUGIN_COMMAND_CALL] = "host function",
    [ZETA_PLUGIN_COMMAND_QUERY_BEGIN] = "query begin",
    [ZETA_PLUGIN_COMMAND_QUERY_END] = "query end",
    [ZETA_PLUGIN_COMMAND_MARKER] = "marker",
};

/* The kernel of a launch: pinned by the buffer, like everything that a command names. */
static const struct zeta_kernel *kernel_of(const struct zeta_command_buffer *buffer,
                                           const struct zeta_plugin_launch *launch)
{
    for (uint32_t i = 0; i < buffer->pin_count; i++) {
        const struct zeta_kernel *kernel = buffer->pins[i];

        if (zeta_object_was(kernel, ZETA_KIND_KERNEL) && kernel->plugin_kernel == launch->kernel)
            return kernel;
    }
    return NULL;
}

static const char *argument_type(uint32_t kind)
{
    switch (kind) {
    case ZETA_PLUGIN_ARG_GLOBAL:
        return "pointer";
    case ZETA_PLUGIN_ARG_LOCAL:
        return "local memory";
    default:
        return "value";
    }
}

static void write_arguments(FILE *file, const struct zeta_kernel *kernel,
                            const struct zeta_plugin_launch *launch)
{
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct zeta_kernel_argument *argument = &kernel->arguments[i];
        const unsigned char *bytes =
            (const unsigned char *)launch->arguments + argument->offset_bytes;

        (void)fprintf(file, "\\n%u: %s, %u bytes: 0x", i, argument_type(argument->kind),
                      argument->size_bytes);
        /* As a number, so from the highest byte down. */
        for (uint32_t b = argument->size_bytes; b-- > 0;)
            (void)fprintf(file, "%02x", bytes[b]);
    }
}

static void write_launch(FILE *file, const struct zeta_command_buffer *buffer,
                         const struct zeta_plugin_command *command, bool detailed)
{
    const struct zeta_plugin_launch *launch = &command->u.launch;
    const struct zeta_kernel *kernel = kernel_of(buffer, launch);

    (void)fprintf(file, " %s", kernel ? kernel->name : "?");
    if (!detailed)
        return;
    (void)fprintf(file, "\\ngroups %u x %u x %u of %u x %u x %u", launch->group_count[0],
                  launch->group_count[1], launch->group_count[2], launch->group_size[0],
                  launch->group_size[1], launch->group_size[2]);
    if (kernel)
        write_arguments(file, kernel, launch);
}

static void write_bytes(FILE *file, const struct zeta_plugin_command *command)
{
    if (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT)
        return;
    if (command->type == ZETA_PLUGIN_COMMAND_COPY)
        (void)fprintf(file, "\\n%" PRIu64 " bytes from %p to %p", command->u.copy.size_bytes,
                      command->u.copy.source, command->u.copy.target);
    else if (command->type == ZETA_PLUGIN_COMMAND_FILL)
        (void)fprintf(file, "\\n%" PRIu64 " bytes at %p with a pattern of %" PRIu64,
                      command->u.fill.size_bytes, command->u.fill.target,
                      command->u.fill.pattern_bytes);
}

/* An edge from each command that signals an event to those that wait for it later. */
static void write_events(FILE *file, const struct zeta_command_buffer *buffer, uint32_t index)
{
    const struct zeta_plugin_command *command = &buffer->commands[index];

    for (uint64_t w = 0; w < command->wait_count; w++) {
        for (uint32_t i = index; i-- > 0;) {
            const struct zeta_plugin_event *signal = buffer->commands[i].signal_event;

            if (!signal || signal->event != command->wait_events[w]->event)
                continue;
            (void)fprintf(file, "    c%u -> c%u [style=dashed];\n", i, index);
            break;
        }
    }
}

static void write_graph(FILE *file, const struct zeta_command_buffer *buffer, bool detailed)
{
    (void)fprintf(file, "digraph zeta {\n    node [shape=box];\n");
    for (uint32_t i = 0; i < buffer->count; i++) {
        const struct zeta_plugin_command *command = &buffer->commands[i];

        (void)fprintf(file, "    c%u [label=\"%s", i, command_names[command->type]);
        if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH)
            write_launch(file, buffer, command, detailed);
        else if (detailed)
            write_bytes(file, command);
        (void)fprintf(file, "\"];\n");
        if (i > 0)
            (void)fprintf(file, "    c%u -> c%u;\n", i - 1, i);
        write_events(file, buffer, i);
    }
    (void)fprintf(file, "}\n");
}

ze_result_t ZE_APICALL impl_zeGraphDumpContentsExt(ze_graph_handle_t hGraph, const char *filePath,
                                                   const void *pNext)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;
    const ze_record_replay_graph_ext_dump_desc_t *desc =
        zeta_chain_find(pNext, ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_DUMP_DESC, sizeof(*desc));
    FILE *file = fopen(filePath, "we");

    if (!file)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cannot write the graph to %s: %s",
                          filePath, strerror(errno));
    (void)pthread_mutex_lock(&body->lock);
    write_graph(file, &body->buffer,
                !desc || desc->mode != ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE);
    (void)pthread_mutex_unlock(&body->lock);
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "writing the graph to %s failed: %s",
                          filePath, strerror(errno));
    return ZE_RESULT_SUCCESS;
}
