"""Run Arm's compiler Vela, and read what it prints and writes."""
