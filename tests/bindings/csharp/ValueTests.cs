// Values of all kinds, made from and read into what C# has.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using NUnit.Framework;
using Ortolan;
using static TestData;

[TestFixture]
public class ValueTests
{
    static void PassesThrough<T>(string model, ElementType type, params T[] elements) where T : struct
    {
        long[] shape = { 2, elements.Length / 2 };
        using (Session session = Open("identity_" + model))
        using (Value held = Value.FromArray(elements, shape), copied = Value.CopyArray(elements, shape))
        {
            foreach (Value x in new[] { held, copied })
            {
                Assert.AreEqual(type, x.ElementType);
                using (RunResults results = session.Run(x))
                {
                    Assert.AreEqual(type, results[0].ElementType);
                    CollectionAssert.AreEqual(shape, results[0].Shape);
                    CollectionAssert.AreEqual(elements, results[0].ToArray<T>());
                    var read = new T[elements.Length];
                    results[0].CopyTo(read);
                    CollectionAssert.AreEqual(elements, read);
                    Array.Clear(read, 0, read.Length);
                    results[0].CopyTo(new Span<T>(read));
                    CollectionAssert.AreEqual(elements, read);
                }
            }
        }
    }

    [Test]
    public void NumbersOfAllTypesPassThrough()
    {
        PassesThrough("float", ElementType.Float, 1.5f, float.MinValue, float.PositiveInfinity, -0f);
        PassesThrough("double", ElementType.Double, 1.5, double.Epsilon, double.MaxValue, -2.0);
        PassesThrough("float16", ElementType.Float16, (Float16)1.5f, (Float16)(-2f), (Float16)6e-8f, (Float16)65504f);
        PassesThrough("bfloat16", ElementType.BFloat16, (BFloat16)1.5f, (BFloat16)(-2f), (BFloat16)3e38f, (BFloat16)0f);
        PassesThrough("int8", ElementType.Int8, sbyte.MinValue, sbyte.MaxValue, (sbyte)0, (sbyte)-1);
        PassesThrough("uint8", ElementType.UInt8, (byte)0, (byte)255, (byte)1, (byte)128);
        PassesThrough("int16", ElementType.Int16, short.MinValue, short.MaxValue, (short)0, (short)-1);
        PassesThrough("uint16", ElementType.UInt16, (ushort)0, ushort.MaxValue);
        PassesThrough("int32", ElementType.Int32, int.MinValue, int.MaxValue, 0, -1);
        PassesThrough("uint32", ElementType.UInt32, uint.MinValue, uint.MaxValue);
        PassesThrough("int64", ElementType.Int64, long.MinValue, long.MaxValue, 0, -1);
        PassesThrough("uint64", ElementType.UInt64, ulong.MinValue, ulong.MaxValue);
        PassesThrough("bool", ElementType.Bool, true, false, false, true, true, false);
    }

    [Test]
    public void TensorsStandOverTheirArrays()
    {
        var array = new float[] { 1, 2, 3 };
        using (Value tensor = Value.FromArray(array))
        {
            array[1] = 20;
            CollectionAssert.AreEqual(new float[] { 1, 20, 3 }, tensor.ToArray<float>());
            tensor.Write(new float[] { 7, 8, 9 });
            CollectionAssert.AreEqual(new float[] { 7, 8, 9 }, array);
            GCHandle pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            using (TensorAccess access = tensor.Access()) Assert.AreEqual(pin.AddrOfPinnedObject(), access.Address);
            pin.Free();
        }
        var copied = new float[] { 1 };
        using (Value tensor = Value.CopyArray(copied))
        {
            copied[0] = 2;
            Assert.AreEqual(1f, tensor.ToArray<float>()[0]);
        }
    }

    [Test]
    public void ArraysStayInPlaceWhileATensorNeedsThem()
    {
        Value[] values = Enumerable.Range(0, 1000).Select(i => Value.FromArray(new[] { i, -i })).ToArray();
        Collect();
        for (int i = 0; i < values.Length; ++i)
        {
            CollectionAssert.AreEqual(new[] { i, -i }, values[i].ToArray<int>());
            values[i].Dispose();
        }
    }

    [Test]
    public void ArraysOfSeveralDimensionsHaveTheirShape()
    {
        using (Value tensor = Value.FromArray(new double[,] { { 1, 2, 3 }, { 4, 5, 6 } }))
        {
            CollectionAssert.AreEqual(new long[] { 2, 3 }, tensor.Shape);
            CollectionAssert.AreEqual(new double[] { 1, 2, 3, 4, 5, 6 }, tensor.ToArray<double>());
        }
        using (Value tensor = Value.FromArray(new bool[,,] { { { true, false } } }))
        {
            CollectionAssert.AreEqual(new long[] { 1, 1, 2 }, tensor.Shape);
            CollectionAssert.AreEqual(new[] { true, false }, tensor.ToArray<bool>());
        }
        Fails<ArgumentException>("String[,] is no array of tensor elements",
                                 () => Value.FromArray(new string[,] { { "a" } }));
    }

    [Test]
    public void ScalarsAndEmptyTensors()
    {
        using (Value scalar = Value.FromArray(new[] { 5L }, new long[0]))
        {
            Assert.AreEqual(0, scalar.Shape.Length);
            Assert.AreEqual(5, scalar.ToArray<long>()[0]);
        }
        using (Session session = Open("identity_float"))
        {
            foreach (Value empty in new[] { Value.FromArray(new float[0], 0, 3), Value.CopyArray(new float[0], 0, 3),
                                            Value.Zeros(ElementType.Float, 0, 3) })
            {
                using (empty)
                using (RunResults results = session.Run(empty))
                {
                    CollectionAssert.AreEqual(new long[] { 0, 3 }, results[0].Shape);
                    Assert.AreEqual(0, results[0].ToArray<float>().Length);
                }
            }
        }
        using (Value deep = Value.Zeros(ElementType.Int8, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 3))
            CollectionAssert.AreEqual(new long[] { 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 3 }, deep.Shape);
    }

    [Test]
    public void ShapesMustFit()
    {
        var three = new float[3];
        Fails<ArgumentException>("the shape [2, 2] has 4 elements, but there are 3",
                                 () => Value.FromArray(three, 2, 2));
        Fails<ArgumentException>("the shape [2] has 2 elements, but there are 3", () => Value.FromArray(three, 2));
        Fails<ArgumentException>("take 16 bytes, but there are 12", () => Value.CopyArray(three, 4));
        Fails<ArgumentException>("the shape [] has 1 elements, but there are 3",
                                 () => Value.FromArray(three, new long[0]));
        Fails<ArgumentException>("the shape [-3] has a negative size", () => Value.FromArray(three, -3));
        Fails<ArgumentException>("the shape [9223372036854775807, 4] is too large",
                                 () => Value.FromArray(three, long.MaxValue, 4));
        Fails<ArgumentException>("the shape [9223372036854775807] is too large",
                                 () => Value.CopyBytes(new byte[3], ElementType.Double, long.MaxValue));
        Fails<ArgumentException>("the shape [2, -1] has a negative size", () => Value.Zeros(ElementType.Float, 2, -1));
        Fails<OrtolanException>("9223372036854775807 * 4 overflows",
                                () => Value.Zeros(ElementType.Float, long.MaxValue));
        Fails<ArgumentException>("the shape [2] has 2 elements, but there are 1",
                                 () => Value.FromStrings(new[] { "a" }, new long[] { 2 }));
        Fails<ArgumentException>("the shape [4] has 4 elements, but there are 3",
                                 () => Value.FromMemory(new Memory<int>(new int[3]), 4));
        Fails<ArgumentException>("take 16 bytes, but there are 12",
                                 () => Value.FromPointer((IntPtr)64, 12, ElementType.Float, new long[] { 4 }));
        Fails<ArgumentNullException>("elements", () => Value.FromArray((float[])null));
        Fails<ArgumentNullException>("parts", () => Value.Sequence((Value)null));
        Fails<ArgumentNullException>("parts", () => Value.Map(null, null));
        Fails<ArgumentException>("take 12 bytes, but there are 8",
                                 () => Value.CopySpan(new ReadOnlySpan<float>(three, 0, 2), 3));
        Fails<ArgumentException>("Char is no type of tensor elements", () => Value.FromArray(new[] { 'a' }));
    }

    [Test]
    public void ReadersMustFit()
    {
        using (Value tensor = Floats(1, 2))
        {
            Fails<ArgumentException>("the tensor holds Float, not Int32", () => tensor.ToArray<int>());
            Fails<ArgumentException>("the tensor has 2 elements, but there are 3", () => tensor.CopyTo(new float[3]));
            Fails<ArgumentException>("the tensor has 2 elements, but there are 1", () => tensor.Write(new float[1]));
            Fails<ArgumentException>("the tensor holds Float, not strings", () => tensor.ToStrings());
            Fails<ArgumentException>("the value is a Tensor, not a map", () => tensor.ToDictionary<string, float>());
            Fails<OrtolanException>("the value is a tensor, not a sequence", () => tensor[0].Dispose());
        }
        using (Value strings = Value.FromStrings(new[] { "a" }))
        {
            Fails<ArgumentException>("the tensor holds String, not Byte", () => strings.ToArray<byte>());
            Fails<ArgumentException>("strings are not read by address", () => strings.Access().Dispose());
            Fails<OrtolanException>("a tensor of strings has no size in bytes", () => strings.ToBytes());
        }
    }

    [Test]
    public void MemoryAndPointersAreHeld()
    {
        var array = new int[] { 0, 1, 2, 3, 4 };
        using (Value tensor = Value.FromMemory(new Memory<int>(array, 1, 4), 2, 2))
        {
            array[1] = 10;
            CollectionAssert.AreEqual(new[] { 10, 2, 3, 4 }, tensor.ToArray<int>());
        }
        using (Value tensor = Value.CopySpan(new ReadOnlySpan<int>(array, 3, 2), 2))
            CollectionAssert.AreEqual(new[] { 3, 4 }, tensor.ToArray<int>());
        using (Value tensor = Value.FromMemory(new Memory<bool>(new[] { true, false }), 2))
            CollectionAssert.AreEqual(new[] { true, false }, tensor.ToArray<bool>());
        IntPtr memory = Marshal.AllocHGlobal(8);
        using (Value tensor = Value.FromPointer(memory, 8, ElementType.Int32, new long[] { 2 }))
        {
            Marshal.WriteInt32(memory, 4, 99);
            Assert.AreEqual(99, tensor.ToArray<int>()[1]);
        }
        Marshal.FreeHGlobal(memory);
    }

    [Test]
    public void StringsKeepAllTheirBytes()
    {
        string[] strings = { "plain", "", "NUL\0within", "Ørtolan 🐦" };
        using (Session session = Open("identity_string"))
        using (Value tensor = Value.FromStrings(strings, new long[] { 2, 2 }))
        using (RunResults results = session.Run(tensor))
        {
            Assert.AreEqual(ElementType.String, results[0].ElementType);
            CollectionAssert.AreEqual(new long[] { 2, 2 }, results[0].Shape);
            CollectionAssert.AreEqual(strings, results[0].ToStrings());
            CollectionAssert.AreEqual(Encoding.UTF8.GetBytes(strings[3]), results[0].ToStringBytes()[3]);
        }
        byte[][] odd = { new byte[] { 0xff, 0, 0xfe }, new byte[0] };
        using (Value tensor = Value.FromStringBytes(odd))
        {
            CollectionAssert.AreEqual(odd[0], tensor.ToStringBytes()[0]);
            Assert.AreEqual("\ufffd\0\ufffd", tensor.ToStrings()[0]);
        }
        using (Value none = Value.FromStrings(new string[0])) Assert.AreEqual(0, none.ToStrings().Length);
        using (Value empty = Value.Zeros(ElementType.String, 2))
            CollectionAssert.AreEqual(new[] { "", "" }, empty.ToStrings());
        Fails<ArgumentException>("a string is null", () => Value.FromStrings(new[] { "a", null }));
        Fails<EncoderFallbackException>("uD800", () => Value.FromStrings(new[] { "\ud800" }));
    }

    [Test]
    public void SmallTypesAreBytes()
    {
        foreach (ElementType type in new[] { ElementType.Int4, ElementType.UInt4, ElementType.Float4E2M1 })
        {
            using (Value tensor = Value.CopyBytes(new byte[] { 0x21, 0x03 }, type, 3))
            {
                Assert.AreEqual(type, tensor.ElementType);
                CollectionAssert.AreEqual(new byte[] { 0x21, 0x03 }, tensor.ToBytes());
            }
            Fails<ArgumentException>("take 2 bytes, but there are 3", () => Value.CopyBytes(new byte[3], type, 3));
        }
        using (Value tensor = Value.CopyBytes(new byte[] { 0xe4, 0x01 }, ElementType.UInt2, 5))
            CollectionAssert.AreEqual(new byte[] { 0xe4, 0x01 }, tensor.ToBytes());
        foreach (ElementType type in new[] { ElementType.Float8E4M3FN, ElementType.Float8E4M3FNUZ,
                                             ElementType.Float8E5M2, ElementType.Float8E5M2FNUZ })
        {
            using (Value tensor = Value.CopyBytes(new byte[] { 1, 2, 3 }, type, 3))
                CollectionAssert.AreEqual(new byte[] { 1, 2, 3 }, tensor.ToBytes());
        }
        Fails<ArgumentException>("type String are not made from bytes",
                                 () => Value.CopyBytes(new byte[1], ElementType.String, 1));
        Fails<ArgumentException>("type Undefined are not made from bytes",
                                 () => Value.CopyBytes(new byte[1], ElementType.Undefined, 1));
    }

    [Test]
    public void SequencesPassThrough()
    {
        using (Session session = Open("sequence"))
        using (Value a = Floats(1, 2), b = Floats(3))
        using (RunResults results = session.Run(a, b))
        {
            Assert.AreEqual(ValueKind.Sequence, results["pair"].Kind);
            Assert.AreEqual(2, results["pair"].Count);
            using (Value first = results["pair"][0])
                CollectionAssert.AreEqual(new float[] { 1, 2 }, first.ToArray<float>());
            CollectionAssert.AreEqual(new float[] { 3 }, results["second"].ToArray<float>());
            Fails<OrtolanException>("index 2 is out of range", () => results["pair"][2].Dispose());
            Fails<OrtolanException>("no element of that index", () => results["pair"][-1].Dispose());
            Assert.AreEqual(ElementType.Float, results["pair"].Type.Content.ElementType);
        }
        using (Session session = Open("sequence_length"))
        {
            Value sequence;
            using (Value a = Floats(1, 2), b = Floats(3)) sequence = Value.Sequence(a, b);
            using (sequence)
            using (RunResults results = session.Run(sequence)) Assert.AreEqual(2, results[0].ToArray<long>()[0]);
        }
    }

    [Test]
    public void SequencesKeepTheMemoryOfTheirTensors()
    {
        Value sequence = Value.Sequence(Enumerable.Range(0, 100).Select(i => Floats(i, i)).ToArray());
        Collect();
        Value last = sequence[99];
        sequence.Dispose();
        CollectionAssert.AreEqual(new float[] { 99, 99 }, last.ToArray<float>());
        last.Dispose();
    }

    [Test]
    public void MapsAreDictionaries()
    {
        using (Session session = Open("zip_map_words"))
        using (Value x = Value.FromArray(new float[,] { { 1, 2, 3 }, { 4, 5, 6 } }))
        using (RunResults results = session.Run(x))
        using (Value second = results[0][1])
        {
            Assert.AreEqual(2, results[0].Count);
            Dictionary<string, float> words = second.ToDictionary<string, float>();
            Assert.AreEqual(3, words.Count);
            Assert.AreEqual(5f, words["dög"]);
            Fails<ArgumentException>("the tensor holds String, not Int64", () => second.ToDictionary<long, float>());
        }
        using (Session session = Open("zip_map_numbers"))
        using (Value x = Value.FromArray(new float[,] { { 1, 2, 3 } }))
        using (RunResults results = session.Run(x))
        using (Value first = results[0][0]) Assert.AreEqual(2f, first.ToDictionary<long, float>()[20]);
        using (Session session = Open("map_to_vector"))
        using (Value words = Value.FromDictionary(new Dictionary<string, float> { { "dog", 2 }, { "cat", 1 } }))
        using (RunResults results = session.Run(words))
        {
            Assert.AreEqual(ValueKind.Map, words.Kind);
            CollectionAssert.AreEqual(new float[] { 1, 2, 0 }, results[0].ToArray<float>());
        }
        Fails<ArgumentException>("keys of type System.Int32",
                                 () => Value.FromDictionary(new Dictionary<int, float> { { 1, 1 } }));
    }

    [Test]
    public void OptionalsMayHoldAValue()
    {
        using (Session session = Open("optional"))
        using (Value x = Floats(1))
        using (RunResults results = session.Run(x))
        {
            Assert.IsTrue(x.HasValue);
            Assert.IsTrue(results["present"].ToArray<bool>()[0]);
        }
    }

    [Test]
    public void HalfNumbersRoundToNearest()
    {
        for (int bits = 0; bits <= ushort.MaxValue; ++bits)
        {
            Float16 half = Float16.FromBits((ushort)bits);
            float number = half;
            if (float.IsNaN(number)) Assert.IsTrue(float.IsNaN((Float16)number));
            else Assert.AreEqual(bits, ((Float16)number).Bits, "bits");
            BFloat16 brain = BFloat16.FromBits((ushort)bits);
            number = brain;
            if (float.IsNaN(number)) Assert.IsTrue(float.IsNaN((BFloat16)number));
            else Assert.AreEqual(bits, ((BFloat16)number).Bits, "bits");
        }
        var random = new Random(7);
        for (int i = 0; i < 20000; ++i)
        {
            float number = (float)((random.NextDouble() * 2 - 1) * Math.Pow(2, random.Next(-28, 17)));
            double error = Math.Abs((double)(Float16)number - number);
            double step = Math.Pow(2, Math.Max(Math.Floor(Math.Log(Math.Abs(number), 2)), -14) - 10);
            if (Math.Abs(number) < 65520) Assert.LessOrEqual(error, step / 2, "of {0:R}", number);
            else Assert.IsTrue(float.IsInfinity((Float16)number));
            error = Math.Abs((double)(BFloat16)number - number);
            Assert.LessOrEqual(error, Math.Abs(number) / 256, "of {0:R}", number);
        }
        Assert.AreEqual(0x3c00, ((Float16)1.00048828125f).Bits);  // half way to the next: to even
        Assert.AreEqual(0x3c02, ((Float16)1.00146484375f).Bits);
        Assert.AreEqual(0x3f80, ((BFloat16)1.00390625f).Bits);
        Assert.AreEqual(0x3f82, ((BFloat16)1.01171875f).Bits);
    }
}
