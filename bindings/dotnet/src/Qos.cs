using System;
using System.Globalization;
using System.Threading;

namespace Tickwire
{
#pragma warning disable 1591
    /// <summary>RELIABILITY.</summary>
    public enum Reliability { BestEffort, Reliable }

    /// <summary>DURABILITY.</summary>
    public enum Durability { Volatile, TransientLocal, Transient, Persistent }

    /// <summary>HISTORY.</summary>
    public enum History { KeepLast, KeepAll }

    /// <summary>OWNERSHIP.</summary>
    public enum Ownership { Shared, Exclusive }
#pragma warning restore 1591

    /// <summary>What entities are to be: one object says it of participants, topics, publishers, subscribers, writers and
    /// readers, as a profile does. What it says nothing of has the standard's default. It is copied into what is made with it.
    /// <code>new Qos { Writer = { History = History.KeepAll }, ["participant.interface"] = "eth1" }</code></summary>
    public sealed class Qos : TickwireObject
    {
        /// <summary>One that says nothing.</summary>
        public Qos() : this(Create()) { }

        Qos(IntPtr made) : base(made)
        {
            Writer = new EndpointQos(this, "writer.");
            Reader = new EndpointQos(this, "reader.");
        }

        static IntPtr Create()
        {
            IntPtr made;
            TickwireException.Check(Native.tw_qos_create(out made));
            return made;
        }

        /// <summary>A profile of a file: TOML, DDS-XML or Fast DDS's XML. <paramref name="profile"/> may be null if the file has
        /// only one or names the default. <paramref name="file"/> may be null: then $TICKWIRE_QOS_FILE names it,
        /// $TICKWIRE_QOS_PROFILE the profile, and $TICKWIRE_RENDEZVOUS a rendezvous.</summary>
        public static Qos Load(string file = null, string profile = null)
        {
            IntPtr made;
            TickwireException.Check(Native.tw_qos_load(Utf8.Of(file), Utf8.Of(profile), out made));
            return new Qos(made);
        }

        /// <summary>The same of a text.</summary>
        public static Qos Parse(string text, string profile = null)
        {
            IntPtr made;
            TickwireException.Check(Native.tw_qos_parse(Utf8.Of(text, "text"), Utf8.Of(profile), out made));
            return new Qos(made);
        }

        /// <summary>A setting, the entity and the key of docs/qos.md ("writer.history.kind"), and its value as in TOML, but that
        /// the quotes around a text and the brackets around a list may be left out.</summary>
        public string this[string setting]
        {
            get { return Get(setting, null); }
            set { Check(Native.tw_qos_set(Raw, Utf8.Of(setting, "setting"), Utf8.Of(value, "value"))); }
        }

        /// <summary>What a setting is of one topic.</summary>
        public string Get(string setting, string topic)
        {
            byte[] name = Utf8.Of(setting, "setting");
            byte[] of = Utf8.Of(topic);
            string text = Utf8.Text((byte[] buffer, UIntPtr capacity, out UIntPtr length) =>
                Native.tw_qos_get(Raw, name, of, buffer, capacity, out length));
            GC.KeepAlive(this);
            return text;
        }

        /// <summary>Of writers.</summary>
        public EndpointQos Writer { get; private set; }

        /// <summary>Of readers.</summary>
        public EndpointQos Reader { get; private set; }
    }

    /// <summary>Policies of writers, or of readers; others are set by their names.</summary>
    public sealed class EndpointQos
    {
        readonly Qos _qos;
        readonly string _entity;

        internal EndpointQos(Qos qos, string entity)
        {
            _qos = qos;
            _entity = entity;
        }

        /// <summary>A setting, such as "lifespan".</summary>
        public string this[string key]
        {
            get { return _qos[_entity + key]; }
            set { _qos[_entity + key] = value; }
        }

        /// <summary>Whether lost samples are sent again.</summary>
        public Reliability Reliability
        {
            get { return Word<Reliability>("reliability.kind"); }
            set { this["reliability.kind"] = Snake(value.ToString()); }
        }

        /// <summary>How long a write may wait for room.</summary>
        public TimeSpan MaxBlockingTime { set { this["reliability.max_blocking_time"] = Time(value); } }

        /// <summary>What a reader that comes late gets.</summary>
        public Durability Durability
        {
            get { return Word<Durability>("durability"); }
            set { this["durability"] = Snake(value.ToString()); }
        }

        /// <summary>The last samples of each instance, or all.</summary>
        public History History
        {
            get { return Word<History>("history.kind"); }
            set { this["history.kind"] = Snake(value.ToString()); }
        }

        /// <summary>How many samples of each instance are kept by KeepLast.</summary>
        public int HistoryDepth
        {
            get { return int.Parse(this["history.depth"], CultureInfo.InvariantCulture); }
            set { this["history.depth"] = value.ToString(CultureInfo.InvariantCulture); }
        }

        /// <summary>Whether only the strongest writer of an instance is heard.</summary>
        public Ownership Ownership
        {
            get { return Word<Ownership>("ownership"); }
            set { this["ownership"] = Snake(value.ToString()); }
        }

        /// <summary>The longest time between samples of an instance.</summary>
        public TimeSpan Deadline { set { this["deadline"] = Time(value); } }

        /// <summary>How late samples may come.</summary>
        public TimeSpan LatencyBudget { set { this["latency_budget"] = Time(value); } }

        TEnum Word<TEnum>(string key) where TEnum : struct
        {
            string word = this[key].Trim('"').Replace("_", "");
            return (TEnum)Enum.Parse(typeof(TEnum), word, true);
        }

        /// "KeepAll" as "keep_all".
        static string Snake(string name)
        {
            string snake = "";
            foreach (char letter in name)
                snake += char.IsUpper(letter) && snake != "" ? "_" + letter : letter.ToString();
            return snake.ToLowerInvariant();
        }

        static string Time(TimeSpan time)
        {
            if (time == Timeout.InfiniteTimeSpan)
                return "infinite";
            return Duration.Of(time).ToString(CultureInfo.InvariantCulture) + "ns";
        }
    }
}
