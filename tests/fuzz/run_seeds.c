/*
 * Runs a fuzz target over the files of the folders given as arguments, for builds without
 * libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0)
        data = malloc((size_t)size + 1);
    if (!data || fseek(file, 0, SEEK_SET) != 0 ||
        fread(data, 1, (size_t)size, file) != (size_t)size) {
        (void)fprintf(stderr, "cannot read %s\n", path);
        free(data);
        if (file)
            (void)fclose(file);
        return 1;
    }
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    (void)fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    int runs = 0;

    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        struct dirent *entry;

        while (folder && (entry = readdir(folder))) {
            char path[4096];

            if (entry->d_name[0] == '.')
                continue;
            (void)snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
            if (run_file(path))
                return 1;
            runs++;
        }
        if (folder)
            (void)closedir(folder);
    }
    (void)printf("%d seeds\n", runs);
    return runs > 0 ? 0 : 1;
}
