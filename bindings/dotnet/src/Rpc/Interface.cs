using System;
using System.ComponentModel;
using Tickwire.Cdr;

namespace Tickwire.Rpc
{
    /// <summary>The topics of a service: by its name, or any two.</summary>
    public sealed class ServiceTopics
    {
        /// <summary>Those of a service of this name.</summary>
        public ServiceTopics(string service) : this(service + "_Request", service + "_Reply")
        {
            if (service == null)
                throw new ArgumentNullException("service");
        }

        /// <summary>These two.</summary>
        public ServiceTopics(string request, string reply)
        {
            Request = request;
            Reply = reply;
        }

        /// <summary>Those of a service of this name.</summary>
        public static implicit operator ServiceTopics(string service)
        {
            return new ServiceTopics(service);
        }

        /// <summary>The topic of the requests.</summary>
        public string Request { get; private set; }

        /// <summary>The topic of the replies.</summary>
        public string Reply { get; private set; }
    }

    /// <summary>For generated code: what an interface is on the wire.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public sealed class Interface
    {
        readonly string _requestIdl;
        readonly string _replyIdl;

        /// <summary>Of the types of requests and replies, the ids of all operations, and of those that take nothing.</summary>
        public Interface(
            string request, string requestIdl, string reply, string replyIdl, uint[] operations, uint[] empty)
        {
            Request = request;
            _requestIdl = requestIdl;
            Reply = reply;
            _replyIdl = replyIdl;
            Operations = operations;
            Empty = empty;
        }

        internal string Request { get; private set; }
        internal string Reply { get; private set; }
        internal uint[] Operations { get; private set; }
        internal uint[] Empty { get; private set; }

        internal delegate int Creating(
            IntPtr participant, byte[] requestTopic, byte[] replyTopic, IntPtr requestType, IntPtr replyType, out IntPtr made);

        /// A requester or a replier.
        internal IntPtr Create(Creating create, DomainParticipant participant, ServiceTopics topics)
        {
            if (participant == null)
                throw new ArgumentNullException("participant");
            if (topics == null)
                throw new ArgumentNullException("service");
            byte[] request = Utf8.Of(topics.Request, "request");
            byte[] reply = Utf8.Of(topics.Reply, "reply");
            IntPtr requests;
            IntPtr replies;
            IntPtr made;
            TickwireException.Check(
                Native.tw_type_from_idl(Utf8.Of(_requestIdl), Utf8.Of(Request), IntPtr.Zero, out requests));
            using (new ObjectHandle(requests))
            {
                TickwireException.Check(
                    Native.tw_type_from_idl(Utf8.Of(_replyIdl), Utf8.Of(Reply), IntPtr.Zero, out replies));
                using (new ObjectHandle(replies))
                    TickwireException.Check(create(participant.Raw, request, reply, requests, replies, out made));
            }
            GC.KeepAlive(participant);
            return made;
        }
    }

    /// A mutable struct with one member, while it is written.
    struct Choice
    {
        /// How the length of a member is told (XTypes 1.3 section 7.4.3.4.2): before it, or as four bytes.
        internal const uint NextInt = 4, FourBytes = 2;

        /// Members of replies and of results, by the hashes of their names.
        internal const uint RemoteException = 0xf8e48f0, Result = 0x784a8b4;

        CdrMark _whole;
        CdrMark _member;

        internal bool Open(CdrWriter w, uint id, uint code)
        {
            return w.OpenStruct(Extensibility.Mutable, out _whole) && w.OpenMember(id, false, code, out _member);
        }

        internal bool Close(CdrWriter w)
        {
            return w.CloseMember(ref _member) && w.CloseStruct(Extensibility.Mutable, ref _whole);
        }
    }
}
