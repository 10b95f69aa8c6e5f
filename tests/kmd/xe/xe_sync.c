/* Fences that a stream waits for and signals. User fences work; there are no sync objects. */

#include "xe_priv.h"

#include <errno.h>

int kmd_xe_syncs_check(uint64_t syncs, uint64_t count, bool *out_signal)
{
    *out_signal = false;
    if (count && !syncs)
        return -EINVAL;
    uint32_t fences = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct kmd_xe_sync sync;
        if (kmd_copy_in(&sync, syncs + i * sizeof(sync), sizeof(sync)))
            return -EFAULT;
        if (sync.extensions || sync.reserved[0] || sync.reserved[1] ||
            sync.flags & ~(uint32_t)KMD_XE_SYNC_SIGNAL || sync.type > KMD_XE_SYNC_USER_FENCE)
            return -EINVAL;
        if (sync.type != KMD_XE_SYNC_USER_FENCE)
            return -ENOENT; /* nothing here makes sync objects, so no handle names one */
        if (!(sync.flags & KMD_XE_SYNC_SIGNAL))
            return -EOPNOTSUPP; /* a user fence can only be signalled */
        if (sync.address % 8)
            return -EINVAL;
        if (++fences > 1)
            return -EINVAL;
        *out_signal = true;
    }
    return 0;
}

void kmd_xe_syncs_signal(uint64_t syncs, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct kmd_xe_sync sync;
        if (!kmd_copy_in(&sync, syncs + i * sizeof(sync), sizeof(sync)))
            kmd_copy_out(sync.address, &sync.timeline_value, sizeof(sync.timeline_value));
    }
}
