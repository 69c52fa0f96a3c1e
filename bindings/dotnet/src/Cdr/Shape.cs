using System;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>Arrays of IDL, for generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static class Shape
    {
        /// <summary>Whether an array has these dimensions.</summary>
        public static bool Is(Array array, params int[] dimensions)
        {
            if (array == null || array.Rank != dimensions.Length)
                return false;
            for (int d = 0; d < dimensions.Length; d++)
                if (array.GetLength(d) != dimensions[d] || array.GetLowerBound(d) != 0)
                    return false;
            return true;
        }

        /// <summary>Whether an array has two dimensions, and these.</summary>
        public static bool Is(Array array, int first, int second)
        {
            return array != null && array.Rank == 2 && array.GetLength(0) == first && array.GetLength(1) == second
                   && array.GetLowerBound(0) == 0 && array.GetLowerBound(1) == 0;
        }

        /// <summary>Fills an array.</summary>
        public static T[] Fill<T>(T[] array, Func<T> make)
        {
            for (int i = 0; i < array.Length; i++)
                array[i] = make();
            return array;
        }

        /// <summary>Fills an array of two dimensions.</summary>
        public static T[,] Fill<T>(T[,] array, Func<T> make)
        {
            for (int i = 0; i < array.GetLength(0); i++)
                for (int j = 0; j < array.GetLength(1); j++)
                    array[i, j] = make();
            return array;
        }

        /// <summary>Fills an array of three dimensions.</summary>
        public static T[,,] Fill<T>(T[,,] array, Func<T> make)
        {
            for (int i = 0; i < array.GetLength(0); i++)
                for (int j = 0; j < array.GetLength(1); j++)
                    for (int k = 0; k < array.GetLength(2); k++)
                        array[i, j, k] = make();
            return array;
        }

        /// <summary>Fills an array of any number of dimensions.</summary>
        public static Array FillAll<T>(Array array, Func<T> make)
        {
            int[] index = new int[array.Rank];
            for (int left = array.Length; left > 0; left--)
            {
                array.SetValue(make(), index);
                for (int d = array.Rank - 1; d >= 0 && ++index[d] == array.GetLength(d); d--)
                    index[d] = 0;
            }
            return array;
        }

        /// <summary>Whether all have one byte.</summary>
        public static bool AreChars(char[] values)
        {
            foreach (char value in values)
                if (value > 255)
                    return false;
            return true;
        }

        /// <summary>The numbers of an array of several dimensions, behind each other.</summary>
        public static T[] Flat<T>(Array array, T[] flat)
        {
            Buffer.BlockCopy(array, 0, flat, 0, Buffer.ByteLength(flat));
            return flat;
        }
    }
}
