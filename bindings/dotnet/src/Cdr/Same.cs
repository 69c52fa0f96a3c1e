using System;
using System.Collections;
using System.Collections.Generic;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>Equality of what is in members, for generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static class Same
    {
        /// <summary>Whether arrays of one dimension have the same elements.</summary>
        public static bool Arrays<T>(T[] one, T[] other, Func<T, T, bool> same)
        {
            if (ReferenceEquals(one, other))
                return true;
            if (one == null || other == null || one.Length != other.Length)
                return false;
            for (int i = 0; i < one.Length; i++)
                if (!same(one[i], other[i]))
                    return false;
            return true;
        }

        /// <summary>Whether arrays of several dimensions have the same shape and elements.</summary>
        public static bool Blocks<T>(Array one, Array other, Func<T, T, bool> same)
        {
            if (ReferenceEquals(one, other))
                return true;
            if (one == null || other == null || one.Rank != other.Rank)
                return false;
            for (int d = 0; d < one.Rank; d++)
                if (one.GetLength(d) != other.GetLength(d))
                    return false;
            IEnumerator ones = one.GetEnumerator();
            IEnumerator others = other.GetEnumerator();
            while (ones.MoveNext() && others.MoveNext())
                if (!same((T)ones.Current, (T)others.Current))
                    return false;
            return true;
        }

        /// <summary>Whether lists have the same elements.</summary>
        public static bool Lists<T>(List<T> one, List<T> other, Func<T, T, bool> same)
        {
            if (ReferenceEquals(one, other))
                return true;
            if (one == null || other == null || one.Count != other.Count)
                return false;
            for (int i = 0; i < one.Count; i++)
                if (!same(one[i], other[i]))
                    return false;
            return true;
        }

        /// <summary>Whether maps have the same entries.</summary>
        public static bool Maps<K, V>(Dictionary<K, V> one, Dictionary<K, V> other, Func<V, V, bool> same)
        {
            if (ReferenceEquals(one, other))
                return true;
            if (one == null || other == null || one.Count != other.Count)
                return false;
            foreach (KeyValuePair<K, V> entry in one)
            {
                V value;
                if (!other.TryGetValue(entry.Key, out value) || !same(entry.Value, value))
                    return false;
            }
            return true;
        }
    }
}
