//! Counters, in structs that begin with their size.

use crate::border::{Growing, OutGrowing, export, growing};
use crate::either::either;
use crate::handle::{Handle, get};
use crate::participant::Participant;
use crate::reader::Reader;
use crate::writer::Writer;

growing! {
    /// `tw_writer_counters`.
    struct WriterCounters {
        written: u64, restored: u64, would_block: u64, sent: u64, sent_by_group: u64, resent: u64,
        fragments_sent: u64, fragments_resent: u64, suppressed: u64, filtered: u64,
        filters_refused: u64, gaps: u64, heartbeats: u64, acknacks: u64, nack_frags: u64,
        removed_before_ack: u64, expired: u64, from_unmatched: u64, stale: u64, misbehaved: u64,
        loans_used_up: u64,
    }
}

growing! {
    /// `tw_reader_counters`.
    struct ReaderCounters {
        delivered: u64, sets_discarded: u64, set_changes_discarded: u64, duplicates: u64, known: u64,
        forgotten: u64, held: u64, dropped: u64, refused: u64, lost: u64, not_understood: u64,
        abandoned: u64, gaps: u64, fragments: u64, partial_dropped: u64, heartbeats: u64,
        acknacks: u64, nack_frags: u64, from_unmatched: u64, stale: u64, misbehaved: u64,
        restarts: u64, jumps: u64,
        stored: u64, replaced: u64, filtered: u64, too_early: u64, expired: u64, purged: u64,
        filtered_by_content: u64, undecodable: u64, discarded_with_set: u64, parts_guessed: u64,
        ignored: u64,
    }
}

growing! {
    /// `tw_participant_counters`.
    struct ParticipantCounters {
        datagrams_received: u64, bytes_received: u64, datagrams_sent: u64, bytes_sent: u64,
        malformed: u64, unknown_submessages: u64, unrouted: u64, unreachable: u64,
        receive_errors: u64, send_errors: u64, listener_panics: u64, interface_changes: u64,
        interface_errors: u64, store_errors: u64, receive_buffer_bytes: u64,
        tcp_opened: u64, tcp_closed: u64, tcp_refused: u64, tcp_bad_hellos: u64, tcp_timeouts: u64,
        tcp_oversized: u64, tcp_dropped: u64, tcp_unconnected: u64, tcp_connections: u64,
        tcp_queued_bytes: u64,
        shm_records_sent: u64, shm_bytes_sent: u64, shm_records_unsent: u64, shm_logs: u64,
        shm_log_bytes: u64, shm_short_logs: u64, shm_records_received: u64,
        shm_bytes_received: u64, shm_records_lost: u64, shm_malformed: u64, shm_refused: u64,
        shm_loans_sent: u64, shm_loan_bytes_sent: u64, shm_loans_received: u64,
        shm_loans_copied: u64,
    }
}

/// Fields of one struct from those of others.
macro_rules! filled {
    ($to:ident; $($from:expr => $($field:ident)*;)*) => {{
        let mut filled = $to::empty();
        $($(filled.$field = $from.$field;)*)*
        filled
    }};
}

export! {
    fn tw_writer_get_counters(writer: Handle, counters: OutGrowing<WriterCounters>) {
        let writer = get::<Writer>(writer)?;
        let known = either!(&writer.dds, writer => writer.counters());
        let mut filled = filled! { WriterCounters;
            known => written restored would_block sent sent_by_group resent fragments_sent
                fragments_resent suppressed filtered filters_refused gaps heartbeats acknacks
                nack_frags removed_before_ack expired from_unmatched stale misbehaved;
        };
        filled.loans_used_up = either!(&writer.dds, writer => writer.loans_used_up());
        counters.put(&filled, "counters")
    }

    fn tw_reader_get_counters(reader: Handle, counters: OutGrowing<ReaderCounters>) {
        let reader = get::<Reader>(reader)?;
        let protocol = either!(&reader.dds, reader => reader.counters());
        let inbox = either!(&reader.dds, reader => reader.inbox_counters());
        let filled = filled! { ReaderCounters;
            protocol => delivered sets_discarded set_changes_discarded duplicates known forgotten
                held dropped refused lost not_understood abandoned gaps fragments partial_dropped
                heartbeats acknacks nack_frags from_unmatched stale misbehaved restarts jumps;
            inbox => stored replaced filtered too_early expired purged filtered_by_content
                undecodable discarded_with_set parts_guessed ignored;
        };
        counters.put(&filled, "counters")
    }

    fn tw_participant_get_counters(
        participant: Handle,
        counters: OutGrowing<ParticipantCounters>,
    ) {
        let participant = get::<Participant>(participant)?;
        let known = participant.dds.counters();
        let (tcp, shm) = (known.tcp, known.shared_memory);
        let mut filled = filled! { ParticipantCounters;
            known => datagrams_received bytes_received datagrams_sent bytes_sent malformed
                unknown_submessages unrouted unreachable receive_errors send_errors
                listener_panics interface_changes interface_errors store_errors;
        };
        filled.receive_buffer_bytes = known.receive_buffer_bytes as u64;
        filled.tcp_opened = tcp.opened;
        filled.tcp_closed = tcp.closed;
        filled.tcp_refused = tcp.refused;
        filled.tcp_bad_hellos = tcp.bad_hellos;
        filled.tcp_timeouts = tcp.timeouts;
        filled.tcp_oversized = tcp.oversized;
        filled.tcp_dropped = tcp.dropped;
        filled.tcp_unconnected = tcp.unconnected;
        filled.tcp_connections = tcp.connections as u64;
        filled.tcp_queued_bytes = tcp.queued_bytes as u64;
        filled.shm_records_sent = shm.records_sent;
        filled.shm_bytes_sent = shm.bytes_sent;
        filled.shm_records_unsent = shm.records_unsent;
        filled.shm_logs = shm.logs;
        filled.shm_log_bytes = shm.log_bytes;
        filled.shm_short_logs = shm.short_logs;
        filled.shm_records_received = shm.records_received;
        filled.shm_bytes_received = shm.bytes_received;
        filled.shm_records_lost = shm.records_lost;
        filled.shm_malformed = shm.malformed;
        filled.shm_refused = shm.refused;
        filled.shm_loans_sent = shm.loans_sent;
        filled.shm_loan_bytes_sent = shm.loan_bytes_sent;
        filled.shm_loans_received = shm.loans_received;
        filled.shm_loans_copied = shm.loans_copied;
        counters.put(&filled, "counters")
    }
}
