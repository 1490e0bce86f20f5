// Values: how they are made and closed. ValueContent.cs reads them.
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;

namespace Ortolan
{
    /// <summary>
    /// A tensor, sequence, map or optional. Any thread may read a value; nobody may change the elements of one while a
    /// run reads it. Dispose frees it once no run, binding or other value uses it.
    /// </summary>
    public sealed unsafe partial class Value : IDisposable
    {
        /// <summary>Takes over a value of the library.</summary>
        internal Value(Handle handle)
        {
            Handle = handle;
        }

        internal Handle Handle { get; }

        /// <summary>The handle of a value that a caller gave; null is refused.</summary>
        internal static Handle HandleOf(Value value, string parameter)
        {
            return (value ?? throw new ArgumentNullException(parameter)).Handle;
        }

        static Value Own(IntPtr value, IntPtr status)
        {
            OrtolanException.Check(status);
            return new Value(new Handle(value, Release.Value));
        }

        /// <summary>
        /// A tensor over the array itself, which stays in its place until the value is freed: the tensor sees what is
        /// written to the array later, and runs that write the tensor in place write the array. (An array of bool is
        /// copied, because .NET cannot keep it in place.)
        /// </summary>
        /// <param name="elements">As many elements as the shape needs.</param>
        /// <param name="shape">The sizes of the dimensions; null for one dimension, an empty array for a scalar.</param>
        public static Value FromArray<T>(T[] elements, params long[] shape) where T : struct
        {
            if (elements == null) throw new ArgumentNullException(nameof(elements));
            return Over(elements, elements.Length, Element<T>.Checked(), shape ?? new long[] { elements.Length });
        }

        /// <summary>Likewise over an array of one dimension.</summary>
        public static Value FromArray<T>(T[] elements) where T : struct
        {
            return FromArray(elements, null);
        }

        /// <summary>Likewise over an array of several dimensions, as float[,], whose sizes are the shape.</summary>
        public static Value FromArray(Array elements)
        {
            if (elements == null) throw new ArgumentNullException(nameof(elements));
            ElementType type = Elements.TypeOf(elements.GetType().GetElementType());
            if (type == ElementType.Undefined)
                throw new ArgumentException($"{elements.GetType()} is no array of tensor elements", nameof(elements));
            var shape = new long[elements.Rank];
            for (int i = 0; i < shape.Length; ++i) shape[i] = elements.GetLongLength(i);
            return Over(elements, elements.LongLength, type, shape);
        }

        static Value Over(Array elements, long count, ElementType type, long[] shape)
        {
            Elements.RequireCount(shape, count);
            if (type == ElementType.Bool) return CopyOfBytes(elements, type, shape);
            GCHandle pin = GCHandle.Alloc(elements, GCHandleType.Pinned);
            try
            {
                IntPtr made;
                IntPtr status;
                fixed (long* sizes = shape)
                {
                    made = nativePINVOKE.tensor_over((void*)pin.AddrOfPinnedObject(), count * Elements.Bits(type) / 8,
                                                     sizes, shape.Length, (int)type, out status);
                }
                OrtolanException.Check(status);
                return new Value(new Handle(made, Release.Value).Pinning(pin));
            }
            catch
            {
                pin.Free();
                throw;
            }
        }

        /// <summary>For arrays of bool.</summary>
        static Value CopyOfBytes(Array elements, ElementType type, long[] shape)
        {
            var flat = new byte[elements.LongLength * Elements.Bits(type) / 8];
            Buffer.BlockCopy(elements, 0, flat, 0, flat.Length);
            return CopyBytes(flat, type, shape);
        }

        /// <summary>A tensor with a copy of the elements. The shape is as for <see cref="FromArray{T}(T[], long[])"/>.</summary>
        public static Value CopyArray<T>(T[] elements, params long[] shape) where T : struct
        {
            if (elements == null) throw new ArgumentNullException(nameof(elements));
            return CopySpan(new ReadOnlySpan<T>(elements), shape ?? new long[] { elements.Length });
        }

        /// <summary>Likewise, of one dimension.</summary>
        public static Value CopyArray<T>(T[] elements) where T : struct
        {
            return CopyArray(elements, null);
        }

        /// <summary>Likewise, of elements that are anywhere.</summary>
        public static Value CopySpan<T>(ReadOnlySpan<T> elements, params long[] shape) where T : struct
        {
            return Copy(MemoryMarshal.AsBytes(elements), Element<T>.Checked(), shape);
        }

        /// <summary>
        /// A tensor of any type but string with a copy of the bytes, which are as many as the shape and type need:
        /// packed, in the machine's order. For types that C# does not have.
        /// </summary>
        public static Value CopyBytes(byte[] bytes, ElementType type, params long[] shape)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            return Copy(new ReadOnlySpan<byte>(bytes), type, shape);
        }

        static Value Copy(ReadOnlySpan<byte> bytes, ElementType type, long[] shape)
        {
            if (shape == null) throw new ArgumentNullException(nameof(shape));
            Elements.RequireBytes(type, shape, bytes.Length);
            fixed (byte* first = &MemoryMarshal.GetReference(bytes))
            fixed (long* sizes = shape)
            {
                IntPtr made = nativePINVOKE.tensor_copy(first, bytes.Length, sizes, shape.Length, (int)type,
                                                        out IntPtr status);
                return Own(made, status);
            }
        }

        /// <summary>A tensor over memory, which stays in its place until the value is freed.</summary>
        public static Value FromMemory<T>(Memory<T> elements, params long[] shape) where T : struct
        {
            ElementType type = Element<T>.Checked();
            if (shape == null) throw new ArgumentNullException(nameof(shape));
            Elements.RequireCount(shape, elements.Length);
            if (type == ElementType.Bool) return CopyArray(elements.ToArray(), shape);
            MemoryHandle pin = elements.Pin();
            try
            {
                fixed (long* sizes = shape)
                {
                    IntPtr made = nativePINVOKE.tensor_over(pin.Pointer, (long)elements.Length * Element<T>.Size, sizes,
                                                            shape.Length, (int)type, out IntPtr status);
                    OrtolanException.Check(status);
                    return new Value(new Handle(made, value =>
                    {
                        nativePINVOKE.release_value(value);
                        pin.Dispose();
                    }));
                }
            }
            catch
            {
                pin.Dispose();
                throw;
            }
        }

        /// <summary>A tensor over memory that is not .NET's.</summary>
        /// <param name="address">The first element.</param>
        /// <param name="bytes">How many bytes there are: as many as the shape and type need.</param>
        /// <param name="type">Any type but string.</param>
        /// <param name="shape">The sizes of the dimensions.</param>
        /// <param name="owner">Kept from being collected until the value is freed; null when nothing needs to be.</param>
        public static Value FromPointer(IntPtr address, long bytes, ElementType type, long[] shape, object owner = null)
        {
            if (shape == null) throw new ArgumentNullException(nameof(shape));
            Elements.RequireBytes(type, shape, bytes);
            if (address == IntPtr.Zero && bytes != 0) throw new ArgumentNullException(nameof(address));
            fixed (long* sizes = shape)
            {
                IntPtr made = nativePINVOKE.tensor_over((void*)address, bytes, sizes, shape.Length, (int)type,
                                                        out IntPtr status);
                OrtolanException.Check(status);
                return new Value(new Handle(made, Release.Value).Keeping(owner));
            }
        }

        /// <summary>A tensor of zeros, or of empty strings.</summary>
        public static Value Zeros(ElementType type, params long[] shape)
        {
            if (shape == null) throw new ArgumentNullException(nameof(shape));
            Elements.Count(shape);
            fixed (long* sizes = shape)
            {
                IntPtr made = nativePINVOKE.tensor_of_zeros(sizes, shape.Length, (int)type, out IntPtr status);
                return Own(made, status);
            }
        }

        /// <summary>A tensor in the memory of a device, its content undefined; see <see cref="CopyFrom"/>.</summary>
        public static Value OnDevice(OrtolanEnvironment environment, MemoryInfo memory, ElementType type,
                                     params long[] shape)
        {
            if (environment == null) throw new ArgumentNullException(nameof(environment));
            if (memory == null) throw new ArgumentNullException(nameof(memory));
            if (shape == null) throw new ArgumentNullException(nameof(shape));
            Elements.Count(shape);
            Handle parent = environment.Handle.Share();
            try
            {
                IntPtr made = memory.Use(info =>
                {
                    fixed (long* sizes = shape)
                    {
                        IntPtr tensor = nativePINVOKE.tensor_on_device(parent.DangerousGetHandle(), info, sizes,
                                                                       shape.Length, (int)type, out IntPtr status);
                        OrtolanException.Check(status);
                        return tensor;
                    }
                });
                return new Value(new Handle(made, Release.Value).Under(parent));
            }
            catch
            {
                parent.DangerousRelease();
                throw;
            }
        }

        /// <summary>A tensor of strings. The shape is null for one dimension. NULs within strings are kept.</summary>
        public static Value FromStrings(string[] strings, long[] shape = null)
        {
            if (strings == null) throw new ArgumentNullException(nameof(strings));
            return FromStringBytes(strings.Select(text => Utf8.Strict.GetBytes(
                text ?? throw new ArgumentException("a string is null", nameof(strings)))).ToArray(), shape);
        }

        /// <summary>Likewise, from the bytes of each, which need not be UTF-8.</summary>
        public static Value FromStringBytes(byte[][] strings, long[] shape = null)
        {
            if (strings == null) throw new ArgumentNullException(nameof(strings));
            shape = shape ?? new long[] { strings.Length };
            Elements.RequireCount(shape, strings.Length);
            var ends = new long[strings.Length];
            long length = 0;
            for (int i = 0; i < ends.Length; ++i) ends[i] = length += strings[i].Length;
            var all = new byte[length];
            for (int i = 0; i < ends.Length; ++i) strings[i].CopyTo(all, ends[i] - strings[i].Length);
            fixed (byte* bytes = all)
            fixed (long* firstEnd = ends, sizes = shape)
            {
                IntPtr made = nativePINVOKE.tensor_of_strings(bytes, length, firstEnd, ends.Length, sizes, shape.Length,
                                                              out IntPtr status);
                return Own(made, status);
            }
        }

        /// <summary>A sequence. It shares the values, which may be disposed.</summary>
        public static Value Sequence(params Value[] values)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            return Contain(values, addresses =>
            {
                fixed (IntPtr* first = addresses)
                {
                    IntPtr made = nativePINVOKE.create_sequence(first, addresses.Length, out IntPtr status);
                    OrtolanException.Check(status);
                    return made;
                }
            });
        }

        /// <summary>A map from a tensor of keys to one of values, of one dimension. It shares both.</summary>
        public static Value Map(Value keys, Value values)
        {
            return Contain(new[] { keys, values }, addresses =>
            {
                IntPtr made = nativePINVOKE.create_map(addresses[0], addresses[1], out IntPtr status);
                OrtolanException.Check(status);
                return made;
            });
        }

        /// <summary>A map from numbers (long) or strings to numbers.</summary>
        public static Value FromDictionary<TKey, TNumber>(IEnumerable<KeyValuePair<TKey, TNumber>> pairs)
            where TNumber : struct
        {
            KeyValuePair<TKey, TNumber>[] all = pairs.ToArray();
            TNumber[] numbers = all.Select(pair => pair.Value).ToArray();
            object keys = all.Select(pair => pair.Key).ToArray();
            using (Value keyTensor = keys is string[] texts ? FromStrings(texts)
                       : keys is long[] longs ? CopyArray(longs)
                       : throw new ArgumentException($"keys of type {typeof(TKey)}; maps have string or long ones"))
            using (Value valueTensor = CopyArray(numbers)) return Map(keyTensor, valueTensor);
        }

        static Value Contain(Value[] parts, Func<IntPtr[], IntPtr> make)
        {
            Handle[] shared = Release.Share(parts.Select(part => HandleOf(part, nameof(parts))).ToArray());
            try
            {
                IntPtr made = make(shared.Select(part => part.DangerousGetHandle()).ToArray());
                return new Value(new Handle(made, Release.Value).Under(shared));
            }
            catch
            {
                Release.Shares(shared);
                throw;
            }
        }

        /// <summary>Frees the value once nothing uses it. Reading it is an exception from now on.</summary>
        public void Dispose()
        {
            Handle.Dispose();
        }
    }
}
