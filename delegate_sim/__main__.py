"""``python -m delegate_sim``."""

from delegate_sim_cli.start import main

main()
