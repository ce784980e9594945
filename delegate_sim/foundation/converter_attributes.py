"""Python lines that configure TensorFlow's converter. Conversion scripts and advice contain these lines.

If the name of an attribute begins with an underscore, the attribute is experimental, and any release may remove it.
"""

from __future__ import annotations

OPTIMIZED = "converter.optimizations = [tf.lite.Optimize.DEFAULT]"
DATASET = "converter.representative_dataset = samples"
OPERATORS = "converter.target_spec.supported_ops = [{}]"
INT8 = "tf.lite.OpsSet.TFLITE_BUILTINS_INT8"
INT16X8 = "tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
PER_TENSOR = "converter._experimental_disable_per_channel = True"
DENSE_PER_TENSOR = "converter._experimental_disable_per_channel_quantization_for_dense_layers = True"
OLD_QUANTIZER = "converter.experimental_new_quantizer = False"
OLD_DYNAMIC_RANGE_QUANTIZER = "converter.experimental_new_dynamic_range_quantizer = False"
UNFOLDED = "converter.unfold_batchmatmul = True"
