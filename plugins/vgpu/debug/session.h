#ifndef ZETA_PLUGINS_VGPU_DEBUG_SESSION_H
#define ZETA_PLUGINS_VGPU_DEBUG_SESSION_H

/*
 * The debugger's side: a connection to the process that is debugged (target.h), from which events
 * are taken as they come, and calls that wait for the answer to a request.
 */

#include <zeta/plugin.h>

#include "plugins/vgpu/device/vgpu.h"

/**
 * Makes a session of a connection, and waits for the greeting. Tests and fuzzers use it with one
 * end of a socket pair.
 *
 * @socket   the session's on success
 * @process  polls readable when the process has ended, or -1; the session's on success
 * @wait_ms  for the greeting
 */
uint32_t zeta_vgpu_session_open(struct zeta_vgpu *vgpu, uint32_t pid, int socket, int process,
                                int wait_ms, struct zeta_plugin_debug_session **out_session);

/** Closes the connection, which detaches. */
void zeta_vgpu_session_close(struct zeta_plugin_debug_session *session);

/** Program debug of the plugin. */
extern const struct zeta_plugin_debug_ops zeta_vgpu_debug_ops;

#endif
