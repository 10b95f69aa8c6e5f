/*
 * A directory of manifests for one test, and a look at what the host made of them.
 */
#ifndef ZETA_TESTS_PLUGIN_HARNESS_H
#define ZETA_TESTS_PLUGIN_HARNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plugin/host.h"
#include "zeta/zeta.h"

/** Directory of the odd plugins that were built for the tests. */
#define PLUGINS ZETA_BUILD_DIR "/tests/plugins"

/** Path of the directory of the running test. */
extern char harness_dir[];

/** cmocka set-up: an empty directory, which is the whole search path, and no configuration. */
int harness_setup(void **state);

/** cmocka tear-down: stops the host, forgets settings, removes the directory. */
int harness_teardown(void **state);

/** Writes a file into the directory; parts of the name become folders. */
void harness_write(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Path of a file in the directory; valid until the next call. */
const char *harness_path(const char *name);

/**
 * Writes a manifest that is right but for what the test changes: a software plugin that always
 * matches. extra: more lines, such as "settings: {devices: \"a,b\"}\n".
 */
void harness_manifest(const char *file, const char *id, const char *library, const char *provides,
                      const char *extra);

/** Starts the host; fails the test if that fails. */
void harness_start(void);

/** The record of an id, NULL if there is none. */
const struct zeta_plugin_info *harness_record(const char *id);

/** Fails unless the plugin has the state and its reason holds the words. */
void harness_expect(const char *id, enum zeta_plugin_state state, const char *words);

/** The merged device of an id, NULL if there is none. */
const struct zeta_backend_device *harness_device(const char *id);

#endif
