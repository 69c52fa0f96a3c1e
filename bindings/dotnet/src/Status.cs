using System;
using System.Runtime.InteropServices;

namespace Tickwire
{
    /// <summary>The name of a participant, writer or reader on the network.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct EntityGuid : IEquatable<EntityGuid>
    {
        uint _a, _b, _c, _d;

        /// <summary>Its 16 bytes.</summary>
        public byte[] ToByteArray() { return Sixteen.Bytes(_a, _b, _c, _d); }

        /// <summary>Whether it is the same.</summary>
        public bool Equals(EntityGuid other) { return _a == other._a && _b == other._b && _c == other._c && _d == other._d; }

        /// <summary>Whether it is the same.</summary>
        public override bool Equals(object other) { return other is EntityGuid && Equals((EntityGuid)other); }

        /// <summary>Of all bytes.</summary>
        public override int GetHashCode() { return (int)(_a ^ _b ^ _c ^ _d); }

        /// <summary>In hexadecimal.</summary>
        public override string ToString() { return Sixteen.Text(ToByteArray()); }
    }

    /// <summary>The name of an instance: the hash of its key. All zeros is the only instance of a topic without key.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct InstanceHandle : IEquatable<InstanceHandle>
    {
        uint _a, _b, _c, _d;

        /// <summary>Its 16 bytes.</summary>
        public byte[] ToByteArray() { return Sixteen.Bytes(_a, _b, _c, _d); }

        /// <summary>Whether it is the same.</summary>
        public bool Equals(InstanceHandle other) { return _a == other._a && _b == other._b && _c == other._c && _d == other._d; }

        /// <summary>Whether it is the same.</summary>
        public override bool Equals(object other) { return other is InstanceHandle && Equals((InstanceHandle)other); }

        /// <summary>Of all bytes.</summary>
        public override int GetHashCode() { return (int)(_a ^ _b ^ _c ^ _d); }

        /// <summary>In hexadecimal.</summary>
        public override string ToString() { return Sixteen.Text(ToByteArray()); }
    }

    static class Sixteen
    {
        internal static byte[] Bytes(params uint[] words)
        {
            byte[] bytes = new byte[16];
            Buffer.BlockCopy(words, 0, bytes, 0, 16);
            return bytes;
        }

        internal static string Text(byte[] bytes)
        {
            return BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();
        }
    }

    /// <summary>Statuses, numbered as in DDS 1.4.</summary>
    [Flags]
    public enum Statuses : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Of topics.</summary>
        InconsistentTopic = 1,
        /// <summary>Of writers.</summary>
        OfferedDeadlineMissed = 2,
        /// <summary>Of readers.</summary>
        RequestedDeadlineMissed = 4,
        /// <summary>Of writers.</summary>
        OfferedIncompatibleQos = 32,
        /// <summary>Of readers.</summary>
        RequestedIncompatibleQos = 64,
        /// <summary>Of readers.</summary>
        SampleLost = 128,
        /// <summary>Of readers.</summary>
        SampleRejected = 256,
        /// <summary>Of readers.</summary>
        DataAvailable = 1024,
        /// <summary>Of writers.</summary>
        LivelinessLost = 2048,
        /// <summary>Of readers.</summary>
        LivelinessChanged = 4096,
        /// <summary>Of writers.</summary>
        PublicationMatched = 8192,
        /// <summary>Of readers.</summary>
        SubscriptionMatched = 16384
    }

    /// <summary>Endpoints matched: so far, of them since the status was last read, now, and how that has changed; and the last
    /// that matched or left.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct MatchedStatus
    {
#pragma warning disable 1591
        public uint TotalCount;
        public uint TotalCountChange;
        public uint CurrentCount;
        public int CurrentCountChange;
        public EntityGuid Last;
#pragma warning restore 1591
    }

    /// <summary>A count of what should not have happened.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct CountStatus
    {
#pragma warning disable 1591
        public ulong TotalCount;
        public ulong TotalCountChange;
#pragma warning restore 1591
    }

    /// <summary>Which limit the last sample met that found no room.</summary>
    public enum RejectedReason : uint
    {
#pragma warning disable 1591
        NotRejected = 0,
        Instances = 1,
        Samples = 2,
        SamplesPerInstance = 3
#pragma warning restore 1591
    }

    /// <summary>Samples that found no room.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct SampleRejectedStatus
    {
#pragma warning disable 1591
        public ulong TotalCount;
        public ulong TotalCountChange;
        public RejectedReason LastReason;
        public InstanceHandle LastInstance;
#pragma warning restore 1591
    }

    /// <summary>Deadlines that were missed.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct DeadlineMissedStatus
    {
#pragma warning disable 1591
        public ulong TotalCount;
        public ulong TotalCountChange;
        public InstanceHandle LastInstance;
#pragma warning restore 1591
    }

    /// <summary>Writers that live, and that do not.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct LivelinessChangedStatus
    {
#pragma warning disable 1591
        public uint AliveCount;
        public uint NotAliveCount;
        public int AliveCountChange;
        public int NotAliveCountChange;
        public EntityGuid Last;
#pragma warning restore 1591
    }

    /// <summary>Endpoints of the topic that do not match.</summary>
    public sealed class IncompatibleQosStatus
    {
        internal unsafe IncompatibleQosStatus(Native.IncompatibleQos* status)
        {
            TotalCount = status->TotalCount;
            TotalCountChange = status->TotalCountChange;
            LastPolicyId = status->LastPolicyId;
            Last = status->Last;
            Why = Utf8.Text(status->Why, 512);
        }

        /// <summary>How often one was found.</summary>
        public uint TotalCount { get; private set; }

        /// <summary>Of them, since the status was last read.</summary>
        public uint TotalCountChange { get; private set; }

        /// <summary>The first policy that the last one disagreed on, by its number in DDS 1.4, or 0.</summary>
        public uint LastPolicyId { get; private set; }

        /// <summary>The last one.</summary>
        public EntityGuid Last { get; private set; }

        /// <summary>All that the last one disagreed on and what to change.</summary>
        public string Why { get; private set; }
    }

    /// <summary>A reader that matches a writer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct MatchedReader
    {
#pragma warning disable 1591
        public EntityGuid Guid;
        int _reliable;
        public bool Reliable { get { return _reliable != 0; } }
        /// <summary>The last sample up to which it has acknowledged all; meaningless unless it is reliable.</summary>
        public long Acknowledged;
        /// <summary>Samples sent to it again.</summary>
        public ulong Resent;
        /// <summary>Samples after the last that it has acknowledged.</summary>
        public ulong Behind;
#pragma warning restore 1591
    }

    /// <summary>A writer that matches a reader.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct MatchedWriter
    {
#pragma warning disable 1591
        public EntityGuid Guid;
        /// <summary>The next sample to deliver.</summary>
        public long Expected;
        /// <summary>The newest sample known to exist.</summary>
        public long Announced;
        public ulong Delivered;
        /// <summary>Samples that will never come.</summary>
        public ulong Lost;
        /// <summary>Samples that came again.</summary>
        public ulong Duplicates;
#pragma warning restore 1591
    }
}
