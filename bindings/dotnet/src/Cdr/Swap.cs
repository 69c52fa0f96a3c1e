using System;

namespace Tickwire.Cdr
{
    /// Byte orders.
    static unsafe class Swap
    {
        internal static ushort Of(ushort bits)
        {
            return (ushort)(bits << 8 | bits >> 8);
        }

        internal static uint Of(uint bits)
        {
            bits = (bits & 0x00ff00ffu) << 8 | (bits >> 8 & 0x00ff00ffu);
            return bits << 16 | bits >> 16;
        }

        internal static ulong Of(ulong bits)
        {
            return (ulong)Of((uint)bits) << 32 | Of((uint)(bits >> 32));
        }

        /// Copies numbers of <paramref name="size"/> bytes.
        internal static void Copy(byte* to, byte* from, int count, int size, bool swap)
        {
            long bytes = (long)count * size;
            if (bytes == 0)
                return;
            if (!swap || size == 1)
            {
                Buffer.MemoryCopy(from, to, bytes, bytes);
                return;
            }
            for (long i = 0; i < bytes; i++)
                to[i ^ (size - 1)] = from[i];
        }
    }
}
