"""``python -m delegate_sim``."""

from delegate_sim_cli.main import main

main()
