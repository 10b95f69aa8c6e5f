/*
 * Functions that vendors' drivers have beside the specification, where programs count on them. They
 * are no part of any table and no symbol of the library: zeDriverGetExtensionFunctionAddress is the
 * only way to them.
 */
#include <stdint.h>
#include <string.h>

#include <level_zero/zes_api.h>

#include "core/api/loader.h"
#include "core/module/module.h"
#include "core/object/object.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/*
 * The lowest address of a kernel's code on the device, whose size zeKernelGetBinaryExp gives: what
 * instruction pointers are compared with.
 */
static ze_result_t ZE_APICALL kernel_base_address(ze_kernel_handle_t handle, uint64_t *address)
{
    static const char function[] = "zexKernelGetBaseAddress";
    struct zeta_kernel *kernel = (struct zeta_kernel *)handle;
    uint64_t begin = 0;

    if (!zeta_object_is(handle, ZETA_KIND_KERNEL))
        return zeta_object_explain(handle, ZETA_KIND_KERNEL, function, "hKernel");
    if (!address)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: baseAddress is null",
                          function);
    struct zeta_backend *backend = kernel->module->backend;
    uint32_t code = backend->compute.kernel_code(backend->self, kernel->plugin_kernel, &begin);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "looking up the address of a kernel");
    *address = begin;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDriverGetExtensionFunctionAddress(
    ze_driver_handle_t hDriver ZETA_UNUSED, const char *name, void **ppFunctionAddress)
{
    ze_result_t(ZE_APICALL *const function)(ze_kernel_handle_t, uint64_t *) = kernel_base_address;

    if (strcmp(name, "zexKernelGetBaseAddress") != 0)
        return zeta_function_address(name, ppFunctionAddress);
    memcpy(ppFunctionAddress, &function, sizeof(*ppFunctionAddress));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDriverGetExtensionFunctionAddress(zes_driver_handle_t hDriver,
                                                                 const char *name,
                                                                 void **ppFunctionAddress)
{
    return impl_zeDriverGetExtensionFunctionAddress(hDriver, name, ppFunctionAddress);
}
