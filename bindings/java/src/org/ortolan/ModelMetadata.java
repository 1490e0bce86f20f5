// What a model says about itself.
package org.ortolan;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Collections;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * What a model says about itself; texts are empty where it says nothing.
 *
 * @param producer the program that made the model
 * @param graphName the name of the graph
 * @param graphDescription a text on the graph
 * @param domain the domain of the model, a reversed DNS name
 * @param description a text on the model
 * @param version the version of the model
 * @param custom entries of the model's own
 */
public record ModelMetadata(String producer, String graphName, String graphDescription, String domain, String description,
    long version, Map<String, String> custom) {

  /** Reads a native description, which is released. */
  static ModelMetadata take(long metadata) {
    try {
      Map<String, String> custom = new LinkedHashMap<>();
      for (String key : Texts.take(Native.metadata_keys(metadata))) {
        custom.put(key, Native.metadata_value(metadata, key));
      }
      return new ModelMetadata(Native.metadata_producer(metadata), Native.metadata_graph_name(metadata),
          Native.metadata_graph_description(metadata), Native.metadata_domain(metadata),
          Native.metadata_description(metadata), Native.metadata_version(metadata), Collections.unmodifiableMap(custom));
    } finally {
      Native.release_metadata(metadata);
    }
  }
}
