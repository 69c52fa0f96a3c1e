using System;
using System.Runtime.InteropServices;

namespace Tickwire
{
    /// tickwire.h. Handles are names, which the library looks up, and no addresses: one of what is gone is an error.
    static unsafe class Native
    {
        const string Library = "tickwire";

        internal const long Infinite = long.MaxValue;
        internal const long TimeUnknown = long.MinValue;

        [StructLayout(LayoutKind.Sequential)]
        internal struct Sample
        {
            internal byte* Data;
            internal UIntPtr Length;
            internal SampleInfo Info;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct Samples
        {
            internal Sample* First;
            internal UIntPtr Count;
            internal IntPtr Held;
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct IncompatibleQos
        {
            internal uint TotalCount;
            internal uint TotalCountChange;
            internal uint LastPolicyId;
            internal EntityGuid Last;
            internal fixed byte Why[512];
        }

        [StructLayout(LayoutKind.Sequential)]
        internal struct Listener
        {
            internal UIntPtr Size;
            internal IntPtr Context;
            internal IntPtr FreeContext;
            internal IntPtr DataAvailable;
            internal IntPtr DataOnReaders;
            internal IntPtr SubscriptionMatched;
            internal IntPtr RequestedIncompatibleQos;
            internal IntPtr LivelinessChanged;
            internal IntPtr RequestedDeadlineMissed;
            internal IntPtr SampleLost;
            internal IntPtr SampleRejected;
            internal IntPtr PublicationMatched;
            internal IntPtr OfferedIncompatibleQos;
            internal IntPtr OfferedDeadlineMissed;
            internal IntPtr LivelinessLost;
            internal IntPtr InconsistentTopic;
        }

        [DllImport(Library)] internal static extern IntPtr tw_last_error();
        [DllImport(Library)] internal static extern IntPtr tw_version();

        [DllImport(Library)] internal static extern int tw_delete(IntPtr handle);
        [DllImport(Library)] internal static extern int tw_enable(IntPtr entity);
        [DllImport(Library)] internal static extern int tw_set_qos(IntPtr entity, IntPtr qos);
        [DllImport(Library)] internal static extern int tw_get_guid(IntPtr entity, out EntityGuid guid);
        [DllImport(Library)] internal static extern int tw_assert_liveliness(IntPtr entity);

        [DllImport(Library)] internal static extern int tw_qos_create(out IntPtr qos);
        [DllImport(Library)] internal static extern int tw_qos_load(byte[] file, byte[] profile, out IntPtr qos);
        [DllImport(Library)] internal static extern int tw_qos_parse(byte[] text, byte[] profile, out IntPtr qos);
        [DllImport(Library)] internal static extern int tw_qos_set(IntPtr qos, byte[] setting, byte[] value);
        [DllImport(Library)] internal static extern int tw_qos_get(
            IntPtr qos, byte[] setting, byte[] topic, byte[] buffer, UIntPtr capacity, out UIntPtr length);

        [DllImport(Library)] internal static extern int tw_type_from_idl(
            byte[] idl, byte[] name, IntPtr options, out IntPtr type);
        [DllImport(Library)] internal static extern int tw_type_bytes(
            byte[] name, byte[] member, uint bound, int extensibility, out IntPtr type);
        [DllImport(Library)] internal static extern int tw_type_as_bytes(IntPtr described, out IntPtr type);

        [DllImport(Library)] internal static extern int tw_participant_create(
            uint domain, IntPtr qos, out IntPtr participant);
        [DllImport(Library)] internal static extern int tw_participant_poll(IntPtr participant, long timeout);
        [DllImport(Library)] internal static extern int tw_participant_explain(
            IntPtr participant, byte[] buffer, UIntPtr capacity, out UIntPtr length);

        [DllImport(Library)] internal static extern int tw_topic_create(
            IntPtr participant, byte[] name, IntPtr type, out IntPtr topic);
        [DllImport(Library)] internal static extern int tw_topic_filtered(
            IntPtr topic, byte[] name, byte[] expression, IntPtr[] parameters, UIntPtr count, out IntPtr filtered);
        [DllImport(Library)] internal static extern int tw_topic_set_parameters(
            IntPtr filtered, IntPtr[] parameters, UIntPtr count);

        [DllImport(Library)] internal static extern int tw_publisher_create(
            IntPtr participant, IntPtr qos, out IntPtr publisher);
        [DllImport(Library)] internal static extern int tw_publisher_begin_coherent(IntPtr publisher);
        [DllImport(Library)] internal static extern int tw_publisher_end_coherent(IntPtr publisher);
        [DllImport(Library)] internal static extern int tw_publisher_suspend(IntPtr publisher);
        [DllImport(Library)] internal static extern int tw_publisher_resume(IntPtr publisher);
        [DllImport(Library)] internal static extern int tw_publisher_flush(IntPtr publisher);

        [DllImport(Library)] internal static extern int tw_writer_create(
            IntPtr parent, IntPtr topic, IntPtr qos, out IntPtr writer);
        [DllImport(Library)] internal static extern int tw_writer_write(
            IntPtr writer, byte* data, UIntPtr length, long* timestamp);
        [DllImport(Library)] internal static extern int tw_writer_loan(
            IntPtr writer, UIntPtr length, out IntPtr data, out IntPtr loan);
        [DllImport(Library)] internal static extern int tw_loan_write(IntPtr loan, UIntPtr length, long* timestamp);
        [DllImport(Library)] internal static extern int tw_loan_discard(IntPtr loan);
        [DllImport(Library)] internal static extern int tw_writer_dispose(
            IntPtr writer, byte* data, UIntPtr length, int form, IntPtr instance, long* timestamp);
        [DllImport(Library)] internal static extern int tw_writer_unregister(
            IntPtr writer, byte* data, UIntPtr length, int form, IntPtr instance, long* timestamp);
        [DllImport(Library)] internal static extern int tw_writer_register(
            IntPtr writer, byte* data, UIntPtr length, int form, out InstanceHandle instance);
        [DllImport(Library)] internal static extern int tw_writer_wait_for_matched(IntPtr writer, uint count, long timeout);
        [DllImport(Library)] internal static extern int tw_writer_wait_for_acknowledgments(IntPtr writer, long timeout);
        [DllImport(Library)] internal static extern int tw_writer_matched_readers(
            IntPtr writer, [Out] MatchedReader[] readers, UIntPtr capacity, out UIntPtr count);

        [DllImport(Library)] internal static extern int tw_subscriber_create(
            IntPtr participant, IntPtr qos, out IntPtr subscriber);
        [DllImport(Library)] internal static extern int tw_subscriber_begin_access(IntPtr subscriber);
        [DllImport(Library)] internal static extern int tw_subscriber_end_access(IntPtr subscriber);

        [DllImport(Library)] internal static extern int tw_reader_create(
            IntPtr parent, IntPtr topic, IntPtr qos, out IntPtr reader);
        [DllImport(Library)] internal static extern int tw_reader_take(
            IntPtr reader, UIntPtr max, uint states, InstanceHandle* instance, Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_read(
            IntPtr reader, UIntPtr max, uint states, InstanceHandle* instance, Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_take_next_instance(
            IntPtr reader, UIntPtr max, uint states, InstanceHandle* previous, Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_read_next_instance(
            IntPtr reader, UIntPtr max, uint states, InstanceHandle* previous, Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_take_by(
            IntPtr reader, UIntPtr max, IntPtr condition, Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_read_by(
            IntPtr reader, UIntPtr max, IntPtr condition, Samples* samples);
        [DllImport(Library)] internal static extern int tw_samples_return(Samples* samples);
        [DllImport(Library)] internal static extern int tw_reader_lookup_instance(
            IntPtr reader, byte* data, UIntPtr length, int form, out InstanceHandle instance);
        [DllImport(Library)] internal static extern int tw_reader_key_value(
            IntPtr reader, InstanceHandle* instance, byte* buffer, UIntPtr capacity, out UIntPtr length);
        [DllImport(Library)] internal static extern int tw_reader_wait_for_data(IntPtr reader, long timeout);
        [DllImport(Library)] internal static extern int tw_reader_wait_for_matched(IntPtr reader, uint count, long timeout);
        [DllImport(Library)] internal static extern int tw_reader_wait_for_historical_data(IntPtr reader, long timeout);
        [DllImport(Library)] internal static extern int tw_reader_matched_writers(
            IntPtr reader, [Out] MatchedWriter[] writers, UIntPtr capacity, out UIntPtr count);

        [DllImport(Library)] internal static extern int tw_requester_create(
            IntPtr participant, byte[] requestTopic, byte[] replyTopic, IntPtr requestType, IntPtr replyType,
            out IntPtr requester);
        [DllImport(Library)] internal static extern int tw_requester_wait_for_service(IntPtr requester, long timeout);
        [DllImport(Library)] internal static extern int tw_requester_call(
            IntPtr requester, IntPtr data, UIntPtr length, long timeout, Samples* reply);
        [DllImport(Library)] internal static extern int tw_requester_send(
            IntPtr requester, IntPtr data, UIntPtr length, IntPtr onEnd, IntPtr context, out IntPtr call);
        [DllImport(Library)] internal static extern int tw_requester_tell(IntPtr requester, IntPtr data, UIntPtr length);
        [DllImport(Library)] internal static extern int tw_replier_create(
            IntPtr participant, byte[] requestTopic, byte[] replyTopic, IntPtr requestType, IntPtr replyType,
            out IntPtr replier);
        [DllImport(Library)] internal static extern int tw_replier_wait(IntPtr replier, long timeout, Samples* request);
        [DllImport(Library)] internal static extern int tw_replier_reply(
            IntPtr replier, EntityGuid* writer, long sequenceNumber, IntPtr data, UIntPtr length);

        [DllImport(Library)] internal static extern int tw_writer_publication_matched(IntPtr writer, out MatchedStatus status);
        [DllImport(Library)] internal static extern int tw_writer_offered_incompatible_qos(
            IntPtr writer, out IncompatibleQos status);
        [DllImport(Library)] internal static extern int tw_writer_offered_deadline_missed(
            IntPtr writer, out DeadlineMissedStatus status);
        [DllImport(Library)] internal static extern int tw_writer_liveliness_lost(IntPtr writer, out CountStatus status);
        [DllImport(Library)] internal static extern int tw_reader_subscription_matched(
            IntPtr reader, out MatchedStatus status);
        [DllImport(Library)] internal static extern int tw_reader_requested_incompatible_qos(
            IntPtr reader, out IncompatibleQos status);
        [DllImport(Library)] internal static extern int tw_reader_requested_deadline_missed(
            IntPtr reader, out DeadlineMissedStatus status);
        [DllImport(Library)] internal static extern int tw_reader_liveliness_changed(
            IntPtr reader, out LivelinessChangedStatus status);
        [DllImport(Library)] internal static extern int tw_reader_sample_lost(IntPtr reader, out CountStatus status);
        [DllImport(Library)] internal static extern int tw_reader_sample_rejected(
            IntPtr reader, out SampleRejectedStatus status);
        [DllImport(Library)] internal static extern int tw_topic_inconsistent(IntPtr topic, out CountStatus status);
        [DllImport(Library)] internal static extern int tw_status_changes(IntPtr entity, out uint statuses);

        [DllImport(Library)] internal static extern int tw_set_listener(IntPtr entity, Listener* listener, uint mask);

        [DllImport(Library)] internal static extern int tw_status_condition(IntPtr entity, uint mask, out IntPtr condition);
        [DllImport(Library)] internal static extern int tw_reader_read_condition(
            IntPtr reader, uint states, out IntPtr condition);
        [DllImport(Library)] internal static extern int tw_reader_query_condition(
            IntPtr reader, uint states, byte[] expression, IntPtr[] parameters, UIntPtr count, out IntPtr condition);
        [DllImport(Library)] internal static extern int tw_query_set_parameters(
            IntPtr condition, IntPtr[] parameters, UIntPtr count);
        [DllImport(Library)] internal static extern int tw_guard_create(out IntPtr condition);
        [DllImport(Library)] internal static extern int tw_guard_set(IntPtr condition, int holds);
        [DllImport(Library)] internal static extern int tw_condition_holds(IntPtr condition, out int holds);
        [DllImport(Library)] internal static extern int tw_waitset_create(out IntPtr waitSet);
        [DllImport(Library)] internal static extern int tw_waitset_attach(IntPtr waitSet, IntPtr condition);
        [DllImport(Library)] internal static extern int tw_waitset_detach(IntPtr waitSet, IntPtr condition);
        [DllImport(Library)] internal static extern int tw_waitset_wait(
            IntPtr waitSet, long timeout, [Out] IntPtr[] holding, UIntPtr capacity, out UIntPtr count);

        [DllImport(Library)] internal static extern int tw_writer_get_counters(IntPtr writer, [In, Out] ulong[] counters);
        [DllImport(Library)] internal static extern int tw_reader_get_counters(IntPtr reader, [In, Out] ulong[] counters);
        [DllImport(Library)] internal static extern int tw_participant_get_counters(IntPtr participant, [In, Out] ulong[] counters);
    }
}
