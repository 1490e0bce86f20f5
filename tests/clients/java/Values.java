// Values of every kind: numbers, strings, sequences, maps, data beside the model and from the program.
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxMap;
import ai.onnxruntime.OnnxSequence;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.SequenceInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class Values {
  private static OnnxTensor tensor(Object array) throws Exception {
    return OnnxTensor.createTensor(Check.ENVIRONMENT, array);
  }

  private static OnnxTensor bytes(OnnxJavaType type, int size, long... values) throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(size * values.length).order(ByteOrder.nativeOrder());
    for (long value : values) {
      if (size == 1) buffer.put((byte) value);
      if (size == 2) buffer.putShort((short) value);
      if (size == 4) buffer.putInt((int) value);
      if (size == 8) buffer.putLong(value);
    }
    buffer.rewind();
    return OnnxTensor.createTensor(Check.ENVIRONMENT, buffer, new long[] {values.length}, type);
  }

  static void elementTypesTest() throws Exception {
    Map<String, OnnxTensor> inputs = new HashMap<>();
    Map<String, Object> expected = new HashMap<>();
    String[] words = {"", "Grüße, 日本語 🐦"};
    inputs.put("float", tensor(new float[] {0, 7}));
    expected.put("float", new float[] {1, 15});
    inputs.put("double", tensor(new double[] {0, 7}));
    expected.put("double", new double[] {1, 15});
    inputs.put("int8", tensor(new byte[] {0, 7}));
    expected.put("int8", new byte[] {1, 15});
    inputs.put("int16", tensor(new short[] {0, 7}));
    expected.put("int16", new short[] {1, 15});
    inputs.put("int32", tensor(new int[] {0, 7}));
    expected.put("int32", new int[] {1, 15});
    inputs.put("int64", tensor(new long[] {0, 7}));
    expected.put("int64", new long[] {1, 15});
    inputs.put("bool", tensor(new boolean[] {true, false}));
    expected.put("bool", new boolean[] {false, true});
    inputs.put("string", tensor(words));
    expected.put("string", words);
    inputs.put("uint8", bytes(OnnxJavaType.UINT8, 1, 0, 120));
    expected.put("uint8", new byte[] {1, (byte) 241});
    inputs.put("float16", bytes(OnnxJavaType.FLOAT16, 2, 0, 0x3c00));
    expected.put("float16", new float[] {1, 3});
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("java_types"))) {
      Map<String, OnnxTensor> feeds = new HashMap<>();
      inputs.forEach((name, value) -> feeds.put("x_" + name, value));
      try (OrtSession.Result results = session.run(feeds)) {
        for (String name : inputs.keySet()) {
          Check.equal(expected.get(name), results.get("y_" + name).orElseThrow().getValue());
        }
      }
    }
    for (OnnxTensor input : inputs.values()) input.close();
  }

  static void scalarsTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("endless"));
        OnnxTensor rounds = tensor(30L);
        OrtSession.Result result = session.run(Map.of("rounds", rounds))) {
      Check.equal(30f, result.get(0).getValue());
    }
  }

  static void textTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("text"));
        OnnxTensor text = OnnxTensor.createTensor(Check.ENVIRONMENT, new String[] {"one", "Two"}, new long[] {2});
        OrtSession.Result result = session.run(Map.of("text", text))) {
      Check.equal(new String[] {"ONE", "TWO"}, result.get(0).getValue());
    }
  }

  @SuppressWarnings("unchecked")
  static void sequencesOfMapsTest() throws Exception {
    for (String name : List.of("scores", "words")) {
      List<?> keys = name.equals("words") ? List.of("ant", "bee", "cat") : List.of(10L, 20L, 30L);
      try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model(name));
          OnnxTensor features = tensor(new float[][] {{0, 0, 0}, {0, 9, 0}});
          OrtSession.Result result = session.run(Map.of("features", features))) {
        SequenceInfo info = (SequenceInfo) session.getOutputInfo().get("scores").getInfo();
        Check.that(info.isSequenceOfMaps(), info);
        Check.equal(OnnxJavaType.FLOAT, info.mapInfo.valueType);
        OnnxSequence scores = (OnnxSequence) result.get("scores").orElseThrow();
        List<OnnxMap> rows = (List<OnnxMap>) scores.getValue();
        Check.equal(2, rows.size());
        Map<Object, Float> even = (Map<Object, Float>) rows.get(0).getValue();
        Check.equal(new java.util.HashSet<>(keys), even.keySet());
        for (float score : even.values()) Check.that(Math.abs(score - 1 / 3.) < 1e-6, score);
        Check.that((float) rows.get(1).getValue().get(keys.get(1)) > 0.999, rows.get(1).getValue());
      }
    }
  }

  @SuppressWarnings("unchecked")
  static void sequencesTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("pieces"));
        OnnxTensor rows = tensor(new float[][] {{1, 2}, {3, 4}, {5, 6}});
        OrtSession.Result result = session.run(Map.of("rows", rows))) {
      List<? extends OnnxValue> pieces = ((OnnxSequence) result.get(0)).getValue();
      Check.equal(3, pieces.size());
      Check.equal(new float[][] {{5, 6}}, pieces.get(2).getValue());
    }
  }

  static void initializersTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("defaults"));
        OnnxTensor x = tensor(new float[] {1, 2});
        OrtSession.Result result = session.run(Map.of("x", x))) {
      Check.equal(new float[] {3, 6}, result.get(0).getValue());
    }
  }

  static void externalDataTest() throws Exception {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        OnnxTensor own = tensor(new float[][] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {0, 0, 0, 0}});
        OnnxTensor x = tensor(new float[][] {{1, 0, 1, 0}});
        OrtSession file = Check.ENVIRONMENT.createSession(Check.model("external"))) {
      options.addExternalInitializers(Map.of("matrix", own));
      try (OrtSession given = Check.ENVIRONMENT.createSession(Check.model("external"), options);
          OrtSession.Result of = file.run(Map.of("x", x));
          OrtSession.Result with = given.run(Map.of("x", x))) {
        Check.equal(new float[][] {{8, 10, 12, 14}}, of.get(0).getValue());
        Check.equal(new float[][] {{-8, -10, -12, -14}}, with.get(0).getValue());
      }
    }
  }

  static void shortBuffersAsHalvesTest() throws Exception {
    ShortBuffer halves = ShortBuffer.wrap(new short[] {0x3c00, 0x4000});
    try (OnnxTensor tensor = OnnxTensor.createTensor(Check.ENVIRONMENT, halves, new long[] {2}, OnnxJavaType.FLOAT16)) {
      Check.equal(new float[] {1, 2}, tensor.getValue());
      Check.equal(2f, tensor.getFloatBuffer().get(1));
    }
  }
}
