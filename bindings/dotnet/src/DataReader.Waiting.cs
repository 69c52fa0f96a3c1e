using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Tickwire
{
    // Waiting, on a thread or without one.
    public sealed partial class DataReader<T>
    {
        readonly object _waiting = new object();
        readonly List<TaskCompletionSource<bool>> _waiters = new List<TaskCompletionSource<bool>>();
        /// How many these are, for who need not look at them: a task that begins to wait is counted before it asks for samples, under
        /// the lock under which these come, so that it has what came before it was seen here.
        volatile int _waiterCount;
        static readonly Waiting ForData = Native.tw_reader_wait_for_data;
        ReadCondition _unread;
        Action<DataReader<T>> _dataAvailable;

        /// <summary>Waits until there is a sample that was not read; false if it did not happen in time.</summary>
        public bool WaitForData(TimeSpan timeout)
        {
            return Wait(ForData, timeout);
        }

        /// <summary>Waits until at least so many writers match.</summary>
        public bool WaitForMatched(int count, TimeSpan timeout)
        {
            uint least = checked((uint)count);
            return Wait((of, part) => Native.tw_reader_wait_for_matched(of, least, part), timeout);
        }

        /// <summary>Waits until what the writers that match now had written before they matched has come, or never will.</summary>
        public bool WaitForHistoricalData(TimeSpan timeout)
        {
            return Wait(Native.tw_reader_wait_for_historical_data, timeout);
        }

        /// <summary>Takes samples one by one, and waits for more; ends when none has come in time.</summary>
        public IEnumerable<Sample<T>> TakeEach(TimeSpan timeout)
        {
            for (;;)
            {
                List<Sample<T>> next = Take(1);
                if (next.Count > 0)
                    yield return next[0];
                else if (!WaitForData(timeout))
                    yield break;
            }
        }

        /// <summary>Completes when there is a sample that was not read. No thread waits.</summary>
        public async Task WaitAsync(CancellationToken cancel = default(CancellationToken))
        {
            cancel.ThrowIfCancellationRequested();
            lock (_waiting)
            {
                if (_unread == null)
                    _unread = CreateReadCondition(SampleStates.NotRead);
            }
            Waits(true);
            try
            {
                Need(Statuses.DataAvailable);
                // What is told may have been taken before, by who did not wait to be told.
                while (!await ToldAsync(cancel).ConfigureAwait(false)) { }
            }
            finally
            {
                Waits(false);
            }
        }

        /// Completes when there is such a sample, or it is told that there are data, and with whether there is one.
        async Task<bool> ToldAsync(CancellationToken cancel)
        {
            TaskCompletionSource<bool> waiter =
                new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_waiting)
            {
                _waiters.Add(waiter);
                _waiterCount = _waiters.Count;
            }
            try
            {
                // What comes from here on is told; what came before is there already.
                if (_unread.Holds)
                    return true;
                using (cancel.Register(() => waiter.TrySetCanceled(cancel)))
                    await waiter.Task.ConfigureAwait(false);
            }
            finally
            {
                lock (_waiting)
                {
                    _waiters.Remove(waiter);
                    _waiterCount = _waiters.Count;
                }
            }
            return _unread.Holds;
        }

        /// <summary>Takes samples, at most <paramref name="max"/> or all if that is 0, as soon as there are any.</summary>
        public async Task<List<Sample<T>>> TakeAsync(
            int max = 0, CancellationToken cancel = default(CancellationToken))
        {
            for (;;)
            {
                List<Sample<T>> samples = Take(max);
                if (samples.Count > 0)
                    return samples;
                await WaitAsync(cancel).ConfigureAwait(false);
            }
        }

#if NETCOREAPP || NETSTANDARD2_1
        /// <summary>Takes samples as they come, until it is cancelled.</summary>
        public async IAsyncEnumerable<Sample<T>> StreamAsync(
            [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancel = default)
        {
            for (;;)
            {
                cancel.ThrowIfCancellationRequested();
                List<Sample<T>> next = Take(1);
                if (next.Count > 0)
                    yield return next[0];
                else
                    await WaitAsync(cancel).ConfigureAwait(false);
            }
        }
#endif

        /// <summary>Data are there that were not read. The first handler is told of those that came before it, too, unless a task
        /// has waited for data before.</summary>
        public event Action<DataReader<T>> DataAvailable
        {
            add
            {
                // In this order: the library tells what has come as soon as it has a listener.
                Change(Statuses.DataAvailable, ref _dataAvailable, value, true);
                // Tasks may wait for it, too, when there is no handler any more.
                Need(Statuses.DataAvailable);
            }
            remove { Change(Statuses.DataAvailable, ref _dataAvailable, value, false); }
        }

        internal override void OnGone()
        {
            foreach (TaskCompletionSource<bool> waiter in Waiters())
                waiter.TrySetException(new ObjectDisposedException("DataReader"));
        }

        /// Who waits; from here on nobody does.
        TaskCompletionSource<bool>[] Waiters()
        {
            lock (_waiting)
            {
                TaskCompletionSource<bool>[] waiters = _waiters.ToArray();
                _waiters.Clear();
                _waiterCount = 0;
                return waiters;
            }
        }

        internal override void OnDataAvailable()
        {
            if (_waiterCount > 0)
            {
                foreach (TaskCompletionSource<bool> waiter in Waiters())
                    waiter.TrySetResult(true);
            }
            Action<DataReader<T>> handlers = _dataAvailable;
            if (handlers != null)
                handlers(this);
        }
    }
}
