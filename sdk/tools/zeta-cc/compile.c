#include "command.h"

#include <string.h>

#include <llvm-c/BitWriter.h>

#include "sdk/tools/zeta-cc/program/program.h"

/* Adds what a front end made; the files of a unit are beside each other. */
static bool add_input(const struct zeta_cc_job *job, size_t index, struct zeta_cc_program *program,
                      const struct zeta_cc_buffer *bitcode)
{
    const struct zeta_cc_input *input = &job->inputs[index];
    const struct zeta_cc_unit *unit = &input->options.unit;
    const struct zeta_cc_unit *next =
        index + 1 < job->input_count ? &job->inputs[index + 1].options.unit : NULL;

    if (unit->is_given && !program->unit)
        zeta_cc_program_begin_unit(program);
    if (!zeta_cc_program_add(program, input->name, bitcode->bytes, bitcode->size))
        return false;
    if (!unit->is_given || (next && next->is_given && next->number == unit->number))
        return true;
    return zeta_cc_program_end_unit(program, unit);
}

/* The first front end was started before LLVM was set up, so that both go on at once. */
static enum zeta_compile_status add_inputs(const struct zeta_cc_job *job,
                                           struct zeta_cc_program *program,
                                           struct zeta_cc_front_end *front_end,
                                           struct zeta_cc_buffer *log)
{
    enum zeta_compile_status status = ZETA_COMPILE_OK;

    for (size_t i = 0; i < job->input_count && status == ZETA_COMPILE_OK; i++) {
        struct zeta_cc_buffer bitcode = {0};

        if (i > 0)
            status = zeta_cc_front_end_start(front_end, &job->inputs[i], &job->paths,
                                             program->level, log);
        if (status == ZETA_COMPILE_OK)
            status = zeta_cc_front_end_finish(front_end, &bitcode, log);
        if (status == ZETA_COMPILE_OK && !add_input(job, i, program, &bitcode))
            status = ZETA_COMPILE_BUILD_FAILED;
        zeta_cc_buffer_finish(&bitcode);
    }
    return status;
}

static enum zeta_compile_status write_result(const struct zeta_cc_job *job,
                                             struct zeta_cc_program *program,
                                             struct zeta_cc_buffer *out_result)
{
    if (job->output == ZETA_CC_BITCODE) {
        LLVMMemoryBufferRef memory = LLVMWriteBitcodeToMemoryBuffer(program->module);

        zeta_cc_buffer_add(out_result, LLVMGetBufferStart(memory), LLVMGetBufferSize(memory));
        LLVMDisposeMemoryBuffer(memory);
        return ZETA_COMPILE_OK;
    }
    if (job->output == ZETA_CC_TEXT) {
        char *text = LLVMPrintModuleToString(program->module);

        zeta_cc_buffer_add(out_result, text, strlen(text));
        LLVMDisposeMessage(text);
        return ZETA_COMPILE_OK;
    }
    return zeta_cc_target.emit(program, &job->paths, job->output == ZETA_CC_OBJECT, out_result);
}

enum zeta_compile_status zeta_cc_compile(const struct zeta_cc_job *job,
                                         struct zeta_cc_buffer *out_result,
                                         struct zeta_cc_buffer *log)
{
    struct zeta_cc_program program = {0};
    struct zeta_cc_front_end front_end = {0};
    struct zeta_cc_buffer runtime = {0};
    struct zeta_cc_buffer unwanted = {0};
    unsigned level = zeta_cc_options_level(&job->options);
    enum zeta_compile_status status =
        zeta_cc_front_end_start(&front_end, &job->inputs[0], &job->paths, level, log);

    if (status != ZETA_COMPILE_OK)
        return status;
    status = ZETA_COMPILE_BUILD_FAILED;
    zeta_cc_buffer_print(&runtime, "%s/runtime.bc", job->paths.data);
    if (!zeta_cc_program_create(&program, &job->options, log) ||
        (program.runtime = zeta_cc_program_open_runtime(&program, runtime.bytes)) == NULL)
        goto finish;
    status = add_inputs(job, &program, &front_end, log);
    if (status != ZETA_COMPILE_OK)
        goto finish;
    status = ZETA_COMPILE_BUILD_FAILED;
    if (!zeta_cc_program_check_kernels(&program) || !zeta_cc_program_lower_print(&program) ||
        !zeta_cc_program_add_runtime(&program) ||
        !zeta_cc_program_check_symbols(&program, runtime.bytes) ||
        !zeta_cc_target.retarget(&program) || !zeta_cc_program_optimise(&program))
        goto finish;
    for (size_t i = 0; i < program.imports.count; i++)
        zeta_cc_buffer_line(log,
                            "note: %s is not defined: another module must export it and be linked "
                            "before kernels are made",
                            program.imports.list[i]);
    status = write_result(job, &program, out_result);

finish:
    if (front_end.is_running)
        (void)zeta_cc_child_end(&front_end.child, &unwanted, &unwanted);
    zeta_cc_buffer_finish(&unwanted);
    zeta_cc_program_finish(&program);
    zeta_cc_buffer_finish(&runtime);
    return status;
}
