"""Checks of this project against installed runtimes and converters of TensorFlow and LiteRT."""
