"""Run Arm's compiler Vela, and read its output."""
