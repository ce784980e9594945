"""From a source model to ``.tflite`` files, with the user's own converters, each conversion in a process of its own."""
