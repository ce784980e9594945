"""Drivers of Vulkan."""

from __future__ import annotations

from delegate_sim.live import vulkan


def test_chromiums_driver_serves_where_the_system_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(vulkan, "_BROWSER_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(vulkan, "_DRIVER_FOLDERS", (str(tmp_path / "icd.d"),))
    for name in vulkan._NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    assert vulkan.driver_environment() is None
    for name in ("libvulkan.so.1", "vk_swiftshader_icd.json"):
        (tmp_path / name).touch()
    assert vulkan.driver_environment()["VK_ICD_FILENAMES"] == str(tmp_path / "vk_swiftshader_icd.json")
    (tmp_path / "icd.d").mkdir()
    (tmp_path / "icd.d" / "driver.json").touch()
    monkeypatch.setattr(vulkan.ctypes.util, "find_library", lambda name: "libvulkan.so.1")
    assert vulkan.driver_environment() == {}
