"""The TIM-VX delegate (``VxDelegate``) of VeriSilicon, and NXP's variant of it."""
