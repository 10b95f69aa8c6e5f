#include "core/command/command.h"

#include "core/command/event.h"
#include "core/command/graph.h"
#include "core/command/list.h"
#include "core/command/queue.h"

void zeta_command_set_finishers(void)
{
    zeta_event_set_finishers();
    zeta_queue_set_finishers();
    zeta_list_set_finishers();
    zeta_graph_set_finishers();
}
