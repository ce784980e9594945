from .failures import kernel_failure
def build_partition(graph, subset, allow_quant_ops):
    return None
