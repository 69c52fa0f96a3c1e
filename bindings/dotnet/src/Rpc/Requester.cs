using System;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Tickwire.Cdr;

namespace Tickwire.Rpc
{
    /// What a client calls by.
    sealed class Requester : TickwireObject
    {
        /// In milliseconds: how long tasks that wait for a service do not look whether there is one.
        const int Look = 5;

        readonly long _timeout;
        /// Of what follows.
        readonly object _gate = new object();
        /// Tasks that wait for a service, and what looks for one on behalf of them all.
        int _seekers;
        Task _looking;

        /// A call takes so many nanoseconds.
        internal Requester(DomainParticipant participant, ServiceTopics topics, Interface of, long timeout)
            : base(of.Create(Native.tw_requester_create, participant, topics), participant)
        {
            _timeout = timeout;
        }

        /// Of a call that begins now.
        internal Deadline Deadline { get { return new Deadline(_timeout); } }

        internal void Tell(CdrWriter request)
        {
            Check(Call(Native.tw_requester_wait_for_service, _timeout));
            TellAtOnce(request);
        }

        /// There is a service.
        internal void TellAtOnce(CdrWriter request)
        {
            Check(Native.tw_requester_tell(Raw, request.Data, (UIntPtr)request.Size));
            GC.KeepAlive(request);
        }

        internal unsafe void Ask(CdrWriter request, Native.Samples* reply)
        {
            Check(Call((of, timeout) =>
                Native.tw_requester_call(of, request.Data, (UIntPtr)request.Size, timeout, reply), _timeout));
            GC.KeepAlive(request);
        }

        /// There is a service, and nobody waits.
        internal PendingCall Send(CdrWriter request)
        {
            PendingCall pending = new PendingCall();
            Check(pending.Send(Raw, request));
            return pending;
        }

        /// Completes when a service is there.
        internal async Task NeedServiceAsync(Deadline deadline, CancellationToken cancel)
        {
            string missing = await SeekAsync(deadline, cancel).ConfigureAwait(false);
            if (missing != null)
                throw new TickwireException(Result.Timeout, missing + ", after " + deadline.Text);
        }

        /// Completes when a service is there, or with what is missing at the deadline.
        internal async Task<string> SeekAsync(Deadline deadline, CancellationToken cancel)
        {
            cancel.ThrowIfCancellationRequested();
            string missing = Missing();
            if (missing == null)
                return null;
            CancellationTokenSource ended = CancellationTokenSource.CreateLinkedTokenSource(cancel);
            Seeks(true);
            try
            {
                Task late = Task.Delay(deadline.Milliseconds, ended.Token);
                while (!late.IsCompleted)
                {
                    await Task.WhenAny(Looking(), late).ConfigureAwait(false);
                    cancel.ThrowIfCancellationRequested();
                    missing = Missing();
                    if (missing == null)
                        return null;
                }
                // Which ends the delay, too.
                cancel.ThrowIfCancellationRequested();
                return missing;
            }
            finally
            {
                Seeks(false);
                // Nobody waits for the deadline any more.
                ended.Cancel();
                ended.Dispose();
            }
        }

        /// What there is none of, or null if a service is there.
        string Missing()
        {
            int result = Native.tw_requester_wait_for_service(Raw, 0);
            string missing = (Result)result == Result.Timeout ? Utf8.Text(Native.tw_last_error()) : null;
            if (missing == null)
                Check(result);
            GC.KeepAlive(this);
            return missing;
        }

        void Seeks(bool begins)
        {
            lock (_gate)
                _seekers += begins ? 1 : -1;
        }

        Task Looking()
        {
            lock (_gate)
            {
                if (_looking == null || _looking.IsCompleted)
                    _looking = LookAsync();
                return _looking;
            }
        }

        /// Completes when a service may be there, this is gone, or nobody seeks one.
        async Task LookAsync()
        {
            bool goesOn;
            do
            {
                await Task.Delay(Look).ConfigureAwait(false);
                lock (_gate)
                    goesOn = _seekers > 0;
            }
            while (goesOn && (Result)Native.tw_requester_wait_for_service(Raw, 0) == Result.Timeout);
            GC.KeepAlive(this);
        }
    }

    /// When the time of a call is over.
    struct Deadline
    {
        readonly long _begin;
        readonly long _timeout;

        /// In so many nanoseconds.
        internal Deadline(long timeout)
        {
            _begin = System.Diagnostics.Stopwatch.GetTimestamp();
            _timeout = timeout;
        }

        /// What is left, as timers have it: -1 is for ever, which more than 24 days are, too.
        internal int Milliseconds
        {
            get
            {
                if (_timeout == Native.Infinite)
                    return Timeout.Infinite;
                long left = Math.Max(0, _timeout - Duration.Since(_begin));
                long milliseconds = left / 1000000 + (left % 1000000 == 0 ? 0 : 1);
                return milliseconds > int.MaxValue ? Timeout.Infinite : (int)milliseconds;
            }
        }

        /// The whole time, for people.
        internal string Text
        {
            get { return (_timeout / 1e9).ToString(CultureInfo.InvariantCulture) + " s"; }
        }
    }

    /// A request that was sent, until its reply has come, its time is over, it is cancelled or its client is gone: what is first
    /// counts. While the library knows it, it lives.
    sealed class PendingCall
    {
        readonly TaskCompletionSource<Native.Samples> _reply =
            new TaskCompletionSource<Native.Samples>(TaskCreationOptions.RunContinuationsAsynchronously);
        IntPtr _call;

        /// A result of the library's.
        internal int Send(IntPtr requester, CdrWriter request)
        {
            GCHandle self = GCHandle.Alloc(this);
            Interlocked.Increment(ref Callbacks.Contexts);
            int result = Native.tw_requester_send(
                requester, request.Data, (UIntPtr)request.Size, OnEnd, GCHandle.ToIntPtr(self), out _call);
            GC.KeepAlive(request);
            if (result != 0)
            {
                self.Free();
                Interlocked.Decrement(ref Callbacks.Contexts);
            }
            return result;
        }

        /// Completes with the reply, which is to be returned.
        internal async Task<Native.Samples> EndAsync(Deadline deadline, CancellationToken cancel)
        {
            TimerCallback late = _ => GiveUp(_reply.TrySetException(Late(deadline)));
            bool isTaken = false;
            try
            {
                using (cancel.Register(() => GiveUp(_reply.TrySetCanceled(cancel))))
                using (new Timer(late, null, deadline.Milliseconds, Timeout.Infinite))
                {
                    Native.Samples reply = await _reply.Task.ConfigureAwait(false);
                    isTaken = true;
                    return reply;
                }
            }
            finally
            {
                // The source of the token may be gone, which throws.
                if (!isTaken)
                    LetGo();
            }
        }

        /// Nobody takes the reply, whether or not it has come.
        unsafe void LetGo()
        {
            GiveUp(_reply.TrySetCanceled());
            if (_reply.Task.Status == TaskStatus.RanToCompletion)
            {
                Native.Samples reply = _reply.Task.Result;
                Native.tw_samples_return(&reply);
            }
        }

        static TickwireException Late(Deadline deadline)
        {
            return new TickwireException(Result.Timeout, "no reply after " + deadline.Text);
        }

        /// The library forgets what has ended here, and does not keep others from calling any more.
        void GiveUp(bool hasEnded)
        {
            if (hasEnded)
                Native.tw_delete(_call);
        }

        unsafe void End(int result, Native.Samples* reply)
        {
            if (result == 0)
            {
                // The library's struct is gone when this returns.
                Native.Samples samples = *reply;
                if (!_reply.TrySetResult(samples))
                    Native.tw_samples_return(&samples);
            }
            else if ((Result)result == Result.BadHandle)
            {
                _reply.TrySetException(new ObjectDisposedException("Client"));
            }
            else
            {
                _reply.TrySetException(new TickwireException((Result)result, "there is no room for the reply"));
            }
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        unsafe delegate void Ending(int result, Native.Samples* reply, IntPtr context);

        /// Nothing that is thrown goes through the library.
        static unsafe readonly Ending Ended = (result, reply, context) =>
        {
            try
            {
                GCHandle self = GCHandle.FromIntPtr(context);
                PendingCall of = (PendingCall)self.Target;
                self.Free();
                of.End(result, reply);
            }
            catch (Exception thrown)
            {
                ListeningObject.Failed(null, thrown);
            }
            finally
            {
                Interlocked.Decrement(ref Callbacks.Contexts);
            }
        };

        static readonly IntPtr OnEnd = Marshal.GetFunctionPointerForDelegate(Ended);
    }
}
