using System;
using System.ComponentModel;
using Tickwire.Cdr;

namespace Tickwire.Rpc
{
    /// <summary>What the clients of interfaces have in common. Any number of threads may call. A call that takes longer than the
    /// time-out throws a <see cref="TickwireException"/> with <see cref="Result.Timeout"/>, whose text says of what there was
    /// none; so does one in a handler of the same participant, which the reply would wait for.</summary>
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

        /// <summary>Ends it. Calls under way throw <see cref="ObjectDisposedException"/>.</summary>
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

    /// What a client calls by.
    sealed unsafe class Requester : TickwireObject
    {
        readonly long _timeout;

        /// A call takes so many nanoseconds.
        internal Requester(DomainParticipant participant, ServiceTopics topics, Interface of, long timeout)
            : base(of.Create(Native.tw_requester_create, participant, topics), participant)
        {
            _timeout = timeout;
        }

        internal void Tell(CdrWriter request)
        {
            Check(Call(Native.tw_requester_wait_for_service, _timeout));
            Check(Native.tw_requester_tell(Raw, request.Data, (UIntPtr)request.Size));
            GC.KeepAlive(request);
        }

        internal void Ask(CdrWriter request, Native.Samples* reply)
        {
            Check(Call((of, timeout) =>
                Native.tw_requester_call(of, request.Data, (UIntPtr)request.Size, timeout, reply), _timeout));
            GC.KeepAlive(request);
        }
    }

    /// <summary>For generated code: a call of an operation.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public sealed unsafe class ClientCall : IDisposable
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
            Reader = Scratch.Reader();
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

        /// <summary>Sends a request, whose arguments are written, and waits for the reply.</summary>
        public void Ask(bool written)
        {
            Finish(written);
            fixed (Native.Samples* reply = &_reply)
                _requester.Ask(Writer, reply);
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
        public void Dispose()
        {
            fixed (Native.Samples* reply = &_reply)
                Native.tw_samples_return(reply);
            if (Writer == null)
                return;
            Scratch.Return(Writer);
            Scratch.Return(Reader);
            Writer = null;
            Reader = null;
        }
    }
}
