/**
 * Runs ONNX models. A {@link org.ortolan.Session} is made from a model file and runs it on values, mostly
 * {@link org.ortolan.Tensor tensors}:
 *
 * <pre>{@code
 * try (Session session = new Session(Path.of("model.onnx"));
 *     Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
 *     Outputs outputs = session.run(Map.of("x", x))) {
 *   float[] y = outputs.tensor("y").floats();
 * }
 * }</pre>
 *
 * <p><b>Closing.</b> Objects that are {@link java.lang.AutoCloseable} own native memory. {@code close()} may be called any
 * number of times, from any thread, in any order: what is still used, by a call in progress or by another object, stays
 * until that ends. Any other method of a closed object throws {@link java.lang.IllegalStateException}. Objects that are
 * not closed are closed when they are garbage; as the garbage collector does not see native memory, programs should not
 * rely on it.
 *
 * <p><b>Threads.</b> Sessions run on any number of threads at once; so may all other objects be read. Options, bindings
 * and the elements of tensors are changed by one thread at a time.
 *
 * <p><b>Errors.</b> What the library refuses is an {@link org.ortolan.OrtolanException} with its code and text; arguments
 * that cannot be right are an {@link java.lang.IllegalArgumentException}, null ones a
 * {@link java.lang.NullPointerException}.
 */
package org.ortolan;
