using System;
using System.Collections.Generic;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>The beginnings of values that are longer than their bounds, for generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static class Trimmed
    {
        /// <summary>As much of a text as takes <paramref name="bound"/> bytes of UTF-8; no character is cut in two.</summary>
        public static string Utf8(string text, uint bound)
        {
            long left = bound;
            for (int i = 0; i < text.Length; i++)
            {
                bool pair = char.IsHighSurrogate(text[i]);
                left -= text[i] < 0x80 ? 1 : text[i] < 0x800 ? 2 : pair ? 4 : 3;
                if (left < 0)
                    return text.Substring(0, i);
                if (pair)
                    i++;
            }
            return text;
        }

        /// <summary>The same of a wide string, in units of UTF-16.</summary>
        public static string Utf16(string text, uint bound)
        {
            if (text.Length <= bound)
                return text;
            int length = (int)bound;
            return text.Substring(0, char.IsLowSurrogate(text[length]) ? length - 1 : length);
        }

        /// <summary>The first elements of an array.</summary>
        public static T[] First<T>(T[] values, uint bound)
        {
            if (values.Length > bound)
                Array.Resize(ref values, (int)bound);
            return values;
        }

        /// <summary>The same of a list, which is changed.</summary>
        public static List<T> First<T>(List<T> values, uint bound)
        {
            if (values.Count > bound)
                values.RemoveRange((int)bound, values.Count - (int)bound);
            return values;
        }
    }
}
