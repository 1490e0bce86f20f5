// Tensors.
package org.ortolan;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Objects;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Memory;
import org.ortolan.internal.MemoryRange;
import org.ortolan.internal.Native;

/**
 * A tensor: elements of one type in row-major order, and a shape, which is empty for a scalar.
 *
 * <p>Tensors are made of arrays, which are copied once, or over direct buffers, which are used in place: the tensor keeps
 * the buffer, and both see the same elements. Elements are read into arrays, by one copy, or seen through a buffer, by
 * none. Java has no unsigned and no 16-bit float types; such elements are the bits in ints, longs, bytes or shorts.
 *
 * <p>A buffer that a tensor gave out stays valid for as long as anyone has it, also after close(): the memory is freed when
 * the tensor is closed and its buffers are garbage. Programs that run often and view large outputs should rather copy
 * them, or have runs write to tensors of their own.
 */
public final class Tensor extends Value {
  private volatile TensorFacts facts; // read when first asked for
  private volatile ByteBuffer view;

  Tensor(Handle handle, TensorFacts facts) {
    super(handle, ValueKind.TENSOR);
    this.facts = facts;
  }

  @Override
  void keepWhatItPointsInto(MemoryRange[] memory) {
    long place = facts().address();
    for (MemoryRange range : memory) {
      if (range.contains(place)) {
        handle.keep(new MemoryRange[] {range});
      }
    }
  }

  // ---- Making tensors of arrays ----

  /**
   * A FLOAT tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(float[] elements, long... shape) {
    return copyOf(ElementType.FLOAT, elements, elements.length, 32, shape);
  }

  /**
   * A DOUBLE tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(double[] elements, long... shape) {
    return copyOf(ElementType.DOUBLE, elements, elements.length, 64, shape);
  }

  /**
   * An INT8 tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(byte[] elements, long... shape) {
    return copyOf(ElementType.INT8, elements, elements.length, 8, shape);
  }

  /**
   * An INT16 tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(short[] elements, long... shape) {
    return copyOf(ElementType.INT16, elements, elements.length, 16, shape);
  }

  /**
   * An INT32 tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(int[] elements, long... shape) {
    return copyOf(ElementType.INT32, elements, elements.length, 32, shape);
  }

  /**
   * An INT64 tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(long[] elements, long... shape) {
    return copyOf(ElementType.INT64, elements, elements.length, 64, shape);
  }

  /**
   * A BOOL tensor with a copy of the elements.
   *
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(boolean[] elements, long... shape) {
    return copyOf(ElementType.BOOL, elements, elements.length, 8, shape);
  }

  /**
   * A STRING tensor with copies of the texts, as UTF-8.
   *
   * @param elements as many as the shape says, none null
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(String[] elements, long... shape) {
    Shapes.require(shape, elements.length);
    return new Tensor(own(Strings.tensorOf(elements, shape)), null);
  }

  /**
   * A tensor of any type of fixed size, with a copy of its bytes in native order, packed.
   *
   * @param type the type
   * @param bytes as many as the shape and type need
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(ElementType type, byte[] bytes, long... shape) {
    long needed = Shapes.requireFixedSize(type).bytesOf(Shapes.count(shape));
    if (needed != bytes.length) {
      throw new IllegalArgumentException(Shapes.mismatch(type, shape, needed + " bytes", bytes.length));
    }
    return new Tensor(own(Memory.tensorOf(bytes, bytes.length, shape, type.ordinal())), null);
  }

  /**
   * A tensor of a type of 16 bits with a copy of the elements' bits: UINT16, INT16, FLOAT16 or BFLOAT16.
   *
   * @param type the type
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(ElementType type, short[] elements, long... shape) {
    return copyOf(type, elements, elements.length, 16, shape);
  }

  /**
   * A tensor of a type of 32 bits with a copy of the elements' bits: INT32, UINT32 or FLOAT.
   *
   * @param type the type
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(ElementType type, int[] elements, long... shape) {
    return copyOf(type, elements, elements.length, 32, shape);
  }

  /**
   * A tensor of a type of 64 bits with a copy of the elements' bits: INT64, UINT64, DOUBLE or COMPLEX64.
   *
   * @param type the type
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(ElementType type, long[] elements, long... shape) {
    return copyOf(type, elements, elements.length, 64, shape);
  }

  /**
   * A tensor of the nearest numbers of a float type: FLOAT16, BFLOAT16 or FLOAT.
   *
   * @param type the type
   * @param elements as many as the shape says
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor of(ElementType type, float[] elements, long... shape) {
    return type == ElementType.FLOAT ? of(elements, shape) : of(type, Halves.of(type, elements), shape);
  }

  private static Tensor copyOf(ElementType type, Object array, int length, int bits, long[] shape) {
    if (type.bits() != bits) {
      throw new IllegalArgumentException(type + " elements have " + type.bits() + " bits, those of the array " + bits);
    }
    Shapes.require(shape, length);
    long bytes = (long) length * (bits / 8);
    return new Tensor(own(Memory.tensorOf(array, bytes, shape, type.ordinal())), null);
  }

  /**
   * A tensor of zeros, or of empty strings.
   *
   * @param type the type
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor zeros(ElementType type, long... shape) {
    Shapes.count(shape);
    return new Tensor(own(Native.tensor_of_zeros(shape, type.ordinal())), null);
  }

  // ---- Making tensors over memory ----

  /**
   * A tensor over the elements of a direct buffer from its position to its limit, in place. The tensor keeps the buffer.
   *
   * @param type the type, of the width of the buffer's elements, or any of fixed size for a ByteBuffer
   * @param buffer a direct buffer in native order, {@code ByteOrder.nativeOrder()}; a read-only one cannot be an output
   * @param shape the sizes: exactly the buffer's remaining elements
   * @return a new tensor
   */
  public static Tensor over(ElementType type, Buffer buffer, long... shape) {
    MemoryRange range = Buffers.rangeOf(buffer, Shapes.requireFixedSize(type), shape);
    Handle handle = own(Native.tensor_over(range.address(), range.length(), shape, type.ordinal()));
    handle.keep(new MemoryRange[] {range});
    return new Tensor(handle, null);
  }

  /**
   * A FLOAT tensor over a direct buffer, as {@link #over(ElementType, Buffer, long...)}.
   *
   * @param buffer a direct buffer in native order
   * @param shape the sizes
   * @return a new tensor
   */
  public static Tensor over(FloatBuffer buffer, long... shape) {
    return over(ElementType.FLOAT, buffer, shape);
  }

  /**
   * A tensor in the memory of a provider's device; its elements are not set.
   *
   * @param environment where the provider is registered
   * @param memory the memory
   * @param type the type
   * @param shape the sizes
   * @return a new tensor, which is read by {@link #copyTo} to one of the CPU
   */
  public static Tensor onDevice(Environment environment, MemoryInfo memory, ElementType type, long... shape) {
    Shapes.count(shape);
    try (InUse used = new InUse()) {
      long owner = used.add(environment);
      long place = memory.addTo(used);
      Handle handle = own(Native.tensor_on_device(owner, place, shape, type.ordinal()));
      handle.hold("environment", environment.handle);
      return new Tensor(handle, null);
    }
  }

  // ---- What a tensor is ----

  TensorFacts facts() {
    TensorFacts known = facts;
    if (known == null) {
      long address = handle.acquire();
      try {
        known = TensorFacts.of(address);
        facts = known;
      } finally {
        handle.release();
      }
    }
    return known;
  }

  private TensorFacts openFacts() {
    if (handle.isClosed()) {
      handle.acquire(); // throws
    }
    return facts();
  }

  /**
   * What the elements are.
   *
   * @return the type
   */
  public ElementType elementType() {
    return openFacts().type();
  }

  /**
   * The size of each dimension.
   *
   * @return a new array
   */
  public long[] shape() {
    return openFacts().shape().clone();
  }

  /**
   * The number of elements.
   *
   * @return the product of the sizes
   */
  public long count() {
    return Shapes.count(openFacts().shape());
  }

  /**
   * The size of the elements together.
   *
   * @return bytes; 0 for STRING
   */
  public long byteSize() {
    return openFacts().bytes();
  }

  /**
   * Where the elements are.
   *
   * @return their memory
   */
  public MemoryInfo memory() {
    return handle.with(address -> MemoryInfo.borrowed(Native.tensor_memory(address), handle, null));
  }

  // ---- Copies of the elements ----

  /**
   * The elements of a FLOAT, FLOAT16 or BFLOAT16 tensor.
   *
   * @return a new array
   */
  public float[] floats() {
    ElementType type = openFacts().type();
    if (type == ElementType.FLOAT16 || type == ElementType.BFLOAT16) {
      return Halves.toFloats(type, shorts());
    }
    return read(new float[length(32, ElementType.FLOAT)]);
  }

  /**
   * The elements of a DOUBLE tensor.
   *
   * @return a new array
   */
  public double[] doubles() {
    return read(new double[length(64, ElementType.DOUBLE)]);
  }

  /**
   * The elements of an INT32 or UINT32 tensor; those of an UINT32 tensor above 2^31 - 1 appear negative.
   *
   * @return a new array
   */
  public int[] ints() {
    return read(new int[length(32, ElementType.INT32, ElementType.UINT32)]);
  }

  /**
   * The elements of an INT64 or UINT64 tensor; those of an UINT64 tensor above 2^63 - 1 appear negative.
   *
   * @return a new array
   */
  public long[] longs() {
    return read(new long[length(64, ElementType.INT64, ElementType.UINT64)]);
  }

  /**
   * The elements, as their bits, of an INT16, UINT16, FLOAT16 or BFLOAT16 tensor.
   *
   * @return a new array
   */
  public short[] shorts() {
    return read(new short[length(16, ElementType.INT16, ElementType.UINT16, ElementType.FLOAT16, ElementType.BFLOAT16)]);
  }

  /**
   * The elements of a BOOL tensor.
   *
   * @return a new array
   */
  public boolean[] booleans() {
    byte[] bytes = read(new byte[length(8, ElementType.BOOL)]);
    boolean[] booleans = new boolean[bytes.length];
    for (int i = 0; i < bytes.length; ++i) {
      booleans[i] = bytes[i] != 0;
    }
    return booleans;
  }

  /**
   * The bytes of a tensor of any type but STRING, in native order, packed.
   *
   * @return a new array
   */
  public byte[] bytes() {
    Shapes.requireFixedSize(openFacts().type());
    return read(new byte[Math.toIntExact(openFacts().bytes())]);
  }

  /**
   * The texts of a STRING tensor; what is not UTF-8 appears as U+FFFD.
   *
   * @return a new array
   */
  public String[] strings() {
    int count = length(0, ElementType.STRING);
    return handle.with(address -> Strings.read(address, count));
  }

  /** The elements in their Java types. */
  Object[] boxed() {
    ElementType type = openFacts().type();
    if (type == ElementType.STRING) {
      return strings();
    }
    Object array = switch (type) {
      case FLOAT, FLOAT16, BFLOAT16 -> floats();
      case DOUBLE -> doubles();
      case INT32, UINT32 -> ints();
      case INT64, UINT64 -> longs();
      case BOOL -> booleans();
      default -> bytes();
    };
    Object[] boxed = new Object[Array.getLength(array)];
    for (int i = 0; i < boxed.length; ++i) {
      boxed[i] = Array.get(array, i);
    }
    return boxed;
  }

  /** The number of elements, for an array, if the type is among these. */
  private int length(int bits, ElementType... wanted) {
    TensorFacts known = openFacts();
    for (ElementType type : wanted) {
      if (known.type() == type) {
        return Math.toIntExact(bits == 0 ? Shapes.count(known.shape()) : known.bytes() / (bits / 8));
      }
    }
    throw new IllegalArgumentException("the tensor's elements are " + known.type() + ", not " + wanted[0]);
  }

  private <T> T read(T array) {
    copy(array, false);
    return array;
  }

  /**
   * Copies all elements to an array, for reuse of it.
   *
   * @param array a primitive array, of as many bytes as the tensor's elements
   */
  public void copyTo(Object array) {
    copy(array, false);
  }

  /**
   * Replaces all elements by those of an array.
   *
   * @param array a primitive array, of as many bytes as the tensor's elements
   */
  public void copyFrom(Object array) {
    copy(array, true);
  }

  private void copy(Object array, boolean in) {
    long bytes = Buffers.bytesOf(array);
    long address = handle.acquire();
    try {
      TensorFacts known = facts().readable(address);
      if (bytes != known.bytes()) {
        throw new IllegalArgumentException("the tensor has " + known.bytes() + " bytes, the array " + bytes);
      }
      if (in) {
        Memory.copyFrom(array, requireWritable().address(), bytes);
      } else {
        Memory.copyTo(array, known.address(), bytes);
      }
    } finally {
      handle.release();
    }
  }

  /**
   * Copies the elements to another tensor of the same type and shape, between devices too, and waits for the end.
   *
   * @param environment where the devices' providers are registered
   * @param target the other tensor
   */
  public void copyTo(Environment environment, Tensor target) {
    target.requireWritable();
    try (InUse used = new InUse()) {
      Native.copy_tensor(used.add(environment), used.add(this), used.add(target));
    }
  }

  // ---- Views of the elements ----

  /**
   * The elements' bytes in place, of any type but STRING: no copy, and what is written there is the tensor's.
   *
   * @return a new direct buffer in native order
   */
  public ByteBuffer buffer() {
    long address = handle.acquire();
    try {
      TensorFacts known = facts().readable(address);
      ByteBuffer base = view;
      if (base == null) {
        base = Memory.view(handle, known.address(), Buffers.requireInt(known.bytes()));
        base = handle.memory().length != 0 && !isWritable() ? base.asReadOnlyBuffer().order(base.order()) : base;
        view = base;
      }
      return base.duplicate().order(base.order());
    } finally {
      handle.release();
    }
  }

  /**
   * The elements of a FLOAT tensor in place.
   *
   * @return a new view of buffer()
   */
  public FloatBuffer floatBuffer() {
    requireBits(32, ElementType.FLOAT);
    return buffer().asFloatBuffer();
  }

  /**
   * The elements of a DOUBLE tensor in place.
   *
   * @return a new view of buffer()
   */
  public DoubleBuffer doubleBuffer() {
    requireBits(64, ElementType.DOUBLE);
    return buffer().asDoubleBuffer();
  }

  /**
   * The elements of a tensor with elements of 16 bits in place.
   *
   * @return a new view of buffer()
   */
  public ShortBuffer shortBuffer() {
    requireBits(16, ElementType.INT16);
    return buffer().asShortBuffer();
  }

  /**
   * The elements of a tensor with elements of 32 bits in place.
   *
   * @return a new view of buffer()
   */
  public IntBuffer intBuffer() {
    requireBits(32, ElementType.INT32);
    return buffer().asIntBuffer();
  }

  /**
   * The elements of a tensor with elements of 64 bits in place.
   *
   * @return a new view of buffer()
   */
  public LongBuffer longBuffer() {
    requireBits(64, ElementType.INT64);
    return buffer().asLongBuffer();
  }

  private void requireBits(int bits, ElementType wanted) {
    ElementType type = openFacts().type();
    boolean exact = wanted == ElementType.FLOAT || wanted == ElementType.DOUBLE;
    if (exact ? type != wanted : type.bits() != bits) {
      throw new IllegalArgumentException("the tensor's elements are " + type + ", not " + wanted);
    }
  }

  // ---- Writing in place ----

  private boolean isWritable() {
    for (MemoryRange range : handle.memory()) {
      if (range.owner() instanceof Buffer buffer && buffer.isReadOnly()) {
        return false;
      }
    }
    return true;
  }

  /** The facts, if the elements may be written. */
  TensorFacts requireWritable() {
    if (!isWritable()) {
      throw new IllegalArgumentException("the tensor is over a read-only buffer");
    }
    return facts();
  }

  @Override
  public void close() {
    view = null;
    super.close();
  }

  @Override
  public String toString() {
    return isClosed() ? "closed tensor" : Objects.toString(openFacts());
  }
}
