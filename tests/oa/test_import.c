/* The importer: what its options do, and every mistake of an XML file with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/oa/oa_import.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define UUID "01234567-89ab-cdef-0123-456789abcdef"
#define SET_WITH(name, more)                                                                       \
    "<set symbol_name=\"" name "\" chipset=\"TGLGT2\" hw_config_guid=\"" UUID                      \
    "\" mdapi_supported_apis=\"OCL IO\" " more ">\n"
#define SET SET_WITH("S", "")
#define COUNTER_OF(name, type, more)                                                               \
    "<counter symbol_name=\"" name "\" data_type=\"" type                                          \
    "\" semantic_type=\"event\" units=\"events\" " more "/>\n"
#define COUNTER(equation) COUNTER_OF("M", "uint64", "equation=\"" equation "\"")
#define END "</set>\n</metrics>\n"
/** Sets begin in line 2, the first counter is in line 3. */
#define ONE(equation)                                                                              \
    "<metrics>\n" SET COUNTER(equation)                                                            \
    END

static const char *path(void)
{
    static char name[256];

    if (!name[0])
        (void)snprintf(name, sizeof(name), "%s/tests/oa-import.%d.xml", ZETA_BUILD_DIR,
                       (int)getpid());
    return name;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_cmp(fputs(text, file), >=, 0);
    assert_int_equal(fclose(file), 0);
}

/** What the importer prints for this XML. */
static char *import(const char *xml, const char *options)
{
    char *text;

    write_file(path(), xml);
    text = oa_import(path(), options);
    (void)unlink(path());
    assert_non_null(text);
    return text;
}

/** The importer refuses this XML: nothing on stdout, and these words on stderr. */
static void refuse(const char *xml, const char *options, const char *expected)
{
    char said[4096] = "";
    FILE *notes;
    size_t length;

    write_file(path(), xml);
    assert_int_equal(oa_import_fails(path(), options), 1);
    (void)unlink(path());
    notes = fopen(oa_import_notes(), "r");
    assert_non_null(notes);
    length = fread(said, 1, sizeof(said) - 1, notes);
    said[length] = '\0';
    (void)fclose(notes);
    if (!strstr(said, expected) || strstr(said, "Traceback"))
        fail_msg("expected \"%s\", got \"%s\"", expected, said);
}

static void expect(char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void expect_not(char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" in:\n%s", part, text);
}

/* Rule 14.14. */
static void equation__each_operator__expression(void **state)
{
    static const struct {
        const char *equation;
        const char *value;
    } cases[] = {
        {"A 1 READ", "value: \"A[1]\""},
        {"GPU_TIME 0 READ GPU_CLOCK 0 READ UADD", "value: ticks + clocks"},
        {"A 1 READ 0x10 UADD", "A[1] + 16"},
        {"A 1 READ A 2 READ USUB A 3 READ USUB", "A[1] - A[2] - A[3]"},
        {"A 1 READ A 2 READ A 3 READ USUB USUB", "A[1] - (A[2] - A[3])"},
        {"A 1 READ A 2 READ A 3 READ UADD UADD", "A[1] + A[2] + A[3]"},
        {"A 1 READ A 2 READ A 3 READ FADD FADD", "u64(f64(A[1]) + (f64(A[2]) + f64(A[3])))"},
        {"A 1 READ A 2 READ A 3 READ UADD UMUL", "A[1] * (A[2] + A[3])"},
        {"A 1 READ A 2 READ A 3 READ UDIV UDIV", "A[1] / (A[2] / A[3])"},
        {"A 1 READ A 2 READ UMUL A 3 READ UDIV", "A[1] * A[2] / A[3]"},
        {"A 1 READ A 2 READ FDIV 100 FMUL", "u64(f64(A[1]) / f64(A[2]) * 100.0)"},
        {"A 1 READ A 2 READ FADD $SliceMask UDIV", "u64(f64(A[1]) + f64(A[2])) / $SliceMask"},
        {"A 1 READ A 2 READ FSUB", "u64(f64(A[1]) - f64(A[2]))"},
        {"A 1 READ 9007199254740993 FMUL", "u64(f64(A[1]) * f64(9007199254740993))"},
        {"A 1 READ A 2 READ UMIN A 3 READ UMAX", "max(min(A[1], A[2]), A[3])"},
        {"A 1 READ A 2 READ FMIN A 3 READ FMAX", "u64(max(min(f64(A[1]), f64(A[2])), f64(A[3])))"},
        {"$SliceMask 3 0 2 UMUL &lt;&lt; AND", "$SliceMask & 3"},
        {"A 1 READ A 2 READ &gt;&gt; 1 &lt;&lt;", "(A[1] >> A[2]) << 1"},
        {"A 1 READ A 2 READ OR A 3 READ XOR", "(A[1] | A[2]) ^ A[3]"},
        {"A 1 READ A 2 READ XNOR", "~(A[1] ^ A[2])"},
        {"A 1 READ A 2 READ UGT A 3 READ A 4 READ ULTE &amp;&amp;",
         "(A[1] > A[2]) && (A[3] <= A[4])"},
        {"A 1 READ A 2 READ UGTE A 3 READ A 4 READ ULT ==", "(A[1] >= A[2]) == (A[3] < A[4])"},
        {"A 1 READ A 2 READ FGT A 1 READ A 2 READ FLTE UADD",
         "(f64(A[1]) > f64(A[2])) + (f64(A[1]) <= f64(A[2]))"},
        {"A 1 READ A 2 READ FGTE A 1 READ A 2 READ FLT UADD",
         "(f64(A[1]) >= f64(A[2])) + (f64(A[1]) < f64(A[2]))"},
        {"A 1 READ A 2 READ FDIV A 3 READ ==", "f64(A[1]) / f64(A[2]) == f64(A[3])"},
        {"A 1 READ A 2 READ FDIV true &amp;&amp;", "f64(A[1]) / f64(A[2]) != 0.0"},
        {"A 1 READ 1 70 &lt;&lt; UADD", "A[1] + 0"},
        {"A 1 READ 7 0 UDIV UADD", "A[1] + 0"},
        {"A 1 READ 2 3 USUB UADD", "A[1] + 18446744073709551615"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char xml[1024];
        char *text;

        (void)snprintf(xml, sizeof(xml), "<metrics>\n" SET COUNTER("%s") END, cases[i].equation);
        text = import(xml, "");
        expect(text, cases[i].value);
        free(text);
    }
}

/* Rule 14.14. */
static void equation__value_has_the_type_of_the_data__references_too(void **state)
{
    char *text = import("<metrics>\n" SET                                                        //
                            COUNTER_OF("I", "uint64", "equation=\"A 1 READ 2 FDIV\"")            //
                        COUNTER_OF("F", "float", "equation=\"A 1 READ\" max_equation=\"100\"")   //
                        COUNTER_OF("G", "float", "equation=\"$I $F FADD $F $I UDIV FMUL\"") END, //
                        "");

    (void)state;
    expect(text, "value: \"u64(f64(A[1]) / 2.0)\"");
    expect(text, "value: \"f64(A[1])\", max: 100.0");
    expect(text, "value: \"(f64(I) + F) * f64(u64(F) / I)\"");
    free(text);
}

static void equation__reference_with_another_condition__written_out(void **state)
{
    char *text = import("<metrics>\n" SET                                               //
                            COUNTER_OF("Base", "float", "equation=\"A 1 READ 2 UDIV\"") //
                        COUNTER_OF("One", "uint64",
                                   "equation=\"$Base A 2 READ UADD\" "  //
                                   "availability=\"$SliceMask 1 AND\"") //
                        COUNTER_OF("Same", "uint64",
                                   "equation=\"$One 3 UMUL\" "          //
                                   "availability=\"$SliceMask 1 AND\"") //
                        COUNTER_OF("All", "uint64",
                                   "equation=\"$Same $Base FADD\" "
                                   "max_equation=\"$One\"") END,
                        "");

    (void)state;
    expect(text, "value: \"u64(Base) + A[2]\"");
    expect(text, "value: One * 3");
    expect(text, "u64(f64((u64(Base) + A[2]) * 3) + Base)\", max: \"u64(Base) + A[2]\"");
    free(text);
}

static void equation__muldiv__only_when_asked_for(void **state)
{
    static const char xml[] = ONE("GPU_TIME 0 READ 1000000000 UMUL $GpuTimestampFrequency UDIV");
    char *plain = import(xml, "");
    char *wide = import(xml, "--muldiv");

    (void)state;
    expect(plain, "value: ticks * 1000000000 / $GpuTimestampFrequency");
    expect(wide, "value: \"muldiv(ticks, 1000000000, $GpuTimestampFrequency)\"");
    free(plain);
    free(wide);
}

static void equation__wrong__refused_at_its_line(void **state)
{
    static const struct {
        const char *equation;
        const char *expected;
    } cases[] = {
        {"A 1 READ A 2 READ UPOW", ":3: counter M: unknown operator 'UPOW'"},
        {"A 1 READ UADD", ":3: counter M: 'UADD' finds no operand on the stack"},
        {"1 READ", ":3: counter M: 'READ' finds no operand on the stack"},
        {"1 2 READ", ":3: counter M: READ finds no bank on the stack"},
        {"A $SliceMask READ", ":3: counter M: the index of READ of bank A is no plain number"},
        {"A B READ", ":3: counter M: 'READ' finds bank B where a number belongs"},
        {"A 1 READ A 2 READ", ":3: counter M: 2 values are left on the stack"},
        {"A", ":3: counter M: 1 values are left on the stack"},
        {" ", ":3: counter M: 0 values are left on the stack"},
        {"A 36 READ", ":3: counter M: A 36 does not exist; layout a32u40-a4u32-b8-c8 has 36"},
        {"B 8 READ", ":3: counter M: B 8 does not exist"},
        {"PEC 0 READ", ":3: counter M: PEC 0 does not exist; layout a32u40-a4u32-b8-c8 has 0"},
        {"GPU_TIME 1 READ", ":3: counter M: GPU_TIME 1 does not exist"},
        {"PERFCNT 2 READ", ":3: counter M: PERFCNT 2 does not exist"},
        {"18446744073709551616 A 1 READ UADD", "18446744073709551616 needs more than 64 bits"},
        {"dw@0x0c", "'dw@0x0c' is a raw position of the MDAPI dialect"},
        {"qw@0x20 1 UADD", "'qw@0x20' is a raw position of the MDAPI dialect"},
        {"rd40@0x28:0xa6", "'rd40@0x28:0xa6' is a raw position of the MDAPI dialect"},
        {"$Self 100 UMUL", "$Self is of the MDAPI dialect"},
        {"$$GpuTime", "'$$GpuTime' is of the MDAPI dialect"},
        {"prev$$GpuTime", "'prev$$GpuTime' is of the MDAPI dialect"},
        {"GpuDuration", "'GpuDuration' is of the MDAPI dialect"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char xml[1024];

        (void)snprintf(xml, sizeof(xml), "<metrics>\n" SET COUNTER("%s") END, cases[i].equation);
        refuse(xml, "", cases[i].expected);
    }
}

static void equation__grows_without_end__refused(void **state)
{
    char xml[8192];
    size_t used = 0;

    (void)state;
    used += (size_t)snprintf(xml, sizeof(xml), "<metrics>\n" SET "%s",
                             COUNTER_OF("M0", "uint64", "equation=\"1\" availability=\"1\""));
    for (int i = 1; i < 30; i++)
        used += (size_t)snprintf(
            xml + used, sizeof(xml) - used,
            COUNTER_OF("M%d", "uint64", "equation=\"$M%d $M%d UADD\" availability=\"%d\""), i,
            i - 1, i - 1, i + 1);
    (void)snprintf(xml + used, sizeof(xml) - used, END);
    refuse(xml, "", "counter M9: with what it refers to it has more than 1024 operands");
}

static void file__wrong__refused_at_its_line(void **state)
{
    static const struct {
        const char *xml;
        const char *expected;
    } cases[] = {
        {"<metrics>\n<set\n", ":2: this is no well-formed XML"},
        {"<metrics>\n" SET "</metrics>", ":3: this is no well-formed XML: mismatched tag"},
        {"", ": this is no well-formed XML"},
        {"<metrics/>", ": there is no <set> in it"},
        {"<sets>\n</sets>", ":1: the document is <sets>; sets are in <metrics>"},
        {"<!DOCTYPE metrics []>\n" ONE("A 1 READ"), ":1: a document type is not allowed here"},
        {"<metrics>\n<set symbol_name=\"S\"/></metrics>",
         ":2: <set> needs the attribute hw_config_guid"},
        {"<metrics>\n<set symbol_name=\"S\" hw_config_guid=\"1-2\"/></metrics>",
         ":2: hw_config_guid '1-2' is no uuid"},
        {"<metrics>\n" SET_WITH("a b", "") END, ":2: 'a b' is no name for a set"},
        {"<metrics>\n" SET COUNTER("A 1 READ") "</set>\n" SET END,
         ":5: set S is already in line 2"},
        {"<metrics>\n" SET COUNTER("A 1 READ") COUNTER("A 2 READ") END,
         ":4: counter M is already in line 3"},
        {"<metrics>\n" SET COUNTER_OF("M", "uint64", "") END,
         ":3: <counter> needs the attribute equation"},
        {"<metrics>\n" SET COUNTER_OF("1M", "uint64", "equation=\"1\"") END,
         ":3: '1M' is no name for a metric"},
        {"<metrics>\n" SET COUNTER_OF("M", "int8", "equation=\"1\"") END,
         ":3: counter M has the unknown data type 'int8'"},
        {"<metrics>\n" SET "<counter symbol_name=\"M\" data_type=\"float\" semantic_type=\"x\" "
         "equation=\"1\"/>" END,
         ":3: counter M has the unknown semantic type 'x'"},
        {"<metrics>\n" SET COUNTER_OF("M", "uint64", "equation=\"1\" availability=\"A 1 READ\"")
             END,
         ":3: availability of M: a condition cannot READ counters"},
        {"<metrics>\n" SET COUNTER_OF("M", "uint64", "equation=\"1\" max_equation=\"UADD\"") END,
         ":3: counter M: 'UADD' finds no operand"},
        {"<metrics>\n" SET END, ":2: set S has no metric"},
        {"<metrics>\n" SET_WITH("S", "oa_format=\"64B_NEW\"") COUNTER("1") END,
         ":2: set S has the unknown format '64B_NEW'"},
        {"<metrics>\n" SET "<register_config type=\"MUX\"/>" END,
         ":3: unknown register type 'MUX'"},
        {"<metrics>\n" SET "<register_config type=\"NOA\" priority=\"-1\"/>" END,
         ":3: priority '-1' is no number"},
        {"<metrics>\n" SET
         "<register_config type=\"OA\">\n<register address=\"0x1\"/></register_config>" END,
         ":4: <register> needs the attribute value"},
        {"<metrics>\n" SET "<register_config type=\"OA\">\n"
         "<register address=\"0x100000000\" value=\"0\"/></register_config>" END,
         ":4: address '0x100000000' of a register is no number of 32 bits"},
        {"<metrics>\n" SET COUNTER(
             "1") "<register_config type=\"OA\">\n"
                  "<register address=\"0x9888\" value=\"1\"/></register_config>\n"
                  "<register_config type=\"NOA\"><register address=\"0x9888\" value=\"1\"/>"
                  "</register_config>" END,
         ": register 0x9888 is boolean here and mux elsewhere"},
        {"<metrics>\n<register_config type=\"OA\">\n<register address=\"1\" value=\"1\"/>"
         "</register_config></metrics>",
         ": there is no <set> in it"},
        {"<metrics>\n" SET COUNTER_OF("M", "uint64", "equation=\"1\" mdapi_group=\"a&#10;b\"") END,
         ":3: the attribute mdapi_group has a line break or control character"},
        {"<metrics>\n<set symbol_name=\"\xff\"/></metrics>", ":2: this is no well-formed XML"},
        {"<metrics>\n" SET "<register_config type=\"NOA\" availability=\"1 2\"/>" COUNTER("1") END,
         ":3: availability of registers of set S: 2 values are left"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuse(cases[i].xml, "", cases[i].expected);
}

/** A text of so many copies of a part between two others; freed by the caller. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    const size_t length = strlen(part);
    char *text = malloc(strlen(before) + length * count + strlen(after) + 1);
    char *at = text;

    assert_non_null(text);
    at += sprintf(at, "%s", before);
    for (size_t i = 0; i < count; i++, at += length)
        memcpy(at, part, length);
    (void)strcpy(at, after);
    return text;
}

/** What a reader in Python chokes on: endless digits, recursion, sizes. */
static void file__made_to_hurt__refused_in_words(void **state)
{
    static const struct {
        const char *before, *part, *after;
        size_t count;
        const char *expected;
    } cases[] = {
        {"<metrics>\n" SET COUNTER("1") "<register_config type=\"NOA\" priority=\"", "9",
         "\"/>" END, 5000, ":4: priority '9999999999999999999999999999999999999999' is no number"},
        {"<metrics>\n" SET COUNTER("1") "<register_config type=\"OA\"><register address=\"", "9",
         "\" value=\"0\"/></register_config>" END, 5000, "of a register is no number of 32 bits"},
        {"<metrics>\n" SET "<counter symbol_name=\"M\" data_type=\"uint64\" "
         "semantic_type=\"event\" equation=\"",
         "9", "\"/>" END, 5000, "needs more than 64 bits"},
        {"<metrics>\n" SET "<counter symbol_name=\"M\" data_type=\"uint64\" "
         "semantic_type=\"event\" equation=\"",
         "9", ".0\"/>" END, 400, "is beyond what a double can hold"},
        {"<metrics>\n" SET "<counter symbol_name=\"M\" data_type=\"uint64\" "
         "semantic_type=\"event\" equation=\"$X ",
         "$Y XNOR ", "\"/>" END, 400,
         ":3: counter M: its operations are nested deeper than 256 levels"},
        {"<metrics>\n", "<a>", "", 100000, ":2: elements are nested deeper than 16 levels"},
        {"<metrics>\n", "                                ", "</metrics>", (64 << 20) / 32,
         ": this file is larger than 64 MiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *xml = repeated(cases[i].before, cases[i].part, cases[i].count, cases[i].after);

        refuse(xml, "", cases[i].expected);
        free(xml);
    }
}

/** Metrics with conditions of their own are written out in each other: not without end. */
static void equation__refers_through_many_conditions__refused(void **state)
{
    const size_t room = 1 << 20;
    char *xml = malloc(room);
    size_t used;

    (void)state;
    assert_non_null(xml);
    used = (size_t)snprintf(xml, room, "<metrics>\n" SET "%s",
                            COUNTER_OF("M0", "uint64", "equation=\"$X\" availability=\"$A0\""));
    for (int i = 1; i < 1100; i++)
        used += (size_t)snprintf(
            xml + used, room - used,
            COUNTER_OF("M%d", "uint64", "equation=\"$M%d\" availability=\"$A%d\""), i, i - 1, i);
    (void)snprintf(xml + used, room - used, END);
    refuse(xml, "", "counter M65: more than 64 metrics with other conditions refer to each other");
    free(xml);
}

static void options__wrong__refused(void **state)
{
    (void)state;
    refuse(ONE("1"), "--sets S,T", ": there is no set T; the option --list prints those");
    refuse(ONE("1"), "--layout x", "--layout: 'x' is not of the form KEY=VALUE");
    refuse(ONE("1"), "--unit '*=oa:x'", "--unit: 'oa:x' is not of the form UNIT:DOMAIN");
    refuse(ONE("1"), "--also S=_1:oam1", "--also: '_1:oam1' is not of the form");
    refuse(ONE("1"), "--words /nowhere/words.yaml", "/nowhere/words.yaml: No such file");
    refuse(ONE("1"), "--use /nowhere/use.yaml", "/nowhere/use.yaml: No such file");
    refuse(ONE("1"), "--programs libi915_perf:x", "libi915_perf:x: there is no PCI id in it");
    refuse(ONE("1"), "/nowhere/second.xml", "several XML files go only with --common");
    refuse(ONE("1"), "--common /nowhere/second.xml", "/nowhere/second.xml: No such file");
}

static void options__skip_faulty__other_sets_written(void **state)
{
    static const char xml[] = "<metrics>\n" SET_WITH("Bad", "") COUNTER("A 99 READ") "</set>\n" //
        SET COUNTER("A 1 READ") END;
    char *text = import(xml, "--skip-faulty");

    (void)state;
    expect(text, "  - name: S\n    uuid: " UUID "\n");
    expect_not(text, "Bad");
    free(text);
    refuse(xml, "", "1 set(s) cannot be imported, nothing is written");
}

static void options__sets_layout_unit_also__followed(void **state)
{
    static const char xml[] = "<metrics>\n" SET_WITH("First", "") COUNTER("A 1 READ") "</set>\n" //
        SET_WITH("Second", "oa_format=\"128B_MPEC8_NOA16\"")
            COUNTER("A 1 READ") "</set>\n" SET_WITH("Third", "oa_format=\"64B_NEW\"")
                COUNTER("B 1 READ") END;
    char *text = import(xml, "--sets Third,Second --layout 64B_NEW=mpec8u64-b8-c8 "
                             "--unit 64B_NEW=new:7 "
                             "--also '128B_MPEC8_NOA16=_1:oam1:2:$OamUnits > 1'");

    (void)state;
    assert_cmp(strstr(text, "name: Third"), <, strstr(text, "name: Second"));
    expect_not(text, "First");
    expect(text, "    domain: 7\n    unit: new\n    layout: mpec8u64-b8-c8\n");
    expect(text, "    domain: 1\n    unit: oam0\n    layout: mpec8u32-b8-c8\n");
    expect(text, "      - {name: Second_1, unit: oam1, domain: 2, when: $OamUnits > 1}\n");
    /* Media counters are in the bank PEC, whatever equations call it. */
    expect(text, "value: \"PEC[1]\"");
    free(text);
}

static void set__of_one_media_unit__belongs_to_it(void **state)
{
#define MEDIA "oa_format=\"128B_MPEC8_NOA16\""
#define WRITES(first, second)                                                                      \
    "<register_config type=\"OA\"><register address=\"" first "\" value=\"1\"/>"                   \
    "<register address=\"" second                                                                  \
    "\" value=\"2\"/></register_config>" COUNTER("A 1 READ") "</set>\n"
    static const char xml[] = "<metrics>\n" SET_WITH("First", MEDIA) WRITES("0x394200", "0x39423c")
        SET_WITH("Second", MEDIA) WRITES("0x394a00", "0x394a3c") SET_WITH("Shared", MEDIA)
            WRITES("0x393200", "0x393204") SET_WITH("Both", MEDIA) WRITES("0x394a00", "0x393200")
                SET_WITH("Moved", MEDIA) WRITES("0x394a00", "0x394a04") SET_WITH("Render", "")
                    WRITES("0x394a00", "0x394a04") "</metrics>\n";
    char *text = import(xml, "--unit Moved=oam7");

    (void)state;
    expect(text, "First of TGLGT2.\n    domain: 1\n    unit: oam0\n");
    expect(text, "Second of TGLGT2.\n    domain: 2\n    unit: oam1\n");
    expect(text, "Shared of TGLGT2.\n    domain: 3\n    unit: oam-sag\n");
    expect(text, "Both of TGLGT2.\n    domain: 1\n    unit: oam0\n");
    expect(text, "Moved of TGLGT2.\n    domain: 1\n    unit: oam7\n");
    expect(text, "Render of TGLGT2.\n    domain: 0\n    unit: oa\n");
    free(text);
}

static void units__of_the_xml__are_those_of_our_files(void **state)
{
#define IN(name, unit)                                                                             \
    "<counter symbol_name=\"" name "\" data_type=\"uint64\" semantic_type=\"event\" "              \
    "units=\"" unit "\" equation=\"A 1 READ\"/>\n"
    static const char xml[] = "<metrics>\n" SET IN("Rate", "hz") IN("Traffic", "gbps")
        IN("Plain", "number") IN("Lines", "eu sends to l3 cache lines") IN("Time", "ns") END;
    char *text = import(xml, "");

    (void)state;
    expect(text, "name: Rate, type: ratio, value_type: u64, unit: Hz,");
    expect(text, "name: Traffic, type: event, value_type: u64, unit: GB/s,");
    expect(text, "name: Plain, type: event, value_type: u64, tier");
    expect(text, "name: Lines, type: event, value_type: u64, unit: accesses/line,");
    expect(text, "name: Time, type: event, value_type: u64, unit: ns,");
    free(text);
}

static void options__words__instead_of_names(void **state)
{
    char words[300];
    char options[400];
    char *text;

    (void)state;
    (void)snprintf(words, sizeof(words), "%s.words", path());
    write_file(words, "M: Work that was done; all of it.\nS: \"Everything: at once.\"\n");
    (void)snprintf(options, sizeof(options), "--words '%s'", words);
    text = import("<metrics>\n" SET COUNTER("A 1 READ")
                      COUNTER_OF("N", "uint64", "equation=\"1\" description=\"of the file\"") END,
                  options);
    expect(text, "description: \"Work that was done; all of it.\"");
    expect(text, "description: \"Everything: at once.\"");
    expect(text, "description: N in events.");
    expect_not(text, "of the file");
    free(text);
    write_file(words, "M: [1]\n");
    refuse(ONE("1"), options, "'M' needs a sentence of 1 to 255 bytes on one line");
    write_file(words, "M: 'x\n");
    refuse(ONE("1"), options, "this is no YAML");
    (void)unlink(words);
}

static void options__share__one_definition_for_equal_metrics(void **state)
{
    static const char xml[] = "<metrics>\n" SET_WITH("A", "") COUNTER("A 1 READ") "</set>\n" //
        SET_WITH("B", "") COUNTER("A 1 READ") "</set>\n"                                     //
        SET_WITH("C", "") COUNTER("A 2 READ")
            COUNTER_OF("N", "uint64", "equation=\"1\"") "</set>\n" SET_WITH("D", "")
                COUNTER("A 2 READ") "</set>\n" //
        SET_WITH("E", "") COUNTER("A 2 READ") END;
    char *text = import(xml, "--share");
    char use[300];
    char options[400];

    (void)state;
    /* The definition that most sets have keeps the name. */
    expect(text, "\nmetrics:\n  M-2: {name: M, type: event, ");
    expect(text, "\n  M: {type: event, ");
    expect(text, "      M,\n      {name: N, ");
    (void)snprintf(use, sizeof(use), "%s.use", path());
    (void)snprintf(options, sizeof(options), "--use '%s'", use);
    free(text);
    /* Other words, the same meaning; another maximum is another meaning. */
    write_file(use, "metrics:\n  Own: {name: M, value_type: u64, value: 'A[1]', description: x}\n"
                    "  M: {value_type: u64, value: 'A[2]', max: 3}\n");
    text = import(xml, options);
    expect(text, "      Own]\n");
    expect(text, "value: \"A[2]\"");
    free(text);
    /* Definitions of a kind, with a counter, and over an index. */
    write_file(use, "kinds: {k: {value_type: u64, value: '{0}'}}\n"
                    "metrics: {Bank: {kind: k, index: n, name: 'Bank{n + 1}', description: x},\n"
                    "          Of: {kind: k, name: M, description: x}, List: [Of A1]}\n");
    text = import("<metrics>\n" SET COUNTER("A 1 READ")
                      COUNTER_OF("Bank7", "uint64", "equation=\"B 3 READ\"") END,
                  options);
    expect(text, "      Of A1, Bank 6 B3]\n");
    free(text);
    (void)unlink(use);
}

static void options__platform__symbols_and_registers(void **state)
{
    char *text =
        import("<metrics>\n" SET COUNTER(
                   "A 1 READ $EuCoresTotalCount UMUL") "<register_config type=\"FLEX\"><register "
                                                       "address=\"0xe458\" value=\"1\"/>"
                                                       "</register_config><register_config "
                                                       "type=\"NOA\" priority=\"1\">"
                                                       "<register address=\"0x9888\" "
                                                       "value=\"2\"/></register_config>"
                                                       "<register_config type=\"NOA\" "
                                                       "availability=\"$SliceMask 2 AND\">"
                                                       "<register address=\"0x9884\" "
                                                       "value=\"3\"/></register_config>" END,
               "--platform");

    (void)state;
    /* Those of equations and conditions, and those of the rates in layouts. */
    expect(text,
           "  EuCoresTotalCount: {from: provider, type: u64}\n  EuRateLimit: {from: provider");
    expect(text, "  SliceMask: {from: provider, type: u64}\n  SubsliceRateLimit: {from: provider");
    expect(text, "  oa:\n    registers:\n      mux: [[0x9884, 0x9888]]\n      flex: [0xe458]\n");
    /* By priority, then by type; a condition is of its own part alone. */
    expect(text, "    program:\n      - when: \"$SliceMask & 2\"\n"
                 "        registers: 9884=3\n"
                 "      - registers: 9888=2 e458=1\n");
    free(text);
}

static void perfcnt__and_what_needs_it__left_out(void **state)
{
    char *text = import("<metrics>\n" SET COUNTER("PERFCNT 0 READ")
                            COUNTER_OF("N", "uint64", "equation=\"$M 64 UMUL\"")
                                COUNTER_OF("O", "uint64", "equation=\"A 0 READ\"") END,
                        "");

    (void)state;
    expect_not(text, "name: M");
    expect_not(text, "name: N");
    expect(text, "name: O");
    free(text);
}

static void list__and_help__printed(void **state)
{
    char *text = import(ONE("1"), "--list");

    (void)state;
    assert_string_equal(text, "S\n");
    free(text);
    text = import(ONE("1"), "--help");
    expect(text, "usage: zeta-import-oa");
    free(text);
}

SUITE(import)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equation__each_operator__expression),
        cmocka_unit_test(equation__value_has_the_type_of_the_data__references_too),
        cmocka_unit_test(equation__reference_with_another_condition__written_out),
        cmocka_unit_test(equation__muldiv__only_when_asked_for),
        cmocka_unit_test(equation__wrong__refused_at_its_line),
        cmocka_unit_test(equation__grows_without_end__refused),
        cmocka_unit_test(file__wrong__refused_at_its_line),
        cmocka_unit_test(file__made_to_hurt__refused_in_words),
        cmocka_unit_test(equation__refers_through_many_conditions__refused),
        cmocka_unit_test(options__wrong__refused),
        cmocka_unit_test(options__skip_faulty__other_sets_written),
        cmocka_unit_test(options__sets_layout_unit_also__followed),
        cmocka_unit_test(set__of_one_media_unit__belongs_to_it),
        cmocka_unit_test(units__of_the_xml__are_those_of_our_files),
        cmocka_unit_test(options__words__instead_of_names),
        cmocka_unit_test(options__share__one_definition_for_equal_metrics),
        cmocka_unit_test(options__platform__symbols_and_registers),
        cmocka_unit_test(perfcnt__and_what_needs_it__left_out),
        cmocka_unit_test(list__and_help__printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
