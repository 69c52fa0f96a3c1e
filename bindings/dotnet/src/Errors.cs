using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Tickwire
{
    /// <summary>Why something was not done (the results of tickwire.h).</summary>
    public enum Result
    {
        /// <summary>It was done.</summary>
        Ok = 0,
        /// <summary>Something else; the message says what.</summary>
        Error = -1,
        /// <summary>What it is about is gone.</summary>
        BadHandle = -2,
        /// <summary>An argument, a text, a setting or an expression cannot be so.</summary>
        BadArgument = -3,
        /// <summary>It did not happen in time.</summary>
        Timeout = -4,
        /// <summary>Memory, sockets, threads, or RESOURCE_LIMITS.</summary>
        OutOfResources = -5,
        /// <summary>Something else must be done first, or another function is meant.</summary>
        Precondition = -6,
        /// <summary>The entity is not enabled.</summary>
        NotEnabled = -7,
        /// <summary>There is no such thing here.</summary>
        Unsupported = -8,
        /// <summary>The policy cannot be changed while the entity lives.</summary>
        Immutable = -9,
        /// <summary>Policies contradict each other.</summary>
        Inconsistent = -10,
        /// <summary>There is no such profile, type or instance.</summary>
        NotFound = -11,
        /// <summary>The buffer is too small.</summary>
        TooSmall = -12,
        /// <summary>The bytes are no sample of the topic's type, or of another encoding than the writer's.</summary>
        BadSample = -13,
        /// <summary>The sample was sent, but is not in the log of the TRANSIENT or PERSISTENT writer.</summary>
        NotStored = -14,
        /// <summary>A fault of Tickwire: please report it.</summary>
        Panic = -15
    }

    /// <summary>What was not done, and what to do about it.</summary>
    public sealed class TickwireException : Exception
    {
        internal TickwireException(Result result, string message) : base(message)
        {
            Result = result;
        }

        /// <summary>Why.</summary>
        public Result Result { get; private set; }

        /// The failure of this thread's last call.
        internal static Exception Last(int result)
        {
            string text = Utf8.Text(Native.tw_last_error());
            if ((Result)result == Result.BadHandle)
            {
                AtExit.Pause();
                return new ObjectDisposedException(null, text);
            }
            return new TickwireException((Result)result, text);
        }

        internal static void Check(int result)
        {
            if (result != 0)
                throw Last(result);
        }
    }

    /// Texts of the library, which are in UTF-8 and end in NUL.
    static unsafe class Utf8
    {
        internal static byte[] Of(string text)
        {
            if (text == null)
                return null;
            if (text.IndexOf('\0') >= 0)
                throw new ArgumentException("there is a NUL in \"" + text.Replace("\0", "\\0") + "\"");
            byte[] bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }

        internal static byte[] Of(string text, string name)
        {
            if (text == null)
                throw new ArgumentNullException(name);
            return Of(text);
        }

        internal static string Text(IntPtr text)
        {
            return Text((byte*)text, int.MaxValue);
        }

        internal static string Text(byte* text, int capacity)
        {
            int length = 0;
            if (text == null)
                return "";
            while (length < capacity && text[length] != 0)
                length++;
            return length == 0 ? "" : Encoding.UTF8.GetString(text, length);
        }

        internal delegate int Fill(byte[] buffer, UIntPtr capacity, out UIntPtr length);

        /// A text that a function writes into a buffer.
        internal static string Text(Fill fill)
        {
            byte[] buffer = new byte[256];
            for (;;)
            {
                UIntPtr length;
                int result = fill(buffer, (UIntPtr)buffer.Length, out length);
                if (result == 0)
                    return Encoding.UTF8.GetString(buffer, 0, (int)length);
                if ((Result)result != Result.TooSmall)
                    throw TickwireException.Last(result);
                buffer = new byte[checked((int)length + 1)];
            }
        }
    }

    /// Several texts for one call.
    sealed class Texts : IDisposable
    {
        internal readonly IntPtr[] All;

        internal Texts(string[] texts)
        {
            All = new IntPtr[texts == null ? 0 : texts.Length];
            try
            {
                for (int i = 0; i < All.Length; i++)
                {
                    byte[] bytes = Utf8.Of(texts[i], "parameters");
                    All[i] = Marshal.AllocHGlobal(bytes.Length);
                    Marshal.Copy(bytes, 0, All[i], bytes.Length);
                }
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal UIntPtr Count { get { return (UIntPtr)All.Length; } }

        public void Dispose()
        {
            for (int i = 0; i < All.Length; i++)
            {
                Marshal.FreeHGlobal(All[i]);
                All[i] = IntPtr.Zero;
            }
        }
    }
}
