using System;
using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Tickwire.Cdr
{
    // Numbers: Put lays one into the room that was made, Write makes room for it, WriteAll is for arrays and WriteSequence
    // for sequences.
    public sealed unsafe partial class CdrWriter
    {
        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutByte(int offset, byte value)
        {
            _at[offset] = value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteByte(byte value)
        {
            if (!Room(1, 1))
                return false;
            PutByte(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, byte[] values)
        {
            fixed (byte* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 1, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(byte[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 1)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(1, values.Length * 1))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(byte[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutSByte(int offset, sbyte value)
        {
            _at[offset] = (byte)value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSByte(sbyte value)
        {
            if (!Room(1, 1))
                return false;
            PutSByte(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, sbyte[] values)
        {
            fixed (sbyte* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 1, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(sbyte[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 1)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(1, values.Length * 1))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(sbyte[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutUInt16(int offset, ushort value)
        {
            *(ushort*)(_at + offset) = _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteUInt16(ushort value)
        {
            if (!Room(2, 2))
                return false;
            PutUInt16(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, ushort[] values)
        {
            fixed (ushort* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(ushort[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(2, values.Length * 2))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(ushort[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutInt16(int offset, short value)
        {
            PutUInt16(offset, (ushort)value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteInt16(short value)
        {
            if (!Room(2, 2))
                return false;
            PutInt16(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, short[] values)
        {
            fixed (short* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(short[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(2, values.Length * 2))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(short[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutUInt32(int offset, uint value)
        {
            *(uint*)(_at + offset) = _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteUInt32(uint value)
        {
            if (!Room(4, 4))
                return false;
            PutUInt32(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, uint[] values)
        {
            fixed (uint* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(uint[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(4, values.Length * 4))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(uint[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutInt32(int offset, int value)
        {
            PutUInt32(offset, (uint)value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteInt32(int value)
        {
            if (!Room(4, 4))
                return false;
            PutInt32(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, int[] values)
        {
            fixed (int* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(int[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(4, values.Length * 4))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(int[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutUInt64(int offset, ulong value)
        {
            *(ulong*)(_at + offset) = _swap ? Swap.Of(value) : value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteUInt64(ulong value)
        {
            if (!Room(8, 8))
                return false;
            PutUInt64(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, ulong[] values)
        {
            fixed (ulong* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(ulong[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(8, values.Length * 8))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(ulong[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutInt64(int offset, long value)
        {
            PutUInt64(offset, (ulong)value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteInt64(long value)
        {
            if (!Room(8, 8))
                return false;
            PutInt64(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, long[] values)
        {
            fixed (long* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(long[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(8, values.Length * 8))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(long[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutSingle(int offset, float value)
        {
            PutUInt32(offset, *(uint*)&value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSingle(float value)
        {
            if (!Room(4, 4))
                return false;
            PutSingle(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, float[] values)
        {
            fixed (float* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 4, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(float[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 4)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(4, values.Length * 4))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(float[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutDouble(int offset, double value)
        {
            PutUInt64(offset, *(ulong*)&value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteDouble(double value)
        {
            if (!Room(8, 8))
                return false;
            PutDouble(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, double[] values)
        {
            fixed (double* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 8, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(double[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 8)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(8, values.Length * 8))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(double[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutWChar(int offset, char value)
        {
            PutUInt16(offset, (ushort)value);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteWChar(char value)
        {
            if (!Room(2, 2))
                return false;
            PutWChar(0, value);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAll(int offset, char[] values)
        {
            fixed (char* from = values)
                Swap.Copy(_at + offset, (byte*)from, values.Length, 2, _swap);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(char[] values)
        {
            if (values.Length == 0)
                return true;
            if (values.Length > int.MaxValue / 2)
                return Refuse(CdrStatus.NoMemory);
            if (!Room(2, values.Length * 2))
                return false;
            PutAll(0, values);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(char[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void PutBoolean(int offset, bool value)
        {
            _at[offset] = value ? (byte)1 : (byte)0;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteBoolean(bool value)
        {
            return WriteByte(value ? (byte)1 : (byte)0);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAll(bool[] values)
        {
            if (values.Length == 0)
                return true;
            if (!Room(1, values.Length))
                return false;
            for (int i = 0; i < values.Length; i++)
                PutBoolean(i, values[i]);
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteSequence(bool[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAll(values);
        }

        // A char has one byte: the first 256 of Unicode.

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutChar(int offset, char value)
        {
            _at[offset] = (byte)value;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public void PutAllChars(int offset, char[] values)
        {
            for (int i = 0; i < values.Length; i++)
                _at[offset + i] = (byte)values[i];
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteChar(char value)
        {
            return value <= 255 ? WriteByte((byte)value) : Refuse(CdrStatus.Text);
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAllChars(char[] values)
        {
            if (values.Length == 0)
                return true;
            if (!Room(1, values.Length))
                return false;
            for (int i = 0; i < values.Length; i++)
            {
                if (values[i] > 255)
                    return Refuse(CdrStatus.Text);
                _at[i] = (byte)values[i];
            }
            return true;
        }

        /// <summary>For generated code.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteCharSequence(char[] values, uint bound)
        {
            return OpenNumbers(values, bound) && WriteAllChars(values);
        }

        bool OpenNumbers(Array values, uint bound)
        {
            if (values == null)
                return Refuse(CdrStatus.Null);
            if (bound != 0 && (uint)values.Length > bound)
                return Refuse(CdrStatus.Length);
            return WriteUInt32((uint)values.Length);
        }
    }
}
