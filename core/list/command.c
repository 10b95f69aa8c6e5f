#include "core/list/command.h"

#include "core/event/event.h"
#include "core/list/graph.h"
#include "core/list/list.h"
#include "core/queue/queue.h"

void zeta_command_set_finishers(void)
{
    zeta_event_set_finishers();
    zeta_queue_set_finishers();
    zeta_list_set_finishers();
    zeta_graph_set_finishers();
}
