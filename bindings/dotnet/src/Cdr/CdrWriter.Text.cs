using System.ComponentModel;
using System.Text;

namespace Tickwire.Cdr
{
    // Strings, and what else has a length.
    public sealed unsafe partial class CdrWriter
    {
        /// <summary>Writes a string of at most <paramref name="bound"/> bytes of UTF-8, 0 for any number.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteString(string text, uint bound)
        {
            if (text == null)
                return Refuse(CdrStatus.Null);
            int length = text.Length;
            if (bound != 0 && (uint)length > bound)
                return Refuse(CdrStatus.Length);
            if (length > int.MaxValue - 16)
                return Refuse(CdrStatus.NoMemory);
            int before = _size;
            if (!Room(4, length + 5))
                return false;
            // As if all were ASCII, as in most strings.
            byte* at = _at + 4;
            int i = 0;
            while (i < length)
            {
                uint unit = text[i];
                if (unit - 1 >= 127)
                    break;
                at[i++] = (byte)unit;
            }
            if (i == length)
            {
                at[length] = 0;
                PutUInt32(0, (uint)length + 1);
                return true;
            }
            _size = before;
            return WriteOther(text, bound);
        }

        bool WriteOther(string text, uint bound)
        {
            if (!Utf.IsUtf16(text))
                return Refuse(CdrStatus.Text);
            if (text.Length > int.MaxValue / 3 - 16)
                return Refuse(CdrStatus.NoMemory);
            int length = Encoding.UTF8.GetByteCount(text);
            if (bound != 0 && (uint)length > bound)
                return Refuse(CdrStatus.Length);
            if (!Room(4, length + 5))
                return false;
            PutUInt32(0, (uint)length + 1);
            fixed (char* from = text)
                Encoding.UTF8.GetBytes(from, text.Length, _at + 4, length);
            _at[4 + length] = 0;
            return true;
        }

        /// <summary>Writes a wide string of at most <paramref name="bound"/> units, 0 for any number.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteWString(string text, uint bound)
        {
            if (text == null)
                return Refuse(CdrStatus.Null);
            if (bound != 0 && (uint)text.Length > bound)
                return Refuse(CdrStatus.Length);
            if (!Utf.IsUtf16(text))
                return Refuse(CdrStatus.Text);
            if (text.Length > int.MaxValue / 2 - 16)
                return Refuse(CdrStatus.NoMemory);
            if (!WriteUInt32((uint)text.Length * 2))
                return false;
            if (text.Length == 0)
                return true;
            if (!Room(2, text.Length * 2))
                return false;
            fixed (char* from = text)
                Swap.Copy(_at, (byte*)from, text.Length, 2, _swap);
            return true;
        }
    }
}
