/*
 * A program that takes the place of zeta-vgpu-cc and does what the build options of the first image
 * say. Images for it are a SPIR-V header and behind it the ELF file that it shall answer with.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sha2.h>

#include <zeta/compiler/protocol.h>

extern char **environ;

enum { HEADER_BYTES = 20, LOG_BYTES = 1 << 16 };

static char log_text[LOG_BYTES];

/* The build options of the first image, when they are there. */
static bool is_asked(const unsigned char *bytes, size_t size, const char *behaviour)
{
    const size_t at = sizeof(struct zeta_compile_request) + sizeof(struct zeta_compile_image);

    return size >= at + strlen(behaviour) && memcmp(bytes + at, behaviour, strlen(behaviour)) == 0;
}

static unsigned char *read_request(size_t *out_size)
{
    size_t room = 1 << 20, size = 0;
    unsigned char *bytes = malloc(room);
    ssize_t got;

    while (bytes && (got = read(0, bytes + size, room - size)) > 0) {
        size += (size_t)got;
        if (is_asked(bytes, size, "deaf")) {
            close(0);
            break;
        }
        if (size == room)
            bytes = realloc(bytes, room *= 2);
    }
    *out_size = size;
    return bytes;
}

static void put(const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t written = write(1, (const char *)bytes + at, size - at);

        if (written <= 0)
            _exit(9);
        at += (size_t)written;
    }
}

static struct zeta_compile_answer head_of(uint32_t status, const void *image, size_t image_bytes)
{
    struct zeta_compile_answer head = {.magic = ZETA_COMPILE_ANSWER_MAGIC,
                                       .version = ZETA_COMPILE_VERSION,
                                       .status = status,
                                       .log_bytes = strlen(log_text),
                                       .image_bytes = image_bytes};
    SHA2_CTX digest;

    SHA256Init(&digest);
    SHA256Update(&digest, (const uint8_t *)log_text, (size_t)head.log_bytes);
    SHA256Update(&digest, image, image_bytes);
    SHA256Final(head.digest, &digest);
    return head;
}

static void answer(uint32_t status, const void *image, size_t image_bytes)
{
    const struct zeta_compile_answer head = head_of(status, image, image_bytes);

    put(&head, sizeof(head));
    put(log_text, strlen(log_text));
    put(image, image_bytes);
}

static void note(const char *text)
{
    strncat(log_text, text, sizeof(log_text) - strlen(log_text) - 1);
}

static void note_line(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[512];

    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            note(line);
    }
    if (file)
        fclose(file);
}

/* What of the process that started it shows here. */
static void note_state(void)
{
    DIR *files = opendir("/proc/self/fd");
    char folder[512], line[600];
    unsigned count = 0;

    for (char **variable = environ; *variable; variable++) {
        snprintf(line, sizeof(line), "environment %.500s\n", *variable);
        note(line);
    }
    note_line("/proc/self/status", "SigBlk:");
    note_line("/proc/self/status", "SigIgn:");
    while (files && readdir(files))
        count++;
    snprintf(line, sizeof(line), "descriptors %u\n", count - 3); /* ., .., and the folder itself */
    note(line);
    snprintf(line, sizeof(line), "folder %s\n", getcwd(folder, sizeof(folder)));
    note(line);
    snprintf(line, sizeof(line), "leads its group %d\n", getpgrp() == getpid());
    note(line);
}

static void crash(void)
{
    const struct rlimit none = {0};

    setrlimit(RLIMIT_CORE, &none);
    fputs("the backend has met something impossible\n", stderr);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void hang(void)
{
    pid_t child;

    fflush(stdout);
    child = fork(); /* it has the ends of the pipes too */
    if (child == 0)
        for (;;)
            pause();
    fprintf(stderr, "processes %ld %ld\n", (long)getpid(), (long)child);
    for (;;)
        pause();
}

static void give_parts(const void *image, size_t size, const char *behaviour)
{
    struct zeta_compile_answer head = head_of(ZETA_COMPILE_OK, image, size);

    if (strcmp(behaviour, "digest") == 0)
        head.digest[7] ^= 1;
    if (strcmp(behaviour, "huge") == 0)
        head.image_bytes = UINT64_MAX - 5;
    if (strcmp(behaviour, "version") == 0)
        head.version++;
    put(&head, sizeof(head));
    put(log_text, strlen(log_text));
    put(image, strcmp(behaviour, "partial") == 0 ? size / 2 : size);
    if (strcmp(behaviour, "more") == 0)
        put("x", 1);
}

static void act(const char *behaviour, const unsigned char *image, size_t size)
{
    char line[64];

    snprintf(line, sizeof(line), "built by %ld\n", (long)getpid());
    note(line);
    if (strcmp(behaviour, "state") == 0)
        note_state();
    if (strcmp(behaviour, "crash") == 0)
        crash();
    else if (strcmp(behaviour, "hang") == 0)
        hang();
    else if (strcmp(behaviour, "garbage") == 0)
        put("Killed by the penguin. What a pity. It was a nice program, and so young still!", 70);
    else if (strcmp(behaviour, "fail") == 0)
        answer(ZETA_COMPILE_BUILD_FAILED, "", 0);
    else if (strcmp(behaviour, "tool") == 0)
        answer(ZETA_COMPILE_TOOL_MISSING, "", 0);
    else if (strcmp(behaviour, "slow") == 0) {
        const struct zeta_compile_answer head = head_of(ZETA_COMPILE_OK, image, size);

        put(&head, 13);
        usleep(20000);
        put((const char *)&head + 13, sizeof(head) - 13);
        put(log_text, strlen(log_text));
        usleep(20000);
        put(image, size);
    } else if (strcmp(behaviour, "silence") != 0) {
        give_parts(image, size, behaviour);
    }
    if (strcmp(behaviour, "status") == 0)
        _exit(3);
    if (strcmp(behaviour, "linger") == 0)
        for (;;)
            pause();
}

int main(int count, char **arguments)
{
    struct zeta_compile_request request;
    struct zeta_compile_image image;
    unsigned char *bytes;
    char behaviour[64] = "";
    size_t size, at;

    if (count != 2 || strcmp(arguments[1], "--serve") != 0)
        return 2;
    bytes = read_request(&size);
    if (!bytes || size < sizeof(request) + sizeof(image))
        return 4;
    memcpy(&request, bytes, sizeof(request));
    memcpy(&image, bytes + sizeof(request), sizeof(image));
    at = sizeof(request) + sizeof(image);
    if (request.magic != ZETA_COMPILE_REQUEST_MAGIC || image.options_bytes >= sizeof(behaviour))
        return 5;
    memcpy(behaviour, bytes + at, image.options_bytes);
    at += image.options_bytes + image.constant_count * sizeof(struct zeta_compile_constant);
    if (at + image.image_bytes > size || image.image_bytes < HEADER_BYTES)
        return 6;
    act(behaviour, bytes + at + HEADER_BYTES, (size_t)image.image_bytes - HEADER_BYTES);
    free(bytes);
    return 0;
}
