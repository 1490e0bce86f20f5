"""The architectures of the benchmark models, by family."""
