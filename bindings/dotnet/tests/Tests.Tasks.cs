// Calls of clients that no thread waits for.

using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using kinds;
using kinds.PricesTypes;
using Tickwire;
using Tickwire.Rpc;

static partial class Tests
{
    /// What a task gives or ends with.
    static T Of<T>(Task<T> task)
    {
        Ends(task);
        return task.GetAwaiter().GetResult();
    }

    static void Ends(Task task)
    {
        True(((IAsyncResult)task).AsyncWaitHandle.WaitOne(Long), "the task ends");
        task.GetAwaiter().GetResult();
    }

    static void TestTasksGiveWhatServicesReturn()
    {
        using (var it = new Served())
        {
            True(Of(it.Client.WaitForServiceAsync(Long)), "there is a service");
            Is(Of(it.Client.priceAsync("TICK")), 4.0);
            Is(Of(it.Client.get_nameAsync()), "book");
            Ends(it.Client.set_depthAsync(9));
            Is(Of(it.Client.get_depthAsync()), 9);
            Ends(it.Client.noteAsync("x"));
            Ends(it.Client.haltAsync());
            Is(string.Join(",", it.Book.Noted), "x", "what was noted before");
            var rows = new List<Row> { new Row { price = 5 } };
            var all = Of(it.Client.allAsync(Kind.BEST, rows, "abc"));
            Is(all.return_, new Row { price = 5 });
            Is(all.rows.Count, 2);
            Is(all.rows[1].price, 1.0);
            Is(all.grid[1, 0], 3);
            Is(all.choice.limit, 1.5);
            Is(all.text, "abc!");
            Is(rows.Count, 1, "the list that was passed");
            Words_Dispose_Out disposed = Of(it.Client.Dispose_Async(10, 4));
            Is(string.Join(" ", disposed.return_, disposed.r, disposed.value), "3 10 14");
            Is(Of(it.Client.ToString_Async(Value("A"))), Value("A"));
            Ends(it.Client.Words_Async());
            var many = Of(it.Client.manyAsync(10, 100));
            Is(many.Equals_, "two");
            Is(string.Join(" ", many.return_, many.result, many.a, many.b, many.c), "10 11 14 15 106");
            Is(Of(it.Client.callAsync()), 9);
            it.Service.Dispose();
            Is(it.Count("requests"), 12UL);
            Is(it.Count("returned"), 11UL);
            Is(it.Count("told"), 1UL);
        }
    }

    static void TestTasksFindTheServiceThatComes()
    {
        using (var two = new DomainParticipant(0))
        using (var client = new TwiceClient(two, "Prices", Long))
        {
            var calls = new Task<double>[50];
            for (int i = 0; i < calls.Length; i++)
                calls[i] = client.priceAsync(new string('x', i));
            var told = client.noteAsync("x");
            var found = client.WaitForServiceAsync(Timeout.InfiniteTimeSpan);
            True(!found.IsCompleted, "there is none");
            var book = new Book();
            using (var one = new DomainParticipant(0))
            using (new TwiceService(one, "Prices", book))
            {
                for (int i = 0; i < calls.Length; i++)
                    Is(Of(calls[i]), (double)i);
                Ends(told);
                True(Of(found), "there is one");
                client.halt();
                Is(string.Join(",", book.Noted), "x");
            }
        }
    }

    static void TestTasksEndWithWhatIsThrown()
    {
        using (var it = new Served())
        {
            var closed = Throws<Closed>(() => Of(it.Client.priceAsync("closed")));
            Is(closed.reason, "holiday");
            Is(closed.Message_, 7);
            Throws<Unknown>(() => Of(it.Client.priceAsync("unknown")));
            var refused = it.Client.priceAsync("unsupported");
            Is(Throws<RemoteException>(() => Of(refused)).Code, RemoteExceptionCode.Unsupported);
            True(refused.IsFaulted, "the task has failed");
            // What cannot be written is told by the task, too, and nothing is sent.
            var unwritten = it.Client.priceAsync(null);
            Is(Throws<Tickwire.Cdr.CdrException>(() => Of(unwritten)).Member, "kinds::Prices.price.symbol");
            Throws<Tickwire.Cdr.CdrException>(() => Ends(it.Client.noteAsync(null)));
            Is(Of(it.Client.priceAsync("TICK")), 4.0, "what it goes on with");
            it.Service.Dispose();
            Is(it.Count("requests"), 4UL);
            Is(it.Count("raised"), 2UL);
        }
    }

    static void TestTasksEndInTime()
    {
        using (var it = new Served())
        using (var nobodys = new TwiceClient(it.Two, new ServiceTopics("asked", "answered"), TimeSpan.FromMilliseconds(1)))
        using (var hasty = new TwiceClient(it.Two, "Prices", TimeSpan.FromMilliseconds(1)))
        {
            var late = Throws<TickwireException>(() => Ends(nobodys.haltAsync()));
            Is(late.Result, Result.Timeout);
            Is(late.Message, "no service: nobody reads `asked`, and nobody writes `answered`, after 0.001 s");
            Is(Throws<TickwireException>(() => Ends(nobodys.noteAsync("x"))).Result, Result.Timeout);
            True(!Of(nobodys.WaitForServiceAsync(TimeSpan.Zero)), "there is none");
            Throws<ArgumentOutOfRangeException>(() => Of(nobodys.WaitForServiceAsync(TimeSpan.FromSeconds(-2))));
            True(Of(hasty.WaitForServiceAsync(Long)), "there is one");
            late = Throws<TickwireException>(() => Ends(hasty.waitAsync()));
            Is(late.Result, Result.Timeout);
            Is(late.Message, "no reply after 0.001 s");
            it.Book.Goes.Release();
            Is(Of(it.Client.priceAsync("TICK")), 4.0, "what it goes on with");
        }
    }

    static void TestTasksAreCancelled()
    {
        using (var it = new Served())
        using (var nobodys = new TwiceClient(it.Two, "Nobody", Long))
        using (var before = new CancellationTokenSource())
        using (var cancel = new CancellationTokenSource())
        {
            it.Client.halt();
            before.Cancel();
            True(it.Client.priceAsync("TICK", before.Token).IsCanceled, "it is cancelled at once");
            True(it.Client.noteAsync("x", before.Token).IsCanceled, "it is cancelled at once");
            var waits = it.Client.waitAsync(cancel.Token);
            True(it.Book.Waits.Wait(Long), "it was asked");
            var seeks = nobodys.haltAsync(cancel.Token);
            var tells = nobodys.noteAsync("x", cancel.Token);
            var finds = nobodys.WaitForServiceAsync(Long, cancel.Token);
            cancel.Cancel();
            foreach (var task in new[] { waits, seeks, tells, finds })
            {
                Is(Throws<OperationCanceledException>(() => Ends(task)).CancellationToken, cancel.Token, "what has cancelled it");
                True(task.IsCanceled, "it is cancelled, and has not failed");
            }
            it.Book.Goes.Release();
            Is(Of(it.Client.priceAsync("TICK")), 4.0, "what it goes on with");
            it.Service.Dispose();
            Is(it.Count("requests"), 3UL);
        }
    }

    static void TestACancelledTaskIsNotLate()
    {
        using (var participant = new DomainParticipant(0))
        using (var nobodys = new TwiceClient(participant, "Nobody", Long))
        {
            for (int round = 0; round < 300; round++)
            {
                using (var cancel = new CancellationTokenSource())
                {
                    var seeks = nobodys.haltAsync(cancel.Token);
                    var finds = nobodys.WaitForServiceAsync(Long, cancel.Token);
                    cancel.CancelAfter(round % 7);
                    foreach (var task in new[] { seeks, finds })
                        Throws<OperationCanceledException>(() => Ends(task));
                }
            }
        }
    }

    static void TestATokenWhoseSourceIsGoneEndsATask()
    {
        using (var it = new Served())
        {
            it.Client.halt();
            var cancel = new CancellationTokenSource();
            var token = cancel.Token;
            cancel.Dispose();
            for (int round = 0; round < 10; round++)
            {
                try
                {
                    Is(Of(it.Client.priceAsync("TICK", token)), 4.0, "where such a token is taken for one that never fires");
                }
                catch (ObjectDisposedException)
                {
                }
            }
            Is(Of(it.Client.priceAsync("TICK")), 4.0, "what it goes on with");
        }
    }

    static void TestTasksEndWithTheirClientOrParticipant()
    {
        foreach (bool isClient in new[] { true, false })
        {
            using (var it = new Served())
            using (var nobodys = new TwiceClient(it.Two, "Nobody", Long))
            {
                var asked = it.Client.waitAsync();
                True(it.Book.Waits.Wait(Long), "it was asked");
                var waits = new[] { asked, it.Client.priceAsync("TICK"), nobodys.haltAsync() };
                if (isClient)
                {
                    it.Client.Dispose();
                    nobodys.Dispose();
                }
                else
                {
                    it.Two.Dispose();
                }
                foreach (var task in waits)
                    Throws<ObjectDisposedException>(() => Ends(task));
                Throws<ObjectDisposedException>(() => Ends(it.Client.haltAsync()));
                it.Book.Goes.Release();
            }
        }
    }

    static void TestAHandlerMayBeginATask()
    {
        using (var it = new Served())
        {
            it.Client.halt();
            var qos = Reliable;
            var topic = it.Two.CreateTopic<All>("All");
            var writer = it.Two.CreateWriter(topic, qos);
            var reader = it.Two.CreateReader(topic, qos);
            var begun = new TaskCompletionSource<Task<double>>();
            reader.DataAvailable += _ =>
            {
                if (!begun.Task.IsCompleted)
                    begun.SetResult(it.Client.priceAsync("TICK"));
            };
            True(writer.WaitForMatched(1, Long), "they match");
            writer.Write(Value("A"));
            Is(Of(Of(begun.Task)), 4.0);
        }
    }

    /// Takes requests for the attribute of the interface Named, and answers them when it is told to, as no service does: by the
    /// library itself.
    sealed class Answerer : IDisposable
    {
        [StructLayout(LayoutKind.Sequential)]
        struct Sample
        {
            internal IntPtr Data;
            internal UIntPtr Length;
            internal SampleInfo Info;
        }

        [StructLayout(LayoutKind.Sequential)]
        struct Samples
        {
            internal IntPtr First;
            internal UIntPtr Count;
            internal IntPtr Held;
        }

        [DllImport("tickwire")] static extern int tw_participant_create(uint domain, IntPtr qos, out IntPtr participant);
        [DllImport("tickwire")] static extern int tw_type_from_idl(string idl, string name, IntPtr options, out IntPtr type);
        [DllImport("tickwire")] static extern int tw_replier_create(
            IntPtr participant, string request, string reply, IntPtr requestType, IntPtr replyType, out IntPtr replier);
        [DllImport("tickwire")] static extern int tw_replier_wait(IntPtr replier, long timeout, ref Samples request);
        [DllImport("tickwire")] static extern int tw_replier_reply(
            IntPtr replier, ref EntityGuid writer, long number, byte[] data, UIntPtr length);
        [DllImport("tickwire")] static extern int tw_samples_return(ref Samples samples);
        [DllImport("tickwire")] static extern int tw_delete(IntPtr handle);

        readonly IntPtr _participant, _replier;

        internal Answerer()
        {
            var of = NamedWire.Interface;
            Is(tw_participant_create(0, IntPtr.Zero, out _participant), 0);
            Is(tw_replier_create(
                _participant, "Named_Request", "Named_Reply", Type(of, "Request"), Type(of, "Reply"), out _replier), 0);
        }

        static IntPtr Type(Interface of, string which)
        {
            const BindingFlags own = BindingFlags.Instance | BindingFlags.NonPublic;
            var name = (string)typeof(Interface).GetProperty(which, own).GetValue(of);
            var idl = (string)typeof(Interface).GetField("_" + which.ToLowerInvariant() + "Idl", own).GetValue(of);
            IntPtr type;
            Is(tw_type_from_idl(idl, name, IntPtr.Zero, out type), 0);
            return type;
        }

        internal SampleInfo Take()
        {
            var request = new Samples();
            Is(tw_replier_wait(_replier, (long)Long.TotalMilliseconds * 1000000, ref request), 0);
            var info = Marshal.PtrToStructure<Sample>(request.First).Info;
            tw_samples_return(ref request);
            return info;
        }

        /// Answers with no result but a code: a mutable struct of 8 bytes, with one member of four.
        internal void Refuse(SampleInfo request, RemoteExceptionCode code)
        {
            byte[] reply = { 0, 11, 0, 0, 8, 0, 0, 0, 0xf0, 0x48, 0x8e, 0x2f, (byte)code, 0, 0, 0 };
            var writer = request.Writer;
            Is(tw_replier_reply(_replier, ref writer, request.SequenceNumber, reply, (UIntPtr)reply.Length), 0);
        }

        public void Dispose() { tw_delete(_participant); }
    }

    static void TestTasksEndInWhateverOrderTheyAreAnswered()
    {
        using (var answerer = new Answerer())
        using (var two = new DomainParticipant(0))
        using (var client = new NamedClient(two, "Named", Long))
        {
            var calls = new Task<string>[6];
            var requests = new SampleInfo[6];
            for (int i = 1; i < 6; i++)
            {
                calls[i] = client.get_nameAsync();
                requests[i] = answerer.Take();
            }
            foreach (int i in new[] { 3, 1, 5, 4, 2 })
            {
                True(!calls[i].IsCompleted, "it is under way");
                answerer.Refuse(requests[i], (RemoteExceptionCode)i);
                Is((int)Throws<RemoteException>(() => Of(calls[i])).Code, i);
            }
        }
    }

    static void TestNoThreadWaitsForTasks()
    {
        using (var answerer = new Answerer())
        using (var two = new DomainParticipant(0))
        using (var client = new NamedClient(two, "Named", Long))
        using (var cancel = new CancellationTokenSource())
        {
            True(client.WaitForService(Long), "there is one");
            Func<int> threads = () => Directory.GetFileSystemEntries("/proc/self/task").Length;
            int before = threads();
            var calls = new Task<string>[1024];
            for (int i = 0; i < calls.Length; i++)
                calls[i] = client.get_nameAsync(cancel.Token);
            // All are under way at once.
            for (int i = 0; i < calls.Length; i++)
                answerer.Take();
            True(threads() < before + 100, "there are " + threads() + " threads, " + before + " before");
            Is(Throws<TickwireException>(() => Of(client.get_nameAsync())).Result, Result.OutOfResources);
            // Who does not wait any more makes room.
            cancel.Cancel();
            foreach (var call in calls)
                Throws<OperationCanceledException>(() => Of(call));
            var next = client.get_nameAsync();
            answerer.Refuse(answerer.Take(), RemoteExceptionCode.Unsupported);
            Throws<RemoteException>(() => Of(next));
        }
    }
}
