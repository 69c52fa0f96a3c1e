using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tickwire
{
    /// <summary>What raises events: topics, writers and readers. Handlers run on a thread of the participant's, or the one that
    /// polls, never two of one object at once; they may call anything. What they throw does not reach the library: it goes to
    /// <see cref="EventFailed"/>, or else to standard error, but for an <see cref="ObjectDisposedException"/> where the object was
    /// disposed of meanwhile. While it has handlers, or tasks wait for it, an object lives until it is disposed of, or its
    /// participant is.</summary>
    public abstract class ListeningObject : Entity
    {
        readonly object _gate = new object();
        /// What there are handlers for, and what the object itself needs.
        Statuses _handled;
        Statuses _needed;
        Statuses _told;
        bool _telling;
        /// Listeners of this that the library has, which do not keep it.
        int _contexts;
        int _waiting;
        /// Keeps this while somebody is to be told.
        GCHandle _kept;

        internal ListeningObject(IntPtr made, object keeps) : base(made, keeps) { }

        /// <summary>A handler of an event has thrown something, or an operation of a service what it does not raise.</summary>
        public static event Action<object, Exception> EventFailed;

        /// <summary>Which statuses have changed since they were last read.</summary>
        public Statuses StatusChanges
        {
            get
            {
                uint changes;
                Check(Native.tw_status_changes(Raw, out changes));
                return (Statuses)changes;
            }
        }

        /// <summary>Holds while one of these statuses has changed.</summary>
        public Condition CreateStatusCondition(Statuses mask)
        {
            IntPtr made;
            Check(Native.tw_status_condition(Raw, (uint)mask, out made));
            return new Condition(made, this);
        }

        /// Adds or removes a handler, and tells the library whether there are any.
        internal void Change<TDelegate>(Statuses status, ref TDelegate handlers, TDelegate value, bool add)
            where TDelegate : class
        {
            Delegate by = (Delegate)(object)value;
            lock (_gate)
            {
                Delegate before = (Delegate)(object)handlers;
                handlers = (TDelegate)(object)(add ? Delegate.Combine(before, by) : Delegate.Remove(before, by));
                _handled = handlers != null ? _handled | status : _handled & ~status;
                Keep();
            }
            Tell();
        }

        /// Has the library tell of a status from here on.
        internal void Need(Statuses status)
        {
            lock (_gate)
                _needed |= status;
            Tell();
        }

        /// A task begins to wait, or ends.
        internal void Waits(bool begins)
        {
            lock (_gate)
            {
                _waiting += begins ? 1 : -1;
                Keep();
            }
        }

        /// With the gate held.
        void Keep()
        {
            bool keeps = _contexts > 0 && (_handled != Statuses.None || _waiting > 0);
            if (keeps == _kept.IsAllocated)
                return;
            if (keeps)
                _kept = GCHandle.Alloc(this);
            else
                _kept.Free();
        }

        /// Tells the library what is wanted. No lock is held meanwhile, as it may call a handler. If a thread is at it already, that
        /// one goes on until all is told. A listener for nothing takes the place of the last one: to remove that would wait for a
        /// handler that runs.
        unsafe void Tell()
        {
            for (;;)
            {
                Statuses wanted;
                lock (_gate)
                {
                    wanted = _handled | _needed;
                    if (_telling || _told == wanted)
                        return;
                    _telling = true;
                }
                int result = Set(wanted);
                lock (_gate)
                {
                    _telling = false;
                    if (result == 0)
                        _told = wanted;
                }
                Check(result);
            }
        }

        unsafe int Set(Statuses wanted)
        {
            Native.Listener listener = Callbacks.All;
            GCHandle self = GCHandle.Alloc(this, GCHandleType.Weak);
            listener.Context = GCHandle.ToIntPtr(self);
            Interlocked.Increment(ref Callbacks.Contexts);
            lock (_gate)
            {
                _contexts++;
                Keep();
            }
            int result = Native.tw_set_listener(Raw, &listener, (uint)wanted);
            if (result != 0)
            {
                self.Free();
                Interlocked.Decrement(ref Callbacks.Contexts);
                Freed();
            }
            return result;
        }

        /// The library has let go of a context: of the last one, as the object has no listener any more, or is gone.
        internal void Freed()
        {
            bool isLast;
            lock (_gate)
            {
                isLast = --_contexts == 0;
                Keep();
            }
            if (isLast)
                OnGone();
        }

        internal bool IsGone
        {
            get
            {
                uint changes;
                bool isGone = (Result)Native.tw_status_changes(Raw, out changes) == Result.BadHandle;
                GC.KeepAlive(this);
                return isGone;
            }
        }

        internal static void Failed(object about, Exception thrown)
        {
            try
            {
                var handlers = EventFailed;
                if (handlers != null)
                    handlers(about, thrown);
                else
                    Console.Error.WriteLine("Tickwire: a handler or an operation has thrown: " + thrown);
            }
            catch
            {
                // There is nobody left to tell.
            }
        }

        internal virtual void OnGone() { }
        internal virtual void OnDataAvailable() { }
        internal virtual void OnMatched(MatchedStatus status) { }
        internal virtual void OnIncompatibleQos(IncompatibleQosStatus status) { }
        internal virtual void OnLivelinessChanged(LivelinessChangedStatus status) { }
        internal virtual void OnDeadlineMissed(DeadlineMissedStatus status) { }
        internal virtual void OnSampleLost(CountStatus status) { }
        internal virtual void OnSampleRejected(SampleRejectedStatus status) { }
        internal virtual void OnLivelinessLost(CountStatus status) { }
        internal virtual void OnInconsistentTopic(CountStatus status) { }
    }

    /// The functions that the library calls. They stay as long as the program runs.
    static unsafe class Callbacks
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        delegate void Free(IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        delegate void Data(IntPtr entity, IntPtr context);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        delegate void Status(IntPtr entity, IntPtr status, IntPtr context);

        static readonly Free FreeContext = context =>
        {
            try
            {
                GCHandle handle = GCHandle.FromIntPtr(context);
                ListeningObject of = (ListeningObject)handle.Target;
                handle.Free();
                if (of != null)
                    of.Freed();
            }
            catch (Exception thrown)
            {
                ListeningObject.Failed(null, thrown);
            }
            finally
            {
                Interlocked.Decrement(ref Contexts);
            }
        };
        static readonly Data DataAvailable = (entity, context) => Tell(context, IntPtr.Zero, (to, _) => to.OnDataAvailable());
        static readonly Status Matched = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnMatched(*(MatchedStatus*)at));
        static readonly Status IncompatibleQos = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnIncompatibleQos(new IncompatibleQosStatus((Native.IncompatibleQos*)at)));
        static readonly Status LivelinessChanged = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnLivelinessChanged(*(LivelinessChangedStatus*)at));
        static readonly Status DeadlineMissed = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnDeadlineMissed(*(DeadlineMissedStatus*)at));
        static readonly Status SampleLost = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnSampleLost(*(CountStatus*)at));
        static readonly Status SampleRejected = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnSampleRejected(*(SampleRejectedStatus*)at));
        static readonly Status LivelinessLost = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnLivelinessLost(*(CountStatus*)at));
        static readonly Status InconsistentTopic = (entity, status, context) =>
            Tell(context, status, (to, at) => to.OnInconsistentTopic(*(CountStatus*)at));

        internal static readonly Native.Listener All = new Native.Listener
        {
            Size = (UIntPtr)sizeof(Native.Listener),
            FreeContext = Marshal.GetFunctionPointerForDelegate(FreeContext),
            DataAvailable = Marshal.GetFunctionPointerForDelegate(DataAvailable),
            SubscriptionMatched = Marshal.GetFunctionPointerForDelegate(Matched),
            RequestedIncompatibleQos = Marshal.GetFunctionPointerForDelegate(IncompatibleQos),
            LivelinessChanged = Marshal.GetFunctionPointerForDelegate(LivelinessChanged),
            RequestedDeadlineMissed = Marshal.GetFunctionPointerForDelegate(DeadlineMissed),
            SampleLost = Marshal.GetFunctionPointerForDelegate(SampleLost),
            SampleRejected = Marshal.GetFunctionPointerForDelegate(SampleRejected),
            PublicationMatched = Marshal.GetFunctionPointerForDelegate(Matched),
            OfferedIncompatibleQos = Marshal.GetFunctionPointerForDelegate(IncompatibleQos),
            OfferedDeadlineMissed = Marshal.GetFunctionPointerForDelegate(DeadlineMissed),
            LivelinessLost = Marshal.GetFunctionPointerForDelegate(LivelinessLost),
            InconsistentTopic = Marshal.GetFunctionPointerForDelegate(InconsistentTopic)
        };

        /// Listeners and calls that the library has, of all objects.
        internal static int Contexts;

        /// Whether this thread is in a handler.
        internal static bool IsInHandler { get { return _handlers > 0; } }

        [ThreadStatic] static int _handlers;

        /// Nothing that is thrown goes through the library.
        static void Tell(IntPtr context, IntPtr status, Action<ListeningObject, IntPtr> tell)
        {
            ListeningObject to = null;
            _handlers++;
            try
            {
                // It may have been collected.
                to = (ListeningObject)GCHandle.FromIntPtr(context).Target;
                if (to != null)
                    tell(to, status);
            }
            catch (Exception thrown)
            {
                // Who disposes of the object meanwhile knows that it is gone.
                if (!(thrown is ObjectDisposedException && to != null && to.IsGone))
                    ListeningObject.Failed(to, thrown);
            }
            finally
            {
                _handlers--;
            }
        }
    }
}
