/*
 * Pieces of a container: the payloads of the DATA chunks of the wanted streams.
 */
#include <stdlib.h>
#include <string.h>

#include <zeta/container.h>

#include "plugins/replay/recording/source.h"

static bool is_wanted(const struct zeta_replay_request *request, uint32_t stream)
{
    for (uint32_t i = 0; i < request->stream_count; i++) {
        if (request->streams[i].number == stream)
            return true;
    }
    return false;
}

static void keep_problem(struct zeta_replay_pieces *pieces, const char *text)
{
    if (pieces->problem.text[0] == '\0')
        (void)zeta_replay_fail(&pieces->problem, "%s", text);
}

struct container_pieces {
    struct zeta_container_reader *reader;
    struct zeta_replay_pieces *pieces;
};

static bool next_piece(void *context, const struct zeta_replay_request *request,
                       const unsigned char **out_data, size_t *out_bytes, uint32_t *out_stream,
                       bool *out_damaged)
{
    const struct container_pieces *container = context;
    struct zeta_container_chunk chunk;
    enum zeta_container_result result;
    const void *payload;

    *out_damaged = false;
    while ((result = zeta_container_next(container->reader, &chunk)) == ZETA_CONTAINER_OK) {
        if (chunk.type != ZETA_CHUNK_DATA || !is_wanted(request, chunk.stream))
            continue;
        result = zeta_container_payload(container->reader, &payload);
        if (result == ZETA_CONTAINER_OK) {
            *out_data = payload;
            *out_bytes = (size_t)chunk.payload_bytes;
            *out_stream = chunk.stream;
            return true;
        }
        keep_problem(container->pieces, zeta_container_reader_problem(container->reader));
        if (result != ZETA_CONTAINER_DAMAGED)
            return false;
        *out_damaged = true;
    }
    if (result != ZETA_CONTAINER_AT_END)
        keep_problem(container->pieces, zeta_container_reader_problem(container->reader));
    return false;
}

static void close_pieces(void *context)
{
    struct container_pieces *container = context;

    zeta_container_reader_destroy(container->reader);
    free(container);
}

bool zeta_replay_pieces_container(const struct zeta_replay_recording *recording,
                                  struct zeta_replay_pieces *out_pieces,
                                  struct zeta_replay_problem *problem)
{
    struct container_pieces *container = calloc(1, sizeof(*container));
    struct zeta_container_problem why;

    if (!container)
        return zeta_replay_fail(problem, "there is no memory to read the recording");
    if (zeta_container_open_file(recording->path, &why, &container->reader) != ZETA_CONTAINER_OK) {
        free(container);
        return zeta_replay_fail(problem, "%s", why.text);
    }
    container->pieces = out_pieces;
    *out_pieces = (struct zeta_replay_pieces){
        .context = container, .next = next_piece, .close = close_pieces};
    return true;
}
