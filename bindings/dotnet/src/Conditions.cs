using System;
using System.Collections.Generic;
using System.Linq;

namespace Tickwire
{
    /// <summary>What a wait set waits for.</summary>
    public class Condition : TickwireObject
    {
        internal Condition(IntPtr made, TickwireObject of) : base(made, of) { }

        /// <summary>Whether it holds now.</summary>
        public bool Holds
        {
            get
            {
                int holds;
                Check(Native.tw_condition_holds(Raw, out holds));
                return holds != 0;
            }
        }

        /// It was disposed of, or what it is of was.
        internal bool IsGone
        {
            get
            {
                int holds;
                bool isGone = (Result)Native.tw_condition_holds(Raw, out holds) == Result.BadHandle;
                GC.KeepAlive(this);
                return isGone;
            }
        }
    }

    /// <summary>Holds while a reader has samples in some states, and by which these are taken.</summary>
    public sealed class ReadCondition : Condition
    {
        internal ReadCondition(IntPtr made, TickwireObject of) : base(made, of) { }

        /// <summary>Changes what %0, %1 ... of a query stand for.</summary>
        public void SetParameters(params string[] parameters)
        {
            using (Texts texts = new Texts(parameters))
                Check(Native.tw_query_set_parameters(Raw, texts.All, texts.Count));
        }
    }

    /// <summary>A condition that the program sets by hand.</summary>
    public sealed class GuardCondition : Condition
    {
        /// <summary>One that does not hold.</summary>
        public GuardCondition() : base(Create(), null) { }

        static IntPtr Create()
        {
            IntPtr made;
            TickwireException.Check(Native.tw_guard_create(out made));
            return made;
        }

        /// <summary>Says whether it holds.</summary>
        public void Set(bool holds) { Check(Native.tw_guard_set(Raw, holds ? 1 : 0)); }
    }

    /// <summary>Waits for any of several conditions.</summary>
    public sealed class WaitSet : TickwireObject
    {
        /// Those that there are, which are told when a condition may be gone.
        static readonly List<WeakReference<WaitSet>> All = new List<WeakReference<WaitSet>>();

        readonly Dictionary<IntPtr, Condition> _conditions = new Dictionary<IntPtr, Condition>();

        /// <summary>One with these conditions.</summary>
        public WaitSet(params Condition[] conditions) : base(Create())
        {
            lock (All)
            {
                WaitSet known;
                All.RemoveAll(each => !each.TryGetTarget(out known));
                All.Add(new WeakReference<WaitSet>(this));
            }
            foreach (Condition condition in conditions)
                Attach(condition);
        }

        static IntPtr Create()
        {
            IntPtr made;
            TickwireException.Check(Native.tw_waitset_create(out made));
            return made;
        }

        /// <summary>Adds a condition. It stays until it is detached, or disposed of, or what it is of is.</summary>
        public void Attach(Condition condition)
        {
            lock (_conditions)
            {
                Check(Native.tw_waitset_attach(Raw, condition.Raw));
                _conditions[condition.Raw] = condition;
            }
        }

        /// Something was disposed of, which may have been a condition, or have taken some along: what is gone is kept by no
        /// wait set.
        internal static void ForgetGone()
        {
            List<WaitSet> waitSets = new List<WaitSet>();
            lock (All)
            {
                foreach (WeakReference<WaitSet> each in All)
                {
                    WaitSet waitSet;
                    if (each.TryGetTarget(out waitSet))
                        waitSets.Add(waitSet);
                }
            }
            foreach (WaitSet waitSet in waitSets)
            {
                lock (waitSet._conditions)
                {
                    foreach (var gone in waitSet._conditions.Where(each => each.Value.IsGone).ToList())
                        waitSet._conditions.Remove(gone.Key);
                }
            }
        }

        /// <summary>Takes a condition away.</summary>
        public void Detach(Condition condition)
        {
            lock (_conditions)
            {
                int result = Native.tw_waitset_detach(Raw, condition.Raw);
                // A condition that is gone is in no wait set any more.
                if ((Result)result != Result.BadHandle || !IsOpen)
                    Check(result);
                _conditions.Remove(condition.Raw);
            }
        }

        /// <summary>Waits until a condition holds; those that do, none if it did not happen in time. Drives participants that
        /// are polled.</summary>
        public List<Condition> Wait(TimeSpan timeout)
        {
            int capacity;
            lock (_conditions)
                capacity = Math.Max(1, _conditions.Count);
            IntPtr[] holding = new IntPtr[capacity];
            List<Condition> found = new List<Condition>();
            UIntPtr count = UIntPtr.Zero;
            if (!WaitInTurns((of, part) => Native.tw_waitset_wait(of, part, holding, (UIntPtr)capacity, out count), timeout))
                return found;
            lock (_conditions)
            {
                for (int i = 0; i < Math.Min(capacity, (int)count); i++)
                {
                    Condition condition;
                    if (_conditions.TryGetValue(holding[i], out condition))
                        found.Add(condition);
                }
            }
            return found;
        }
    }
}
