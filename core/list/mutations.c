#include "core/list/mutations.h"

#include <stdlib.h>
#include <string.h>

#include "core/module/kernel.h"
#include "core/queue/command_buffer.h"
#include "core/util/error.h"

static ze_result_t no_memory(void)
{
    return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note a mutable command");
}

ze_result_t zeta_mutations_create(struct zeta_mutations **out_mutations)
{
    struct zeta_mutations *mutations = calloc(1, sizeof(*mutations));

    if (!mutations)
        return no_memory();
    mutations->next_id = 1;
    *out_mutations = mutations;
    return ZE_RESULT_SUCCESS;
}

static void free_note(struct zeta_mutation *note)
{
    for (uint32_t i = 0; i < note->kernel_count; i++)
        zeta_object_unpin(note->kernels[i]);
    for (uint64_t i = 0; note->events && i <= note->wait_count; i++) {
        if (note->events[i])
            zeta_object_unpin(note->events[i]);
    }
    free(note->kernels);
    free((void *)note->waits);
    free((void *)note->events);
}

void zeta_mutations_clear(struct zeta_mutations *mutations)
{
    while (mutations->count > 0)
        free_note(&mutations->notes[--mutations->count]);
    mutations->pending = false;
    mutations->changed = false;
}

void zeta_mutations_destroy(struct zeta_mutations *mutations)
{
    if (!mutations)
        return;
    zeta_mutations_clear(mutations);
    free(mutations->notes);
    free(mutations);
}

/* An array of n elements that may be empty; NULL only without memory. */
static void *copy_array(const void *source, size_t count, size_t element_bytes)
{
    void *copy = calloc(count + 1, element_bytes);

    if (copy && count > 0)
        memcpy(copy, source, count * element_bytes);
    return copy;
}

static struct zeta_mutation *add_note(struct zeta_mutations *mutations)
{
    if (mutations->count == mutations->capacity) {
        uint32_t wanted = mutations->capacity ? mutations->capacity * 2 : 8;
        struct zeta_mutation *notes = realloc(mutations->notes, wanted * sizeof(*notes));

        if (!notes)
            return NULL;
        mutations->notes = notes;
        mutations->capacity = wanted;
    }
    struct zeta_mutation *note = &mutations->notes[mutations->count++];
    *note = (struct zeta_mutation){0};
    return note;
}

static ze_result_t note_kernels(struct zeta_mutation *note, uint32_t count,
                                ze_kernel_handle_t *kernels)
{
    note->kernels = calloc((size_t)count + 1, sizeof(struct zeta_kernel *));
    if (!note->kernels)
        return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        if (!zeta_object_pin(kernels[i], ZETA_KIND_KERNEL))
            return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                              "phKernels[%u] was just destroyed", i);
        note->kernels[note->kernel_count++] = (struct zeta_kernel *)kernels[i];
    }
    return ZE_RESULT_SUCCESS;
}

static void drop_last(struct zeta_mutations *mutations)
{
    free_note(&mutations->notes[--mutations->count]);
    mutations->pending = false;
}

ze_result_t zeta_mutations_ask(struct zeta_mutations *mutations,
                               ze_mutable_command_exp_flags_t flags, uint32_t kernel_count,
                               ze_kernel_handle_t *kernels, uint64_t *out_id)
{
    ze_result_t result;

    if (mutations->pending)
        drop_last(mutations);
    struct zeta_mutation *note = add_note(mutations);
    if (!note)
        return no_memory();
    result = note_kernels(note, kernel_count, kernels);
    if (result != ZE_RESULT_SUCCESS) {
        drop_last(mutations);
        return result;
    }
    note->id = mutations->next_id++;
    note->flags = flags;
    mutations->pending = true;
    *out_id = note->id;
    return ZE_RESULT_SUCCESS;
}

void zeta_mutations_note(struct zeta_mutations *mutations, const struct zeta_command_buffer *buffer,
                         uint32_t first_command, struct zeta_kernel *kernel)
{
    /* An append without a command, a hint for example, leaves the id to the next one. */
    if (!mutations->pending || buffer->count == first_command)
        return;
    struct zeta_mutation *note = &mutations->notes[mutations->count - 1];
    const struct zeta_plugin_command *command = &buffer->commands[first_command];
    mutations->pending = false;
    note->has_command = buffer->count == first_command + 1;
    note->command = first_command;
    note->is_launch = kernel != NULL;
    note->kernel = kernel;
    note->wait_count = command->wait_count;
}

size_t zeta_mutations_block_bytes(const struct zeta_mutations *mutations,
                                  const struct zeta_kernel *kernel)
{
    const struct zeta_mutation *note =
        mutations->pending ? &mutations->notes[mutations->count - 1] : NULL;
    uint32_t bytes = kernel->state->properties.block_bytes;

    for (uint32_t i = 0; note && i < note->kernel_count; i++) {
        uint32_t other = note->kernels[i]->state->properties.block_bytes;

        if (other > bytes)
            bytes = other;
    }
    return bytes;
}

struct zeta_mutation *zeta_mutations_find(struct zeta_mutations *mutations, uint64_t id)
{
    for (uint32_t i = 0; i < mutations->count; i++) {
        if (mutations->notes[i].id == id && mutations->notes[i].has_command)
            return &mutations->notes[i];
    }
    return NULL;
}

static bool clone_note(const struct zeta_mutation *from, struct zeta_command_buffer *buffer,
                       struct zeta_mutation *note)
{
    struct zeta_kernel **kernels =
        copy_array(from->kernels, from->kernel_count, sizeof(*from->kernels));
    size_t waits = (size_t)from->wait_count;

    *note = *from;
    note->kernels = kernels;
    note->kernel_count = kernels ? from->kernel_count : 0;
    for (uint32_t i = 0; i < note->kernel_count; i++)
        zeta_object_pin_more(kernels[i]);
    note->waits = NULL;
    note->events = NULL;
    if (!from->events)
        return kernels != NULL;
    note->waits = copy_array((const void *)from->waits, waits, sizeof(*from->waits));
    note->events = copy_array((const void *)from->events, waits + 1, sizeof(*from->events));
    for (size_t i = 0; note->events && i <= waits; i++) {
        if (note->events[i])
            zeta_object_pin_more(note->events[i]);
    }
    if (!kernels || !note->waits || !note->events)
        return false;
    /* Wait lists that were changed lie in the note, not in the buffer. */
    struct zeta_plugin_command *command = &buffer->commands[note->command];
    if (command->wait_events == from->waits)
        command->wait_events = note->waits;
    return true;
}

ze_result_t zeta_mutations_clone(const struct zeta_mutations *source,
                                 struct zeta_command_buffer *buffer,
                                 struct zeta_mutations **out_mutations)
{
    struct zeta_mutations *copy = NULL;
    ze_result_t result = zeta_mutations_create(&copy);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    copy->next_id = source->next_id;
    for (uint32_t i = 0; i < source->count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_mutation *note = add_note(copy);

        if (!note || !clone_note(&source->notes[i], buffer, note))
            result = no_memory();
    }
    if (result == ZE_RESULT_SUCCESS)
        *out_mutations = copy;
    else
        zeta_mutations_destroy(copy);
    return result;
}

void zeta_mutations_settle(struct zeta_mutations *mutations)
{
    mutations->changed = false;
}

bool zeta_mutations_unsettled(const struct zeta_mutations *mutations)
{
    return mutations && mutations->changed;
}
