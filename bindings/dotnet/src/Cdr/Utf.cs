namespace Tickwire.Cdr
{
    /// What is text.
    static unsafe class Utf
    {
        /// Whether a string has these bytes, all of ASCII; there are as many as it has units.
        internal static bool IsSame(string text, byte* at)
        {
            for (int i = 0; i < text.Length; i++)
                if (text[i] != at[i] || at[i] - 1u >= 127)
                    return false;
            return true;
        }

        /// Whether all bytes are of ASCII and none is NUL, as in most strings.
        internal static bool IsPlain(byte* text, int size)
        {
            for (int i = 0; i < size; i++)
                if (text[i] - 1u >= 127)
                    return false;
            return true;
        }

        /// Whether bytes are UTF-8 (RFC 3629) without NUL.
        internal static bool IsUtf8(byte* text, int size)
        {
            int i = 0;
            while (i < size)
            {
                byte first = text[i];
                byte low = 0x80;
                byte high = 0xbf;
                int more;
                if (first == 0)
                    return false;
                if (first < 0x80)
                {
                    i++;
                    continue;
                }
                if (first >= 0xc2 && first <= 0xdf)
                {
                    more = 1;
                }
                else if (first >= 0xe0 && first <= 0xef)
                {
                    more = 2;
                    low = first == 0xe0 ? (byte)0xa0 : low;
                    high = first == 0xed ? (byte)0x9f : high;
                }
                else if (first >= 0xf0 && first <= 0xf4)
                {
                    more = 3;
                    low = first == 0xf0 ? (byte)0x90 : low;
                    high = first == 0xf4 ? (byte)0x8f : high;
                }
                else
                {
                    return false;
                }
                if (size - i <= more)
                    return false;
                if (text[i + 1] < low || text[i + 1] > high)
                    return false;
                for (i += 2; more > 1; more--, i++)
                    if ((text[i] & 0xc0) != 0x80)
                        return false;
            }
            return true;
        }

        /// Whether units are UTF-16 without NUL.
        internal static bool IsUtf16(string text)
        {
            for (int i = 0; i < text.Length; i++)
            {
                if (text[i] == 0 || (text[i] & 0xfc00) == 0xdc00)
                    return false;
                if ((text[i] & 0xfc00) == 0xd800)
                {
                    i++;
                    if (i == text.Length || (text[i] & 0xfc00) != 0xdc00)
                        return false;
                }
            }
            return true;
        }
    }
}
