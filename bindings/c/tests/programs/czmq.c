/* The calls of the C extension of 2008 as its paper shows them, then what goes wrong. The argument is where the rendezvous
 * is. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "czmq.h"

static int freed;

static void count_freed(void *data) {
    freed++;
    free(data);
}

int main(int argc, char **argv) {
    void *handle, *other, *buf;
    size_t size;
    int eid;
    czmq_free_fn *ffn;
    (void)argc;

    handle = czmq_create(argv[1]);
    other = czmq_create(argv[1]);
    assert(handle && other);
    eid = czmq_create_exchange(handle, "E", CZMQ_SCOPE_GLOBAL, "10.0.0.1:5555");
    assert(eid >= 0);
    assert(czmq_create_queue(other, "Q", CZMQ_SCOPE_GLOBAL, "10.0.0.1:5556") >= 0);
    czmq_bind(handle, "E", "Q");

    buf = malloc(10);
    assert(buf);
    memset(buf, 7, 10);
    czmq_send(handle, eid, buf, 10, count_freed);
    czmq_receive(other, &buf, &size, &ffn);
    assert(size == 10 && ((const char *)buf)[9] == 7);
    assert(ffn);
    ffn(buf);
    assert(freed == 1);

    /* A buffer is freed whatever is wrong. */
    assert(czmq_send(handle, eid + 1, malloc(1), 1, count_freed) == TW_NOT_FOUND && freed == 2);
    assert(czmq_send(NULL, eid, malloc(1), 1, count_freed) == TW_BAD_HANDLE && freed == 3);
    assert(tw_mq_send((tw_mq *)handle, (uint32_t)eid, malloc(1), 1, count_freed, -1) == TW_BAD_ARGUMENT && freed == 4);
    assert(czmq_send(handle, eid, NULL, 1, NULL) == TW_BAD_ARGUMENT);
    assert(czmq_create_exchange(handle, "E", CZMQ_SCOPE_GLOBAL, NULL) == TW_PRECONDITION);
    assert(czmq_create_exchange(handle, "*", CZMQ_SCOPE_GLOBAL, NULL) == TW_BAD_ARGUMENT);
    assert(czmq_create_queue(handle, "Q", 2, NULL) == TW_BAD_ARGUMENT);
    assert(czmq_bind(handle, "F", "Q") == TW_NOT_FOUND);
    assert(czmq_create("/nowhere/at/all") == NULL && strstr(tw_last_error(), "/nowhere/at/all"));

    assert(czmq_destroy(handle) == 0);
    assert(czmq_destroy(handle) == TW_BAD_HANDLE);
    assert(czmq_bind(handle, "E", "Q") == TW_BAD_HANDLE);
    assert(czmq_receive(handle, &buf, &size, &ffn) == TW_BAD_HANDLE && !buf && !size && !ffn);
    czmq_destroy(other);
    return 0;
}
