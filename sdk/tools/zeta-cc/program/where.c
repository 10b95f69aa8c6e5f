#include "program.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "llvm_more.h"

enum { MAX_DEPTH = 64 };

static LLVMValueRef first_use(LLVMValueRef value, unsigned depth)
{
    LLVMValueRef found = NULL;

    for (LLVMUseRef use = LLVMGetFirstUse(value); use && !found && depth < MAX_DEPTH;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        found = LLVMIsAInstruction(user) ? user : first_use(user, depth + 1);
    }
    return found;
}

LLVMValueRef zeta_cc_first_use(LLVMValueRef value)
{
    return first_use(value, 0);
}

/* " (FILE:LINE", without the end; false if there is none. */
static bool add_line(const char *file, unsigned length, unsigned line, struct zeta_cc_buffer *out)
{
    if (!file || length == 0 || line == 0)
        return false;
    zeta_cc_buffer_print(out, " (%.*s:%u", (int)length, file, line);
    return true;
}

void zeta_cc_where(LLVMValueRef instruction, struct zeta_cc_buffer *out_text)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    const char *name = zeta_cc_value_name(function);
    unsigned length = 0;
    const char *file = LLVMGetDebugLocFilename(instruction, &length);
    char *words;

    if (!add_line(file, length, LLVMGetDebugLocLine(instruction), out_text))
        return;
    words = zeta_cc_demangle(name);
    zeta_cc_buffer_print(out_text, ", in %s)", words ? words : name);
    free(words);
}

void zeta_cc_where_begins(LLVMValueRef function, struct zeta_cc_buffer *out_text)
{
    LLVMMetadataRef begin = LLVMGetSubprogram(function);
    LLVMMetadataRef file = begin ? LLVMDIScopeGetFile(begin) : NULL;
    unsigned length = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;

    if (add_line(name, length, begin ? LLVMDISubprogramGetLine(begin) : 0, out_text))
        zeta_cc_buffer_print(out_text, ")");
}
