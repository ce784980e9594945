"""Convert source models to ``.tflite`` files with the user's own converters, each conversion in its own process."""
