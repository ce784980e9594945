"""VeriSilicon's TIM-VX delegate (``VxDelegate``), and NXP's variant of this delegate."""
