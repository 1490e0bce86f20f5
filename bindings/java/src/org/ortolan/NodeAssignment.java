// Which provider runs a node.
package org.ortolan;

/**
 * A node of a session's graph and the provider that runs it.
 *
 * @param provider the execution provider
 * @param node the name of the node, empty where it has none
 * @param domain the domain of its operator, empty for ONNX's own
 * @param operator the operator
 */
public record NodeAssignment(String provider, String node, String domain, String operator) {}
