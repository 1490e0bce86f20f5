// Scores a table with a model on Spark: ScoreWithSpark MODEL INPUT OUTPUT RESULT [BATCH].
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.ortolan.Outputs;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;
import org.ortolan.ValueInfo;
import org.ortolan.ValueType;

/**
 * INPUT is a folder of Parquet files with the column id and one with a list of numbers a row, the model's input. OUTPUT gets
 * id and the named result, a list of numbers a row. The model's path is one on every node.
 */
public final class ScoreWithSpark implements ScoredRows.Model {
  private final Session session;
  private final ValueInfo input;
  private final List<String> results;
  private final long[] shape;

  private ScoreWithSpark(String path, String result) {
    // A task has one core, and those of an executor run side by side.
    session = new Session(Path.of(path), new SessionOptions().setIntraOpThreads(1));
    input = session.inputs().get(0);
    results = List.of(result);
    shape = ((ValueType.OfTensor) input.type()).shape().stream().mapToLong(size -> size).toArray();
  }

  @Override
  public long[] shape() {
    return shape;
  }

  @Override
  public float[] run(float[] numbers, long[] sizes) {
    try (Tensor tensor = Tensor.of(numbers, sizes); Outputs outputs = session.run(Map.of(input.name(), tensor), results)) {
      return outputs.tensor(0).floats();
    }
  }

  public static void main(String[] arguments) {
    ScoredRows.scoreTable(arguments, ScoreWithSpark::new);
  }
}
