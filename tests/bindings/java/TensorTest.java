// Tensors of all types, of arrays and over buffers; copies, views, and what is refused.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Map;
import java.util.function.Function;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;
import org.ortolan.BFloat16;
import org.ortolan.ElementType;
import org.ortolan.Float16;
import org.ortolan.MemoryInfo;
import org.ortolan.Outputs;
import org.ortolan.Session;
import org.ortolan.Tensor;

public class TensorTest {
  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  private static void assertRefused(String message, ThrowingRunnable call) {
    Errors.fails(IllegalArgumentException.class, message, call);
  }

  /** What the model that gives back its input gives back. */
  private static <T> T throughModel(String type, Tensor input, Function<Tensor, T> read) {
    try (input; Session session = Models.open("identity_" + type); Outputs outputs = session.run(input)) {
      assertEquals(input.elementType(), outputs.tensor("y").elementType());
      assertArrayEquals(input.shape(), outputs.tensor("y").shape());
      return read.apply(outputs.tensor("y"));
    }
  }

  @Test
  public void allTypesGoThroughModels() {
    float[] floats = {1.5f, -2, Float.MAX_VALUE, Float.NaN, 0, -0f};
    assertArrayEquals(floats, throughModel("float", Tensor.of(floats, 2, 3), Tensor::floats), 0);
    double[] doubles = {1e300, -1};
    assertArrayEquals(doubles, throughModel("double", Tensor.of(doubles, 2, 1), Tensor::doubles), 0);
    int[] ints = {1, -1, Integer.MIN_VALUE};
    assertArrayEquals(ints, throughModel("int32", Tensor.of(ints, 1, 3), Tensor::ints));
    assertArrayEquals(ints, throughModel("uint32", Tensor.of(ElementType.UINT32, ints, 1, 3), Tensor::ints));
    long[] longs = {1, -1, Long.MIN_VALUE};
    assertArrayEquals(longs, throughModel("int64", Tensor.of(longs, 3, 1), Tensor::longs));
    assertArrayEquals(longs, throughModel("uint64", Tensor.of(ElementType.UINT64, longs, 3, 1), Tensor::longs));
    short[] shorts = {1, -1, Short.MIN_VALUE};
    assertArrayEquals(shorts, throughModel("int16", Tensor.of(shorts, 1, 3), Tensor::shorts));
    assertArrayEquals(shorts, throughModel("uint16", Tensor.of(ElementType.UINT16, shorts, 1, 3), Tensor::shorts));
    byte[] bytes = {1, -1, Byte.MIN_VALUE};
    assertArrayEquals(bytes, throughModel("int8", Tensor.of(bytes, 1, 3), Tensor::bytes));
    assertArrayEquals(bytes, throughModel("uint8", Tensor.of(ElementType.UINT8, bytes, 1, 3), Tensor::bytes));
    boolean[] booleans = {true, false, true};
    assertArrayEquals(booleans, throughModel("bool", Tensor.of(booleans, 1, 3), Tensor::booleans));
    String[] strings = {"", "a\0b", "dög", "🐦 ortolan"};
    assertArrayEquals(strings, throughModel("string", Tensor.of(strings, 2, 2), Tensor::strings));
  }

  @Test
  public void halvesGoThroughModelsAsFloatsAndAsBits() {
    float[] numbers = {1, -2.5f, 0.125f, 65504};
    for (ElementType type : new ElementType[] {ElementType.FLOAT16, ElementType.BFLOAT16}) {
      String model = type.name().toLowerCase();
      float[] expected = numbers.clone();
      expected[3] = type == ElementType.FLOAT16 ? 65504 : 65536;
      assertArrayEquals(expected, throughModel(model, Tensor.of(type, numbers, 2, 2), Tensor::floats), 0);
      short one = type == ElementType.FLOAT16 ? (short) 0x3c00 : (short) 0x3f80;
      assertEquals(one, throughModel(model, Tensor.of(type, numbers, 1, 4), Tensor::shorts)[0]);
    }
  }

  @Test
  public void everyHalfSurvivesBeingAFloat() {
    for (int bits = 0; bits < 1 << 16; ++bits) {
      float half = Float16.toFloat((short) bits);
      float brain = BFloat16.toFloat((short) bits);
      assertTrue(Float.isNaN(half) ? Float.isNaN(Float16.toFloat(Float16.fromFloat(half)))
          : Float16.fromFloat(half) == (short) bits);
      assertTrue(Float.isNaN(brain) ? Float.isNaN(BFloat16.toFloat(BFloat16.fromFloat(brain)))
          : BFloat16.fromFloat(brain) == (short) bits);
    }
    assertEquals(0x7c00, Float16.fromFloat(65520));
    assertEquals(0x7bff, Float16.fromFloat(65519.99f));
    assertEquals(0x3c00, Float16.fromFloat(1 + 0x1p-11f)); // a tie, to even
    assertEquals(0x3c02, Float16.fromFloat(1 + 3 * 0x1p-11f));
    assertEquals(0x0001, Float16.fromFloat(0x1p-24f));
    assertEquals(0x0000, Float16.fromFloat(0x1p-25f));
    assertEquals((short) 0x8000, Float16.fromFloat(-0f));
    assertEquals(0x3f80, BFloat16.fromFloat(1 + 0x1p-8f));
  }

  @Test
  public void scalarsAndEmptyTensors() {
    try (Tensor scalar = Tensor.of(new float[] {7}); Tensor empty = Tensor.of(new float[0], 2, 0)) {
      assertEquals(0, scalar.shape().length);
      assertEquals(1, scalar.count());
      assertArrayEquals(new float[] {7}, scalar.floats(), 0);
      assertEquals(0, empty.count());
      assertEquals(0, empty.floats().length);
      assertEquals(0, empty.floatBuffer().remaining());
    }
    assertEquals(0, throughModel("float", Tensor.over(direct(0).asFloatBuffer(), 0, 3), Tensor::floats).length);
    assertEquals(0, throughModel("string", Tensor.of(new String[0], 0, 1), Tensor::strings).length);
  }

  @Test
  public void smallElementsAreBytes() {
    byte[] packed = {0x21, 0x43, 0x05};
    try (Tensor nibbles = Tensor.of(ElementType.INT4, packed, 5); Tensor eights = Tensor.of(ElementType.FLOAT8E4M3FN, packed, 3)) {
      assertEquals(3, nibbles.byteSize());
      assertEquals(5, nibbles.count());
      assertArrayEquals(packed, nibbles.bytes());
      assertEquals(packed[1], eights.buffer().get(1));
    }
    assertRefused("INT4[5] needs 3 bytes, not 2", () -> Tensor.of(ElementType.INT4, new byte[2], 5));
    try (Tensor zeros = Tensor.zeros(ElementType.UINT2, 9)) {
      assertEquals(3, zeros.byteSize());
    }
  }

  @Test
  public void shapesMustFitTheData() {
    assertRefused("the shape [2, 2] has 4 elements, not 3", () -> Tensor.of(new float[3], 2, 2));
    assertRefused("the shape [] has 1 elements, not 3", () -> Tensor.of(new int[3]));
    assertRefused("the shape [-1, 3] has a negative size", () -> Tensor.of(new long[3], -1, 3));
    assertRefused("the shape [4294967296, 4294967296] has too many elements",
        () -> Tensor.of(new float[0], 1L << 32, 1L << 32));
    assertRefused("the shape [3] has 3 elements, not 2", () -> Tensor.of(new String[] {"a", "b"}, 3));
    assertRefused("FLOAT[3] needs 12 bytes, not 16", () -> Tensor.over(direct(16).asFloatBuffer(), 3));
    assertRefused("UINT16 elements have 16 bits, those of the array 64",
        () -> Tensor.of(ElementType.UINT16, new long[1], 1));
    assertRefused("INT32 elements are not made of floats", () -> Tensor.of(ElementType.INT32, new float[1], 1));
    assertRefused("STRING elements have no fixed size, so they have no bytes",
        () -> Tensor.of(ElementType.STRING, new byte[1], 1));
    Errors.fails(IllegalArgumentException.class, "the shape [-1] has a negative size",
        () -> Tensor.zeros(ElementType.FLOAT, -1));
    Errors.fails(RuntimeException.class, "cannot allocate 9223372036854775804 bytes",
        () -> Tensor.zeros(ElementType.FLOAT, Long.MAX_VALUE / 4));
    Errors.fails(NullPointerException.class, "string 1 is null", () -> Tensor.of(new String[] {"a", null}, 2));
  }

  @Test
  public void buffersAreUsedInPlace() {
    FloatBuffer input = direct(16).asFloatBuffer().put(new float[] {9, 1, 2, 9});
    input.position(1).limit(3);
    FloatBuffer output = direct(8).asFloatBuffer();
    try (Session session = Models.open("add"); Tensor a = Tensor.over(input, 2); Tensor sum = Tensor.over(output, 2)) {
      session.runInto(Map.of("a", a, "b", a), Map.of("sum", sum), null);
      assertEquals(2, output.get(0), 0);
      assertEquals(4, output.get(1), 0);
      input.put(1, 5);
      session.runInto(Map.of("a", a, "b", a), Map.of("sum", sum), null);
      assertEquals(10, output.get(0), 0);
      assertEquals(10, sum.floatBuffer().get(0), 0);
    }
    assertEquals(10, output.get(0), 0);
  }

  @Test
  public void buffersOfTheWrongSortAreRefused() {
    ByteBuffer big = ByteBuffer.allocateDirect(8).order(other());
    Errors.fails(IllegalArgumentException.class, "BIG_ENDIAN", () -> Tensor.over(big.asFloatBuffer(), 2));
    Errors.fails(IllegalArgumentException.class, "ByteOrder.nativeOrder()",
        () -> Tensor.over(ElementType.FLOAT, big, 2));
    Errors.fails(IllegalArgumentException.class, "the buffer is not direct",
        () -> Tensor.over(FloatBuffer.allocate(2), 2));
    assertRefused("INT64 elements have 64 bits, those of the buffer 32",
        () -> Tensor.over(ElementType.INT64, direct(8).asIntBuffer(), 1));
    ByteBuffer odd = direct(9).position(1).slice().order(ByteOrder.nativeOrder());
    assertRefused("the buffer's elements are not at a multiple of 4 bytes", () -> Tensor.over(ElementType.FLOAT, odd, 2));
    Errors.fails(NullPointerException.class, "buffer", () -> Tensor.over(null, 2));
  }

  private static ByteOrder other() {
    return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
  }

  @Test
  public void readOnlyBuffersAreNotWritten() {
    FloatBuffer fixed = direct(8).putFloat(0, 3).asReadOnlyBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer();
    try (Session session = Models.open("add"); Tensor a = Tensor.over(fixed, 2);
        Outputs outputs = session.run(a, a)) {
      assertEquals(6, outputs.tensor("sum").floats()[0], 0);
      assertRefused("the tensor is over a read-only buffer",
          () -> session.runInto(Map.of("a", a, "b", a), Map.of("sum", a), null));
      assertRefused("the tensor is over a read-only buffer", () -> a.copyFrom(new float[2]));
      assertRefused("the tensor is over a read-only buffer", () -> session.bind().bindOutput("sum", a));
      assertTrue(a.floatBuffer().isReadOnly());
    }
  }

  @Test
  public void viewsShowAndChangeTheElements() {
    try (Tensor tensor = Tensor.of(new float[] {1, 2}, 2)) {
      tensor.floatBuffer().put(1, 5);
      assertArrayEquals(new float[] {1, 5}, tensor.floats(), 0);
      assertEquals(ByteOrder.nativeOrder(), tensor.buffer().order());
      assertTrue(tensor.buffer().isDirect());
      tensor.buffer().position(4);
      assertEquals(0, tensor.buffer().position());
      assertRefused("the tensor's elements are FLOAT, not DOUBLE", tensor::doubleBuffer);
      assertRefused("the tensor's elements are FLOAT, not INT64", tensor::longs);
      assertEquals(Float.floatToIntBits(5), tensor.intBuffer().get(1));
    }
    try (Tensor longs = Tensor.of(new long[] {3}, 1); Tensor shorts = Tensor.of(new short[] {4}, 1);
        Tensor doubles = Tensor.of(new double[] {5}, 1)) {
      assertEquals(3, longs.longBuffer().get(0));
      assertEquals(4, shorts.shortBuffer().get(0));
      assertEquals(5, doubles.doubleBuffer().get(0), 0);
    }
  }

  @Test
  public void viewsOutliveTheirTensor() {
    Tensor tensor = Tensor.of(new float[] {1, 2, 3, 4}, 4);
    FloatBuffer view = tensor.floatBuffer().slice(1, 2);
    tensor.close();
    for (int i = 0; i < 100; ++i) {
      Tensor.of(new float[] {9, 9, 9, 9}, 4).close(); // would get the memory if it were free
      System.gc();
      if (i > 2) {
        break;
      }
    }
    assertEquals(2, view.get(0), 0);
    assertEquals(3, view.get(1), 0);
  }

  @Test
  public void copiesReuseArrays() {
    try (Tensor tensor = Tensor.zeros(ElementType.INT32, 2)) {
      int[] numbers = {4, 5};
      tensor.copyFrom(numbers);
      int[] read = new int[2];
      tensor.copyTo(read);
      assertArrayEquals(numbers, read);
      assertRefused("the tensor has 8 bytes, the array 12", () -> tensor.copyTo(new int[3]));
      assertRefused("String is no array of numbers", () -> tensor.copyTo("text"));
    }
    try (Tensor strings = Tensor.zeros(ElementType.STRING, 2)) {
      assertArrayEquals(new String[] {"", ""}, strings.strings());
      Errors.fails(IllegalArgumentException.class, "STRING elements have no fixed size", strings::buffer);
      Errors.fails(IllegalArgumentException.class, "STRING elements have no fixed size", strings::bytes);
    }
  }

  @Test
  public void tensorsKnowTheirMemoryAndType() {
    try (Tensor tensor = Tensor.of(new float[6], 1, 2, 3, 1, 1); MemoryInfo memory = tensor.memory()) {
      assertEquals("Cpu", memory.name());
      assertEquals(0, memory.deviceId());
      assertSame(MemoryInfo.DeviceType.CPU, memory.deviceType());
      assertEquals("FLOAT[1, 2, 3, 1, 1]", tensor.toString());
      assertEquals("OfTensor[kind=TENSOR, element=FLOAT, shape=[1, 2, 3, 1, 1], symbols=[, , , , ]]",
          tensor.type().toString());
      assertTrue(tensor.isPresent());
    }
  }
}
