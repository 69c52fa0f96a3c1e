using System.Text;

namespace Tickwire.Cdr
{
    // Strings. One that is there already stays, where it is the same: what a topic says again and again takes no memory.
    public sealed unsafe partial class CdrReader
    {
        /// <summary>Reads a string of at most <paramref name="bound"/> bytes.</summary>
        public bool ReadString(ref string text, uint bound)
        {
            uint size;
            if (!ReadUInt32(out size))
                return false;
            uint length = size == 0 ? 0 : size - 1;
            if (size > (uint)(_limit - _position))
                return Reject(CdrStatus.Length);
            if (bound != 0 && length > bound && !NotConstructed(CdrStatus.Length))
                return false;
            byte* at = _bytes + _position;
            if (size > 0 && at[length] != 0)
                return Reject(CdrStatus.Text);
            _position += (int)size;
            if (length == 0)
            {
                text = "";
                return true;
            }
            if (text != null && text.Length == (int)length && Utf.IsSame(text, at))
                return true;
            return Utf.IsPlain(at, (int)length) ? Plain(at, (int)length, out text) : Other(at, (int)length, ref text);
        }

        static bool Plain(byte* at, int length, out string text)
        {
            text = new string('\0', length);
            // Nobody else has it yet.
            fixed (char* to = text)
                for (int i = 0; i < length; i++)
                    to[i] = (char)at[i];
            return true;
        }

        bool Other(byte* at, int length, ref string text)
        {
            if (!Utf.IsUtf8(at, length))
                return Reject(CdrStatus.Text);
            text = Encoding.UTF8.GetString(at, length);
            return true;
        }

        /// <summary>Reads a wide string. A NUL at its end, which some write, is left out.</summary>
        public bool ReadWString(ref string text, uint bound)
        {
            uint size;
            if (!ReadUInt32(out size))
                return false;
            uint length = size / 2;
            if (size % 2 != 0 || size > (uint)(_limit - _position))
                return Reject(CdrStatus.Length);
            if (bound != 0 && length > (ulong)bound + 1 && !NotConstructed(CdrStatus.Length))
                return false;
            if (length == 0)
            {
                text = "";
                return true;
            }
            if (!Take(2, (int)size))
                return false;
            if (GetUInt16((int)size - 2) == 0)
                length--;
            if (bound != 0 && length > bound && !NotConstructed(CdrStatus.Length))
                return false;
            if (length == 0)
            {
                text = "";
                return true;
            }
            string made = new string('\0', (int)length);
            fixed (char* to = made)
                Swap.Copy((byte*)to, _at, (int)length, 2, _swap);
            if (!Utf.IsUtf16(made))
                return Reject(CdrStatus.Text);
            text = made;
            return true;
        }
    }
}
