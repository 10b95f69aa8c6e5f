#include "peer.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"

extern char **environ;

/* Receives a request and the descriptor that may come with it. False at the end. */
static bool receive(int socket, struct peer_request *request, int *out_descriptor)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {request, sizeof(*request)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};

    *out_descriptor = -1;
    if (recvmsg(socket, &message, 0) != (ssize_t)sizeof(*request))
        return false;
    const struct cmsghdr *extra = CMSG_FIRSTHDR(&message);
    if (extra && extra->cmsg_type == SCM_RIGHTS)
        memcpy(out_descriptor, CMSG_DATA(extra), sizeof(int));
    return true;
}

static void import(const struct gpu *gpu, const struct peer_request *request, int descriptor,
                   struct peer_answer *answer)
{
    const ze_external_memory_import_fd_t from = {.stype =
                                                     ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                                 .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
                                                 .fd = descriptor};
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                             .pNext = &from};
    void *address = NULL;

    answer->result =
        zeMemAllocDevice(gpu->context, &desc, request->value, 0, gpu->device, &address);
    answer->address = (uintptr_t)address;
}

static void open_handle(const struct gpu *gpu, ze_ipc_mem_handle_t handle,
                        struct peer_answer *answer)
{
    void *address = NULL;

    answer->result = zeMemOpenIpcHandle(gpu->context, gpu->device, handle, 0, &address);
    answer->address = (uintptr_t)address;
}

static void allocate(const struct gpu *gpu, const struct peer_request *request,
                     struct peer_answer *answer)
{
    void *address = gpu_device_memory(gpu, request->value);

    answer->address = (uintptr_t)address;
    answer->result = zeMemGetIpcHandle(gpu->context, address, &answer->handle);
}

/* Under a number that the maker of the handle does not have. */
#define OWN_NUMBER 600

static ze_result_t signal_first(const struct gpu *gpu, ze_event_pool_handle_t pool,
                                uint64_t *out_begin_ns)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_synchronized_timestamp_result_ext_t times = {0};
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pSynchronizedTimestampsBuffer = &times};
    ze_event_handle_t event = NULL;
    uint32_t count = 1;
    ze_result_t result = zeEventCreate(pool, &desc, &event);

    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListAppendSignalEvent(gpu->list, event);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventQueryKernelTimestampsExt(event, gpu->device, &count, &results);
    if (event)
        (void)zeEventDestroy(event);
    *out_begin_ns = times.global.kernelStart;
    return result;
}

static void signal_event(const struct gpu *gpu, const struct peer_request *request, int descriptor,
                         struct peer_answer *answer)
{
    const int32_t number = dup2(descriptor, OWN_NUMBER);
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = NULL;

    memcpy(&handle, &request->handle, sizeof(handle));
    memcpy(&handle, &number, sizeof(number));
    answer->result = zeEventPoolOpenIpcHandle(gpu->context, handle, &pool);
    if (answer->result == ZE_RESULT_SUCCESS) {
        answer->result = signal_first(gpu, pool, &answer->value);
        (void)zeEventPoolCloseIpcHandle(pool);
    }
    close(number);
}

static void obey(const struct gpu *gpu, const struct peer_request *request, int descriptor,
                 struct peer_answer *answer)
{
    void *address = (void *)(uintptr_t)request->address;
    ze_ipc_mem_handle_t handle = request->handle;

    switch (request->action) {
    case PEER_OPEN_FD:
        answer->result =
            zeMemGetIpcHandleFromFileDescriptorExp(gpu->context, (uint64_t)descriptor, &handle);
        if (answer->result == ZE_RESULT_SUCCESS)
            open_handle(gpu, handle, answer);
        break;
    case PEER_BARE_FD:
        memset(&handle, 0, sizeof(handle));
        memcpy(&handle, &descriptor, sizeof(descriptor));
        open_handle(gpu, handle, answer);
        break;
    case PEER_SWAP_FD:
        memcpy(&handle, &descriptor, sizeof(descriptor));
        open_handle(gpu, handle, answer);
        break;
    case PEER_OPEN:
        open_handle(gpu, handle, answer);
        break;
    case PEER_IMPORT:
        import(gpu, request, descriptor, answer);
        break;
    case PEER_CLOSE:
        answer->result = zeMemCloseIpcHandle(gpu->context, address);
        break;
    case PEER_STORE:
        answer->result = gpu_store(gpu, address, request->value);
        break;
    case PEER_LOAD:
        answer->result = gpu_load(gpu, address, &answer->value);
        break;
    case PEER_ALLOCATE:
        allocate(gpu, request, answer);
        break;
    case PEER_FREE:
        answer->result = zeMemFree(gpu->context, address);
        break;
    case PEER_SIGNAL:
        signal_event(gpu, request, descriptor, answer);
        break;
    case PEER_PUT:
        answer->result = zeMemPutIpcHandle(gpu->context, handle);
        break;
    }
}

bool peer_main(int argc, char **argv)
{
    struct peer_request request;
    struct gpu gpu;
    int socket, descriptor;

    if (argc != 3 || strcmp(argv[1], "peer") != 0)
        return false;
    (void)alarm(600);
    socket = atoi(argv[2]);
    gpu_open(&gpu);
    while (receive(socket, &request, &descriptor)) {
        struct peer_answer answer = {.result = ZE_RESULT_ERROR_UNKNOWN};

        obey(&gpu, &request, descriptor, &answer);
        if (descriptor >= 0)
            close(descriptor);
        snprintf(answer.sentence, sizeof(answer.sentence), "%s",
                 answer.result == ZE_RESULT_SUCCESS ? "" : gpu_sentence(&gpu));
        if (write(socket, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
            break;
    }
    gpu_close(&gpu);
    return true;
}

void peer_start(struct peer *peer)
{
    char number[16];
    char path[] = "/proc/self/exe";
    char suite[] = "ipc", word[] = "peer";
    char *arguments[] = {path, suite, word, number, NULL};
    int ends[2];

    /* The end of this process is not for the other: its closing is the end of the work. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    peer->socket = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    close(ends[0]);
    snprintf(number, sizeof(number), "%d", ends[1]);
    assert_int_equal(posix_spawn(&peer->pid, path, NULL, NULL, arguments, environ), 0);
    close(ends[1]);
}

void peer_stop(struct peer *peer)
{
    int status = 0;

    close(peer->socket);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    assert_int_equal(status, 0);
}

void peer_kill(struct peer *peer)
{
    int status = 0;

    (void)kill(peer->pid, SIGKILL);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    close(peer->socket);
}

struct peer_answer peer_ask(struct peer *peer, const struct peer_request *request, int descriptor)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {(void *)(uintptr_t)request, sizeof(*request)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct peer_answer answer;

    if (descriptor >= 0) {
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(descriptor));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control.space);
    }
    assert_int_equal(sendmsg(peer->socket, &message, 0), sizeof(*request));
    assert_int_equal(read(peer->socket, &answer, sizeof(answer)), sizeof(answer));
    return answer;
}
