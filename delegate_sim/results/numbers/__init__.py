"""The nodes that compute other numbers than the CPU: data, findings and texts."""
