"""The verdict of TensorFlow Lite Micro, what ``fix`` and ``diagnose`` say of it, as text and as plain data."""
