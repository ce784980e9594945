"""The NNAPI delegate (``TfLiteNnapiDelegate``)."""
