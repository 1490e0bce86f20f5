// The rows of a table on Spark with what a model makes of them.
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The scored rows of a partition: the id and a list of numbers each. The model runs on a batch of them at a time. */
final class ScoredRows implements Iterator<Row> {
  /** A model of one input and one result that interest. Several tasks may run it at once. */
  interface Model {
    /** The sizes of the input; the first, that of the rows, does not count. */
    long[] shape();

    /** The results of all rows, one row after the other, for an input of that shape. */
    float[] run(float[] numbers, long[] shape) throws Exception;
  }

  /** How an executor comes to its model. */
  interface Opener extends Serializable {
    Model open(String path, String result) throws Exception;
  }

  private static Model kept;

  /** One model an executor, for all its tasks. */
  private static synchronized Model keep(Opener opener, String path, String result) throws Exception {
    if (kept == null) {
      kept = opener.open(path, result);
    }
    return kept;
  }

  private final Iterator<Row> rows;
  private final Model model;
  private final long[] ids;
  private final int width;
  private final float[] numbers;
  private final ArrayDeque<Row> ready = new ArrayDeque<>();

  private ScoredRows(Iterator<Row> rows, Model model, int batch) {
    this.rows = rows;
    this.model = model;
    ids = new long[batch];
    width = (int) Arrays.stream(model.shape()).skip(1).reduce(1, Math::multiplyExact);
    numbers = new float[batch * width];
  }

  @Override
  public boolean hasNext() {
    if (ready.isEmpty() && rows.hasNext()) {
      score();
    }
    return !ready.isEmpty();
  }

  @Override
  public Row next() {
    return hasNext() ? ready.remove() : rows.next();
  }

  private void score() {
    int count = 0;
    for (; count < ids.length && rows.hasNext(); ++count) {
      Row row = rows.next();
      ids[count] = row.getLong(0);
      int at = count * width;
      for (float number : row.<Float>getList(1)) {
        numbers[at++] = number;
      }
    }
    float[] scores = run(count);
    int results = scores.length / count;
    for (int i = 0; i < count; ++i) {
      Float[] row = new Float[results];
      for (int j = 0; j < results; ++j) {
        row[j] = scores[i * results + j];
      }
      ready.add(RowFactory.create(ids[i], row));
    }
  }

  private float[] run(int count) {
    long[] shape = model.shape().clone();
    shape[0] = count;
    try {
      return model.run(count == ids.length ? numbers : Arrays.copyOf(numbers, count * width), shape);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Scores the table of the program's arguments: MODEL INPUT OUTPUT RESULT [BATCH]. */
  static void scoreTable(String[] arguments, Opener opener) {
    if (arguments.length < 4) {
      System.err.println("usage: MODEL INPUT OUTPUT RESULT [BATCH]");
      System.exit(2);
    }
    String model = arguments[0];
    String result = arguments[3];
    int batch = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 1024;
    StructType type = new StructType().add("id", DataTypes.LongType)
        .add(result, DataTypes.createArrayType(DataTypes.FloatType));
    try (SparkSession spark = SparkSession.builder().getOrCreate()) {
      long begin = System.nanoTime();
      var table = spark.read().parquet(arguments[1]);
      String input = Arrays.stream(table.columns()).filter(name -> !name.equals("id")).findFirst().orElseThrow();
      table.select(functions.col("id"), functions.col(input))
          .mapPartitions((MapPartitionsFunction<Row, Row>) rows -> new ScoredRows(rows, keep(opener, model, result), batch),
              Encoders.row(type))
          .write().parquet(arguments[2]);
      System.out.printf("seconds: %.2f%n", (System.nanoTime() - begin) / 1e9);
    }
  }
}
