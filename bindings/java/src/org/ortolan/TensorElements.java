// The elements of tensors: copies and views of them, and writing in place.
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

/** The part of a {@link Tensor} that reads and writes its elements. */
abstract class TensorElements extends Value {
  private volatile TensorFacts facts; // read when first asked for
  private volatile ByteBuffer view;

  TensorElements(Handle handle, TensorFacts facts) {
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

  TensorFacts openFacts() {
    if (handle.isClosed()) {
      handle.acquire(); // throws
    }
    return facts();
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
