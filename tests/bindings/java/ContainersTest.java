// Sequences, maps and optionals.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.Test;
import org.ortolan.ElementType;
import org.ortolan.MapValue;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.Sequence;
import org.ortolan.Session;
import org.ortolan.Tensor;
import org.ortolan.Value;
import org.ortolan.ValueKind;
import org.ortolan.ValueType;

public class ContainersTest {
  private static Tensor floats(float... numbers) {
    return Tensor.of(numbers, numbers.length);
  }

  @Test
  public void modelsGiveSequences() {
    try (Session session = Models.open("sequence"); Tensor a = floats(1); Tensor b = floats(2, 3);
        Outputs outputs = session.run(a, b)) {
      Sequence pair = (Sequence) outputs.get("pair");
      assertEquals(ValueKind.SEQUENCE, pair.kind());
      assertEquals(2, pair.size());
      try (Value first = pair.get(0); Tensor second = (Tensor) pair.toList().get(1)) {
        assertArrayEquals(new float[] {1}, ((Tensor) first).floats(), 0);
        assertArrayEquals(new float[] {2, 3}, second.floats(), 0);
      }
      assertArrayEquals(new float[] {2, 3}, outputs.tensor("second").floats(), 0);
      Errors.fails(IndexOutOfBoundsException.class, "index 2 of a sequence of 2 values", () -> pair.get(2));
      Errors.fails(IllegalArgumentException.class, "is a SEQUENCE, no tensor", () -> outputs.tensor("pair"));
    }
  }

  @Test
  public void modelsTakeSequences() {
    try (Session session = Models.open("sequence_length"); Tensor a = floats(1); Tensor b = floats(2);
        Sequence three = Sequence.of(List.of(a, b, a)); Outputs outputs = session.run(three)) {
      assertArrayEquals(new long[] {3}, outputs.tensor("length").longs());
    }
    Errors.fails(OrtolanException.class, "at least one value is needed", () -> Sequence.of(List.of()));
    try (Tensor number = floats(1); Tensor text = Tensor.of(new String[] {"a"}, 1)) {
      Errors.fails(OrtolanException.class, "cannot hold one of string", () -> Sequence.of(List.of(number, text)));
    }
  }

  @Test
  public void modelsGiveMaps() {
    try (Session words = Models.open("zip_map_words"); Session numbers = Models.open("zip_map_numbers");
        Tensor rows = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        Outputs byWord = words.run(rows); Outputs byNumber = numbers.run(rows)) {
      Sequence maps = (Sequence) byWord.get("maps");
      assertEquals(2, maps.size());
      try (MapValue second = (MapValue) maps.get(1); MapValue first = (MapValue) ((Sequence) byNumber.get(0)).get(0)) {
        assertEquals(Map.of("cat", 4f, "dög", 5f, "bird", 6f), second.toMap());
        assertEquals(Map.of(10L, 1f, 20L, 2f, 30L, 3f), first.toMap());
        assertEquals(new ValueType.OfMap(ElementType.INT64, ((ValueType.OfMap) first.type()).content()), first.type());
      }
    }
  }

  @Test
  public void modelsTakeMaps() {
    try (Session session = Models.open("map_to_vector"); Tensor keys = Tensor.of(new String[] {"bird", "cat"}, 2);
        Tensor values = floats(7, 8); MapValue map = MapValue.of(keys, values); Outputs outputs = session.run(map)) {
      assertArrayEquals(new float[] {8, 0, 7}, outputs.tensor("vector").floats(), 0);
      Errors.fails(OrtolanException.class, "2 keys and 1 values", () -> MapValue.of(keys, floats(1)));
    }
  }

  @Test
  public void optionalsTakeWhatTheyMayHold() {
    try (Session session = Models.open("optional"); Tensor x = floats(1, 2); Outputs outputs = session.run(x)) {
      assertArrayEquals(new boolean[] {true}, outputs.tensor("present").booleans());
      ValueType.OfOptional type = (ValueType.OfOptional) session.inputs().get(0).type();
      assertEquals(ElementType.FLOAT, ((ValueType.OfTensor) type.content()).element());
    }
  }

  @Test
  public void optionalsMayBeMissing() {
    try (Session session = Models.open("optional_absent"); Tensor x = floats(1); Outputs outputs = session.run(x)) {
      assertEquals(ValueKind.NONE, outputs.get("nothing").kind());
      assertTrue(!outputs.get("nothing").isPresent());
    }
  }

  @Test
  public void containersKeepTheBuffersThatTheyPointInto() throws InterruptedException {
    try (Session session = Models.open("sequence")) {
      Outputs outputs = runOverBuffers(session);
      for (int i = 0; i < 5; ++i) {
        System.gc();
        Thread.sleep(10);
        ByteBuffer.allocateDirect(1 << 20).putFloat(0, 77); // would get the memory if it were free
      }
      try (outputs; Tensor first = (Tensor) ((Sequence) outputs.get(0)).get(0); Tensor second = outputs.tensor(1)) {
        assertEquals(5, first.floats()[0], 0);
        assertEquals(5, first.floats()[(1 << 18) - 1], 0);
        assertEquals(6, second.floats()[(1 << 18) - 1], 0);
      }
    }
  }

  private static Outputs runOverBuffers(Session session) {
    try (Tensor a = megabyteOf(5); Tensor b = megabyteOf(6)) {
      return session.run(a, b);
    }
  }

  private static Tensor megabyteOf(float number) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.nativeOrder());
    for (int i = 0; i < 1 << 18; ++i) {
      buffer.putFloat(4 * i, number);
    }
    return Tensor.over(buffer.asFloatBuffer(), 1 << 18);
  }
}
