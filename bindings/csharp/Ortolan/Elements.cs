// How C#'s types stand for the element types of tensors, and how large shapes are.
using System;

namespace Ortolan
{
    /// <summary>The element type that T stands for; Undefined for types that stand for none.</summary>
    static class Element<T>
    {
        public static readonly ElementType Type = Elements.TypeOf(typeof(T));
        public static readonly int Size = Elements.Bits(Type) / 8;

        /// <summary>Throws for a T that stands for no element type.</summary>
        public static ElementType Checked()
        {
            if (Type == ElementType.Undefined)
                throw new ArgumentException($"{typeof(T)} is no type of tensor elements; see the enumeration ElementType");
            return Type;
        }
    }

    static class Elements
    {
        public static ElementType TypeOf(Type type)
        {
            if (type == typeof(float)) return ElementType.Float;
            if (type == typeof(double)) return ElementType.Double;
            if (type == typeof(byte)) return ElementType.UInt8;
            if (type == typeof(sbyte)) return ElementType.Int8;
            if (type == typeof(ushort)) return ElementType.UInt16;
            if (type == typeof(short)) return ElementType.Int16;
            if (type == typeof(uint)) return ElementType.UInt32;
            if (type == typeof(int)) return ElementType.Int32;
            if (type == typeof(ulong)) return ElementType.UInt64;
            if (type == typeof(long)) return ElementType.Int64;
            if (type == typeof(bool)) return ElementType.Bool;
            if (type == typeof(Float16)) return ElementType.Float16;
            if (type == typeof(BFloat16)) return ElementType.BFloat16;
#if NET5_0_OR_GREATER
            if (type == typeof(Half)) return ElementType.Float16;
#endif
            return ElementType.Undefined;
        }

        /// <summary>The size of an element; 0 for strings and undefined types.</summary>
        public static int Bits(ElementType type)
        {
            switch (type)
            {
                case ElementType.UInt2:
                case ElementType.Int2:
                    return 2;
                case ElementType.UInt4:
                case ElementType.Int4:
                case ElementType.Float4E2M1:
                    return 4;
                case ElementType.UInt8:
                case ElementType.Int8:
                case ElementType.Bool:
                case ElementType.Float8E4M3FN:
                case ElementType.Float8E4M3FNUZ:
                case ElementType.Float8E5M2:
                case ElementType.Float8E5M2FNUZ:
                case ElementType.Float8E8M0:
                    return 8;
                case ElementType.UInt16:
                case ElementType.Int16:
                case ElementType.Float16:
                case ElementType.BFloat16:
                    return 16;
                case ElementType.Float:
                case ElementType.Int32:
                case ElementType.UInt32:
                    return 32;
                case ElementType.Double:
                case ElementType.Int64:
                case ElementType.UInt64:
                case ElementType.Complex64:
                    return 64;
                case ElementType.Complex128:
                    return 128;
                default:
                    return 0;
            }
        }

        /// <summary>The number of elements. Throws for negative sizes and products past 2^63.</summary>
        public static long Count(long[] shape)
        {
            long count = 1;
            try
            {
                foreach (long size in shape)
                {
                    if (size < 0)
                        throw new ArgumentException($"the shape [{string.Join(", ", shape)}] has a negative size");
                    count = checked(count * size);
                }
            }
            catch (OverflowException)
            {
                throw new ArgumentException($"the shape [{string.Join(", ", shape)}] is too large");
            }
            return count;
        }

        /// <summary>Throws unless the shape has exactly that many elements.</summary>
        public static void RequireCount(long[] shape, long count)
        {
            if (Count(shape) != count)
                throw new ArgumentException(
                    $"the shape [{string.Join(", ", shape)}] has {Count(shape)} elements, but there are {count}");
        }

        /// <summary>Throws unless elements of that type and shape take exactly that many bytes.</summary>
        public static void RequireBytes(ElementType type, long[] shape, long bytes)
        {
            int bits = Bits(type);
            if (bits == 0) throw new ArgumentException($"tensors of type {type} are not made from bytes");
            long count = Count(shape), needed;
            try
            {
                needed = bits >= 8 ? checked(count * (bits / 8)) : (count - 1) / (8 / bits) + (count == 0 ? 0 : 1);
            }
            catch (OverflowException)
            {
                throw new ArgumentException($"the shape [{string.Join(", ", shape)}] is too large");
            }
            if (needed != bytes)
                throw new ArgumentException($"{type} elements of the shape [{string.Join(", ", shape)}] take {needed} " +
                                            $"bytes, but there are {bytes}");
        }
    }
}
