/** ONNX models in Java: see {@link org.ortolan}. */
module org.ortolan {
  exports org.ortolan;
}
