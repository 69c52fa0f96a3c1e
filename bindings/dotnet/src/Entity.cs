using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tickwire
{
    /// An object of the library, which is deleted with this, by hand or when nobody has it any more.
    class ObjectHandle : SafeHandle
    {
        bool _byHand;

        internal ObjectHandle(IntPtr made) : base(IntPtr.Zero, true)
        {
            SetHandle(made);
        }

        public sealed override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected sealed override void Dispose(bool disposing)
        {
            _byHand = disposing;
            base.Dispose(disposing);
        }

        protected sealed override bool ReleaseHandle()
        {
            // The end of a writer takes a while, which other finalizers should not wait for.
            IntPtr ended = handle;
            if (_byHand || Environment.HasShutdownStarted)
                End(ended);
            else
                ThreadPool.UnsafeQueueUserWorkItem(_ => End(ended), null);
            return true;
        }

        /// What it was made from may be gone already, and this with it.
        internal virtual void End(IntPtr ended)
        {
            Native.tw_delete(ended);
        }
    }

    /// <summary>An object of the library. Any thread may use it; it ends when it is disposed of, or collected, or with what it
    /// was made from. From then on calls throw <see cref="ObjectDisposedException"/>.</summary>
    public abstract class TickwireObject : IDisposable
    {
        readonly ObjectHandle _handle;

        /// <paramref name="keeps"/> is what it was made from, which would take it along.
        internal TickwireObject(IntPtr made, object keeps = null)
        {
            _handle = new ObjectHandle(made);
            Keeps = keeps;
        }

        object Keeps { get; set; }

        /// For one call, after which Check or GC.KeepAlive keeps this from being collected, and so deleted, meanwhile.
        internal IntPtr Raw { get { return _handle.DangerousGetHandle(); } }

        internal void Check(int result)
        {
            GC.KeepAlive(this);
            if (result != 0)
                throw TickwireException.Last(result);
        }

        internal delegate int Waiting(IntPtr of, long timeout);

        /// Waits; false if it did not happen in time. Throws within 100 ms when the object is disposed of, as the library says so.
        internal bool Wait(Waiting wait, TimeSpan timeout)
        {
            int result = Call(wait, Duration.Of(timeout));
            if ((Result)result == Result.Timeout)
            {
                GC.KeepAlive(this);
                return false;
            }
            Check(result);
            return true;
        }

        /// The same of what no participant ends when the program does: it is made of short waits, the next of which throws then.
        internal bool WaitInTurns(Waiting wait, TimeSpan timeout)
        {
            long whole = Duration.Of(timeout);
            long begin = Stopwatch.GetTimestamp();
            for (long left = whole;;)
            {
                bool ends = AtExit.HasBegun;
                int result = Call(wait, Math.Min(left, ends ? 0 : LongestWait));
                if ((Result)result != Result.Timeout)
                {
                    Check(result);
                    return true;
                }
                if (whole != Native.Infinite)
                    left = whole - Duration.Since(begin);
                if (left <= 0)
                    return false;
                // Nobody is in the library for long when the program ends.
                if (ends)
                    Thread.Sleep(1);
            }
        }

        /// Waits, as the program's end is to know.
        internal int Call(Waiting wait, long timeout)
        {
            AtExit.BeginWait();
            try
            {
                return wait(Raw, timeout);
            }
            finally
            {
                AtExit.EndWait();
            }
        }

        /// In nanoseconds: so long a wait goes on when its object is disposed of.
        const long LongestWait = 50 * 1000 * 1000;

        internal static IntPtr Of(TickwireObject of)
        {
            return of == null ? IntPtr.Zero : of.Raw;
        }

        internal bool IsOpen { get { return !_handle.IsClosed; } }

        /// Once or more, when it is not open any more.
        internal virtual void OnDisposed() { }

        /// <summary>Ends it, and all that was made from it.</summary>
        public void Dispose()
        {
            _handle.Dispose();
            OnDisposed();
            WaitSet.ForgetGone();
            GC.SuppressFinalize(this);
        }
    }

    /// <summary>What has a QoS: participants, publishers, subscribers, writers and readers.</summary>
    public abstract class Entity : TickwireObject
    {
        internal Entity(IntPtr made, object keeps) : base(made, keeps) { }

        /// <summary>Has it take part, where what made it does not have it do so at once.</summary>
        public void Enable()
        {
            Check(Native.tw_enable(Raw));
        }

        /// <summary>Changes what <paramref name="qos"/> says something of; the rest stays.</summary>
        public void SetQos(Qos qos)
        {
            if (qos == null)
                throw new ArgumentNullException("qos");
            Check(Native.tw_set_qos(Raw, qos.Raw));
            GC.KeepAlive(qos);
        }
    }

    static class Duration
    {
        /// In nanoseconds; <see cref="Timeout.InfiniteTimeSpan"/> is for ever.
        internal static long Of(TimeSpan time)
        {
            if (time == Timeout.InfiniteTimeSpan)
                return Native.Infinite;
            if (time < TimeSpan.Zero)
                throw new ArgumentOutOfRangeException("timeout");
            return time.Ticks > long.MaxValue / 100 ? Native.Infinite : time.Ticks * 100;
        }

        /// Nanoseconds since a timestamp of Stopwatch.
        internal static long Since(long begin)
        {
            return (long)((Stopwatch.GetTimestamp() - begin) * (1e9 / Stopwatch.Frequency));
        }
    }

    static class Instant
    {
        static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        internal static DateTime? Of(long nanoseconds)
        {
            return nanoseconds == Native.TimeUnknown ? (DateTime?)null : Epoch.AddTicks(nanoseconds / 100);
        }

        internal static long Of(DateTime time)
        {
            return checked((time.ToUniversalTime() - Epoch).Ticks * 100);
        }
    }
}
