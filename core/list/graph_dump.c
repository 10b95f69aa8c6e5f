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

static void write_launch(FILE *file, const struct zeta_kernel *kernel,
                         const struct zeta_plugin_launch *launch)
{
    (void)fprintf(file, "\\ngroups %u x %u x %u of %u x %u x %u", launch->group_count[0],
                  launch->group_count[1], launch->group_count[2], launch->group_size[0],
                  launch->group_size[1], launch->group_size[2]);
    for (uint32_t i = 0; kernel && i < kernel->argument_count; i++) {
        const struct zeta_kernel_argument *argument = &kernel->arguments[i];
        const unsigned char *bytes =
            (const unsigned char *)launch->arguments + argument->offset_bytes;

        (void)fprintf(file, "\\n%u: %s, %u bytes: 0x", i,
                      argument->kind == ZETA_PLUGIN_ARG_GLOBAL  ? "pointer"
                      : argument->kind == ZETA_PLUGIN_ARG_LOCAL ? "local memory"
                                                                : "value",
                      argument->size_bytes);
        /* As a number, so from the highest byte down. */
        for (uint32_t b = argument->size_bytes; b-- > 0;)
            (void)fprintf(file, "%02x", bytes[b]);
    }
}

static void write_command(FILE *file, const struct zeta_command_buffer *buffer, uint32_t index,
                          bool detailed)
{
    const struct zeta_plugin_command *command = &buffer->commands[index];
    const struct zeta_plugin_copy *copy = &command->u.copy;
    const struct zeta_plugin_fill *fill = &command->u.fill;
    const bool is_indirect = (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) != 0;

    (void)fprintf(file, "    c%u [label=\"%s", index, command_names[command->type]);
    if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH) {
        const struct zeta_kernel *kernel = kernel_of(buffer, &command->u.launch);

        (void)fprintf(file, " %s", kernel ? kernel->name : "?");
        if (detailed)
            write_launch(file, kernel, &command->u.launch);
    } else if (detailed && !is_indirect && command->type == ZETA_PLUGIN_COMMAND_COPY) {
        (void)fprintf(file, "\\n%" PRIu64 " bytes from %p to %p", copy->size_bytes, copy->source,
                      copy->target);
    } else if (detailed && !is_indirect && command->type == ZETA_PLUGIN_COMMAND_FILL) {
        (void)fprintf(file, "\\n%" PRIu64 " bytes at %p with a pattern of %" PRIu64,
                      fill->size_bytes, fill->target, fill->pattern_bytes);
    }
    (void)fprintf(file, "\"];\n");
    if (index > 0)
        (void)fprintf(file, "    c%u -> c%u;\n", index - 1, index);
    /* An edge from the last command before it that signals what it waits for. */
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
    (void)fprintf(file, "digraph zeta {\n    node [shape=box];\n");
    (void)pthread_mutex_lock(&body->lock);
    for (uint32_t i = 0; i < body->buffer.count; i++)
        write_command(file, &body->buffer, i,
                      !desc || desc->mode != ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE);
    (void)pthread_mutex_unlock(&body->lock);
    (void)fprintf(file, "}\n");
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "writing the graph to %s failed: %s",
                          filePath, strerror(errno));
    return ZE_RESULT_SUCCESS;
}
