"""Drivers of Vulkan."""

from __future__ import annotations

from delegate_sim.live import accelerator_engine


def test_chromiums_driver_serves_where_the_system_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(accelerator_engine, "_BROWSER_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(accelerator_engine, "_DRIVER_FOLDERS", (str(tmp_path / "icd.d"),))
    for name in accelerator_engine._NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    assert accelerator_engine.driver_environment() is None
    for name in ("libvulkan.so.1", "vk_swiftshader_icd.json"):
        (tmp_path / name).touch()
    assert accelerator_engine.driver_environment()["VK_ICD_FILENAMES"] == str(tmp_path / "vk_swiftshader_icd.json")
    (tmp_path / "icd.d").mkdir()
    (tmp_path / "icd.d" / "driver.json").touch()
    monkeypatch.setattr(accelerator_engine.ctypes.util, "find_library", lambda name: "libvulkan.so.1")
    assert accelerator_engine.driver_environment() == {}
