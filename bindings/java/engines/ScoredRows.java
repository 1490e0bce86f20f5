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
    /** How many numbers a row has. */
    int width();

    /** The results of all rows, one row after the other. */
    float[] run(float[] numbers, int rows);
  }

  /** How a task comes to its model: called in the executors, best with the same answer for all tasks of one. */
  interface Opener extends Serializable {
    Model open(String path, String result);
  }

  private final Iterator<Row> rows;
  private final Model model;
  private final long[] ids;
  private final float[] numbers;
  private final ArrayDeque<Row> ready = new ArrayDeque<>();

  private ScoredRows(Iterator<Row> rows, Model model, int batch) {
    this.rows = rows;
    this.model = model;
    ids = new long[batch];
    numbers = new float[batch * model.width()];
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
      int at = count * model.width();
      for (float number : row.<Float>getList(1)) {
        numbers[at++] = number;
      }
    }
    float[] scores = model.run(count == ids.length ? numbers : Arrays.copyOf(numbers, count * model.width()), count);
    int width = scores.length / count;
    for (int i = 0; i < count; ++i) {
      Float[] row = new Float[width];
      for (int j = 0; j < width; ++j) {
        row[j] = scores[i * width + j];
      }
      ready.add(RowFactory.create(ids[i], row));
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
          .mapPartitions((MapPartitionsFunction<Row, Row>) rows -> new ScoredRows(rows, opener.open(model, result), batch),
              Encoders.row(type))
          .write().parquet(arguments[2]);
      System.out.printf("seconds: %.2f%n", (System.nanoTime() - begin) / 1e9);
    }
  }
}
