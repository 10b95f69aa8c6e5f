#include <zeta/compiler/compiler.h>

#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sha2.h>

#include <zeta/compiler/protocol.h>
#include <zeta/compiler/spirv.h>

#include "compiler_priv.h"

/* Where the parts of an installation, or of a build tree, lie: the plugin is in lib/zeta/plugins.
 */
#define PLUGIN_DEPTH 3
#define PROGRAMS "libexec/zeta"
#define DATA "share/zeta"

#define DEFAULT_CACHE_BYTES (UINT64_C(256) << 20)
#define DEFAULT_PATIENCE_S 600u

struct zeta_compiler {
    struct zeta_compiler_config config;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* one compilation */
    uint32_t running;
    uint32_t most; /* at a time */
};

/* ---------------------------------------------------------------- settings */

/* A path in the installation that the plugin with this code belongs to; "" if there is none. */
static void path_of_part(const char *where, const char *name, char *out_path, size_t size)
{
    static const char here = 0;
    char folder[PATH_MAX];
    Dl_info info;

    out_path[0] = '\0';
    if (dladdr(&here, &info) == 0 || !info.dli_fname || !realpath(info.dli_fname, folder))
        return;
    for (int i = 0; i <= PLUGIN_DEPTH; i++) {
        char *slash = strrchr(folder, '/');

        if (!slash)
            return;
        *slash = '\0';
    }
    if (snprintf(out_path, size, "%s/%s/%s", folder, where, name) >= (int)size)
        out_path[0] = '\0';
}

static uint32_t read_number(const struct zeta_host *host, const char *name, uint64_t least,
                            uint64_t most, uint64_t *out_number)
{
    char text[64], *end;
    unsigned long long number;

    if (!zeta_host_setting(host, name, text, sizeof(text)))
        return ZETA_PLUGIN_SUCCESS;
    number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < least || number > most)
        return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "setting of %s: %s is '%s', expected a number from %" PRIu64
                              " to %" PRIu64,
                              host->id, name, text, least, most);
    *out_number = number;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t bad_path(const struct zeta_host *host, const char *name, const char *path,
                         const char *also)
{
    return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "setting of %s: %s is '%.200s', expected an absolute path%s", host->id,
                          name, path, also);
}

uint32_t zeta_compiler_configure(const struct zeta_host *host,
                                 const struct zeta_compiler_program *program,
                                 struct zeta_compiler_config *out_config)
{
    struct zeta_cache_dir *cache = &out_config->cache;
    const bool secure = getauxval(AT_SECURE) != 0;
    const char *home = getenv("HOME");
    char path[ZETA_CACHE_PATH_BYTES];
    uint64_t patience_s = DEFAULT_PATIENCE_S;
    uint32_t result;

    memset(out_config, 0, sizeof(*out_config));
    out_config->program = program;
    path_of_part(PROGRAMS, program->name, out_config->path, sizeof(out_config->path));
    if (zeta_host_setting(host, "compiler", out_config->path, sizeof(out_config->path)) &&
        out_config->path[0] != '/')
        return bad_path(host, "compiler", out_config->path, "");
    /* A home that does not exist: users without one have a name for none, and root could make it.
     */
    if (home && access(home, F_OK) != 0)
        home = NULL;
    zeta_cache_dir_default(secure, program->data, getenv("XDG_CACHE_HOME"), home, cache->path);
    if (zeta_host_setting(host, "cache_dir", path, sizeof(path))) {
        if (strcmp(path, "off") == 0)
            path[0] = '\0';
        else if (path[0] != '/')
            return bad_path(host, "cache_dir", path, " or 'off'");
        if (!secure)
            memcpy(cache->path, path, sizeof(path));
    }
    cache->limit_bytes = DEFAULT_CACHE_BYTES;
    result = read_number(host, "cache_size_bytes", 0, UINT64_MAX / 2, &cache->limit_bytes);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = read_number(host, "compiler_timeout_s", 1, 86400, &patience_s);
    out_config->patience_s = (uint32_t)patience_s;
    return result;
}

/* ---------------------------------------------------------------- create and destroy */

struct zeta_compiler *zeta_compiler_create(const struct zeta_compiler_config *config)
{
    struct zeta_compiler *compiler = calloc(1, sizeof(*compiler));
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (!compiler)
        return NULL;
    compiler->config = *config;
    compiler->most = cpus > 0 ? (uint32_t)cpus : 1;
    pthread_mutex_init(&compiler->lock, NULL);
    pthread_cond_init(&compiler->ended, NULL);
    return compiler;
}

void zeta_compiler_destroy(struct zeta_compiler *compiler)
{
    if (!compiler)
        return;
    pthread_cond_destroy(&compiler->ended);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}

const struct zeta_compiler_config *zeta_compiler_config(const struct zeta_compiler *compiler)
{
    return &compiler->config;
}

bool zeta_compiler_lacks(const struct zeta_compiler *compiler,
                         char out_sentence[ZETA_COMPILER_LACK_BYTES])
{
    const struct zeta_compiler_config *config = &compiler->config;
    const struct zeta_compiler_program *program = config->program;
    struct zeta_compiler_need *needs;
    struct stat status;
    size_t count, i = 0;

    out_sentence[0] = '\0';
    if (config->path[0] != '/' || stat(config->path, &status) != 0 || !S_ISREG(status.st_mode) ||
        access(config->path, X_OK) != 0) {
        (void)snprintf(out_sentence, ZETA_COMPILER_LACK_BYTES,
                       "SPIR-V has to be compiled by %s, and there is no program %s. Install the "
                       "package %s; where Zeta is built from source, %s is built with it when the "
                       "packages %s are installed",
                       program->name, config->path, program->name, program->name,
                       program->packages);
        return true;
    }
    needs = zeta_compiler_needs(config->path, &count);
    /* Libraries are wherever the dynamic linker finds them. */
    while (i < count && (strcmp(needs[i].package, "-") == 0 || access(needs[i].path, F_OK) == 0))
        i++;
    if (i < count)
        (void)snprintf(out_sentence, ZETA_COMPILER_LACK_BYTES,
                       "SPIR-V has to be compiled by %s, which needs %s, and that is not there. "
                       "Install the package %s",
                       program->name, needs[i].path, needs[i].package);
    free(needs);
    return i < count;
}

/* ---------------------------------------------------------------- key */

/* Which file this is, and that nobody has written to it since. */
static void add_file(SHA2_CTX *digest, const char *path)
{
    struct stat status = {0};

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        memset(&status, 0, sizeof(status));
    const uint64_t facts[] = {(uint64_t)status.st_dev,          (uint64_t)status.st_ino,
                              (uint64_t)status.st_size,         (uint64_t)status.st_mtim.tv_sec,
                              (uint64_t)status.st_mtim.tv_nsec, (uint64_t)status.st_ctim.tv_sec,
                              (uint64_t)status.st_ctim.tv_nsec};
    SHA256Update(digest, (const uint8_t *)path, strlen(path) + 1);
    SHA256Update(digest, (const uint8_t *)facts, sizeof(facts));
}

static void key_of(const struct zeta_compiler *compiler, const struct zeta_compiler_bytes *request,
                   uint8_t out_key[ZETA_CACHE_KEY_BYTES])
{
    char folder[1024], path[1400];
    struct dirent **files = NULL;
    struct zeta_compiler_need *needs;
    size_t need_count;
    SHA2_CTX digest;
    int count;

    SHA256Init(&digest);
    add_file(&digest, compiler->config.path);
    /* Its libraries, and the programs that it starts. */
    needs = zeta_compiler_needs(compiler->config.path, &need_count);
    for (size_t i = 0; i < need_count; i++)
        add_file(&digest, needs[i].path);
    free(needs);
    /* The device library: all files of its folder. */
    path_of_part(DATA, compiler->config.program->data, folder, sizeof(folder));
    count = scandir(folder, &files, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
        add_file(&digest, path);
        free(files[i]);
    }
    free(files);
    SHA256Update(&digest, request->data, request->size);
    SHA256Final(out_key, &digest);
}

/* ---------------------------------------------------------------- request and answer */

#define TOO_MANY_OPTIONS "the build options are longer than the compiler takes (1 MiB)"
#define TOO_MANY_IMAGES "the program consists of more images than the compiler takes (256)"

/* Why a request cannot be made. */
struct reason {
    char text[512];
};

static bool reject(struct reason *out_reason, const char *text)
{
    (void)snprintf(out_reason->text, sizeof(out_reason->text), "%s", text);
    return false;
}

/* One image of a module, whether it is the first or a part. */
struct image {
    const uint8_t *bytes;
    uint64_t size;
    struct zeta_plugin_string options;
    struct zeta_plugin_array ids;
    struct zeta_plugin_array values;
};

static const void *element(const struct zeta_plugin_array *array, uint64_t index)
{
    return (const char *)array->data + index * array->stride;
}

/* Values come without their sizes; the module knows the types of its constants. */
static bool put_constants(FILE *request, const struct image *image, struct reason *reason)
{
    struct zeta_spirv_constant *known = NULL;
    uint32_t count = 0, k;
    bool fine = true;

    if (image->ids.count == 0)
        return true;
    if (!zeta_spirv_constants(image->bytes, (size_t)image->size, &known, &count, reason->text,
                              sizeof(reason->text)))
        return false;
    for (uint64_t i = 0; i < image->ids.count && fine; i++) {
        struct zeta_compile_constant constant = {0};
        const void *value;

        memcpy(&constant.id, element(&image->ids, i), sizeof(constant.id));
        memcpy(&value, element(&image->values, i), sizeof(value));
        for (k = 0; k < count && known[k].id != constant.id; k++)
            continue;
        fine = k < count;
        if (fine) {
            constant.size_bytes = known[k].size_bytes;
            memcpy(constant.value, value, constant.size_bytes);
            (void)fwrite(&constant, sizeof(constant), 1, request);
        } else {
            size_t used =
                (size_t)snprintf(reason->text, sizeof(reason->text),
                                 "the module has no specialization constant %" PRIu32 "; it has%s",
                                 constant.id, count == 0 ? " none" : "");

            for (k = 0; k < count && used < sizeof(reason->text) - 16; k++)
                used += (size_t)snprintf(reason->text + used, sizeof(reason->text) - used,
                                         " %" PRIu32, known[k].id);
        }
    }
    free(known);
    return fine;
}

static bool put_image(FILE *source, const struct image *image, struct reason *reason)
{
    const struct zeta_compile_image head = {.image_bytes = image->size,
                                            .options_bytes = (uint32_t)image->options.size,
                                            .constant_count = (uint32_t)image->ids.count};
    const char *options = (const char *)image->options.data;

    if (image->size > ZETA_COMPILE_MAX_IMAGE_BYTES)
        return reject(reason, "the SPIR-V module is larger than the compiler takes (1 GiB)");
    if (image->options.size > ZETA_COMPILE_MAX_OPTIONS_BYTES)
        return reject(reason, TOO_MANY_OPTIONS);
    if (image->ids.count > ZETA_COMPILE_MAX_CONSTANTS || image->ids.count != image->values.count)
        return reject(reason, "there are more specialization constants than the compiler takes");
    if (!zeta_spirv_check(image->bytes, (size_t)image->size, reason->text, sizeof(reason->text)))
        return false;
    (void)fwrite(&head, sizeof(head), 1, source);
    /* The compiler separates options by blanks; the specification speaks of commas as well. */
    for (size_t i = 0; i < image->options.size; i++) {
        const bool separator =
            i + 1 < image->options.size && options[i] == ',' && options[i + 1] == '-';

        (void)fputc(separator ? ' ' : options[i], source);
    }
    if (!put_constants(source, image, reason))
        return false;
    (void)fwrite(image->bytes, 1, (size_t)image->size, source);
    return true;
}

/* Copies the images of a module; false with the reason. */
static bool make_source(const struct zeta_plugin_module_desc *desc,
                        struct zeta_compiler_source *out_source, struct reason *out_reason)
{
    const uint64_t count = ZETA_PLUGIN_HAS(desc, parts) ? desc->parts.count + 1 : 1;
    FILE *source;
    char *bytes = NULL;
    size_t size = 0;
    bool fine = true;

    if (count > ZETA_COMPILE_MAX_IMAGES)
        return reject(out_reason, TOO_MANY_IMAGES);
    source = open_memstream(&bytes, &size);
    if (!source)
        return reject(out_reason, "no memory for a request to the compiler");
    for (uint64_t i = 0; i < count && fine; i++) {
        struct image image = {desc->image, desc->image_bytes, desc->build_flags, desc->constant_ids,
                              desc->constant_values};

        if (i > 0) {
            const struct zeta_plugin_module_part *part = element(&desc->parts, i - 1);

            image = (struct image){part->image, part->image_bytes, part->build_flags,
                                   part->constant_ids, part->constant_values};
        }
        fine = put_image(source, &image, out_reason);
    }
    if (fine && (fflush(source) != 0 || ferror(source)))
        fine = reject(out_reason, "no memory for a request to the compiler");
    (void)fclose(source);
    if (fine)
        *out_source = (struct zeta_compiler_source){(uint8_t *)bytes, size, (uint32_t)count};
    else
        free(bytes);
    return fine;
}

/* Copies the images of a source with more options. What is no source is the compiler's affair. */
static bool put_source(FILE *request, const struct zeta_compiler_input *input,
                       struct reason *reason)
{
    const struct zeta_compiler_source *source = input->source;
    const size_t added = strlen(input->options);

    for (size_t at = 0; at < source->size;) {
        struct zeta_compile_image head;
        uint64_t rest;

        if (source->size - at < sizeof(head))
            return reject(reason, "the source of a module is damaged");
        memcpy(&head, source->bytes + at, sizeof(head));
        at += sizeof(head);
        rest = head.options_bytes +
               (uint64_t)head.constant_count * sizeof(struct zeta_compile_constant);
        if (head.image_bytes > source->size || rest + head.image_bytes > source->size - at)
            return reject(reason, "the source of a module is damaged");
        rest += head.image_bytes;
        if (added > ZETA_COMPILE_MAX_OPTIONS_BYTES ||
            head.options_bytes > ZETA_COMPILE_MAX_OPTIONS_BYTES - added)
            return reject(reason, TOO_MANY_OPTIONS);
        head.options_bytes += (uint32_t)added;
        (void)fwrite(&head, sizeof(head), 1, request);
        (void)fwrite(input->options, 1, added, request);
        (void)fwrite(source->bytes + at, 1, (size_t)rest, request);
        at += (size_t)rest;
    }
    return true;
}

/* Writes the request for sources (protocol.h); false with the reason. */
static bool make_request(const struct zeta_compiler_input *inputs, size_t count,
                         struct zeta_compiler_bytes *out_request, struct reason *out_reason)
{
    struct zeta_compile_request head = {.magic = ZETA_COMPILE_REQUEST_MAGIC,
                                        .version = ZETA_COMPILE_VERSION,
                                        .format = ZETA_COMPILE_SPIRV};
    FILE *request;
    char *bytes = NULL;
    size_t size = 0;
    bool fine = true;

    for (size_t i = 0; i < count && fine; i++) {
        fine = inputs[i].source->image_count <= ZETA_COMPILE_MAX_IMAGES - head.image_count;
        head.image_count += fine ? inputs[i].source->image_count : 0;
    }
    if (!fine)
        return reject(out_reason, TOO_MANY_IMAGES);
    request = open_memstream(&bytes, &size);
    if (!request)
        return reject(out_reason, "no memory for a request to the compiler");
    (void)fwrite(&head, sizeof(head), 1, request);
    for (size_t i = 0; i < count && fine; i++)
        fine = put_source(request, &inputs[i], out_reason);
    if (fine && (fflush(request) != 0 || ferror(request)))
        fine = reject(out_reason, "no memory for a request to the compiler");
    (void)fclose(request);
    if (fine)
        *out_request = (struct zeta_compiler_bytes){(uint8_t *)bytes, size};
    else
        free(bytes);
    return fine;
}

enum zeta_compiler_answer_state zeta_compiler_answer(const uint8_t *bytes, size_t size,
                                                     const char **out_why)
{
    struct zeta_compile_answer answer;
    SHA2_CTX digest;
    uint8_t sum[32];

    *out_why = "its answer is not one of this version of Zeta";
    if (size >= sizeof(answer.magic)) {
        memcpy(&answer.magic, bytes, sizeof(answer.magic));
        if (answer.magic != ZETA_COMPILE_ANSWER_MAGIC)
            return ZETA_COMPILER_ANSWER_WRONG;
    }
    if (size < sizeof(answer))
        return ZETA_COMPILER_ANSWER_MORE;
    memcpy(&answer, bytes, sizeof(answer));
    if (answer.version != ZETA_COMPILE_VERSION || answer.status > ZETA_COMPILE_BAD_REQUEST ||
        answer.log_bytes > ZETA_COMPILE_MAX_IMAGE_BYTES ||
        answer.image_bytes > ZETA_COMPILE_MAX_IMAGE_BYTES)
        return ZETA_COMPILER_ANSWER_WRONG;
    if (size - sizeof(answer) < answer.log_bytes + answer.image_bytes)
        return ZETA_COMPILER_ANSWER_MORE;
    *out_why = "there is more than its answer";
    if (size - sizeof(answer) > answer.log_bytes + answer.image_bytes)
        return ZETA_COMPILER_ANSWER_WRONG;
    *out_why = "the digest of its answer is wrong";
    SHA256Init(&digest);
    SHA256Update(&digest, bytes + sizeof(answer), size - sizeof(answer));
    SHA256Final(sum, &digest);
    return memcmp(sum, answer.digest, sizeof(sum)) == 0 ? ZETA_COMPILER_ANSWER_WHOLE
                                                        : ZETA_COMPILER_ANSWER_WRONG;
}

/* ---------------------------------------------------------------- compilation */

static void set_log(struct zeta_compiled *out, char *text)
{
    out->answer = text;
    out->log = text ? text : "";
    out->log_bytes = strlen(out->log);
}

/* A whole answer becomes the result; true if it has an image. */
static bool take_answer(const struct zeta_compiler_bytes *answer, struct zeta_compiled *out)
{
    struct zeta_compile_answer head;

    memcpy(&head, answer->data, sizeof(head));
    out->answer = answer->data;
    out->log = (const char *)answer->data + sizeof(head);
    out->log_bytes = (size_t)head.log_bytes;
    if (head.status != ZETA_COMPILE_OK || head.image_bytes == 0)
        return false;
    out->image = answer->data + sizeof(head) + head.log_bytes;
    out->image_bytes = (size_t)head.image_bytes;
    return true;
}

/* What was made before; checked like an answer that has just come. */
static bool take_kept(const struct zeta_compiler *compiler, const uint8_t key[ZETA_CACHE_KEY_BYTES],
                      struct zeta_compiled *out)
{
    struct zeta_compiler_bytes answer;
    const char *why;
    void *bytes;

    if (!zeta_cache_dir_load(&compiler->config.cache, key, &bytes, &answer.size))
        return false;
    answer.data = bytes;
    if (zeta_compiler_answer(answer.data, answer.size, &why) == ZETA_COMPILER_ANSWER_WHOLE &&
        take_answer(&answer, out))
        return true;
    free(bytes);
    *out = (struct zeta_compiled){.log = ""};
    return false;
}

/* Whether the program can run; else the log says what to install. */
static bool check_present(const struct zeta_compiler *compiler, struct zeta_compiled *out)
{
    char lack[ZETA_COMPILER_LACK_BYTES], *log = NULL;

    if (!zeta_compiler_lacks(compiler, lack))
        return true;
    if (asprintf(&log, "%s.\n", lack) < 0)
        log = NULL;
    set_log(out, log);
    return false;
}

static void set_reason(struct zeta_compiled *out, struct reason *reason)
{
    strncat(reason->text, ".\n", sizeof(reason->text) - strlen(reason->text) - 1);
    set_log(out, strdup(reason->text));
}

/* Runs the program, or takes what it made of the same before. */
static void answer_request(struct zeta_compiler *compiler,
                           const struct zeta_compiler_bytes *request, struct zeta_compiled *out)
{
    const struct zeta_compiler_config *config = &compiler->config;
    struct zeta_compiler_bytes answer;
    uint8_t key[ZETA_CACHE_KEY_BYTES];
    char *log = NULL;
    bool answered;

    key_of(compiler, request, key);
    if (take_kept(compiler, key, out))
        return;
    pthread_mutex_lock(&compiler->lock);
    while (compiler->running >= compiler->most)
        pthread_cond_wait(&compiler->ended, &compiler->lock);
    compiler->running++;
    pthread_mutex_unlock(&compiler->lock);
    answered = zeta_compiler_run(config->path, request, config->patience_s, &answer, &log);
    pthread_mutex_lock(&compiler->lock);
    compiler->running--;
    pthread_cond_signal(&compiler->ended);
    pthread_mutex_unlock(&compiler->lock);
    if (!answered)
        set_log(out, log);
    else if (take_answer(&answer, out))
        zeta_cache_dir_store(&config->cache, key, answer.data, answer.size);
}

void zeta_compile_sources(struct zeta_compiler *compiler, const struct zeta_compiler_input *inputs,
                          size_t count, struct zeta_compiled *out_compiled)
{
    struct zeta_compiler_bytes request = {0};
    struct reason reason;

    *out_compiled = (struct zeta_compiled){.log = ""};
    if (!check_present(compiler, out_compiled))
        return;
    if (make_request(inputs, count, &request, &reason))
        answer_request(compiler, &request, out_compiled);
    else
        set_reason(out_compiled, &reason);
    free(request.data);
}

void zeta_compile(struct zeta_compiler *compiler, const char *options,
                  const struct zeta_plugin_module_desc *desc, struct zeta_compiled *out_compiled)
{
    struct zeta_compiler_source source = {0};
    const struct zeta_compiler_input input = {.source = &source, .options = options};
    struct reason reason;

    *out_compiled = (struct zeta_compiled){.log = ""};
    if (!check_present(compiler, out_compiled))
        return;
    if (!make_source(desc, &source, &reason)) {
        set_reason(out_compiled, &reason);
        return;
    }
    zeta_compile_sources(compiler, &input, 1, out_compiled);
    if (out_compiled->image)
        out_compiled->source = source;
    else
        free(source.bytes);
}

void zeta_compiled_free(struct zeta_compiled *compiled)
{
    free(compiled->answer);
    free(compiled->source.bytes);
    *compiled = (struct zeta_compiled){.log = ""};
}
