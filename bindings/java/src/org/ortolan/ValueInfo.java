// A named input or output.
package org.ortolan;

/**
 * An input, an output or an overridable initializer of a model.
 *
 * @param name its name
 * @param type its type
 */
public record ValueInfo(String name, ValueType type) {}
