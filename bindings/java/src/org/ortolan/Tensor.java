// Tensors: how they are made, and what they are. TensorElements.java reads and writes their elements.
package org.ortolan;

import java.nio.Buffer;
import java.nio.FloatBuffer;
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
public final class Tensor extends TensorElements {
  Tensor(Handle handle, TensorFacts facts) {
    super(handle, facts);
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

}
