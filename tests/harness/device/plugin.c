/*
 * The scripted device: one plugin library, whose parts a manifest chooses by its id. A test tells
 * the parts what happens through their control tables, which are symbols of the library.
 */
#include "tests/harness/device/compute_control.h"
#include "tests/harness/device/debug_control.h"
#include "tests/harness/device/scripted.h"
#include "tests/harness/device/stream_control.h"
#include "tests/harness/device/tracer_control.h"

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    out_answer->abi = ZETA_PLUGIN_ABI;
    out_answer->id = offer->id;
    out_answer->version = scripted_text("1.0");
    if (scripted_is(offer->id, "fake-full") || scripted_is(offer->id, "fake-bare"))
        scripted_streams(offer, out_answer);
    else if (scripted_is(offer->id, "fake-tracer"))
        scripted_tracers(offer, out_answer);
    else if (scripted_is(offer->id, "fake-debug"))
        scripted_debug(offer, out_answer);
    else if (scripted_is(offer->id, "fake"))
        scripted_compute(offer, out_answer);
    else
        scripted_bare(offer, out_answer);
    return ZETA_PLUGIN_SUCCESS;
}
