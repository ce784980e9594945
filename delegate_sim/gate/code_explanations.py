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
            "When the baseline was written, the delegate ran nodes of the model. Now the delegate is not applied, takes no "
            "node, is undone, or one of its kernels fails later.",
            f"The other findings for the same model and target name the cause. {_AGREE}",
        ),
        "more-partitions": Explanation(
            "more partitions than in the baseline",
            "The runtime splits the graph into more partitions, so data passes between the CPU and the delegate more often.",
            f"Look at the nodes that fell back: each may split a partition in two. {_AGREE}",
        ),
        "more-delegate-kernels": Explanation(
            "more delegate kernels than in the baseline",
            "The delegated part of the graph is split into more kernels, each of which is compiled and invoked separately.",
            f"Look at the nodes that fell back: each may split a kernel in two. {_AGREE}",
        ),
        "more-fallback-nodes": Explanation(
            "more nodes on the CPU than in the baseline",
            "Nodes stay on the CPU that the delegate ran when the baseline was written, or that are new in the model.",
            f"The other findings for the same model and target name each node, its reasons and its changes. {_AGREE}",
        ),
        "smaller-delegated-share": Explanation(
            "smaller share of nodes delegated than in the baseline",
            "A smaller share of all nodes runs on the delegate. This also happens if delegated nodes disappear, for example "
            "because they were fused, while the CPU nodes remain.",
            f"Set a tolerance for delegated-share if such changes are common. {_AGREE}",
        ),
        "smaller-multiply-add-share": Explanation(
            "smaller share of multiply-adds delegated than in the baseline",
            "A smaller share of the model's multiply-adds runs on the delegate. This can happen even if no more nodes stay "
            "on the CPU: the nodes that the delegate lost need more multiply-adds than the nodes that it gained.",
            f"Look at the nodes that fell back, or set a tolerance for multiply-add-share. {_AGREE}",
        ),
        "more-border-bytes": Explanation(
            "more boundary bytes than in the baseline",
            "More bytes go into and out of the delegate's kernels in one inference, not counting constants.",
            f"Look at the partitions with delegate-sim analyze, or set a tolerance for border-bytes. {_AGREE}",
        ),
        "no-baseline-entry": Explanation(
            "model without an entry in the baseline",
            "The configuration names the model and the target, but the baseline has no result for them.",
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
            "The configuration limits the number of partitions with max-partitions, whatever the baseline says.",
            "Remove the nodes that split the graph, or raise the budget.",
        ),
        "budget-fallback": Explanation(
            "more nodes on the CPU than the budget allows",
            "The configuration limits the number of nodes on the CPU with max-fallback, whatever the baseline says.",
            "Look at the nodes' reasons with delegate-sim analyze, or raise the budget.",
        ),
        "budget-delegated-share": Explanation(
            "smaller share delegated than the budget allows",
            "The configuration requires a share of delegated nodes with min-delegated-share, whatever the baseline says.",
            "Look at the nodes' reasons with delegate-sim analyze, or lower the budget.",
        ),
        "budget-multiply-add-share": Explanation(
            "smaller share of multiply-adds delegated than the budget allows",
            "The configuration requires a share of delegated multiply-adds with min-multiply-add-share, whatever the baseline "
            "says.",
            "Look at the nodes' reasons with delegate-sim analyze, or lower the budget.",
        ),
        "budget-fallback-op": Explanation(
            "operator that must not stay on the CPU",
            "With forbid-fallback-ops, the configuration does not allow nodes of this operator to stay on the CPU.",
            "Fix what keeps the node off the delegate, or remove the operator from the list.",
        ),
        "budget-arena": Explanation(
            "larger arena than the budget allows",
            "The configuration limits the arena of TensorFlow Lite Micro with max-arena, in bytes. The size is the plan of the "
            "activations, and an estimate of what the interpreter keeps in a 32-bit build.",
            "Look at the largest buffers with delegate-sim micro, make the tensors between layers smaller, or raise the budget.",
        ),
        "micro-file": Explanation(
            "file that TensorFlow Lite Micro cannot use",
            "The file has a tensor of a type without a fixed size, a tensor without a fixed shape, or no graph, so no memory can "
            "be planned.",
            "Convert the model again without the tensor that the message names.",
        ),
        "micro-external-buffers": Explanation(
            "weights outside the flatbuffer",
            "Some buffers are stored after the flatbuffer, at the offset in Buffer.offset. TensorFlow Lite Micro does not read "
            "this field. It takes the weights for activations, and computes with whatever is in the arena. It logs nothing.",
            "Convert with a converter that writes buffers inside, or rewrite the file.",
        ),
        "live-differs": Explanation(
            "real delegate that decides differently from the simulation",
            "With --live, the real delegate was run on this host. Its log lines, partitions or outcome differ from the "
            "simulated ones. The real delegate is right.",
            "Report the difference with the file that --live-report writes. This file contains no weights and no names.",
        ),
        "live-not-run": Explanation(
            "real delegate that cannot be run on this host",
            "With --live, every target whose delegate can run on some host must be run, but this target was not run.",
            "Install what delegate-sim doctor lists as missing, or choose other targets with --target.",
        ),
        "not-delegated": Explanation(
            "node that is not offered to any delegate",
            "The node is in a subgraph that the runtime skips or does not reach.",
            "You need not do anything about the node itself.",
        ),
        "unreadable-model": Explanation(
            "model that cannot be read",
            "The file is missing, cannot be opened, or is not a TFLite model.",
            "Repair or restore the file.",
        ),
        "failed-conversion": Explanation(
            "source model that cannot be converted",
            "The configuration names a source model and settings. The source model is missing, no installed converter "
            "supports it with these settings, or the converter failed, hung or used more memory than the configuration "
            "allows.",
            "Try the conversion with delegate-sim sweep SOURCE --delegate NAME --setting SETTINGS, and install what this "
            "command names.",
        ),
        "internal-error": Explanation(
            "error of delegate-sim itself",
            "The program failed on something unexpected in the model. Other models are not affected.",
            "Report the error with the model, the command line and the output with DELEGATE_SIM_DEBUG=1.",
        ),
    }
)
