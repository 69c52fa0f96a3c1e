using System;
using System.Collections.Generic;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>Keys of maps, hashed with a number that nobody else knows: who sends payloads cannot choose keys that all collide,
    /// and so make a map take the square of its length in time. For generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static class MapKeys
    {
        /// <summary>Of <c>int</c>.</summary>
        public static readonly IEqualityComparer<int> Int32 = new Int32Keys();
        /// <summary>Of <c>uint</c>.</summary>
        public static readonly IEqualityComparer<uint> UInt32 = new UInt32Keys();
        /// <summary>Of <c>long</c>.</summary>
        public static readonly IEqualityComparer<long> Int64 = new Int64Keys();
        /// <summary>Of <c>ulong</c>.</summary>
        public static readonly IEqualityComparer<ulong> UInt64 = new UInt64Keys();
        /// <summary>Of <c>string</c>.</summary>
        public static readonly IEqualityComparer<string> String = new StringKeys();

        /// A hash is a polynomial at a secret place, modulo this prime: of two keys it is the same with a probability of their
        /// length in this.
        const ulong Prime = (1UL << 31) - 1;

        static readonly ulong Place = Secret();
        static readonly ulong First = Secret();

        static ulong Secret()
        {
            // The system's random numbers, for which .NET Core needs no OpenSSL.
            return BitConverter.ToUInt64(Guid.NewGuid().ToByteArray(), 0) % (Prime - 2) + 1;
        }

        /// A digit less than the prime is added to a hash.
        static ulong Next(ulong hash, ulong digit)
        {
            hash = hash * Place + digit;
            hash = (hash & Prime) + (hash >> 31);
            return hash < Prime ? hash : hash - Prime;
        }

        static int Of(ulong key)
        {
            ulong hash = Next(First, key & 0x3fffff);
            hash = Next(hash, key >> 22 & 0x3fffff);
            return (int)Next(hash, key >> 44);
        }

        sealed class Int32Keys : IEqualityComparer<int>
        {
            public bool Equals(int one, int other) { return one == other; }
            public int GetHashCode(int key) { return Of(unchecked((uint)key)); }
        }

        sealed class UInt32Keys : IEqualityComparer<uint>
        {
            public bool Equals(uint one, uint other) { return one == other; }
            public int GetHashCode(uint key) { return Of(key); }
        }

        sealed class Int64Keys : IEqualityComparer<long>
        {
            public bool Equals(long one, long other) { return one == other; }
            public int GetHashCode(long key) { return Of(unchecked((ulong)key)); }
        }

        sealed class UInt64Keys : IEqualityComparer<ulong>
        {
            public bool Equals(ulong one, ulong other) { return one == other; }
            public int GetHashCode(ulong key) { return Of(key); }
        }

        sealed class StringKeys : IEqualityComparer<string>
        {
            public bool Equals(string one, string other) { return one == other; }

            public int GetHashCode(string key)
            {
                ulong hash = First;
                foreach (char unit in key)
                    hash = Next(hash, unit);
                return (int)hash;
            }
        }
    }
}
