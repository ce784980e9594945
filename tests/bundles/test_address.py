"""Addresses of models in bundles."""

from __future__ import annotations

from delegate_sim.bundles.address import join_address, split_address
from fixtures.bundles import zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()


def test_addresses(tmp_path):
    file = tmp_path / "odd!"
    file.mkdir()
    archive = file / "a.zip"
    archive.write_bytes(zip_bytes({"m": MODEL}))
    path = join_address(str(archive), "m", "n")
    assert split_address(path) == (str(archive), "m", "n")
    assert split_address(str(tmp_path / "no" / "a!" / "b")) == (str(tmp_path / "no" / "a!" / "b"),)
