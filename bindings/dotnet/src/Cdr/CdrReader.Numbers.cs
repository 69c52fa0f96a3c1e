using System.Runtime.CompilerServices;

namespace Tickwire.Cdr
{
    // Numbers: Get takes one from the bytes that were found, Read finds them, ReadAll is for arrays and ReadSequence for
    // sequences.
    public sealed unsafe partial class CdrReader
    {
        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public byte GetByte(int offset)
        {
            return _at[offset];
        }

        /// <summary>For generated code.</summary>
        public bool ReadByte(out byte value)
        {
            value = 0;
            if (!Take(1, 1))
                return false;
            value = GetByte(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, byte[] values)
        {
            fixed (byte* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 1, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(byte[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 1)
                return Reject(CdrStatus.End);
            if (!Take(1, values.Length * 1))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref byte[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 1, out length))
                return false;
            if (values == null || values.Length != length)
                values = new byte[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public sbyte GetSByte(int offset)
        {
            return (sbyte)_at[offset];
        }

        /// <summary>For generated code.</summary>
        public bool ReadSByte(out sbyte value)
        {
            value = 0;
            if (!Take(1, 1))
                return false;
            value = GetSByte(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, sbyte[] values)
        {
            fixed (sbyte* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 1, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(sbyte[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 1)
                return Reject(CdrStatus.End);
            if (!Take(1, values.Length * 1))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref sbyte[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 1, out length))
                return false;
            if (values == null || values.Length != length)
                values = new sbyte[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public ushort GetUInt16(int offset)
        {
            ushort value = *(ushort*)(_at + offset);
            return _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        public bool ReadUInt16(out ushort value)
        {
            value = 0;
            if (!Take(2, 2))
                return false;
            value = GetUInt16(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, ushort[] values)
        {
            fixed (ushort* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(ushort[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Reject(CdrStatus.End);
            if (!Take(2, values.Length * 2))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref ushort[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 2, out length))
                return false;
            if (values == null || values.Length != length)
                values = new ushort[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public short GetInt16(int offset)
        {
            return (short)GetUInt16(offset);
        }

        /// <summary>For generated code.</summary>
        public bool ReadInt16(out short value)
        {
            value = 0;
            if (!Take(2, 2))
                return false;
            value = GetInt16(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, short[] values)
        {
            fixed (short* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(short[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Reject(CdrStatus.End);
            if (!Take(2, values.Length * 2))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref short[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 2, out length))
                return false;
            if (values == null || values.Length != length)
                values = new short[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public uint GetUInt32(int offset)
        {
            uint value = *(uint*)(_at + offset);
            return _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        public bool ReadUInt32(out uint value)
        {
            value = 0;
            if (!Take(4, 4))
                return false;
            value = GetUInt32(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, uint[] values)
        {
            fixed (uint* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(uint[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Reject(CdrStatus.End);
            if (!Take(4, values.Length * 4))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref uint[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 4, out length))
                return false;
            if (values == null || values.Length != length)
                values = new uint[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public int GetInt32(int offset)
        {
            return (int)GetUInt32(offset);
        }

        /// <summary>For generated code.</summary>
        public bool ReadInt32(out int value)
        {
            value = 0;
            if (!Take(4, 4))
                return false;
            value = GetInt32(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, int[] values)
        {
            fixed (int* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(int[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Reject(CdrStatus.End);
            if (!Take(4, values.Length * 4))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref int[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 4, out length))
                return false;
            if (values == null || values.Length != length)
                values = new int[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public ulong GetUInt64(int offset)
        {
            ulong value = *(ulong*)(_at + offset);
            return _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        public bool ReadUInt64(out ulong value)
        {
            value = 0;
            if (!Take(8, 8))
                return false;
            value = GetUInt64(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, ulong[] values)
        {
            fixed (ulong* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(ulong[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Reject(CdrStatus.End);
            if (!Take(8, values.Length * 8))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref ulong[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 8, out length))
                return false;
            if (values == null || values.Length != length)
                values = new ulong[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public long GetInt64(int offset)
        {
            return (long)GetUInt64(offset);
        }

        /// <summary>For generated code.</summary>
        public bool ReadInt64(out long value)
        {
            value = 0;
            if (!Take(8, 8))
                return false;
            value = GetInt64(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, long[] values)
        {
            fixed (long* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(long[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Reject(CdrStatus.End);
            if (!Take(8, values.Length * 8))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref long[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 8, out length))
                return false;
            if (values == null || values.Length != length)
                values = new long[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public float GetSingle(int offset)
        {
            uint value = GetUInt32(offset);
            return *(float*)&value;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSingle(out float value)
        {
            value = 0;
            if (!Take(4, 4))
                return false;
            value = GetSingle(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, float[] values)
        {
            fixed (float* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(float[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Reject(CdrStatus.End);
            if (!Take(4, values.Length * 4))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref float[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 4, out length))
                return false;
            if (values == null || values.Length != length)
                values = new float[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public double GetDouble(int offset)
        {
            ulong value = GetUInt64(offset);
            return *(double*)&value;
        }

        /// <summary>For generated code.</summary>
        public bool ReadDouble(out double value)
        {
            value = 0;
            if (!Take(8, 8))
                return false;
            value = GetDouble(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, double[] values)
        {
            fixed (double* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(double[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Reject(CdrStatus.End);
            if (!Take(8, values.Length * 8))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref double[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 8, out length))
                return false;
            if (values == null || values.Length != length)
                values = new double[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public char GetWChar(int offset)
        {
            return (char)GetUInt16(offset);
        }

        /// <summary>For generated code.</summary>
        public bool ReadWChar(out char value)
        {
            value = '\0';
            if (!Take(2, 2))
                return false;
            value = GetWChar(0);
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAll(int offset, char[] values)
        {
            fixed (char* to = values)
                Swap.Copy((byte*)to, _at + offset, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(char[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Reject(CdrStatus.End);
            if (!Take(2, values.Length * 2))
                return false;
            GetAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref char[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 2, out length))
                return false;
            if (values == null || values.Length != length)
                values = new char[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        public bool GetBoolean(int offset, out bool value)
        {
            byte bits = _at[offset];
            value = bits == 1;
            return bits <= 1 || Reject(CdrStatus.Boolean);
        }

        /// <summary>For generated code.</summary>
        public bool ReadBoolean(out bool value)
        {
            value = false;
            return Take(1, 1) && GetBoolean(0, out value);
        }

        /// <summary>For generated code.</summary>
        public bool ReadAll(bool[] values)
        {
            if (values.Length == 0)
                return true;
            if (!Take(1, values.Length))
                return false;
            int all = 0;
            for (int i = 0; i < values.Length; i++)
            {
                values[i] = _at[i] == 1;
                all |= _at[i];
            }
            return all <= 1 || Reject(CdrStatus.Boolean);
        }

        /// <summary>For generated code.</summary>
        public bool ReadSequence(ref bool[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 1, out length))
                return false;
            if (values == null || values.Length != length)
                values = new bool[length];
            return ReadAll(values);
        }

        /// <summary>For generated code.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public char GetChar(int offset)
        {
            return (char)_at[offset];
        }

        /// <summary>For generated code.</summary>
        public bool ReadChar(out char value)
        {
            value = '\0';
            if (!Take(1, 1))
                return false;
            value = (char)_at[0];
            return true;
        }

        /// <summary>For generated code.</summary>
        public void GetAllChars(int offset, char[] values)
        {
            for (int i = 0; i < values.Length; i++)
                values[i] = (char)_at[offset + i];
        }

        /// <summary>For generated code.</summary>
        public bool ReadAllChars(char[] values)
        {
            if (values.Length == 0)
                return true;
            if (!Take(1, values.Length))
                return false;
            for (int i = 0; i < values.Length; i++)
                values[i] = (char)_at[i];
            return true;
        }

        /// <summary>For generated code.</summary>
        public bool ReadCharSequence(ref char[] values, uint bound)
        {
            int length;
            if (!EnterNumbers(bound, 1, out length))
                return false;
            if (values == null || values.Length != length)
                values = new char[length];
            return ReadAllChars(values);
        }

        bool EnterNumbers(uint bound, int size, out int length)
        {
            uint told;
            length = 0;
            if (!ReadUInt32(out told))
                return false;
            if (told > (uint)(_limit - _position) / (uint)size)
                return Reject(CdrStatus.Length);
            if (bound != 0 && told > bound && !NotConstructed(CdrStatus.Length))
                return false;
            length = (int)told;
            return true;
        }
    }
}
