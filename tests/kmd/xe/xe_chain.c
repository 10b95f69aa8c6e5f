/* Chains of properties. */

#include "xe_priv.h"

#include <errno.h>

int kmd_xe_chain(uint64_t first, uint32_t max, kmd_xe_property_fn take, void *context)
{
    uint64_t at = first;
    uint32_t links = 0;
    do {
        if (links++ == max)
            return -E2BIG;
        struct kmd_xe_set_property link;
        if (kmd_copy_in(&link.base, at, sizeof(link.base)))
            return -EFAULT;
        if (link.base.pad || link.base.name)
            return -EINVAL;
        if (kmd_copy_in(&link, at, sizeof(link)))
            return -EFAULT;
        if (link.pad || !link.property)
            return -EINVAL;
        int status = take(context, link.property, link.value);
        if (status)
            return status;
        at = link.base.next;
    } while (at);
    return 0;
}
