"""Convert source models to ``.tflite`` files with the user's own converters. Each conversion runs in its own process."""
