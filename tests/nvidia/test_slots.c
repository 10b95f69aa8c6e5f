/* Images that go back to what they were: only where all is as believed. */

#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/sampling/slots.h"
#include "tests/cuda/tests/bed.h"

enum { HEAD = 30, SLOT = 100, COUNT = 50, BYTES = HEAD + COUNT * SLOT };

static uint8_t image[BYTES], initialised[BYTES];

/* An image as CUPTI leaves it: all slots are alike, the head is not. */
static struct nvidia_slots make(void)
{
    for (int i = 0; i < BYTES; i++)
        initialised[i] = (uint8_t)(i < HEAD ? 200 + i : (i - HEAD) % SLOT);
    memcpy(image, initialised, BYTES);
    return (struct nvidia_slots){
        .image = image, .bytes = BYTES, .slot_bytes = SLOT, .count = COUNT};
}

/* Samples in the first slots, and a head that says so. */
static void use(size_t slots)
{
    memset(image, (int)slots, HEAD);
    memset(image + HEAD, 0xee, slots * SLOT);
}

static void return__used_slots__whole_image_is_fresh(void **state)
{
    static const size_t used[] = {1, COUNT / 4, 0, COUNT - 1, 3};
    struct nvidia_slots slots = make();

    (void)state;
    nvidia_slots_remember(&slots);
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        use(used[i]);
        assert_true(nvidia_slots_return(&slots, used[i]));
        assert_memory_equal(image, initialised, BYTES);
    }
    use(COUNT);
    assert_false(nvidia_slots_return(&slots, COUNT));
    memcpy(image, initialised, BYTES);
    nvidia_slots_forget(&slots);
    assert_false(nvidia_slots_return(&slots, 1));
    /* Of another session, with another head. */
    initialised[0] = image[0] = 1;
    nvidia_slots_remember(&slots);
    use(2);
    assert_true(nvidia_slots_return(&slots, 2));
    assert_memory_equal(image, initialised, BYTES);
    nvidia_slots_forget(&slots);
}

static void return__unused_slots_differ__never_comes_back(void **state)
{
    struct nvidia_slots slots = make();

    (void)state;
    nvidia_slots_remember(&slots);
    use(4);
    image[BYTES - 1] ^= 1;
    assert_false(nvidia_slots_return(&slots, 4));
    image[BYTES - 1] ^= 1;
    nvidia_slots_remember(&slots);
    assert_false(nvidia_slots_return(&slots, 4));
}

/* CUPTI initialises it once more, with another head. */
static void remember__again__has_the_new_head(void **state)
{
    struct nvidia_slots slots = make();

    (void)state;
    nvidia_slots_remember(&slots);
    use(4);
    assert_true(nvidia_slots_return(&slots, 4));
    initialised[3] = image[3] = 77;
    nvidia_slots_remember(&slots);
    use(5);
    assert_true(nvidia_slots_return(&slots, 5));
    assert_memory_equal(image, initialised, BYTES);
    nvidia_slots_forget(&slots);
}

static void return__next_slot_is_written__never_again(void **state)
{
    struct nvidia_slots slots = make();

    (void)state;
    nvidia_slots_remember(&slots);
    use(4);
    assert_true(nvidia_slots_return(&slots, 4));
    use(4);
    image[HEAD + 4 * SLOT + 7] ^= 1;
    assert_false(nvidia_slots_return(&slots, 4));
    memcpy(image, initialised, BYTES);
    nvidia_slots_remember(&slots);
    assert_false(nvidia_slots_return(&slots, 4));
}

SUITE(slots)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return__used_slots__whole_image_is_fresh),
        cmocka_unit_test(return__unused_slots_differ__never_comes_back),
        cmocka_unit_test(remember__again__has_the_new_head),
        cmocka_unit_test(return__next_slot_is_written__never_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
