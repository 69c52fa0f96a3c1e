using System;
using System.Collections.Generic;

namespace Tickwire
{
    /// What is counted, by its names and in the order of tickwire.h.
    static class Counters
    {
        internal delegate int Get(IntPtr entity, ulong[] counters);

        internal static IDictionary<string, ulong> Of(TickwireObject of, Get get, string[] names)
        {
            // The first word tells how many bytes there are.
            ulong[] counters = new ulong[names.Length + 1];
            counters[0] = (ulong)counters.Length * sizeof(ulong);
            of.Check(get(of.Raw, counters));
            Dictionary<string, ulong> all = new Dictionary<string, ulong>();
            for (int i = 0; i < names.Length; i++)
                all[names[i]] = counters[i + 1];
            return all;
        }

        internal static readonly string[] Writer =
        {
            "written", "restored", "would_block", "sent", "sent_by_group", "resent", "fragments_sent",
            "fragments_resent", "suppressed", "filtered", "filters_refused", "gaps", "heartbeats", "acknacks",
            "nack_frags", "removed_before_ack", "expired", "from_unmatched", "stale", "misbehaved", "loans_used_up"
        };

        internal static readonly string[] Reader =
        {
            "delivered", "sets_discarded", "set_changes_discarded", "duplicates", "known", "forgotten", "held",
            "dropped", "refused", "lost", "not_understood", "abandoned", "gaps", "fragments", "partial_dropped",
            "heartbeats", "acknacks", "nack_frags", "from_unmatched", "stale", "misbehaved", "restarts", "jumps",
            "stored", "replaced", "filtered", "too_early", "expired", "purged", "filtered_by_content", "undecodable",
            "discarded_with_set", "parts_guessed", "ignored"
        };

        internal static readonly string[] Participant =
        {
            "datagrams_received", "bytes_received", "datagrams_sent", "bytes_sent", "malformed", "unknown_submessages",
            "unrouted", "unreachable", "receive_errors", "send_errors", "listener_panics", "interface_changes",
            "interface_errors", "store_errors", "receive_buffer_bytes", "tcp_opened", "tcp_closed", "tcp_refused",
            "tcp_bad_hellos", "tcp_timeouts", "tcp_oversized", "tcp_dropped", "tcp_unconnected", "tcp_connections",
            "tcp_queued_bytes", "shm_records_sent", "shm_bytes_sent", "shm_records_unsent", "shm_logs",
            "shm_log_bytes", "shm_short_logs", "shm_records_received", "shm_bytes_received", "shm_records_lost",
            "shm_malformed", "shm_refused", "shm_loans_sent", "shm_loan_bytes_sent", "shm_loans_received",
            "shm_loans_copied"
        };
    }
}
