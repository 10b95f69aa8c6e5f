/*
 * Manifests: one YAML file that describes one plugin, without running any of its code.
 * The format is described in config/schema/manifest.yaml.
 */
#ifndef ZETA_CORE_PLUGIN_MANIFEST_H
#define ZETA_CORE_PLUGIN_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include <zeta/arena.h>

#include "core/plugin/backend.h"
#include "core/util/diagnostic.h"

struct zeta_yaml_document;

/** Highest version of the format that this library reads. */
#define ZETA_MANIFEST_MAJOR 1u
#define ZETA_MANIFEST_MINOR 0u

/** Limits of a manifest. */
#define ZETA_MANIFEST_BYTES_MAX 65536u
#define ZETA_MANIFEST_ID_MAX 63u

/** Several texts. */
struct zeta_texts {
    const char **items;
    size_t count;
};

/** One way to match the machine; all parts that are given have to hold. */
struct zeta_manifest_match {
    bool always;
    bool has_vendor; /**< the match asks for a PCI device */
    uint32_t vendor;
    bool has_pci_class;
    uint32_t pci_class;         /**< the upper byte of the class code: 3 is a display controller */
    const uint32_t *device_ids; /**< none: any device of the vendor */
    size_t device_id_count;
    struct zeta_texts drivers; /**< of the PCI device, or of any DRM device */
    const char *device_glob;   /**< NULL: not asked for */
    const char *setting;       /**< of the plugin, has to have a value; NULL: not asked for */
};

/** A setting of the plugin with its default. */
struct zeta_manifest_setting {
    const char *key;
    const char *value;    /**< default, NULL if it has none */
    const char *variable; /**< environment variable of its own, NULL: none */
    const char *origin;   /**< "default of FILE:LINE" */
};

/** A manifest that was read. Strings and arrays belong to its arena. */
struct zeta_manifest {
    struct zeta_arena arena;
    const char *id;
    enum zeta_device_class device_class;
    const char *library; /**< as written */
    /**
     * Of a manifest without a library: the message for a matching PCI device that no other manifest
     * names. NULL: it is one of a plugin.
     */
    const char *unnamed;
    const char *arch; /**< "" if any */
    uint32_t abi_min;
    uint32_t abi_max;
    const char *version;
    const char *license;
    uint32_t provides; /**< bit 1 << enum zeta_api_group */
    struct zeta_manifest_match *matches;
    size_t match_count;
    struct zeta_texts need_devices; /**< globs of device nodes */
    struct zeta_texts needs;        /**< all other needs, as text for messages */
    struct zeta_texts metrics;      /**< globs of set files, as written */
    struct zeta_manifest_setting *settings;
    size_t setting_count;
};

/** What reading gave. */
enum zeta_manifest_kind {
    ZETA_MANIFEST_GOOD,
    ZETA_MANIFEST_BAD,     /**< a manifest with errors; the sink has them */
    ZETA_MANIFEST_FOREIGN, /**< some other YAML file: nobody's mistake */
    ZETA_MANIFEST_NO_MEMORY
};

/**
 * Interprets a parsed document. Unknown keys are warnings, keys that start with "x-" are ignored.
 * The manifest is filled as far as possible, and finished by the caller, in every case.
 */
enum zeta_manifest_kind zeta_manifest_read(const struct zeta_yaml_document *document,
                                           struct zeta_diagnostics *sink,
                                           struct zeta_manifest *out_manifest);

/** Frees what a manifest holds. */
void zeta_manifest_finish(struct zeta_manifest *manifest);

/** Name of the processor architecture that this library was built for: "x86_64". Static. */
const char *zeta_host_arch(void);

#endif
