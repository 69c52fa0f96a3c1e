/* Twice is the same as once. */
#include "../../include/tickwire.h"
#include "../../include/tickwire.h"
#include "../../include/tickwire/payload.h"
#include "../../include/tickwire/payload.h"
#include "../../include/tickwire/value.h"
#include "../../include/tickwire/value.h"
#include "../../include/tickwire/cdr.h"
#include "../../include/tickwire/cdr.h"
#include "../../include/tickwire/rpc.h"
#include "../../include/tickwire/rpc.h"
#include "../../include/tickwire/exchange.h"
#include "../../include/tickwire/exchange.h"
#include "../../include/tickwire/czmq.h"
#include "../../include/tickwire/czmq.h"

int main(void) {
    tw_listener listener;
    tw_samples samples;
    listener.size = sizeof listener;
    listener.on_data_available = NULL;
    samples.count = 0;
    return (int)samples.count + (tw_version() == NULL) + (listener.on_data_available != NULL) + TW_MQ_LOCAL;
}
