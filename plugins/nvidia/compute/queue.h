#ifndef ZETA_PLUGINS_NVIDIA_COMPUTE_QUEUE_H
#define ZETA_PLUGINS_NVIDIA_COMPUTE_QUEUE_H

/*
 * Queues on streams of CUDA: what queue.c, which gives commands to a stream, and steps.c, which
 * finishes them, share.
 *
 *   submit() --- commands that can go at once --------------> stream ----.
 *      '-- others -> waiting -> feeder: waits for events,       ^        | steps: places in the
 *                               calls of the host, indirect ----'        v stream, in order
 *                                                       finish(): times, events, reports
 *
 * The caller of submit() gives commands to the stream itself as long as nothing waits before them,
 * so small launches in a row do not wait for each other.
 *
 * Who waits for steps finishes them: the host in wait(), a caller or the feeder that needs room,
 * submit_here(). The completer is a thread for what nobody waits for. It polls for urgent steps,
 * which signal events or are waited for on a condition of the host, and looks at the others now and
 * then. Measured on an H100: to have the GPU interrupt costs 50 us of each wait and 8 us of
 * processor time for each such event; a second thread that asks for an event costs launches in a
 * row little, one that asks for the stream twice their time.
 */

#include "plugins/nvidia/compute/compute.h"

/** Commands and events in a stream at the same time: fewer than fit (1021 on an H100), so that no
 * call of the driver blocks. */
#define NVIDIA_MOST_PLACES 512u
#define NVIDIA_HALF_OF_PLACES (NVIDIA_MOST_PLACES / 2)

/** How long a caller waits until the stream is half empty; then the feeder does that for it. */
#define NVIDIA_ROOM_NS UINT64_C(20000000)

/** Who gives commands to the stream; one thread at a time does. */
enum nvidia_role { NVIDIA_ROLE_CALLER, NVIDIA_ROLE_FEEDER, NVIDIA_ROLE_HERE };

/** A place in the stream behind a command that signals, or behind the last one of a submission. */
struct nvidia_step {
    struct nvidia_step *next;
    uint64_t number, submission;       /**< in the queue, from 1 */
    struct zeta_plugin_event *signal;  /**< NULL: none */
    struct zeta_plugin_array commands; /**< since the step before, until they are reported */
    void *cookie;                      /**< of the submission that ends here, with is_last */
    bool is_last;
    bool is_ended;             /**< end is recorded, which is a mark, too */
    bool is_marked;            /**< end or mark is recorded */
    bool is_urgent;            /**< the completer polls */
    unsigned waiters;          /**< threads that wait for its mark inside the driver */
    unsigned places;           /**< in the driver's hands, of commands since the step before */
    bool is_timed;             /**< by the host: begin_ns and end_ns are known */
    uint64_t begin_ns, end_ns; /**< without is_timed: begin_ns is a lower bound, end_ns nothing */
    struct nvidia_base *base;
    void *begin, *end; /**< CUDA events with times; they and the mark are kept for the next use */
    void *mark;
    struct nvidia_failure failure; /**< with a result: of the last command */
};

struct zeta_plugin_queue {
    struct zeta_plugin *self;
    struct zeta_plugin_device *device;
    struct zeta_plugin_queue *next; /**< of the device */
    void *stream;
    uint64_t last_end_ns;      /**< of the last command that was signalled; of who finishes steps */
    struct nvidia_step *fresh; /**< to be used; of who gives commands to the stream */
    bool is_dry;               /**< nothing was given to it since all was waited for; likewise */

    pthread_mutex_t lock;       /**< for all down to the threads */
    pthread_cond_t to_feed;     /**< feeder: something waits */
    pthread_cond_t to_complete; /**< completer: an urgent step, or the first one for long */
    pthread_cond_t finished;    /**< a thread is done with finishing steps */
    struct waiting *first_waiting, **last_waiting;
    struct nvidia_step *first, *newest; /**< in the stream */
    struct nvidia_step *spare;          /**< used, for fresh */
    uint64_t appended;                  /**< number of the newest step ever */
    uint64_t given;  /**< submissions whose steps are all in the stream, or were */
    uint64_t wanted; /**< submissions whose reports somebody waits for, or did */
    uint64_t places; /**< of all steps */
    unsigned urgent_count, unmarked;
    bool is_finishing; /**< a thread finishes the first steps */
    bool is_feeding;   /**< the feeder has a submission in hand */
    bool is_idle;      /**< the completer sleeps until it is woken */
    bool is_over;      /**< no steps follow */
    bool has_feeder, has_completer;
    pthread_t feeder, completer;

    atomic_bool stopping;
    atomic_bool is_lost; /**< by a command at a wild address; the device goes on */
    char lost[512];
};

static inline const struct nvidia_driver *nvidia_queue_driver(const struct zeta_plugin_queue *queue)
{
    return &queue->self->nvidia->driver;
}

static inline const struct zeta_plugin_command *
nvidia_command_at(const struct zeta_plugin_array *commands, uint64_t index)
{
    return (const void *)((const char *)commands->data + index * commands->stride);
}

/* ---- Steps (steps.c) ----
 *
 * The context of the device is current. Functions up to nvidia_steps_finish_all() are for the
 * thread that gives commands to the stream; results are those of CUDA. */

/** An empty step, for nvidia_step_append(); NULL without memory. */
struct nvidia_step *nvidia_step_take(struct zeta_plugin_queue *queue);

/** Before and behind the command of a step that signals, in the stream: for its times. */
int nvidia_step_begin(struct zeta_plugin_queue *queue, struct nvidia_step *step);
int nvidia_step_end(struct zeta_plugin_queue *queue, struct nvidia_step *step);

/**
 * Gives a step its place in the stream; it belongs to the queue then.
 *
 * @is_apart  when it is passed can be seen whatever follows
 */
void nvidia_step_append(struct zeta_plugin_queue *queue, struct nvidia_step *step, bool is_apart,
                        enum nvidia_role role);

/** Waits for all that is in the stream, and finishes it. */
void nvidia_steps_finish_all(struct zeta_plugin_queue *queue);

/** The places of all steps. Any thread, also without a context. */
uint64_t nvidia_steps_places(struct zeta_plugin_queue *queue);

/**
 * Waits until the stream is half empty: waiting for each place anew would cost more. Not for ever,
 * because a kernel may wait for what the caller does next. False: there is no room. Any thread.
 */
bool nvidia_steps_wait_for_room(struct zeta_plugin_queue *queue, uint64_t wanted,
                                uint64_t timeout_ns);

/** The completer, a thread of the queue; ends with is_over. Needs no context. */
void *nvidia_steps_complete(void *queue);

/** Frees steps that are in no stream, of a list. */
void nvidia_steps_destroy(struct zeta_plugin_queue *queue, struct nvidia_step *first);

#endif
