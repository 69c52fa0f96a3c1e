using System;

namespace Tickwire
{
    /// <summary>A topic, or what a filter leaves of one. The same name and type make the same topic again.</summary>
    public sealed class Topic<T> : ListeningObject
    {
        readonly object _gate = new object();
        readonly DomainParticipant _participant;
        Action<Topic<T>, CountStatus> _inconsistent;

        internal Topic(DomainParticipant participant, string name, TopicSupport<T> support)
            : base(Create(participant, name, support), participant)
        {
            _participant = participant;
            Name = name;
            Support = support;
        }

        Topic(Topic<T> of, IntPtr made) : base(made, of)
        {
            _participant = of._participant;
            Name = of.Name;
            Support = of.Support;
        }

        static IntPtr Create(DomainParticipant participant, string name, TopicSupport<T> support)
        {
            IntPtr type;
            IntPtr made;
            if (participant == null)
                throw new ArgumentNullException("participant");
            TickwireException.Check(
                Native.tw_type_from_idl(Utf8.Of(support.Idl), Utf8.Of(support.TypeName), IntPtr.Zero, out type));
            using (new ObjectHandle(type))
            {
                if (!support.IsPlain)
                {
                    TickwireException.Check(Native.tw_topic_create(participant.Raw, Utf8.Of(name, "name"), type, out made));
                }
                else
                {
                    IntPtr plain;
                    TickwireException.Check(Native.tw_type_as_bytes(type, out plain));
                    using (new ObjectHandle(plain))
                        TickwireException.Check(
                            Native.tw_topic_create(participant.Raw, Utf8.Of(name, "name"), plain, out made));
                }
            }
            GC.KeepAlive(participant);
            return made;
        }

        /// <summary>Its name; of a filtered one, that of the topic that it is of.</summary>
        public string Name { get; private set; }

        /// <summary>What reads and writes its samples.</summary>
        public TopicSupport<T> Support { get; private set; }

        /// <summary>A topic of which readers get those samples alone for which an expression is true, in the SQL subset of DDS
        /// 1.4 Annex B: <c>"symbol LIKE %0 AND price > 1.1"</c>. Parameters are what %0, %1 ... stand for, as literals
        /// (<c>"'EUR%'"</c>). Writers keep back what the reader does not want.</summary>
        public Topic<T> Filter(string expression, params string[] parameters)
        {
            IntPtr made;
            string name = Name + " of " + System.Threading.Interlocked.Increment(ref _filters);
            using (Texts texts = new Texts(parameters))
                Check(Native.tw_topic_filtered(
                    Raw, Utf8.Of(name), Utf8.Of(expression, "expression"), texts.All, texts.Count, out made));
            return new Topic<T>(this, made);
        }

        static int _filters;

        /// <summary>Changes the parameters of a filtered topic, for all its readers and what comes from here on.</summary>
        public void SetParameters(params string[] parameters)
        {
            using (Texts texts = new Texts(parameters))
                Check(Native.tw_topic_set_parameters(Raw, texts.All, texts.Count));
        }

        /// <summary>Topics of that name with another type. Reading it clears its change.</summary>
        public CountStatus InconsistentTopicStatus
        {
            get
            {
                CountStatus status;
                Check(Native.tw_topic_inconsistent(Raw, out status));
                return status;
            }
        }

        /// <summary>Somebody has a topic of that name with another type.</summary>
        public event Action<Topic<T>, CountStatus> InconsistentTopic
        {
            add
            {
                TopicEvents events = Events();
                lock (_gate)
                {
                    if (!IsOpen)
                        throw new ObjectDisposedException("Topic");
                    if (_inconsistent == null)
                        events.Tell(Tell, true);
                    _inconsistent += value;
                }
            }
            remove
            {
                TopicEvents events = Events();
                lock (_gate)
                {
                    bool had = _inconsistent != null;
                    _inconsistent -= value;
                    if (had && _inconsistent == null)
                        events.Tell(Tell, false);
                }
            }
        }

        internal override void OnDisposed()
        {
            lock (_gate)
            {
                if (_inconsistent != null)
                    Events().Tell(Tell, false);
                _inconsistent = null;
            }
        }

        TopicEvents Events()
        {
            return _participant.EventsOf(Name, () => Create(_participant, Name, Support));
        }

        void Tell(CountStatus status)
        {
            var handlers = _inconsistent;
            if (handlers != null && !IsGone)
                handlers(this, status);
        }
    }

    /// Who is told of the topics of one name, which are one to the library, with one listener.
    sealed class TopicEvents : ListeningObject
    {
        Action<CountStatus> _handlers;

        internal TopicEvents(DomainParticipant participant, IntPtr made) : base(made, participant)
        {
            Need(Statuses.InconsistentTopic);
        }

        /// Calls nothing of the library.
        internal void Tell(Action<CountStatus> handler, bool add)
        {
            Change(Statuses.InconsistentTopic, ref _handlers, handler, add);
        }

        internal override void OnInconsistentTopic(CountStatus status)
        {
            var handlers = _handlers;
            if (handlers != null)
                handlers(status);
        }
    }

    /// A struct of one sequence of octets, whose samples are these.
    sealed class BytesSupport : TopicSupport<byte[]>
    {
        readonly string _name;
        readonly string _member;

        internal BytesSupport(string name, string member)
        {
            _name = name;
            _member = member;
        }

        public override string TypeName { get { return _name; } }
        public override bool HasKey { get { return false; } }
        public override Cdr.Extensibility Extensibility { get { return Cdr.Extensibility.Appendable; } }

        public override string Idl
        {
            get
            {
                string[] parts = _name.Split(new[] { "::" }, StringSplitOptions.None);
                string idl = "@appendable struct " + parts[parts.Length - 1] + " { sequence<octet> " + _member + "; };";
                for (int i = parts.Length - 2; i >= 0; i--)
                    idl = "module " + parts[i] + " { " + idl + " };";
                return idl;
            }
        }

        internal override bool IsPlain { get { return true; } }
        public override byte[] Create() { return new byte[0]; }
        public override bool Write(byte[] value, Cdr.CdrWriter w) { throw Never(); }
        public override bool Read(byte[] value, Cdr.CdrReader r) { throw Never(); }
        public override bool WriteKey(byte[] value, Cdr.CdrWriter w) { throw Never(); }
        public override bool ReadKey(byte[] value, Cdr.CdrReader r) { throw Never(); }

        static Exception Never()
        {
            return new NotSupportedException("samples of this type are the bytes themselves");
        }
    }
}
