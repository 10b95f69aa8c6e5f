/* The entry that the SDK gives plugins: negotiation, and the ways to the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/plugin_host.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define TEXT(text)                                                                                 \
    {                                                                                              \
        .data = (text), .size = sizeof(text) - 1                                                   \
    }

struct zeta_plugin {
    struct zeta_host host;
    uint64_t own[8];
};

/* ---- a host that keeps what it is told ---------------------------------------------------- */

struct zeta_plugin_host {
    char text[2 * ZETA_HOST_TEXT_BYTES];
    uint64_t bytes;
    uint32_t number; /**< the result or the level */
};

static void keep(struct zeta_plugin_host *host, uint32_t number, struct zeta_plugin_string text)
{
    assert_cmp(text.size, <, sizeof(host->text));
    memcpy(host->text, text.data, (size_t)text.size);
    host->text[text.size] = '\0';
    host->bytes = text.size;
    host->number = number;
}

/* Texts of settings have no terminator. */
static uint32_t give_setting(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                             struct zeta_plugin_string *out_value)
{
    (void)host;
    if (name.size != 4 || memcmp(name.data, "pace", 4) != 0)
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_value = (struct zeta_plugin_string){"recorded!!", 8};
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_host_ops host_ops = {
    .struct_size = sizeof(host_ops), .log = keep, .fail = keep, .setting = give_setting};

static const struct zeta_plugin_ops plugin_ops = {.struct_size = sizeof(plugin_ops)};

static struct zeta_plugin_host host;

static struct zeta_plugin_offer offer_of(uint32_t abi_min, uint32_t abi_max)
{
    return (struct zeta_plugin_offer){.struct_size = sizeof(struct zeta_plugin_offer),
                                      .abi_min = abi_min,
                                      .abi_max = abi_max,
                                      .ops = &host_ops,
                                      .host = &host,
                                      .id = {"fake-one, and more", 8},
                                      .data_dir = TEXT("/data/fake-one")};
}

static uint32_t negotiate(const struct zeta_plugin_offer *offer,
                          struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, "1.2", sizeof(struct zeta_plugin), out_answer);
}

static void drop(struct zeta_plugin *self)
{
    free((char *)self->host.id);
    free((char *)self->host.data_dir);
    free(self);
}

/* ---- negotiation -------------------------------------------------------------------------- */

static void negotiate__version_in_the_range__makes_an_object(void **state)
{
    static const uint64_t none[8];
    struct zeta_plugin_offer offer = offer_of(ZETA_PLUGIN_ABI, ZETA_PLUGIN_ABI + 3);
    struct zeta_plugin_answer answer = {0};

    (void)state;
    assert_int_equal(negotiate(&offer, &answer), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(answer.struct_size, sizeof(answer));
    assert_int_equal(answer.abi, ZETA_PLUGIN_ABI);
    assert_ptr_equal(answer.ops, &plugin_ops);
    assert_true(zeta_string_is(answer.version, "1.2"));
    assert_true(zeta_string_is(answer.id, "fake-one"));
    /* Texts of the offer are valid during the call only. */
    offer.id = offer.data_dir = (struct zeta_plugin_string){NULL, 0};
    assert_string_equal(answer.self->host.id, "fake-one");
    assert_string_equal(answer.self->host.data_dir, "/data/fake-one");
    assert_ptr_equal(answer.self->host.ops, &host_ops);
    assert_ptr_equal(answer.self->host.handle, &host);
    assert_memory_equal(answer.self->own, none, sizeof(none));
    drop(answer.self);
}

static void negotiate__twice__makes_objects_of_their_own(void **state)
{
    struct zeta_plugin_offer offer = offer_of(1, ZETA_PLUGIN_ABI);
    struct zeta_plugin_answer first = {0}, second = {0};

    (void)state;
    assert_int_equal(negotiate(&offer, &first), ZETA_PLUGIN_SUCCESS);
    offer.id = offer.data_dir = (struct zeta_plugin_string){NULL, 0};
    assert_int_equal(negotiate(&offer, &second), ZETA_PLUGIN_SUCCESS);
    assert_ptr_not_equal(first.self, second.self);
    assert_string_equal(first.self->host.id, "fake-one");
    assert_string_equal(second.self->host.id, "");
    assert_string_equal(second.self->host.data_dir, "");
    drop(first.self);
    drop(second.self);
}

static void negotiate__other_versions__refuses_and_leaves_the_answer(void **state)
{
    const struct zeta_plugin_offer newer = offer_of(ZETA_PLUGIN_ABI + 1, ZETA_PLUGIN_ABI + 1);
    const struct zeta_plugin_offer older = offer_of(0, ZETA_PLUGIN_ABI - 1);
    struct zeta_plugin_answer answer = {.abi = 77};

    (void)state;
    assert_int_equal(negotiate(&newer, &answer), ZETA_PLUGIN_UNSUPPORTED_VERSION);
    assert_int_equal(negotiate(&older, &answer), ZETA_PLUGIN_UNSUPPORTED_VERSION);
    assert_int_equal(answer.abi, 77);
    assert_null(answer.self);
}

/* ---- the host ----------------------------------------------------------------------------- */

static const struct zeta_host way = {.ops = &host_ops, .handle = &host, .id = "", .data_dir = ""};

static void fail__a_format__reaches_the_host_and_gives_the_result(void **state)
{
    (void)state;
    assert_int_equal(zeta_host_fail(&way, ZETA_PLUGIN_NOT_AVAILABLE, "%s of %d", "one", 2),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_string_equal(host.text, "one of 2");
    assert_int_equal(host.number, ZETA_PLUGIN_NOT_AVAILABLE);
}

static void log__more_than_a_message_holds__is_cut(void **state)
{
    char longer[2 * ZETA_HOST_TEXT_BYTES];

    (void)state;
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    zeta_host_log(&way, ZETA_PLUGIN_LOG_INFO, "%s", longer);
    assert_int_equal(host.number, ZETA_PLUGIN_LOG_INFO);
    assert_int_equal(host.bytes, ZETA_HOST_TEXT_BYTES - 1);
    zeta_host_log(&way, ZETA_PLUGIN_LOG_WARN, "%d", 7);
    assert_string_equal(host.text, "7");
}

static void setting__of_any_room__is_terminated(void **state)
{
    char text[16] = "as it was";

    (void)state;
    assert_false(zeta_host_setting(&way, "speed", text, sizeof(text)));
    assert_string_equal(text, "as it was");
    assert_true(zeta_host_setting(&way, "pace", text, sizeof(text)));
    assert_string_equal(text, "recorded");
    assert_true(zeta_host_setting(&way, "pace", text, 9));
    assert_string_equal(text, "recorded");
    assert_true(zeta_host_setting(&way, "pace", text, 4));
    assert_string_equal(text, "rec");
    assert_true(zeta_host_setting(&way, "pace", text, 1));
    assert_string_equal(text, "");
}

static void string__compared_and_shown__by_its_length(void **state)
{
    const struct zeta_plugin_string part = {"render and more", 6}, empty = {NULL, 0};

    (void)state;
    assert_true(zeta_string_is(part, "render"));
    assert_false(zeta_string_is(part, "rende"));
    assert_false(zeta_string_is(part, "render "));
    assert_true(zeta_string_is(empty, ""));
    assert_int_equal(zeta_string_shown(part), 6);
    assert_int_equal(zeta_string_shown((struct zeta_plugin_string){"", UINT64_MAX}), 100);
}

SUITE(entry)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiate__version_in_the_range__makes_an_object),
        cmocka_unit_test(negotiate__twice__makes_objects_of_their_own),
        cmocka_unit_test(negotiate__other_versions__refuses_and_leaves_the_answer),
        cmocka_unit_test(fail__a_format__reaches_the_host_and_gives_the_result),
        cmocka_unit_test(log__more_than_a_message_holds__is_cut),
        cmocka_unit_test(setting__of_any_room__is_terminated),
        cmocka_unit_test(string__compared_and_shown__by_its_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
