from pathlib import Path

import pytest

from conftest import PROGRAM


def test_the_notebook_runs(monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    if PROGRAM is None:
        pytest.skip("no kagetsu: set KAGETSU_PROGRAM")
    monkeypatch.setenv("KAGETSU_PROGRAM", str(PROGRAM))
    path = Path(__file__).parents[1] / "examples" / "book.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600).execute()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert "array" in last.outputs[0]["data"]["text/plain"]
