/*
 * A second process of a test, which is the same program: it does with memory what it is told.
 */
#ifndef ZETA_TESTS_DEVICE_PEER_H
#define ZETA_TESTS_DEVICE_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <level_zero/ze_api.h>

/** What the other process shall do; it answers with the result of the call. */
enum peer_action {
    PEER_OPEN,     /**< opens the handle */
    PEER_OPEN_FD,  /**< makes a handle of the descriptor that comes along, opens it, closes the
                        descriptor */
    PEER_SWAP_FD,  /**< opens the handle with its descriptor replaced by the one that comes along */
    PEER_BARE_FD,  /**< opens a handle of zeros but for the descriptor that comes along */
    PEER_IMPORT,   /**< imports the descriptor that comes along as an allocation of value bytes */
    PEER_CLOSE,    /**< closes what was opened at the address */
    PEER_STORE,    /**< a kernel stores value there */
    PEER_LOAD,     /**< a kernel reads from there */
    PEER_ALLOCATE, /**< allocates value bytes of device memory and gives a handle */
    PEER_FREE,     /**< frees the address */
    PEER_PUT,      /**< puts the handle back */
    PEER_SIGNAL    /**< the handle is one of an event pool, its descriptor replaced by the one that
                        comes along: signals event 0 and gives the host's begin of that */
};

struct peer_request {
    enum peer_action action;
    uint64_t address;
    uint64_t value;
    ze_ipc_mem_handle_t handle;
};

struct peer_answer {
    ze_result_t result;
    uint64_t address;
    uint64_t value;
    ze_ipc_mem_handle_t handle;
    char sentence[400];
};

struct peer {
    pid_t pid;
    int socket;
};

/** True, after everything was done, in the process that peer_start() made. First in main(). */
bool peer_main(int argc, char **argv);

void peer_start(struct peer *peer);

/** Ends it in order, or kills it. */
void peer_stop(struct peer *peer);
void peer_kill(struct peer *peer);

/** Sends a request, with a descriptor unless that is -1, and waits for the answer. */
struct peer_answer peer_ask(struct peer *peer, const struct peer_request *request, int descriptor);

#endif
