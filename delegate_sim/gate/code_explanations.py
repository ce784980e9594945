"""Explanations of the codes of a check."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..rules.kinds import Explanation

_AGREE = "If the change is intended, accept it with delegate-sim check --update and commit the baseline."

GATE: Mapping[str, Explanation] = MappingProxyType(
    {
        "worse-outcome": Explanation(
            "worse outcome than in the baseline",
            "When the baseline was written, the delegate ran nodes of the model. Now the delegate is not applied or takes no "
            "node, its delegation is undone, or one of its kernels fails later.",
            f"The cause is in the other findings for the same model and target. {_AGREE}",
        ),
        "more-partitions": Explanation(
            "more partitions than in the baseline",
            "The runtime splits the graph into more partitions, so data passes between the CPU and the delegate more often.",
            f"Look at the nodes that fell back to the CPU. Each of these nodes may split a partition in two. {_AGREE}",
        ),
        "more-delegate-kernels": Explanation(
            "more delegate kernels than in the baseline",
            "The delegated part of the graph is split into more kernels. Each kernel is compiled and invoked separately.",
            f"Look at the nodes that fell back to the CPU. Each of these nodes may split a kernel in two. {_AGREE}",
        ),
        "more-fallback-nodes": Explanation(
            "more nodes on the CPU than in the baseline",
            "Some nodes on the CPU are new in the model, or ran on the delegate when the baseline was written.",
            f"These nodes are listed, with reasons and changes, in the other findings for the same model and target. {_AGREE}",
        ),
        "smaller-delegated-share": Explanation(
            "smaller share of nodes delegated than in the baseline",
            "A smaller share of all nodes runs on the delegate. This also happens if delegated nodes disappear, for example "
            "because they were fused, while the CPU nodes remain.",
            f"Set a tolerance for delegated-share if such changes are common. {_AGREE}",
        ),
        "smaller-multiply-add-share": Explanation(
            "smaller share of multiply-adds delegated than in the baseline",
            "A smaller share of the model's multiply-adds runs on the delegate. The number of nodes on the CPU may be "
            "unchanged, if the delegate lost large nodes and gained small nodes.",
            f"Look at the nodes that fell back to the CPU, or set a tolerance for multiply-add-share. {_AGREE}",
        ),
        "more-border-bytes": Explanation(
            "more boundary bytes than in the baseline",
            "More bytes cross the boundaries of the delegate kernels in one inference. Constants do not count. This is only a "
            "note if another measure is better than in the baseline, none is worse, and no tolerance for border-bytes is set.",
            f"Look at the partitions with delegate-sim analyze, or set a tolerance for border-bytes. {_AGREE}",
        ),
        "more-wrong-results": Explanation(
            "more wrong results than in the baseline",
            "The delegate computes more nodes or outputs wrongly for ordinary inputs. The findings about wrong numbers name "
            "the nodes.",
            f"Rewrite the nodes with delegate-sim fix, or set a tolerance for wrong-results. {_AGREE}",
        ),
        "no-work-delegated": Explanation(
            "no work delegated, as in the baseline",
            "The delegate runs no node, or only nodes without multiply-adds, and the baseline expects this. The check cannot "
            "find that the delegate does less work.",
            "If the target should run the model, look at the causes with delegate-sim diagnose. Otherwise, leave out the target.",
        ),
        "no-baseline-entry": Explanation(
            "model without an entry in the baseline",
            "The configuration names the model and the target, but the baseline has no result for this pair.",
            "Write the entry with delegate-sim check --update and commit the baseline.",
        ),
        "no-model-for-entry": Explanation(
            "entry in the baseline without a model",
            "The baseline has an entry for a model that no longer exists, or for a target that the configuration does not "
            "name. Nothing is compared with this entry.",
            "Restore the model, or remove the entry with delegate-sim check --prune and commit the baseline.",
        ),
        "budget-partitions": Explanation(
            "more partitions than the budget allows",
            "The configuration limits the number of partitions with max-partitions. The limit does not depend on the baseline.",
            "Remove the nodes that split the graph, or raise the budget.",
        ),
        "budget-fallback": Explanation(
            "more nodes on the CPU than the budget allows",
            "The configuration limits the number of nodes on the CPU with max-fallback. The limit does not depend on the "
            "baseline.",
            "Look at the nodes' reasons with delegate-sim analyze, or raise the budget.",
        ),
        "budget-delegated-share": Explanation(
            "smaller share delegated than the budget allows",
            "The configuration requires a share of delegated nodes with min-delegated-share. The limit does not depend on "
            "the baseline.",
            "Look at the nodes' reasons with delegate-sim analyze, or lower the budget.",
        ),
        "budget-multiply-add-share": Explanation(
            "smaller share of multiply-adds delegated than the budget allows",
            "The configuration requires a share of delegated multiply-adds with min-multiply-add-share. The limit does not "
            "depend on the baseline.",
            "Look at the nodes' reasons with delegate-sim analyze, or lower the budget.",
        ),
        "budget-fallback-op": Explanation(
            "operator that must not stay on the CPU",
            "With forbid-fallback-ops, the configuration does not allow nodes of this operator to stay on the CPU.",
            "Fix the reason that keeps the node on the CPU, or remove the operator from the list.",
        ),
        "budget-arena": Explanation(
            "larger arena than the budget allows",
            "The configuration limits the arena of TensorFlow Lite Micro with max-arena, in bytes. The size of the arena is the "
            "planned memory for activations, plus an estimate of the interpreter's own data in a 32-bit build.",
            "Look at the largest buffers with delegate-sim micro. Make the tensors between layers smaller, or raise the budget.",
        ),
        "micro-file": Explanation(
            "file that TensorFlow Lite Micro cannot use",
            "TensorFlow Lite Micro cannot plan the memory. The file has a tensor of a type without a fixed size, a tensor "
            "without a fixed shape, or no graph.",
            "Convert the model again without the tensor that the message names.",
        ),
        "micro-external-buffers": Explanation(
            "weights outside the flatbuffer",
            "Some buffers are stored after the flatbuffer, at the offset in Buffer.offset. TensorFlow Lite Micro does not read "
            "this field. It treats the weights as activations and computes with random memory from the arena, without a message.",
            "Convert the model again with a converter that writes all buffers inside the flatbuffer, or rewrite the file.",
        ),
        "live-differs": Explanation(
            "real delegate that decides differently from the simulation",
            "With --live, the real delegate was run on this host. The log lines, partitions or outcome of the real delegate "
            "differ from the simulation. The real delegate is right.",
            "Please report the difference. Attach the file that --live-report writes. The file contains no weights and no names.",
        ),
        "live-not-run": Explanation(
            "real delegate that cannot be run on this host",
            "With --live, a target fails if its delegate exists for some hosts, but cannot be run on this host.",
            "Install the packages that delegate-sim doctor lists as missing, or choose other targets with --target.",
        ),
        "not-delegated": Explanation(
            "node that is not offered to any delegate",
            "The node is in a subgraph that the runtime skips or does not reach.",
            "You do not need to change the node.",
        ),
        "unreadable-model": Explanation(
            "model that cannot be read",
            "The file is missing, cannot be opened, or is not a TFLite model.",
            "Repair or restore the file.",
        ),
        "failed-conversion": Explanation(
            "source model that cannot be converted",
            "The configuration names a source model and settings. The source model is missing, no installed converter "
            "supports the source model with these settings, or the converter failed, hung or used too much memory.",
            "Try the conversion with delegate-sim sweep SOURCE --delegate NAME --setting SETTINGS. Install the packages that "
            "this command names.",
        ),
        "internal-error": Explanation(
            "error of delegate-sim itself",
            "The program failed on this model because of a bug. Other models are not affected.",
            "Report the error with the model, the command line and the output with DELEGATE_SIM_DEBUG=1.",
        ),
    }
)
