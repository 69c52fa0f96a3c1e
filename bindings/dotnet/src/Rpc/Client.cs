using System;
using System.ComponentModel;
using System.Threading;
using System.Threading.Tasks;
using Tickwire.Cdr;

namespace Tickwire.Rpc
{
    /// <summary>What the clients of interfaces have in common. Any number of threads may call, and any number of calls may be
    /// under way, up to 1024, whatever the order in which they are answered. One more throws a <see cref="TickwireException"/>
    /// with <see cref="Result.OutOfResources"/>.
    /// <para>A call that takes longer than the time-out throws a <see cref="TickwireException"/> with
    /// <see cref="Result.Timeout"/>, whose text says of what there was none; so does one that waits in a handler of the same
    /// participant, which the reply would wait for.</para>
    /// <para>An operation has a second method, with Async behind its name, which gives a task. Its result is that of the
    /// operation, in a struct with the parameters that come back, if there are any. No thread waits: arguments are written
    /// before the method returns, and sent if a service is known; the library tells when the reply is there, which a thread of
    /// the pool reads. While no service is known, the client looks for one every 5 ms, and then sends in any order. Of a
    /// participant that is polled, tasks end as it is.</para>
    /// <para>A task ends with what the other method throws, also for arguments that cannot be written. Cancelled, it ends with
    /// an <see cref="OperationCanceledException"/>; nothing was sent if there was no service before that, else the service may
    /// have done what was asked, as after the time-out, and its reply is let go.</para></summary>
    public abstract class Client : IDisposable
    {
        readonly Requester _requester;
        readonly Interface _of;

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        protected Client(DomainParticipant participant, ServiceTopics service, Interface of, TimeSpan timeout)
        {
            long nanoseconds = Duration.Of(timeout);
            _of = of;
            _requester = new Requester(participant, service, of, nanoseconds);
        }

        /// <summary>Waits until a service is there; false if none is in time.</summary>
        public bool WaitForService(TimeSpan timeout)
        {
            return _requester.Wait(Native.tw_requester_wait_for_service, timeout);
        }

        /// <summary>Completes when a service is there, or with false if none is in time. No thread waits: the client looks every
        /// 5 ms.</summary>
        public async Task<bool> WaitForServiceAsync(
            TimeSpan timeout, CancellationToken cancel = default(CancellationToken))
        {
            Deadline deadline = new Deadline(Duration.Of(timeout));
            return await _requester.SeekAsync(deadline, cancel).ConfigureAwait(false) == null;
        }

        /// <summary>Ends it. Calls under way throw <see cref="ObjectDisposedException"/>, and tasks end with it, also when the
        /// participant is disposed of.</summary>
        public void Dispose()
        {
            _requester.Dispose();
        }

        /// <summary>For generated code: begins a call; members of results with the ids in <paramref name="empty"/> have no
        /// bytes.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        protected ClientCall _Begin(uint operation, uint[] empty)
        {
            return new ClientCall(_requester, _of, operation, empty);
        }
    }

    /// <summary>For generated code: a call of an operation.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public sealed class ClientCall : IDisposable
    {
        readonly Requester _requester;
        readonly Interface _of;
        readonly uint _operation;
        readonly uint[] _empty;
        readonly bool _isBegun;
        Choice _request;
        Native.Samples _reply;
        CdrScope _whole;
        CdrMember _answer;
        /// Within the member of the operation, and within one of that.
        bool _isInside;
        CdrScope _result;
        CdrMember _member;
        bool _isInMember;

        internal ClientCall(Requester requester, Interface of, uint operation, uint[] empty)
        {
            _requester = requester;
            _of = of;
            _operation = operation;
            _empty = empty;
            Writer = Scratch.Writer();
            _isBegun = Writer.Begin(CdrVersion.Xcdr2, Extensibility.Mutable) &&
                       _request.Open(Writer, operation, Choice.NextInt);
        }

        /// <summary>By which the arguments are written.</summary>
        public CdrWriter Writer { get; private set; }

        /// <summary>By which the results are read.</summary>
        public CdrReader Reader { get; private set; }

        /// <summary>Sends a request, whose arguments are written, that nobody replies to.</summary>
        public void Tell(bool written)
        {
            Finish(written);
            _requester.Tell(Writer);
        }

        /// <summary>The same, without a thread that waits for a service.</summary>
        public async Task TellAsync(bool written, CancellationToken cancel)
        {
            Finish(written);
            await _requester.NeedServiceAsync(_requester.Deadline, cancel).ConfigureAwait(false);
            _requester.TellAtOnce(Writer);
        }

        /// <summary>Sends a request, whose arguments are written, and waits for the reply.</summary>
        public unsafe void Ask(bool written)
        {
            Finish(written);
            fixed (Native.Samples* reply = &_reply)
                _requester.Ask(Writer, reply);
            Answered();
        }

        /// <summary>The same, without a thread that waits.</summary>
        public async Task AskAsync(bool written, CancellationToken cancel)
        {
            Finish(written);
            Deadline deadline = _requester.Deadline;
            await _requester.NeedServiceAsync(deadline, cancel).ConfigureAwait(false);
            PendingCall pending = _requester.Send(Writer);
            // Others may write meanwhile.
            Scratch.Return(Writer);
            Writer = null;
            _reply = await pending.EndAsync(deadline, cancel).ConfigureAwait(false);
            Answered();
        }

        unsafe void Answered()
        {
            Reader = Scratch.Reader();
            Read(Reader.Begin(_reply.First->Data, checked((int)_reply.First->Length), Extensibility.Mutable) &&
                 Reader.EnterStruct(Extensibility.Mutable, out _whole));
        }

        void Finish(bool written)
        {
            if (Writer.End(_isBegun && written && _request.Close(Writer)) != CdrStatus.Ok)
                throw new CdrException(_of.Request, Writer.Status, Writer.Member, -1);
        }

        /// <summary>The next member of the result. Throws what the service says instead, and where there is no more.</summary>
        public uint Next()
        {
            for (;;)
            {
                if (_isInMember)
                    Reader.LeaveMember(ref _member);
                if (_isInside)
                {
                    _isInMember = Reader.NextMember(ref _result, out _member, _empty);
                    if (_isInMember)
                        return _member.Id;
                    Read(Reader.Status == CdrStatus.Ok);
                    Reader.LeaveStruct(ref _result);
                    Reader.LeaveMember(ref _answer);
                    _isInside = false;
                }
                if (!Reader.NextMember(ref _whole, out _answer))
                {
                    Read(Reader.Status == CdrStatus.Ok);
                    throw new TickwireException(
                        Result.BadSample, "the reply has no result of this operation: the interfaces differ");
                }
                if (_answer.Id == _operation)
                {
                    Read(Reader.EnterStruct(Extensibility.Mutable, out _result));
                    _isInside = true;
                    continue;
                }
                if (_answer.Id == Choice.RemoteException)
                {
                    int code;
                    Read(Reader.ReadInt32(out code));
                    if (code != 0)
                        throw new RemoteException((RemoteExceptionCode)code);
                }
                else
                {
                    Read(Reader.SkipUnknown(ref _answer));
                }
                Reader.LeaveMember(ref _answer);
            }
        }

        /// <summary>Throws where something could not be read.</summary>
        public void Read(bool read)
        {
            if (!read)
                throw new CdrException(_of.Reply, Reader.Status, Reader.Member, Reader.Position);
        }

        /// <summary>Passes over a member that is not known.</summary>
        public void Skip()
        {
            Read(Reader.SkipUnknown(ref _member));
        }

        /// <summary>Ends it.</summary>
        public unsafe void Dispose()
        {
            fixed (Native.Samples* reply = &_reply)
                Native.tw_samples_return(reply);
            if (Writer != null)
                Scratch.Return(Writer);
            if (Reader != null)
                Scratch.Return(Reader);
            Writer = null;
            Reader = null;
        }
    }
}
