// What values hold: reading and writing.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Ortolan
{
    public sealed unsafe partial class Value
    {
        const int Head = 4;   // what tensor_facts writes before the dimensions
        const int Usual = 8;  // dimensions that are read without a second call

        /// <summary>What the library says about a tensor.</summary>
        struct Facts
        {
            public ElementType Type;
            public IntPtr Address;
            public long Bytes;
            public long[] Shape;

            public long Count => Elements.Count(Shape);
        }

        static Facts Read(IntPtr tensor)
        {
            long* few = stackalloc long[Head + Usual];
            long length = nativePINVOKE.tensor_facts(tensor, few, Head + Usual, out IntPtr status);
            OrtolanException.Check(status);
            var facts = new Facts { Type = (ElementType)few[0], Address = (IntPtr)few[1], Bytes = few[2],
                                    Shape = new long[length - Head] };
            if (length <= Head + Usual)
            {
                for (int i = 0; i < facts.Shape.Length; ++i) facts.Shape[i] = few[Head + i];
                return facts;
            }
            var many = new long[length];
            fixed (long* all = many) nativePINVOKE.tensor_facts(tensor, all, length, out status);
            OrtolanException.Check(status);
            Array.Copy(many, Head, facts.Shape, 0, facts.Shape.Length);
            return facts;
        }

        /// <summary>Tensor, sequence, map or optional.</summary>
        public ValueKind Kind
        {
            get
            {
                using (var value = Handle.Use())
                {
                    int kind = nativePINVOKE.value_kind(value.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return (ValueKind)kind;
                }
            }
        }

        /// <summary>False for an optional without a value.</summary>
        public bool HasValue
        {
            get
            {
                using (var value = Handle.Use())
                {
                    int present = nativePINVOKE.value_present(value.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return present != 0;
                }
            }
        }

        /// <summary>The type.</summary>
        public TypeInfo Type
        {
            get
            {
                using (var value = Handle.Use())
                {
                    IntPtr type = nativePINVOKE.value_type(value.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return TypeInfo.Take(type);
                }
            }
        }

        /// <summary>The element type of a tensor.</summary>
        public ElementType ElementType
        {
            get
            {
                using (var value = Handle.Use()) return Read(value.Address).Type;
            }
        }

        /// <summary>The sizes of a tensor's dimensions; empty for a scalar.</summary>
        public long[] Shape
        {
            get
            {
                using (var value = Handle.Use()) return Read(value.Address).Shape;
            }
        }

        /// <summary>Where the elements of a tensor are.</summary>
        public MemoryInfo Memory
        {
            get
            {
                using (var value = Handle.Use())
                {
                    IntPtr memory = nativePINVOKE.tensor_memory(value.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return new MemoryInfo(Handle, memory);
                }
            }
        }

        /// <summary>A copy of a tensor's elements, in row-major order, of at most 2 GiB. T must be the element type.</summary>
        public T[] ToArray<T>() where T : struct
        {
            using (var value = Handle.Use())
            {
                var elements = new T[CountOf<T>(value.Address)];
                ReadBytes(value.Address, MemoryMarshal.AsBytes(new Span<T>(elements)));
                return elements;
            }
        }

        /// <summary>Copies a tensor's elements to an array of exactly as many.</summary>
        public void CopyTo<T>(T[] elements) where T : struct
        {
            CopyTo(new Span<T>(elements ?? throw new ArgumentNullException(nameof(elements))));
        }

        /// <summary>Copies a tensor's elements to memory for exactly as many.</summary>
        public void CopyTo<T>(Span<T> elements) where T : struct
        {
            using (var value = Handle.Use())
            {
                RequireLength(CountOf<T>(value.Address), elements.Length);
                ReadBytes(value.Address, MemoryMarshal.AsBytes(elements));
            }
        }

        /// <summary>Overwrites a tensor's elements with exactly as many.</summary>
        public void Write<T>(T[] elements) where T : struct
        {
            Write(new ReadOnlySpan<T>(elements ?? throw new ArgumentNullException(nameof(elements))));
        }

        /// <summary>Overwrites a tensor's elements with exactly as many.</summary>
        public void Write<T>(ReadOnlySpan<T> elements) where T : struct
        {
            using (var value = Handle.Use())
            {
                RequireLength(CountOf<T>(value.Address), elements.Length);
                fixed (byte* bytes = &MemoryMarshal.GetReference(MemoryMarshal.AsBytes(elements)))
                {
                    nativePINVOKE.write_tensor(value.Address, bytes, (long)elements.Length * Element<T>.Size,
                                               out IntPtr status);
                    OrtolanException.Check(status);
                }
            }
        }

        /// <summary>A copy of a tensor's elements as bytes, of any type but string.</summary>
        public byte[] ToBytes()
        {
            using (var value = Handle.Use())
            {
                Facts facts = Read(value.Address);
                var bytes = new byte[facts.Bytes];
                ReadBytes(value.Address, bytes);
                return bytes;
            }
        }

        static void RequireLength(long needed, long given)
        {
            if (needed != given) throw new ArgumentException($"the tensor has {needed} elements, but there are {given}");
        }

        /// <summary>The number of elements of a tensor that must hold T.</summary>
        static long CountOf<T>(IntPtr tensor)
        {
            long* head = stackalloc long[Head];
            nativePINVOKE.tensor_facts(tensor, head, Head, out IntPtr status);
            OrtolanException.Check(status);
            if (Element<T>.Checked() != (ElementType)head[0])
                throw new ArgumentException($"the tensor holds {(ElementType)head[0]}, not {typeof(T).Name}");
            return head[2] / Element<T>.Size;
        }

        static void ReadBytes(IntPtr tensor, Span<byte> elements)
        {
            fixed (byte* bytes = &MemoryMarshal.GetReference(elements))
            {
                nativePINVOKE.read_tensor(tensor, bytes, elements.Length, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>The strings of a tensor, in row-major order. Bytes that are no UTF-8 become U+FFFD.</summary>
        public string[] ToStrings()
        {
            return Array.ConvertAll(ToStringBytes(), Encoding.UTF8.GetString);
        }

        /// <summary>The bytes of each string of a tensor.</summary>
        public byte[][] ToStringBytes()
        {
            using (var value = Handle.Use())
            {
                Facts facts = Read(value.Address);
                if (facts.Type != ElementType.String)
                    throw new ArgumentException($"the tensor holds {facts.Type}, not strings");
                var ends = new long[facts.Count];
                var all = new byte[nativePINVOKE.strings_size(value.Address, out IntPtr status)];
                OrtolanException.Check(status);
                fixed (byte* bytes = all)
                fixed (long* firstEnd = ends)
                    nativePINVOKE.read_strings(value.Address, bytes, all.Length, firstEnd, ends.Length, out status);
                OrtolanException.Check(status);
                return Split(all, ends);
            }
        }

        static byte[][] Split(byte[] all, long[] ends)
        {
            var parts = new byte[ends.Length][];
            long start = 0;
            for (int i = 0; i < parts.Length; start = ends[i++])
            {
                parts[i] = new byte[ends[i] - start];
                Array.Copy(all, start, parts[i], 0, parts[i].Length);
            }
            return parts;
        }

        /// <summary>Elements of a sequence; 2 for a map, whose parts are the keys and the values.</summary>
        public int Count
        {
            get
            {
                using (var value = Handle.Use())
                {
                    long count = nativePINVOKE.value_count(value.Address, out IntPtr status);
                    OrtolanException.Check(status);
                    return checked((int)count);
                }
            }
        }

        /// <summary>An element of a sequence, or a part of a map, as a value of its own.</summary>
        public Value this[int index]
        {
            get
            {
                Handle parent = Handle.Share();
                try
                {
                    IntPtr element = nativePINVOKE.value_at(parent.DangerousGetHandle(), index, out IntPtr status);
                    OrtolanException.Check(status);
                    return new Value(new Handle(element, Release.Value).Under(parent));
                }
                catch
                {
                    parent.DangerousRelease();
                    throw;
                }
            }
        }

        /// <summary>A map as a dictionary: TKey is string or long, TNumber the type of the values.</summary>
        public Dictionary<TKey, TNumber> ToDictionary<TKey, TNumber>() where TNumber : struct
        {
            if (Kind != ValueKind.Map) throw new ArgumentException($"the value is a {Kind}, not a map");
            using (Value keys = this[0])
            using (Value values = this[1])
            {
                object keyArray = typeof(TKey) == typeof(string) ? (object)keys.ToStrings() : keys.ToArray<long>();
                if (!(keyArray is TKey[] typedKeys))
                    throw new ArgumentException($"maps have keys of type string or long, not {typeof(TKey)}");
                TNumber[] numbers = values.ToArray<TNumber>();
                var pairs = new Dictionary<TKey, TNumber>(numbers.Length);
                for (int i = 0; i < numbers.Length; ++i) pairs[typedKeys[i]] = numbers[i];
                return pairs;
            }
        }

        /// <summary>Copies the elements of another tensor of the same type and shape, from any device to any device.</summary>
        public void CopyFrom(Value source, OrtolanEnvironment environment)
        {
            if (environment == null) throw new ArgumentNullException(nameof(environment));
            using (var env = environment.Handle.Use())
            using (var from = HandleOf(source, nameof(source)).Use())
            using (var to = Handle.Use())
            {
                nativePINVOKE.copy_tensor(env.Address, from.Address, to.Address, out IntPtr status);
                OrtolanException.Check(status);
            }
        }

        /// <summary>
        /// The elements of a tensor where they are, for code that works with pointers; not for strings. The memory is
        /// valid until the result is disposed, and may be a device's: see <see cref="Memory"/>.
        /// </summary>
        public TensorAccess Access()
        {
            Handle shared = Handle.Share();
            try
            {
                Facts facts = Read(shared.DangerousGetHandle());
                if (facts.Type == ElementType.String) throw new ArgumentException("strings are not read by address");
                return new TensorAccess(shared, facts.Address, facts.Bytes);
            }
            catch
            {
                shared.DangerousRelease();
                throw;
            }
        }
    }

    /// <summary>The memory of a tensor, kept as long as this is not disposed.</summary>
    public sealed class TensorAccess : IDisposable
    {
        readonly Handle handle;
        readonly IntPtr address;

        internal TensorAccess(Handle shared, IntPtr address, long bytes)
        {
            handle = new Handle(shared.DangerousGetHandle(), Release.Nothing).Under(shared);
            this.address = address;
            Bytes = bytes;
        }

        /// <summary>The first element.</summary>
        public IntPtr Address
        {
            get
            {
                using (handle.Use()) return address;
            }
        }

        /// <summary>The size of all elements.</summary>
        public long Bytes { get; }

        /// <summary>Ends the access.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
