"""Makes every call of the HTTP API with a client that openapi-python-client generated:
every_call.py FOLDER ADDRESS. The server has the job `test` and a worker."""

import importlib
import json
import pathlib
import sys

folder, address = sys.argv[1:]
sys.path.insert(0, folder)
from generated import Client, models  # noqa: E402

description = json.loads((pathlib.Path(folder) / "openapi.json").read_text())
client = Client(base_url=address)
PARAMETERS = {"name": "test", "variant": "freestyle-15", "moves": "h8"}
BODIES = {
    "analyze": {"variant": "freestyle-15", "moves": "h8", "depth": 2},
    "write": {"variant": "freestyle-15", "moves": "h8", "written": [{"kind": "comment", "text": "the center"}]},
    "start_job": {"name": "more", "variant": "freestyle-15", "roots": ["h8"], "positions": 3, "depth": 2},
    "prioritize_job": {"priority": 3},
}

for path, methods in description["paths"].items():
    for method, operation in methods.items():
        name, tags = operation["operationId"], operation.get("tags") or ["default"]
        module = importlib.import_module(f"generated.api.{tags[0]}.{name}")
        given = {"client": client}
        for parameter in operation.get("parameters", []):
            if parameter["name"] in PARAMETERS:
                given[parameter["name"]] = PARAMETERS[parameter["name"]]
            elif parameter["required"]:
                given[parameter["name"]] = list(models.ChangeJobChange)[0]
        if name in BODIES:
            content = operation["requestBody"]["content"]["application/json"]
            model = getattr(models, content["schema"]["$ref"].rsplit("/", 1)[1])
            given["body"] = model.from_dict(BODIES[name])
        answered = operation["responses"]["200" if name != "start_job" else "201"]
        if "text/event-stream" in answered.get("content", {}):
            del given["client"]
            with client.get_httpx_client().stream(**module._get_kwargs(**given)) as stream:
                assert stream.status_code == 200, (path, stream)
                assert "event: " in "".join(stream.iter_text()), path
            continue
        response = module.sync_detailed(**given)
        assert response.status_code in (200, 201), (path, response)
        assert not isinstance(response.parsed, models.Error), (path, response)
        print(method, path)
