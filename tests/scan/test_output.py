from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.scan.output import marked, unmarked
from tests.support.models import MIXED, chain_model

likely = st.text(st.sampled_from("=+-@';, a1\t\uff1d"), max_size=12)


@given(likely | st.text())
def test_marks_are_taken_away_again(text):
    assert unmarked(marked(text)) == text


@given(likely)
def test_no_cell_begins_as_a_formula(text):
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d")) for cell in marked(text).split(";"))


@pytest.mark.parametrize(
    ("text", "expected"), [("=1", "'=1"), ("'=1", "''=1"), ("a;-1", "a;'-1"), ("a=1", "a=1"), ("it's", "it's")]
)
def test_marks(text, expected):
    assert marked(text) == expected


def test_a_parquet_table_takes_little_address_space(tmp_path):
    """Arrow's own allocator would reserve 1 GiB more, and crash where that is not allowed."""
    resource = pytest.importorskip("resource", reason="the system has no limits on memory")
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    (tmp_path / "m.tflite").write_bytes(chain_model(MIXED).bytes())
    limit = 5 << 28
    for arguments in (["scan", "m.tflite", "--delegate", "vx", "--processes", "1", "-o", "t.parquet"], ["query", "t.parquet"]):
        done = subprocess.run(
            [sys.executable, "-m", "delegate_sim", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        assert (done.returncode, done.stderr) == (0, "")
