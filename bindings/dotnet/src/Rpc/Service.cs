using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Threading;
using Tickwire.Cdr;

namespace Tickwire.Rpc
{
    /// <summary>What the services of interfaces have in common: a thread that answers requests, one after the other, until the
    /// service is disposed of, or its participant. What an operation throws that is neither raised by it in IDL nor a
    /// <see cref="RemoteException"/> is <see cref="RemoteExceptionCode.UnknownException"/> to the client, and goes to
    /// <see cref="ListeningObject.EventFailed"/>.</summary>
    public abstract class Service : IDisposable
    {
        readonly Replier _replier;
        readonly Interface _of;
        readonly Thread _thread;
        /// Of what follows.
        readonly object _gate = new object();
        readonly ulong[] _counts = new ulong[Names.Length];
        bool _isServing;
        bool _isStopped;

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        protected Service(DomainParticipant participant, ServiceTopics service, Interface of, object implementation)
        {
            if (implementation == null)
                throw new ArgumentNullException("implementation");
            _of = of;
            _replier = new Replier(participant, service, of);
            _thread = new Thread(Run) { IsBackground = true, Name = "tickwire-service" };
        }

        /// <summary>What came of requests: how many were taken (<c>requests</c>), and had a result (<c>returned</c>), an exception
        /// of the operation (<c>raised</c>), nobody who hears of it (<c>told</c>), no operation of the interface
        /// (<c>unknown_operations</c>), another refusal (<c>refused</c>) or an implementation that failed (<c>failures</c>);
        /// replies that could not be written (<c>unsent</c>), and what was no request (<c>undecodable</c>).</summary>
        public IDictionary<string, ulong> Counters
        {
            get
            {
                Dictionary<string, ulong> all = new Dictionary<string, ulong>();
                lock (_gate)
                    for (int i = 0; i < Names.Length; i++)
                        all[Names[i]] = _counts[i];
                return all;
            }
        }

        /// <summary>Ends it, after the request that it is at. In an operation of its own, that has no reply.</summary>
        public void Dispose()
        {
            bool isServing;
            lock (_gate)
            {
                _isStopped = true;
                isServing = _isServing;
            }
            bool isOwn = Thread.CurrentThread == _thread;
            if (isServing && !isOwn)
                _thread.Join();
            // One that waits ends with what it waits for.
            _replier.Dispose();
            if (!isOwn)
                _thread.Join();
        }

        /// <summary>For generated code: begins to serve.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        protected void _Start()
        {
            _thread.Start();
        }

        /// <summary>For generated code: has the implementation do what is asked.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        protected abstract void _Answer(ServiceCall _call);

        unsafe void Run()
        {
            for (;;)
            {
                Native.Samples request = new Native.Samples();
                // Else it, or its participant, is gone.
                if (!_replier.Wait(&request))
                    return;
                bool isLast;
                lock (_gate)
                {
                    isLast = _isStopped;
                    _isServing = !isLast;
                }
                if (!isLast)
                    Serve(request.First);
                Native.tw_samples_return(&request);
                lock (_gate)
                {
                    _isServing = false;
                    isLast = _isStopped;
                }
                if (isLast)
                    return;
            }
        }

        unsafe void Serve(Native.Sample* request)
        {
            using (ServiceCall call = new ServiceCall(_replier, _of, request))
            {
                Count outcome;
                RemoteExceptionCode why = RemoteExceptionCode.UnknownException;
                try
                {
                    int asked = call.Asked();
                    if (asked < 0)
                    {
                        // Nobody can be told of what is no request.
                        Add(Count.Undecodable);
                        return;
                    }
                    Add(Count.Requests);
                    if (asked != 1)
                        throw new RemoteException(
                            asked == 0 ? RemoteExceptionCode.UnknownOperation : RemoteExceptionCode.InvalidArgument);
                    _Answer(call);
                    outcome = call.IsRaised ? Count.Raised : call.IsAnswered ? Count.Returned : Count.Told;
                }
                catch (RemoteException remote)
                {
                    why = remote.Code;
                    outcome = why == RemoteExceptionCode.UnknownOperation ? Count.UnknownOperations : Count.Refused;
                }
                catch (Exception thrown)
                {
                    outcome = Count.Failures;
                    ListeningObject.Failed(this, thrown);
                }
                Add(outcome);
                bool isSent = false;
                try
                {
                    if (outcome == Count.UnknownOperations || outcome == Count.Refused || outcome == Count.Failures)
                        call.Refuse(why);
                    isSent = outcome == Count.Told || call.Send();
                }
                catch (Exception thrown)
                {
                    ListeningObject.Failed(this, thrown);
                }
                if (!isSent)
                    Add(Count.Unsent);
            }
        }

        void Add(Count what)
        {
            lock (_gate)
                _counts[(int)what]++;
        }

        enum Count { Requests, Returned, Raised, Told, UnknownOperations, Refused, Failures, Unsent, Undecodable }

        static readonly string[] Names =
        {
            "requests", "returned", "raised", "told", "unknown_operations", "refused", "failures", "unsent", "undecodable"
        };
    }

    /// What a service answers by.
    sealed unsafe class Replier : TickwireObject
    {
        internal Replier(DomainParticipant participant, ServiceTopics topics, Interface of)
            : base(of.Create(Native.tw_replier_create, participant, topics), participant)
        {
        }

        /// Waits for a request; false once there will be none.
        internal bool Wait(Native.Samples* request)
        {
            return Call((of, timeout) => Native.tw_replier_wait(of, timeout, request), Native.Infinite) == 0;
        }

        internal bool Reply(Native.Sample* request, CdrWriter reply)
        {
            EntityGuid writer = request->Info.Writer;
            int result = Native.tw_replier_reply(
                Raw, &writer, request->Info.SequenceNumber, reply.Data, (UIntPtr)reply.Size);
            GC.KeepAlive(this);
            GC.KeepAlive(reply);
            return result == 0;
        }
    }

    /// <summary>For generated code: a request that a service answers.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public sealed unsafe class ServiceCall : IDisposable
    {
        readonly Replier _replier;
        readonly Interface _of;
        readonly Native.Sample* _request;
        bool _isBegun;
        Choice _reply;
        Choice _result;

        internal ServiceCall(Replier replier, Interface of, Native.Sample* request)
        {
            _replier = replier;
            _of = of;
            _request = request;
            Writer = Scratch.Writer();
            Reader = Scratch.Reader();
        }

        /// <summary>The operation.</summary>
        public uint Operation { get; private set; }

        /// <summary>By which the arguments are read.</summary>
        public CdrReader Reader { get; private set; }

        /// <summary>By which the results are written.</summary>
        public CdrWriter Writer { get; private set; }

        internal bool IsAnswered { get; private set; }
        internal bool IsRaised { get; private set; }

        /// How many operations are asked for, the one to be read next; less than none if it is no request.
        internal int Asked()
        {
            int asked = 0;
            CdrScope scope;
            CdrMember member;
            if (!Enter(out scope))
                return -1;
            while (Reader.NextMember(ref scope, out member, _of.Empty))
            {
                if (Array.IndexOf(_of.Operations, member.Id) >= 0)
                {
                    asked++;
                    Operation = member.Id;
                }
                else if (!Reader.SkipUnknown(ref member))
                {
                    return -1;
                }
                Reader.LeaveMember(ref member);
            }
            if (Reader.Status != CdrStatus.Ok)
                return -1;
            // What was read once can be read again.
            bool again = asked == 1 && Enter(out scope);
            while (again && Reader.NextMember(ref scope, out member, _of.Empty) && member.Id != Operation)
                Reader.LeaveMember(ref member);
            return asked;
        }

        bool Enter(out CdrScope scope)
        {
            scope = new CdrScope();
            ulong length = (ulong)_request->Length;
            return length <= int.MaxValue && Reader.Begin(_request->Data, (int)length, Extensibility.Mutable) &&
                   Reader.EnterStruct(Extensibility.Mutable, out scope);
        }

        /// <summary>Refuses arguments that could not be read.</summary>
        public void Read(bool read)
        {
            if (!read)
                throw new RemoteException(RemoteExceptionCode.InvalidArgument);
        }

        /// <summary>Begins a member of the result.</summary>
        public void Open(uint member)
        {
            _isBegun = Writer.Begin(CdrVersion.Xcdr2, Extensibility.Mutable) &&
                       _reply.Open(Writer, Operation, Choice.NextInt) && _result.Open(Writer, member, Choice.NextInt);
        }

        /// <summary>Answers with results, which are written.</summary>
        public void Returned(bool written)
        {
            Finish(written && _result.Close(Writer));
        }

        /// <summary>Answers with an exception, which is written.</summary>
        public void Raised(bool written)
        {
            Returned(written);
            IsRaised = true;
        }

        internal void Refuse(RemoteExceptionCode why)
        {
            _isBegun = Writer.Begin(CdrVersion.Xcdr2, Extensibility.Mutable) &&
                       _reply.Open(Writer, Choice.RemoteException, Choice.FourBytes);
            Finish(Writer.WriteInt32((int)why));
        }

        void Finish(bool written)
        {
            if (Writer.End(_isBegun && written && _reply.Close(Writer)) != CdrStatus.Ok)
                throw new CdrException(_of.Reply, Writer.Status, Writer.Member, -1);
            IsAnswered = true;
        }

        internal bool Send()
        {
            return _replier.Reply(_request, Writer);
        }

        /// <summary>Ends it.</summary>
        public void Dispose()
        {
            if (Writer == null)
                return;
            Scratch.Return(Writer);
            Scratch.Return(Reader);
            Writer = null;
            Reader = null;
        }
    }
}
