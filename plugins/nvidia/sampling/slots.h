#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_SLOTS_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_SLOTS_H

/*
 * An image that goes back to what it was when CUPTI initialised it, at the cost of the samples in
 * it. CUPTI does not say what an image looks like, but those of 13.0 are
 *
 *     | head | slot of sample 0 | slot of sample 1 | ... |
 *
 * and all slots without a sample are alike; initialising takes 0.3 ms per MB, of the whole image.
 * So the head and one slot are all that has to be remembered. None of that is believed: before the
 * image comes back the first time all slots that were not used are compared with each other, later
 * the first of them with the one that is remembered. An image that is otherwise is initialised by
 * CUPTI, as before.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed but for the image, bytes, slot_bytes and count: nothing is remembered. One thread at a
 * time. */
struct nvidia_slots {
    uint8_t *image;
    size_t bytes, slot_bytes, count; /**< of the image, of a slot; slots */
    uint8_t *fresh;                  /**< the head and a slot; NULL: not remembered */
    bool has_slot;                   /**< it is in there */
    bool is_otherwise;               /**< the image never comes back */
};

/** Remembers an image that CUPTI has just initialised. */
void nvidia_slots_remember(struct nvidia_slots *slots);

/**
 * Brings the image back, of which so many slots were used. False: it cannot be, and CUPTI has to
 * initialise it.
 */
bool nvidia_slots_return(struct nvidia_slots *slots, size_t used);

/** The image is not what was believed: it never comes back again. */
void nvidia_slots_distrust(struct nvidia_slots *slots);

/** Forgets what is remembered; what may come now is another image. */
void nvidia_slots_forget(struct nvidia_slots *slots);

#endif
