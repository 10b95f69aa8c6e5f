#include "image.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190u
#define FATBIN_MAGIC 0xba55ed50u
#define FATBIN_WRAPPER_MAGIC 0x466243b1u

/* Head of a fat binary. */
struct fatbin {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t body_bytes;
};

/* ---- entries ----------------------------------------------------------------------------------
 */

static void free_names(struct nvidia_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free((char *)(uintptr_t)names->list[i].data);
    free(names->list);
}

void nvidia_image_free(struct nvidia_image *image)
{
    if (!image)
        return;
    for (uint32_t i = 0; i < image->count; i++) {
        free(image->entries[i].name);
        free(image->entries[i].parameters);
        free(image->entries[i].letters);
        free(image->entries[i].attributes);
    }
    free(image->entries);
    free_names(&image->imports);
    free_names(&image->exports);
    for (uint32_t i = 0; i < image->variable_count; i++) {
        free(image->variables[i].name);
        free(image->variables[i].own);
    }
    free(image->variables);
    free(image);
}

const struct nvidia_entry *nvidia_image_find(const struct nvidia_image *image, const char *name,
                                             size_t length)
{
    for (uint32_t i = 0; image && i < image->count; i++) {
        if (strlen(image->entries[i].name) == length &&
            memcmp(image->entries[i].name, name, length) == 0)
            return &image->entries[i];
    }
    return NULL;
}

/* NULL without memory. */
static struct nvidia_entry *add_entry(struct nvidia_image *image, const char *name, size_t length)
{
    struct nvidia_entry *grown =
        realloc(image->entries, (image->count + (size_t)1) * sizeof(*image->entries));
    char *copy = strndup(name, length);

    if (grown)
        image->entries = grown;
    if (!grown || !copy) {
        free(copy);
        return NULL;
    }
    grown[image->count] = (struct nvidia_entry){.name = copy};
    return &grown[image->count++];
}

static bool add_parameter(struct nvidia_entry *entry, uint32_t index, uint32_t offset_bytes,
                          uint32_t size_bytes)
{
    if (index >= entry->parameter_count) {
        struct nvidia_parameter *grown =
            realloc(entry->parameters, (index + (size_t)1) * sizeof(*grown));

        if (!grown)
            return false;
        memset(grown + entry->parameter_count, 0,
               (index + (size_t)1 - entry->parameter_count) * sizeof(*grown));
        entry->parameters = grown;
        entry->parameter_count = index + 1;
    }
    entry->parameters[index] =
        (struct nvidia_parameter){.offset_bytes = offset_bytes, .size_bytes = size_bytes};
    return true;
}

/* ---- PTX --------------------------------------------------------------------------------------
 */

/* A text that is read word by word. */
struct text {
    const char *at, *end;
};

/* A word: letters, digits and what names and directives have, or one other character. */
struct word {
    const char *at;
    size_t length; /* 0: the end */
};

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blanks(struct text *text)
{
    while (text->at < text->end) {
        const size_t left = (size_t)(text->end - text->at);

        if (isspace((unsigned char)*text->at)) {
            text->at++;
        } else if (left >= 2 && memcmp(text->at, "//", 2) == 0) {
            while (text->at < text->end && *text->at != '\n')
                text->at++;
        } else if (left >= 2 && memcmp(text->at, "/*", 2) == 0) {
            text->at += 2;
            while (text->at < text->end &&
                   (text->end - text->at < 2 || memcmp(text->at, "*/", 2) != 0))
                text->at++;
            text->at += text->end - text->at < 2 ? text->end - text->at : 2;
        } else {
            return;
        }
    }
}

static struct word next_word(struct text *text)
{
    struct word word;

    skip_blanks(text);
    word = (struct word){.at = text->at};
    while (text->at < text->end && is_part_of_word(*text->at))
        text->at++;
    if (text->at == word.at && text->at < text->end)
        text->at++;
    word.length = (size_t)(text->at - word.at);
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

static uint32_t number_of(struct word word)
{
    uint32_t number = 0;

    for (size_t i = 0; i < word.length; i++) {
        if (!isdigit((unsigned char)word.at[i]) || number > 100000)
            return 0;
        number = number * 10 + (uint32_t)(word.at[i] - '0');
    }
    return number;
}

/* Bytes of a type, ".u64"; 0: the word is none. */
static uint32_t size_of_type(struct word word)
{
    struct word digits = word;

    if (word_is(word, ".texref") || word_is(word, ".samplerref") || word_is(word, ".surfref"))
        return 8;
    if (word.length < 3 || word.at[0] != '.' || !strchr("usbf", word.at[1]))
        return 0;
    digits.at += 2;
    digits.length -= 2;
    return number_of(digits) / 8;
}

/*
 * A list of ".param [.align 8] .b8 name[24]" or ".param .u64 .ptr .global .align 4 name" up to its
 * closing parenthesis: what follows .ptr is about the memory that the argument points to. False for
 * anything else.
 */
static bool read_parameters(struct text *text, struct nvidia_entry *entry)
{
    uint32_t end = 0;

    for (;;) {
        uint32_t size = 0, align = 0, count = 1;
        bool points = false;
        struct word word = next_word(text);

        if (word_is(word, ")") && entry->parameter_count == 0)
            return true;
        if (!word_is(word, ".param"))
            return false;
        for (word = next_word(text); word.length > 0 && word.at[0] == '.'; word = next_word(text)) {
            if (word_is(word, ".align")) {
                const uint32_t value = number_of(next_word(text));

                align = points ? align : value;
            } else if (word_is(word, ".ptr")) {
                points = true;
            } else if (size == 0) {
                size = size_of_type(word);
            }
        }
        /* word is the name */
        word = next_word(text);
        if (word_is(word, "[")) {
            count = number_of(next_word(text));
            (void)next_word(text); /* ] */
            word = next_word(text);
        }
        align = align > 0 ? align : size;
        if (size == 0 || count == 0 || (align & (align - 1)) != 0)
            return false;
        end = (end + align - 1) / align * align;
        if (!add_parameter(entry, entry->parameter_count, end, size * count))
            return false;
        end += size * count;
        if (word_is(word, ")"))
            return true;
        if (!word_is(word, ",") || end > 1u << 20)
            return false;
    }
}

static bool read_ptx(struct nvidia_image *image, const uint8_t *bytes, size_t size)
{
    struct text text = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct word word;

    while ((word = next_word(&text)).length > 0) {
        struct nvidia_entry *entry;

        if (!word_is(word, ".entry"))
            continue;
        word = next_word(&text);
        entry = word.length > 0 ? add_entry(image, word.at, word.length) : NULL;
        if (!entry)
            return word.length == 0;
        word = next_word(&text);
        /* Without a list there are no parameters. */
        entry->is_told = !word_is(word, "(") || read_parameters(&text, entry);
    }
    return true;
}

/* ---- cubin ------------------------------------------------------------------------------------
 */

static const Elf64_Ehdr *elf_header(const uint8_t *bytes)
{
    return (const Elf64_Ehdr *)(const void *)bytes;
}

/* Images may be at any address: structs are copied out. */
static Elf64_Shdr section_at(const uint8_t *bytes, const Elf64_Ehdr *header, uint32_t index)
{
    Elf64_Shdr section;

    memcpy(&section, bytes + header->e_shoff + (size_t)index * header->e_shentsize,
           sizeof(section));
    return section;
}

static bool is_within(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* False if anything that it says to have lies outside of it. */
static bool elf_is_whole(const uint8_t *bytes, size_t size, Elf64_Ehdr *out_header)
{
    Elf64_Ehdr header;

    if (size < sizeof(header))
        return false;
    memcpy(&header, elf_header(bytes), sizeof(header));
    if (header.e_shnum > 0 &&
        (header.e_shentsize < sizeof(Elf64_Shdr) ||
         !is_within(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, size)))
        return false;
    if (header.e_phnum > 0 &&
        !is_within(header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize, size))
        return false;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(bytes, &header, i);

        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            !is_within(section.sh_offset, section.sh_size, size))
            return false;
    }
    *out_header = header;
    return true;
}

/* Name of a section, NULL: it has none. */
static const char *section_name(const uint8_t *bytes, const Elf64_Ehdr *header,
                                const Elf64_Shdr *section)
{
    Elf64_Shdr names;
    const char *name;

    if (header->e_shstrndx >= header->e_shnum)
        return NULL;
    names = section_at(bytes, header, header->e_shstrndx);
    if (names.sh_type != SHT_STRTAB || section->sh_name >= names.sh_size)
        return NULL;
    name = (const char *)bytes + names.sh_offset + section->sh_name;
    return memchr(name, '\0', names.sh_size - section->sh_name) ? name : NULL;
}

/*
 * Attributes of a kernel: {u8 format, u8 attribute, u16 value}, and with format 4 that many bytes.
 * Each argument has one of 12 bytes: {u32, u16 index, u16 offset, u32 with its size from bit 18
 * on}.
 */
static bool read_attributes(struct nvidia_entry *entry, const uint8_t *bytes, size_t size)
{
    enum { SIZED = 4, ARGUMENT = 0x17, ARGUMENT_BYTES = 12, MOST = 4096 };

    for (size_t at = 0; at + 4 <= size;) {
        const uint8_t format = bytes[at], attribute = bytes[at + 1];
        uint16_t value, index, offset;
        uint32_t packed;

        memcpy(&value, bytes + at + 2, sizeof(value));
        at += 4;
        if (format != SIZED)
            continue;
        if (value > size - at)
            break;
        if (attribute == ARGUMENT && value >= ARGUMENT_BYTES) {
            memcpy(&index, bytes + at + 4, sizeof(index));
            memcpy(&offset, bytes + at + 6, sizeof(offset));
            memcpy(&packed, bytes + at + 8, sizeof(packed));
            if (index < MOST && !add_parameter(entry, index, offset, packed >> 18))
                return false;
        }
        at += value;
    }
    entry->is_told = true;
    for (uint32_t i = 0; i < entry->parameter_count; i++)
        entry->is_told = entry->is_told && entry->parameters[i].size_bytes > 0;
    return true;
}

static bool read_cubin(struct nvidia_image *image, const uint8_t *bytes, size_t size)
{
    static const char code[] = ".text.", attributes[] = ".nv.info.";
    Elf64_Ehdr header;

    if (!elf_is_whole(bytes, size, &header))
        return true;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(bytes, &header, i);
        const char *name = section_name(bytes, &header, &section);

        if (name && strncmp(name, code, sizeof(code) - 1) == 0 &&
            !add_entry(image, name + sizeof(code) - 1, strlen(name + sizeof(code) - 1)))
            return false;
    }
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(bytes, &header, i);
        const char *name = section_name(bytes, &header, &section);
        const char *kernel = name ? name + sizeof(attributes) - 1 : NULL;

        if (!name || strncmp(name, attributes, sizeof(attributes) - 1) != 0 ||
            section.sh_type == SHT_NOBITS)
            continue;
        for (uint32_t k = 0; k < image->count; k++) {
            if (strcmp(image->entries[k].name, kernel) == 0 &&
                !read_attributes(&image->entries[k], bytes + section.sh_offset, section.sh_size))
                return false;
        }
    }
    return true;
}

/* ---- lines of zeta-nv-cc ------------------------------------------------------------------------
 */

static const char note[] = "//zeta ";

/* The next word of a line, which ends with a blank or the line; empty at the end. */
static struct word note_word(struct text *line)
{
    struct word word;

    while (line->at < line->end && *line->at == ' ')
        line->at++;
    word = (struct word){.at = line->at};
    while (line->at < line->end && *line->at != ' ')
        line->at++;
    word.length = (size_t)(line->at - word.at);
    return word;
}

/* "X,Y,Z" of numbers above 0; false for anything else. */
static bool read_sizes(struct word word, uint32_t out_sizes[3])
{
    const char *end = word.at + word.length;

    for (int i = 0; i < 3; i++) {
        struct word number = {.at = word.at};

        while (word.at < end && *word.at != ',')
            word.at++;
        number.length = (size_t)(word.at - number.at);
        out_sizes[i] = number_of(number);
        if (out_sizes[i] == 0 || (word.at == end) != (i == 2))
            return false;
        word.at++;
    }
    return true;
}

/* The bytes that a parameter of a letter must have; 0: any. */
static uint32_t size_of(char letter)
{
    return letter == NVIDIA_PARAMETER_VALUE ? 0 : letter == NVIDIA_PARAMETER_OFFSET ? 4 : 8;
}

/* Whether letters fit to parameters, as far as these are told. */
static bool letters_fit(struct word letters, const struct nvidia_entry *entry)
{
    static const char *const hidden[] = {"", "ooo", "b", "ooob"};
    struct word behind = letters;
    bool is_known = false;

    while (behind.length > 0 && strchr("pvl", *behind.at)) {
        behind.at++;
        behind.length--;
    }
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        is_known |= word_is(behind, hidden[i]);
    if (!is_known || (entry->is_told && letters.length != entry->parameter_count))
        return false;
    for (uint32_t i = 0; i < entry->parameter_count && entry->is_told; i++) {
        const uint32_t size = size_of(letters.at[i]);

        if (size > 0 && size != entry->parameters[i].size_bytes)
            return false;
    }
    return true;
}

/*
 * One line about a kernel, which the image may not name itself. What does not fit is not taken: it
 * is a comment like others. False without memory.
 */
static bool read_note(struct nvidia_image *image, struct text line)
{
    static const struct nvidia_entry unknown;
    const struct word name = note_word(&line), what = note_word(&line);
    struct word word = note_word(&line);
    struct nvidia_entry *entry = NULL;

    for (uint32_t i = 0; i < image->count && !entry; i++) {
        if (word_is(name, image->entries[i].name))
            entry = &image->entries[i];
    }
    if (word_is(word, "-"))
        word.length = 0;
    if (name.length == 0 || !word_is(what, "arguments") || (entry && entry->letters) ||
        !letters_fit(word, entry ? entry : &unknown))
        return true;
    if (!entry)
        entry = add_entry(image, name.at, name.length);
    if (!entry)
        return false;
    entry->letters = strndup(word.at, word.length);
    if (!entry->letters)
        return false;
    word = note_word(&line);
    if (word_is(word, "group")) {
        if (!read_sizes(note_word(&line), entry->group_size))
            memset(entry->group_size, 0, sizeof(entry->group_size));
        word = note_word(&line);
    }
    if (word_is(word, "attributes") && line.at < line.end) {
        entry->attributes = strndup(line.at + 1, (size_t)(line.end - line.at - 1));
        return entry->attributes != NULL;
    }
    return true;
}

/* A line about an import or an export. False without memory. */
static bool read_name(struct nvidia_names *names, struct text line)
{
    const struct word word = note_word(&line);
    struct zeta_plugin_string *grown;
    char *copy;

    if (word.length == 0)
        return true;
    grown = realloc(names->list, (names->count + (size_t)1) * sizeof(*grown));
    copy = strndup(word.at, word.length);
    if (grown)
        names->list = grown;
    if (!grown || !copy) {
        free(copy);
        return false;
    }
    grown[names->count++] = (struct zeta_plugin_string){copy, strlen(copy)};
    return true;
}

/* A line about a variable. False without memory. */
static bool read_variable(struct nvidia_image *image, struct text line)
{
    const struct word unit = note_word(&line), name = note_word(&line), own = note_word(&line);
    const struct word use = note_word(&line);
    struct nvidia_variable *grown;

    if (unit.length == 0 || use.length == 0)
        return true;
    grown = realloc(image->variables, (image->variable_count + (size_t)1) * sizeof(*grown));
    if (!grown)
        return false;
    image->variables = grown;
    grown += image->variable_count++;
    *grown = (struct nvidia_variable){.unit = number_of(unit),
                                      .name = strndup(name.at, name.length),
                                      .own = strndup(own.at, own.length),
                                      .is_writable = word_is(use, "w")};
    return grown->name && grown->own;
}

/* A line of zeta-nv-cc, behind what begins each. False without memory. */
static bool read_line(struct nvidia_image *image, struct text line)
{
    const struct word what = note_word(&line);

    if (word_is(what, "kernel"))
        return read_note(image, line);
    if (word_is(what, "import"))
        return read_name(&image->imports, line);
    if (word_is(what, "export"))
        return read_name(&image->exports, line);
    return !word_is(what, "variable") || read_variable(image, line);
}

/* All lines of zeta-nv-cc in a text. */
static bool read_notes(struct nvidia_image *image, struct text text)
{
    while (text.at < text.end) {
        const char *end = memchr(text.at, '\n', (size_t)(text.end - text.at));
        const struct text line = {text.at, end ? end : text.end};
        const size_t length = (size_t)(line.end - line.at);

        if (length >= sizeof(note) - 1 && memcmp(line.at, note, sizeof(note) - 1) == 0 &&
            !read_line(image, (struct text){line.at + sizeof(note) - 1, line.end}))
            return false;
        text.at = end ? end + 1 : text.end;
    }
    return true;
}

size_t nvidia_image_notes(const uint8_t *ptx, size_t size)
{
    size_t bytes = 0;

    while (size - bytes >= sizeof(note) - 1 && memcmp(ptx + bytes, note, sizeof(note) - 1) == 0) {
        const uint8_t *end = memchr(ptx + bytes, '\n', size - bytes);

        if (!end)
            break;
        bytes = (size_t)(end - ptx) + 1;
    }
    return bytes;
}

size_t nvidia_image_body(const uint8_t *bytes, size_t size, const uint8_t **out_source,
                         struct nvidia_image_end *out_end)
{
    size_t body;

    if (size < sizeof(*out_end))
        return size;
    memcpy(out_end, bytes + size - sizeof(*out_end), sizeof(*out_end));
    if (memcmp(out_end->magic, NVIDIA_IMAGE_END, sizeof(out_end->magic)) != 0 ||
        out_end->source_bytes > size - sizeof(*out_end))
        return size;
    body = size - sizeof(*out_end) - (size_t)out_end->source_bytes;
    *out_source = bytes + body;
    return body;
}

const struct nvidia_variable *nvidia_image_variable(const struct nvidia_image *image, uint32_t unit,
                                                    struct zeta_plugin_string name)
{
    for (uint32_t i = 0; i < image->variable_count; i++) {
        const struct nvidia_variable *each = &image->variables[i];

        if (each->unit == unit && strlen(each->name) == name.size &&
            memcmp(each->name, name.data, name.size) == 0)
            return each;
    }
    return NULL;
}

bool nvidia_names_have(const struct nvidia_names *names, struct zeta_plugin_string name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->list[i].size == name.size &&
            memcmp(names->list[i].data, name.data, name.size) == 0)
            return true;
    }
    return false;
}

/* Where the parts of a cubin end that is whole. */
static size_t elf_end(const uint8_t *bytes, const Elf64_Ehdr *header)
{
    uint64_t end = sizeof(*header);

    for (uint32_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr section = section_at(bytes, header, i);
        const uint64_t after = section.sh_offset + section.sh_size;

        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && after > end)
            end = after;
    }
    if (header->e_shnum > 0 &&
        header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize > end)
        end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
    if (header->e_phnum > 0 &&
        header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize > end)
        end = header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize;
    return (size_t)end;
}

/* ---- images -----------------------------------------------------------------------------------
 */

static enum nvidia_image_kind elf_kind(const uint8_t *bytes, size_t size, const char **out_problem)
{
    Elf64_Ehdr header;

    if (!elf_is_whole(bytes, size, &header)) {
        *out_problem = "is an ELF file that ends before its sections do";
        return NVIDIA_IMAGE_UNKNOWN;
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE_CUDA) {
        *out_problem = "is an ELF file for another processor, no cubin";
        return NVIDIA_IMAGE_UNKNOWN;
    }
    return NVIDIA_IMAGE_CUBIN;
}

static enum nvidia_image_kind fatbin_kind(const uint8_t *bytes, size_t size,
                                          const char **out_problem)
{
    struct fatbin head;

    *out_problem = "is a fat binary that ends before its images do";
    if (size < sizeof(head))
        return NVIDIA_IMAGE_UNKNOWN;
    memcpy(&head, bytes, sizeof(head));
    return head.head_bytes >= sizeof(head) && is_within(head.head_bytes, head.body_bytes, size)
               ? NVIDIA_IMAGE_FATBIN
               : NVIDIA_IMAGE_UNKNOWN;
}

static bool is_ptx(const uint8_t *bytes, size_t size)
{
    struct text text = {.at = (const char *)bytes, .end = (const char *)bytes + size};

    /* Terminators at the end are no part of the text. */
    while (size > 0 && bytes[size - 1] == '\0')
        size--;
    return !memchr(bytes, '\0', size) && word_is(next_word(&text), ".version");
}

enum nvidia_image_kind nvidia_image_kind(const uint8_t *bytes, size_t size,
                                         const char **out_problem)
{
    uint32_t magic = 0;

    if (size >= sizeof(magic))
        memcpy(&magic, bytes, sizeof(magic));
    if (size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return elf_kind(bytes, size, out_problem);
    if (magic == FATBIN_MAGIC)
        return fatbin_kind(bytes, size, out_problem);
    if (magic == FATBIN_WRAPPER_MAGIC) {
        *out_problem = "is the wrapper of a fat binary, which only points to it; give the fat "
                       "binary itself";
        return NVIDIA_IMAGE_UNKNOWN;
    }
    if (size > 0 && is_ptx(bytes, size))
        return NVIDIA_IMAGE_PTX;
    *out_problem = "is neither PTX (text that begins with .version), nor a cubin, nor a fat binary";
    return NVIDIA_IMAGE_UNKNOWN;
}

struct nvidia_image *nvidia_image_read(enum nvidia_image_kind kind, const uint8_t *bytes,
                                       size_t size)
{
    struct nvidia_image *image = calloc(1, sizeof(*image));
    bool is_read = image != NULL;

    if (is_read && kind == NVIDIA_IMAGE_PTX) {
        const struct text notes = {(const char *)bytes,
                                   (const char *)bytes + nvidia_image_notes(bytes, size)};

        is_read = read_ptx(image, bytes, size) && read_notes(image, notes);
    } else if (is_read && kind == NVIDIA_IMAGE_CUBIN) {
        Elf64_Ehdr header;

        is_read = read_cubin(image, bytes, size);
        if (is_read && elf_is_whole(bytes, size, &header))
            is_read = read_notes(image, (struct text){(const char *)bytes + elf_end(bytes, &header),
                                                      (const char *)bytes + size});
    }
    if (!is_read) {
        nvidia_image_free(image);
        return NULL;
    }
    return image;
}
