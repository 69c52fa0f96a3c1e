// Tests of waiting and of events, and of what .NET Core has besides.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using kinds;
using Tickwire;
using Tickwire.Cdr;

static partial class Tests
{
    // -- Waiting --

    static void TestWaitSetsWaitForAnyCondition()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var unread = pair.Reader.CreateReadCondition(SampleStates.NotRead))
        using (var waits = new WaitSet(guard, unread))
        {
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            guard.Set(true);
            Is(waits.Wait(Long).Single(), (Condition)guard);
            guard.Set(false);
            pair.Writer.Write(Value("A"));
            Is(waits.Wait(Long).Single(), (Condition)unread);
            True(unread.Holds && !guard.Holds, "they hold");
            waits.Detach(unread);
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            using (var matched = pair.Writer.CreateStatusCondition(Statuses.PublicationMatched))
            {
                waits.Attach(matched);
                Is(waits.Wait(Long).Single(), matched);
                Is(pair.Writer.PublicationMatchedStatus.CurrentCount, 1u);
            }
        }
    }

    static void TestConditionsThatAreGoneCanBeDetached()
    {
        using (var pair = new Pair())
        {
            var waits = new WaitSet();
            var one = pair.Reader.CreateReadCondition(SampleStates.Any);
            var two = pair.Reader.CreateReadCondition(SampleStates.Any);
            waits.Attach(one);
            waits.Attach(two);
            one.Dispose();
            pair.Reader.Dispose();
            waits.Detach(one);
            waits.Detach(two);
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            waits.Dispose();
            Throws<ObjectDisposedException>(() => waits.Detach(two));
        }
    }

    static void TestQueriesAndFilters()
    {
        using (var pair = new Pair())
        using (var some = pair.Reader.CreateQueryCondition(SampleStates.Any, "seven > %0 ORDER BY seven", "1"))
        using (var filtered = pair.Participant.CreateReader(pair.Topic.Filter("symbol = %0", "'B'"), Reliable))
        {
            True(pair.Writer.WaitForMatched(2, Long), "they match");
            foreach (int seven in new[] { 3, 1, 2 })
                pair.Writer.Write(Value("A", seven));
            pair.Writer.Write(Value("B", 0));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            Is(string.Join(" ", pair.Reader.Read(some).Select(sample => sample.Data.seven)), "2 3");
            some.SetParameters("2");
            Is(pair.Reader.Take(some).Single().Data.seven, 3);
            Is(pair.Reader.Take().Count, 3);
            Is(filtered.Take().Single().Data, Value("B", 0));
        }
    }

    static void TestDisposingOfWhatIsWaitedForEndsTheWait()
    {
        Action<Pair, IDisposable, Action> ends = (pair, disposed, wait) =>
        {
            using (var begun = new ManualResetEventSlim())
            {
                var waits = Task.Run(() =>
                {
                    begun.Set();
                    wait();
                });
                True(begun.Wait(Long), "it waits");
                disposed.Dispose();
                var thrown = Throws<AggregateException>(() => True(waits.Wait(Long), "it ends")).InnerException;
                True(thrown is ObjectDisposedException, thrown.ToString());
            }
        };
        var forEver = Timeout.InfiniteTimeSpan;
        using (var pair = new Pair())
        using (var waits = new WaitSet(new GuardCondition()))
        {
            ends(pair, waits, () => waits.Wait(forEver));
            ends(pair, pair.Reader, () => pair.Reader.WaitForData(forEver));
            ends(pair, pair.Writer, () => pair.Writer.WaitForMatched(5, forEver));
        }
        using (var pair = new Pair())
            ends(pair, pair.Participant, () => pair.Reader.WaitForMatched(5, forEver));
        using (var pair = new Pair())
            ends(pair, pair.Participant, () => pair.Reader.TakeEach(forEver).ToList());
        using (var pair = new Pair())
        {
            True(!pair.Reader.WaitForData(TimeSpan.FromMilliseconds(120)), "there is none");
            pair.Writer.Write(Value("A"));
            True(pair.Reader.WaitForData(forEver), "there is one");
        }
    }

    static void TestTasksCompleteWithDataAndEndWithTheReader()
    {
        using (var pair = new Pair())
        {
            var waiting = pair.Reader.TakeAsync();
            True(!waiting.IsCompleted, "nothing is there");
            pair.Writer.Write(Value("A"));
            True(waiting.Wait(Long), "data");
            Is(waiting.Result.Single().Data, Value("A"));
            pair.Writer.Write(Value("B"));
            True(pair.Reader.WaitAsync().Wait(Long), "data");
            pair.Reader.Take();

            var cancel = new CancellationTokenSource();
            var cancelled = pair.Reader.WaitAsync(cancel.Token);
            cancel.Cancel();
            True(Throws<AggregateException>(() => cancelled.Wait(Long)).InnerException is OperationCanceledException, "cancelled");

            var ended = pair.Reader.WaitAsync();
            pair.Reader.Dispose();
            True(Throws<AggregateException>(() => ended.Wait(Long)).InnerException is ObjectDisposedException, "ended");
        }
    }

    static void TestTasksDoNotCompleteWithWhatWasTakenBefore()
    {
        using (var pair = new Pair())
        {
            for (int i = 0; i < 500; i++)
            {
                pair.Writer.Write(Value("A", i));
                Is(pair.Next().seven, i);
                using (var cancel = new CancellationTokenSource())
                {
                    var waits = pair.Reader.WaitAsync(cancel.Token);
                    cancel.Cancel();
                    Throws<OperationCanceledException>(() => waits.GetAwaiter().GetResult());
                }
            }
        }
    }

    static void TestManyTasksWaitForOneReader()
    {
        using (var pair = new Pair())
        {
            var all = Enumerable.Range(0, 8).Select(_ => pair.Reader.TakeAsync(1)).ToArray();
            for (int i = 0; i < 8; i++)
                pair.Writer.Write(Value("A", i));
            True(Task.WaitAll(all, Long), "all have one");
            Is(all.Select(task => task.Result.Single().Data.seven).Distinct().Count(), 8);
        }
    }

    static void TestWhoPollsDrivesTheParticipant()
    {
        using (var participant = new DomainParticipant(0, new Qos { ["participant.driving"] = "polled" }))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            int called = 0;
            reader.DataAvailable += _ => called = Thread.CurrentThread.ManagedThreadId;
            writer.Write(Value("A"));
            while (called == 0)
                participant.Poll(Long);
            Is(called, Thread.CurrentThread.ManagedThreadId);
            Is(reader.Take().Single().Data, Value("A"));
        }
    }

    // -- Events --

    static void TestEventsTellOfDataAndMatches()
    {
        using (var pair = new Pair())
        using (var data = new SemaphoreSlim(0))
        using (var matched = new SemaphoreSlim(0))
        {
            pair.Reader.SubscriptionMatched += (reader, status) =>
            {
                if (reader == pair.Reader && status.CurrentCount == 2)
                    matched.Release();
            };
            Action<DataReader<All>> count = reader => data.Release();
            pair.Reader.DataAvailable += count;
            pair.Writer.Write(Value("A"));
            True(data.Wait(Long), "data");
            using (pair.Participant.CreateWriter(pair.Topic, Reliable))
                True(matched.Wait(Long), "matched");
            pair.Reader.DataAvailable -= count;
        }
    }

    static void TestTheFirstHandlerIsToldOfWhatCameBefore()
    {
        // The library's thread is as fast as the one that adds a handler, or is not: some of many times it was.
        for (int i = 0; i < 30; i++)
            using (var pair = new Pair())
            using (var data = new SemaphoreSlim(0))
            {
                pair.Writer.Write(Value("A"));
                True(pair.Reader.WaitForData(Long), "it has come");
                pair.Reader.DataAvailable += reader => data.Release();
                True(data.Wait(Long), "data " + i);
            }
    }

    static void TestWhatHandlersThrowIsReported()
    {
        using (var told = new ManualResetEvent(false))
        {
            object reader = null;
            Action<object, Exception> report = (about, thrown) =>
            {
                if (about == reader && thrown.Message == "on purpose")
                    told.Set();
            };
            ListeningObject.EventFailed += report;
            using (var pair = new Pair())
            {
                reader = pair.Reader;
                pair.Reader.DataAvailable += _ => { throw new Exception("on purpose"); };
                pair.Writer.Write(Value("A"));
                True(told.WaitOne(Long), "told");
                Is(pair.Next(), Value("A"));
            }
            ListeningObject.EventFailed -= report;
        }
    }

    static void TestWhoDoesNotMatchIsToldWhy()
    {
        using (var participant = new DomainParticipant(0))
        using (var told = new SemaphoreSlim(0))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = participant.CreateWriter(topic, new Qos { Writer = { Reliability = Reliability.BestEffort } });
            string why = "";
            writer.OfferedIncompatibleQos += (_, status) =>
            {
                why = status.Why;
                told.Release();
            };
            var reader = participant.CreateReader(topic, Reliable);
            True(told.Wait(Long), "told");
            True(why.Contains("RELIABILITY"), why);
            Is(reader.RequestedIncompatibleQosStatus.TotalCount, 1u);
        }
    }

    static void TestTopicsOfOneNameAreToldEachOfWhatDoesNotFit()
    {
        using (var participant = new DomainParticipant(0))
        using (var one = new SemaphoreSlim(0))
        using (var two = new SemaphoreSlim(0))
        {
            var topics = new[] { participant.CreateTopic<All>("Twice"), participant.CreateTopic<All>("Twice") };
            Action<Topic<All>, CountStatus> tell = (topic, status) => (topic == topics[0] ? one : two).Release();
            topics[0].InconsistentTopic += tell;
            topics[1].InconsistentTopic += tell;
            participant.CreateReader(topics[0], Reliable);
            using (var other = new DomainParticipant(0))
            using (other.CreateWriter(other.CreateTopic<Names>("Twice"), Reliable))
            {
                True(one.Wait(Long), "the first is told");
                True(two.Wait(Long), "the second is told");
            }
            topics[1].InconsistentTopic -= tell;
            using (var other = new DomainParticipant(0))
            using (other.CreateWriter(other.CreateTopic<Far>("Twice"), Reliable))
                True(one.Wait(Long), "the first is told again");
            Is(two.CurrentCount, 0);
        }
    }

    static void TestDeadlinesAndLivelinessAreTold()
    {
        var qos = new Qos
        {
            Writer = { Deadline = TimeSpan.FromMilliseconds(20), ["liveliness.kind"] = "manual_by_topic",
                ["liveliness.lease_duration"] = "20ms" },
            Reader = { Deadline = TimeSpan.FromMilliseconds(20), Reliability = Reliability.Reliable }
        };
        using (var pair = new Pair(qos))
        using (var missed = new SemaphoreSlim(0))
        using (var lost = new SemaphoreSlim(0))
        {
            pair.Reader.RequestedDeadlineMissed += (_, status) => missed.Release();
            pair.Writer.OfferedDeadlineMissed += (_, status) => missed.Release();
            pair.Writer.LivelinessLost += (_, status) => lost.Release();
            pair.Writer.Write(Value("A"));
            True(missed.Wait(Long) && missed.Wait(Long), "missed");
            True(lost.Wait(Long), "lost");
            pair.Writer.AssertLiveliness();
        }
    }

    static void TestHandlersMayDoAnything()
    {
        using (var pair = new Pair())
        using (var done = new SemaphoreSlim(0))
        {
            int left = 100;
            pair.Reader.DataAvailable += reader =>
            {
                if (left == 0)
                    return;
                foreach (var sample in reader.Take())
                {
                    if (--left > 0)
                        pair.Writer.Write(sample.Data);
                    else
                        done.Release();
                }
                // Other handlers come meanwhile.
                reader.SampleLost += (_, status) => { };
            };
            pair.Writer.Write(Value("A"));
            True(done.Wait(Long), "all came");
        }
    }

    static void TestCoherentSetsComeWhole()
    {
        var qos = new Qos
        {
            Writer = { History = History.KeepAll },
            Reader = { Reliability = Reliability.Reliable, History = History.KeepAll },
            ["publisher.presentation.coherent_access"] = "true", ["publisher.presentation.access_scope"] = "topic",
            ["subscriber.presentation.coherent_access"] = "true", ["subscriber.presentation.access_scope"] = "topic"
        };
        using (var participant = new DomainParticipant(0))
        using (var publisher = participant.CreatePublisher(qos))
        using (var subscriber = participant.CreateSubscriber(qos))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = publisher.CreateWriter(topic, qos);
            var reader = subscriber.CreateReader(topic, qos);
            True(writer.WaitForMatched(1, Long), "they match");
            publisher.BeginCoherent();
            writer.Write(Value("A"));
            writer.Write(Value("B"));
            publisher.Flush();
            publisher.EndCoherent();
            True(reader.WaitForData(Long), "data");
            Is(reader.Take().Count, 2);
        }
    }

    static void TestReadersEndWithTheLastWhoIsToldOfThem()
    {
        using (var pair = new Pair())
        {
            Action<DataReader<All>> handler = _ => { };
            var left = new List<WeakReference>();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    reader.DataAvailable += handler;
                    reader.DataAvailable -= handler;
                    reader.SampleLost += (_, status) => { };
                    if (i % 2 == 0)
                        left.Add(new WeakReference(reader));
                }
            });
            Apart(Collect);
            Is(left.Count(each => each.IsAlive), 10, "who has handlers");
            left.Clear();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    reader.DataAvailable += handler;
                    var cancel = new CancellationTokenSource();
                    var waits = reader.WaitAsync(cancel.Token);
                    cancel.Cancel();
                    Throws<AggregateException>(() => waits.Wait(Long));
                    reader.DataAvailable -= handler;
                    left.Add(new WeakReference(reader));
                }
            });
            Apart(Collect);
            FewLive(left);
        }
    }

    static void TestWhatIsDisposedOfIsKeptByNobody()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var waits = new WaitSet())
        {
            var left = new List<WeakReference>();
            int told = 0;
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    var condition = reader.CreateReadCondition(SampleStates.Any);
                    waits.Attach(condition);
                    (i % 2 == 0 ? (IDisposable)condition : reader).Dispose();
                    left.Add(new WeakReference(reader));
                    // Topics of one name share what the participant keeps.
                    var topic = pair.Participant.CreateTopic<All>("All");
                    topic.InconsistentTopic += (_, status) => told++;
                    topic.Dispose();
                    Throws<ObjectDisposedException>(() => topic.InconsistentTopic += (_, status) => told++);
                    left.Add(new WeakReference(topic));
                }
            });
            Apart(Collect);
            FewLive(left);
            waits.Attach(guard);
        }
    }

    static void TestWaitSetsLetGoOfConditionsThatAreGone()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var waits = new WaitSet(guard))
        {
            var left = new List<WeakReference>();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var subscriber = pair.Participant.CreateSubscriber();
                    var reader = subscriber.CreateReader(pair.Topic, Reliable);
                    var condition = reader.CreateReadCondition(SampleStates.Any);
                    waits.Attach(condition);
                    new TickwireObject[] { condition, reader, subscriber }[i % 3].Dispose();
                    left.Add(new WeakReference(condition));
                }
            });
            Apart(Collect);
            FewLive(left);
            guard.Set(true);
            Is(waits.Wait(Long).Single(), (Condition)guard, "it has what is left");
        }
    }

    /// The stacks of threads that have ended keep nothing.
    static void Apart(Action action)
    {
        var thread = new Thread(() => action());
        thread.Start();
        thread.Join();
    }

    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    /// Mono looks at stacks by guess.
    static void FewLive(List<WeakReference> left)
    {
        int live = left.Count(each => each.IsAlive);
        True(live <= 5, live + " live");
    }

    static void TestWhatNobodyHasIsCollected()
    {
        for (int i = 0; i < 3; i++)
            new DomainParticipant(0).CreateTopic<All>("All");
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        using (var pair = new Pair())
        {
            pair.Reader.TakeRaw();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            pair.Writer.Write(Value("A"));
            Is(pair.Next(), Value("A"));
        }
    }

#if NETCOREAPP
    // -- What .NET Core has besides --

    static void TestSpansAreWrittenAndRead()
    {
        using (var participant = new DomainParticipant(0))
        {
            var topic = participant.CreateBytesTopic("Spans");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            Span<byte> bytes = stackalloc byte[3] { 1, 2, 3 };
            writer.WriteRaw(bytes);
            using (var loan = writer.Loan(4))
            {
                loan.Span.Fill(9);
                loan.Write(4);
            }
            True(writer.WaitForAcknowledgments(Long), "acknowledged");
            using (var samples = reader.TakeRaw())
            {
                True(samples[0].Span.SequenceEqual(bytes), "the same bytes");
                Is(samples[1].Span[3], (byte)9);
            }
        }
    }

    static void TestStreamsBeginWithWhatWasReadBefore()
    {
        using (var pair = new Pair())
        {
            for (int i = 0; i < 3; i++)
                pair.Writer.Write(Value("A", i));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            Is(pair.Reader.Read().Count, 3);
            var seen = new List<int>();
            Func<Task> follow = async () =>
            {
                await foreach (var sample in pair.Reader.StreamAsync())
                {
                    seen.Add(sample.Data.seven);
                    if (seen.Count == 3)
                        break;
                }
            };
            True(follow().Wait(Long), "all came");
            Is(string.Join(" ", seen), "0 1 2");
        }
    }

    static void TestStreamsGoOnUntilTheyAreCancelled()
    {
        using (var pair = new Pair())
        {
            var seen = new List<int>();
            var cancel = new CancellationTokenSource();
            Func<Task> follow = async () =>
            {
                await foreach (var sample in pair.Reader.StreamAsync(cancel.Token))
                {
                    seen.Add(sample.Data.seven);
                    if (seen.Count == 3)
                        cancel.Cancel();
                }
            };
            var following = follow();
            for (int i = 0; i < 3; i++)
                pair.Writer.Write(Value("A", i));
            Throws<AggregateException>(() => following.Wait(Long));
            Is(string.Join(" ", seen), "0 1 2");
        }
    }
#endif
}
