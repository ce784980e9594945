"""Models in S3, as moto serves it. Run by ``make stores``, which brings moto and s3fs."""

from __future__ import annotations

import mmap

import pytest

import delegate_sim
from delegate_sim.bundles.model_files import files_for
from tests.support.remote.models import MIB, heavy_model
from tests.support.remote.traffic import CountedTraffic

moto_server = pytest.importorskip("moto.server", reason="an S3 server needs moto: make stores")
pytest.importorskip("s3fs", reason="S3 needs s3fs: make stores")
SIZE = (3 << 30) + MIB


@pytest.fixture
def s3(monkeypatch):
    """A client of an S3 server with an empty bucket ``zoo``, and the traffic of all others."""
    import boto3
    import s3fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto_server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}")
    client.create_bucket(Bucket="zoo")
    traffic = CountedTraffic(port)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{traffic.port}")
    s3fs.S3FileSystem.clear_instance_cache()
    yield client, traffic
    s3fs.S3FileSystem.clear_instance_cache()
    traffic.close()
    client.delete_object(Bucket="zoo", Key="llm.tflite")
    server.stop()


def put_sparse(client, monkeypatch, path):
    """Put an object whose content is in a file: moto would keep 3 GiB in memory, and read them for each range."""
    from moto.s3.models import FakeKey, s3_backends

    client.put_object(Bucket="zoo", Key="llm.tflite", Body=b"")
    backend = s3_backends["123456789012"]["aws"]
    key = backend.get_object("zoo", "llm.tflite")
    file = open(path, "rb")  # noqa: SIM115
    key._value_buffer, key.contentsize = file, SIZE
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    usual = FakeKey.value
    monkeypatch.setattr(FakeKey, "value", property(lambda each: content if each is key else usual.fget(each), usual.fset))


def test_three_gibibytes_cost_less_than_five_mebibytes(s3, monkeypatch, tmp_path):
    client, traffic = s3
    path = tmp_path / "llm.tflite"
    heavy_model(units=3 << 16, behind=True).write_sparse(path, SIZE)
    put_sparse(client, monkeypatch, path)
    report = delegate_sim.analyze("s3://zoo/llm.tflite", "nnapi", defaults="api")
    assert report.model.size == SIZE
    assert report.runs[0].outcome == "delegated"
    assert 0 < traffic.bytes <= 5 * MIB


def test_a_bucket_is_a_folder(s3):
    client, traffic = s3
    content = heavy_model().bytes()
    for name in ("a.tflite", "deep/b.tflite", "read.me"):
        client.put_object(Bucket="zoo", Key=name, Body=content)
    assert files_for("s3://zoo") == ["s3://zoo/a.tflite", "s3://zoo/deep/b.tflite"]
    assert files_for("s3://zoo/*.tflite") == ["s3://zoo/a.tflite"]
    before = traffic.bytes
    remote, local = (
        delegate_sim.analyze("s3://zoo/deep/b.tflite", "gpu", defaults="api"),
        delegate_sim.analyze(content, "gpu", defaults="api"),
    )
    assert remote.to_dict()["runs"] == local.to_dict()["runs"]
    assert traffic.bytes - before < len(content) // 20


def test_what_is_not_there_is_one_line(s3):
    with pytest.raises(delegate_sim.ModelError, match=r"s3://zoo/nothing\.tflite: cannot be read: ") as raised:
        delegate_sim.load("s3://zoo/nothing.tflite")
    assert "\n" not in str(raised.value)
