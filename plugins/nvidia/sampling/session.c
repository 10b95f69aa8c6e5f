#include "plugins/nvidia/sampling/session.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/sampling/program.h"
#include "plugins/nvidia/sampling/slots.h"

/*
 * How often samples are fetched. A decode costs 0.6 to 1.2 ms of processor time before the first
 * sample, so some should share that; but nobody waits for a sample longer than this after its end.
 */
enum { FETCHED_TOGETHER = 50 };
#define SHORTEST_FETCH_NS UINT64_C(20000000)
#define LONGEST_FETCH_NS UINT64_C(100000000)

/* Free slots before a decode: so many times what came meanwhile, and some. */
enum { FREE_TIMES = 3, FREE_MORE = 64 };

/* How late a fetch may be without a loss, if the image is allowed to be as large. */
#define LATE_NS UINT64_C(1000000000)

/* Slots of an image: of the smallest that works at all, and of the one that shows their size. */
enum { CAPACITY_LEAST = 512, CAPACITY_MOST = 1u << 20, CAPACITY_PROBE = 256 };

/* Attempts to go on without a sample between them. */
enum { ATTEMPTS = 2 };

/* Decodes after Stop that bring nothing, until the rest is believed to be there; and bounds. */
enum { QUIET_DECODES = 2, LAST_DECODES = 4096 };

struct nvidia_session {
    struct nvidia_session_options options;
    const struct nvidia_cupti *cupti;
    void *object;              /* NULL: the GPU's counters are given up */
    struct nvidia_slots slots; /* of the image */
    size_t capacity;
    bool is_returned; /* the next sample is the first one in an image that came back */
    uint64_t end_ns;  /* of the last sample handed out; 0: none was since the session began */
    size_t populated, completed, handed; /* of the image; handed == completed between decodes */
    uint64_t decoded_ns;                 /* when the last decode began */
    uint64_t seen;                       /* completed samples, handed out or not */
    bool has_first;                      /* the first sample, which is never right, has passed */
    bool has_rest; /* the first completed sample of the next decode is the rest of a lost one */
    bool is_behind_loss, is_behind_overflow; /* what the next sample is */
    uint32_t attempts;                       /* to go on, since the last sample */
    int result;                              /* why it is over */
    struct nvidia_session_counts counts;
    double values[NVIDIA_FIELDS];
};

/* ---- beginning and ending ------------------------------------------------------------------- */

static int initialise(struct nvidia_session *session)
{
    struct nvidia_data_image block = {
        .object = session->object, .bytes = session->slots.bytes, .image = session->slots.image};
    const int result = nvidia_cupti_pm_data_initialize(session->cupti, &block);

    if (result == NVIDIA_CUPTI_SUCCESS)
        nvidia_slots_remember(&session->slots);
    return result;
}

static int ask_bytes(struct nvidia_session *session, size_t samples, size_t *out_bytes)
{
    struct nvidia_pm_data_size size = {.object = session->object,
                                       .names = session->options.config->names,
                                       .count = session->options.config->count,
                                       .most_samples = (uint32_t)samples};
    const int result = nvidia_cupti_pm_data_size(session->cupti, &size);

    *out_bytes = size.bytes;
    return result;
}

/* Slots for all that comes while fetches are as late as they may be, as far as memory allows. */
static size_t choose_capacity(const struct nvidia_session *session, size_t sample_bytes)
{
    const uint64_t wanted = FREE_TIMES * (LATE_NS / session->options.period_ns + 1) + FREE_MORE;
    uint64_t capacity = 4 * wanted;

    if (capacity > session->options.image_bytes / sample_bytes)
        capacity = session->options.image_bytes / sample_bytes;
    if (capacity > CAPACITY_MOST)
        capacity = CAPACITY_MOST;
    return capacity > CAPACITY_LEAST ? (size_t)capacity : CAPACITY_LEAST;
}

/*
 * Makes the image. The number of samples that was asked about last is the one that images are
 * initialised for, so a question for another number comes before.
 */
static int make_image(struct nvidia_session *session)
{
    struct nvidia_slots *slots = &session->slots;
    size_t bytes = 0;
    int result;

    nvidia_slots_forget(slots);
    if (slots->image)
        return ask_bytes(session, session->capacity, &bytes);
    result = ask_bytes(session, CAPACITY_PROBE, &bytes);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    session->capacity = choose_capacity(session, bytes / CAPACITY_PROBE + 1);
    result = ask_bytes(session, session->capacity, &slots->bytes);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    slots->count = session->capacity;
    slots->slot_bytes = (slots->bytes - bytes) / (slots->count - CAPACITY_PROBE);
    slots->is_otherwise = slots->bytes <= bytes || slots->slot_bytes == 0 ||
                          slots->bytes / slots->count < slots->slot_bytes;
    slots->image = malloc(slots->bytes);
    return slots->image ? NVIDIA_CUPTI_SUCCESS : NVIDIA_CUPTI_OUT_OF_MEMORY;
}

/* Gives up the GPU's counters. */
static void disable(struct nvidia_session *session)
{
    struct nvidia_object object = {.object = session->object};

    if (session->object)
        (void)nvidia_cupti_pm_disable(session->cupti, &object);
    session->object = NULL;
}

static int enable(struct nvidia_session *session)
{
    const struct nvidia_session_options *options = &session->options;
    struct nvidia_plain initialize = {0}; /* as often as one likes, and never taken back */
    struct nvidia_pm_enable enable = {.device = options->device};
    struct nvidia_pm_config config = {
        .config_bytes = options->config->image_bytes,
        .config = options->config->image,
        .buffer_bytes = options->buffer_bytes,
        .interval = options->interval != 0 ? options->interval : options->period_ns,
        .trigger = options->interval != 0 ? NVIDIA_TRIGGER_SYSTEM_CYCLES : NVIDIA_TRIGGER_NS,
        .append = 0};
    int result = nvidia_cupti_initialize(session->cupti, &initialize);

    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_pm_enable(session->cupti, &enable);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    session->object = config.object = enable.object;
    return nvidia_cupti_pm_set_config(session->cupti, &config);
}

/* All calls from Enable to Start, in their order. Without success nothing is left of it. */
static int begin(struct nvidia_session *session)
{
    struct nvidia_object object;
    sigset_t before;
    int result;

    nvidia_signals_block(&before);
    result = enable(session);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = make_image(session);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = initialise(session);
    object.object = session->object;
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_pm_start(session->cupti, &object);
    nvidia_signals_restore(&before);
    if (result != NVIDIA_CUPTI_SUCCESS)
        disable(session);
    session->populated = session->completed = session->handed = 0;
    session->counts.initialised++;
    session->has_first = session->has_rest = session->is_returned = false;
    session->end_ns = 0;
    session->decoded_ns = session->options.now_ns();
    return result;
}

int nvidia_session_open(const struct nvidia_session_options *options,
                        struct nvidia_session **out_session)
{
    struct nvidia_session *session = calloc(1, sizeof(*session));
    int result;

    if (!session)
        return NVIDIA_CUPTI_OUT_OF_MEMORY;
    session->options = *options;
    session->cupti = options->config->cupti;
    result = begin(session);
    if (result == NVIDIA_CUPTI_SUCCESS)
        *out_session = session;
    else
        nvidia_session_close(session);
    return result;
}

uint64_t nvidia_session_fetch_ns(const struct nvidia_session *session, uint32_t wanted)
{
    const uint64_t period_ns = session->options.period_ns;
    /* So that a quarter of the image, all that rule 3 leaves, suffices. */
    const uint64_t room_ns = (session->capacity / 4 - FREE_MORE) / FREE_TIMES * period_ns;
    const uint32_t together = wanted > 0 && wanted < FETCHED_TOGETHER ? wanted : FETCHED_TOGETHER;
    uint64_t fetch_ns = together * period_ns;

    if (fetch_ns < SHORTEST_FETCH_NS)
        fetch_ns = SHORTEST_FETCH_NS;
    if (fetch_ns > LONGEST_FETCH_NS)
        fetch_ns = LONGEST_FETCH_NS;
    return fetch_ns < room_ns ? fetch_ns : room_ns;
}

/* ---- samples ------------------------------------------------------------------------------ */

/*
 * Initialises the image where that is due (rules 2 to 4). NVIDIA_CUPTI_OUT_OF_MEMORY: whatever is
 * done, the next decode might fill it.
 */
static int prepare_image(struct nvidia_session *session, uint64_t now_ns)
{
    const uint64_t came = (now_ns - session->decoded_ns) / session->options.period_ns;
    const uint64_t needed = FREE_TIMES * came + FREE_MORE;
    const bool is_open = session->populated != session->completed;
    const bool is_due = session->populated > session->capacity / 4 * (is_open ? 3 : 1);
    const size_t used = session->populated;

    if (needed > session->capacity)
        return NVIDIA_CUPTI_OUT_OF_MEMORY;
    if (!is_due && session->capacity - session->populated >= needed)
        return NVIDIA_CUPTI_SUCCESS;
    session->has_rest = session->has_rest || is_open;
    session->counts.forced += is_open;
    session->counts.initialised++;
    session->populated = session->completed = session->handed = 0;
    /* With an open sample CUPTI has to know that it goes. */
    session->is_returned = !is_open && nvidia_slots_return(&session->slots, used);
    return session->is_returned ? NVIDIA_CUPTI_SUCCESS : initialise(session);
}

/*
 * Whether an image that came back is as good as one that CUPTI initialised: the first sample in it
 * goes on where the last one ended.
 */
static void check_return(struct nvidia_session *session, uint64_t start_ns)
{
    if (session->is_returned && session->end_ns != 0 &&
        start_ns > session->end_ns + session->options.period_ns / 2)
        nvidia_slots_distrust(&session->slots);
    session->is_returned = false;
}

/* Decodes, and learns how many samples the image has. */
static int decode(struct nvidia_session *session)
{
    struct nvidia_pm_decode decoded = {
        .object = session->object, .image = session->slots.image, .bytes = session->slots.bytes};
    struct nvidia_pm_info info = {.image = session->slots.image, .bytes = session->slots.bytes};
    int result = nvidia_cupti_pm_decode(session->cupti, &decoded);

    if (result == NVIDIA_CUPTI_MAX_LIMIT_REACHED || result == NVIDIA_CUPTI_NOT_READY)
        return NVIDIA_CUPTI_SUCCESS; /* nothing new */
    if (result == NVIDIA_CUPTI_SUCCESS && decoded.overflow)
        result = NVIDIA_CUPTI_OUT_OF_MEMORY;
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_pm_info(session->cupti, &info);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    session->completed = info.completed;
    session->populated = info.populated;
    return NVIDIA_CUPTI_SUCCESS;
}

/* The numbers of one sample. */
static int get_sample(struct nvidia_session *session, size_t index, struct nvidia_sample *out)
{
    struct nvidia_pm_sample_info info = {.object = session->object,
                                         .image = session->slots.image,
                                         .bytes = session->slots.bytes,
                                         .index = index};
    int result = nvidia_cupti_pm_sample_info(session->cupti, &info);

    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_config_evaluate(session->options.config, session->slots.image,
                                        session->slots.bytes, index, session->values);
    *out = (struct nvidia_sample){.start_ns = info.start_ns,
                                  .end_ns = info.end_ns,
                                  .values = session->values,
                                  .is_behind_loss = session->is_behind_loss,
                                  .is_behind_overflow = session->is_behind_overflow};
    return result;
}

/* Hands out completed samples; they never change any more. */
static int hand_out(struct nvidia_session *session, const struct nvidia_taker *taker)
{
    while (session->handed < session->completed) {
        const size_t index = session->handed++;
        struct nvidia_sample sample;
        int result;

        session->seen++;
        if (!session->has_first) {
            session->has_first = true;
            continue;
        }
        if (session->has_rest) {
            session->has_rest = false;
            session->is_behind_loss = true;
            continue;
        }
        result = get_sample(session, index, &sample);
        if (result != NVIDIA_CUPTI_SUCCESS)
            return result;
        check_return(session, sample.start_ns);
        session->end_ns = sample.end_ns;
        session->is_behind_loss = session->is_behind_overflow = false;
        session->attempts = 0;
        session->counts.samples++;
        taker->take(taker->context, &sample);
    }
    return NVIDIA_CUPTI_SUCCESS;
}

static int fetch(struct nvidia_session *session, const struct nvidia_taker *taker)
{
    const uint64_t now_ns = session->options.now_ns();
    int result = prepare_image(session, now_ns);

    if (result == NVIDIA_CUPTI_SUCCESS)
        result = decode(session);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = hand_out(session, taker);
    session->decoded_ns = now_ns;
    return result;
}

/* A new session in place of one that is over, behind a break. */
static int begin_anew(struct nvidia_session *session, bool is_overflow)
{
    struct nvidia_object object = {.object = session->object};

    session->counts.begun_anew++;
    session->is_behind_loss = true;
    session->is_behind_overflow = is_overflow;
    if (session->object)
        (void)nvidia_cupti_pm_stop(session->cupti, &object);
    disable(session);
    return begin(session);
}

int nvidia_session_fetch(struct nvidia_session *session, const struct nvidia_taker *taker)
{
    int result;

    if (!session->object)
        return session->result;
    result = fetch(session, taker);
    /* Buffers that were too small for the moment are no reason to end. */
    if (result == NVIDIA_CUPTI_OUT_OF_MEMORY)
        result = begin_anew(session, true);
    while (result != NVIDIA_CUPTI_SUCCESS && session->attempts++ < ATTEMPTS)
        result = begin_anew(session, false);
    if (result != NVIDIA_CUPTI_SUCCESS)
        disable(session);
    session->result = result;
    return result;
}

void nvidia_session_stop(struct nvidia_session *session, const struct nvidia_taker *taker)
{
    struct nvidia_object object = {.object = session->object};
    uint32_t quiet = 0;

    if (!session->object)
        return;
    if (nvidia_cupti_pm_stop(session->cupti, &object) == NVIDIA_CUPTI_SUCCESS) {
        for (uint32_t i = 0; i < LAST_DECODES && quiet < QUIET_DECODES; i++) {
            const uint64_t before = session->seen;

            if (fetch(session, taker) != NVIDIA_CUPTI_SUCCESS)
                break;
            quiet = session->seen == before ? quiet + 1 : 0;
        }
    }
    disable(session);
}

void nvidia_session_close(struct nvidia_session *session)
{
    struct nvidia_object object;

    if (!session)
        return;
    object.object = session->object;
    if (session->object)
        (void)nvidia_cupti_pm_stop(session->cupti, &object);
    disable(session);
    nvidia_slots_forget(&session->slots);
    free(session->slots.image);
    free(session);
}

struct nvidia_session_counts nvidia_session_counts(const struct nvidia_session *session)
{
    return session->counts;
}
