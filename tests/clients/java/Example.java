// The shortest program with Microsoft's Java package: the probability of each digit for a blank picture.
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import java.util.Map;

public class Example {
  public static void main(String[] args) throws Exception {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    try (OrtSession session = environment.createSession("tests/models/digits.onnx");
        OnnxTensor image = OnnxTensor.createTensor(environment, new float[1][1][8][8]);
        OrtSession.Result result = session.run(Map.of("image", image))) {
      float[] probabilities = ((float[][]) result.get(0).getValue())[0];
      for (int digit = 0; digit < 10; ++digit) System.out.printf("%d: %.3f%n", digit, probabilities[digit]);
    }
  }
}
