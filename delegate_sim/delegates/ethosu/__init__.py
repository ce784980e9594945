"""NXP's delegate for the Ethos-U65 of the i.MX93."""
