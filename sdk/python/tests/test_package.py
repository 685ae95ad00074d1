"""What is installed is what was tested."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "sdk/python/src"


def test_wheel(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT / "sdk/python"],
        check=True, timeout=60,
    )  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as z:
        packed = {name for name in z.namelist() if ".dist-info/" not in name}
    want = {str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*.py")} | {"spokewire/py.typed"}
    assert packed == want
