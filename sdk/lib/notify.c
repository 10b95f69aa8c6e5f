#include <zeta/notify.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <zeta/descriptor.h>

int zeta_notify_init(struct zeta_notify *notify)
{
    notify->raised = 0;
    notify->descriptor = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return notify->descriptor < 0 ? errno : 0;
}

void zeta_notify_finish(struct zeta_notify *notify)
{
    if (notify->descriptor >= 0)
        close(notify->descriptor);
    notify->descriptor = -1;
}

void zeta_notify_set(struct zeta_notify *notify, uint32_t raised)
{
    eventfd_t value;

    if (notify->descriptor < 0 || (raised != 0) == (notify->raised != 0))
        return;
    /* Neither can fail in a way that matters: the counter is 0 or 1, and never blocks. */
    if (raised)
        (void)eventfd_write(notify->descriptor, 1);
    else
        (void)eventfd_read(notify->descriptor, &value);
    notify->raised = raised != 0;
}
