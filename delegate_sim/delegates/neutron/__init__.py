"""NXP's delegate for the Neutron NPU of the i.MX95."""
