// The program of bindings/java/engines with Microsoft's package: MicrosoftOnSpark MODEL INPUT OUTPUT RESULT [BATCH].
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.nio.FloatBuffer;
import java.util.Map;
import java.util.Set;

public final class MicrosoftOnSpark implements ScoredRows.Model {
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;
  private final String input;
  private final Set<String> results;
  private final long[] shape;

  private MicrosoftOnSpark(String path, String result) throws OrtException {
    OrtSession.SessionOptions options = new OrtSession.SessionOptions();
    options.setIntraOpNumThreads(1);
    session = environment.createSession(path, options);
    input = session.getInputNames().iterator().next();
    results = Set.of(result);
    shape = ((TensorInfo) session.getInputInfo().get(input).getInfo()).getShape();
  }

  @Override
  public long[] shape() {
    return shape;
  }

  @Override
  public float[] run(float[] numbers, long[] sizes) throws OrtException {
    try (OnnxTensor tensor = OnnxTensor.createTensor(environment, FloatBuffer.wrap(numbers), sizes);
        OrtSession.Result outputs = session.run(Map.of(input, tensor), results)) {
      FloatBuffer scores = ((OnnxTensor) outputs.get(0)).getFloatBuffer();
      float[] copy = new float[scores.remaining()];
      scores.get(copy);
      return copy;
    }
  }

  public static void main(String[] arguments) {
    ScoredRows.scoreTable(arguments, MicrosoftOnSpark::new);
  }
}
