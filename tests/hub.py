"""A hub on loopback: the endpoints that huggingface_hub calls for an upload, and their failures."""

import base64
import json
from collections import deque
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

TOKEN = "hf_loopback"
REGULAR = (".md", ".json", "SHA256SUMS")


class Hub(ThreadingHTTPServer):
    """One repository; `faults` are (part of a path, status or "drop"), each for one request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repository = None
        self.is_private = None
        self.files, self.blobs, self.commits = {}, {}, []
        self.received, self.faults = [], deque()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def head(self):
        return self.commits[-1] if self.commits else "0" * 40


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """Print nothing."""

    def _reply(self, value, status=200, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def _handle(self):
        hub, path = self.server, self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        hub.received.append((self.command, path, len(body)))
        for fault in list(hub.faults):
            if fault[0] in path:
                hub.faults.remove(fault)
                if fault[1] == "drop":
                    self.close_connection = True
                    self.connection.close()
                    return
                self._reply({"error": "no"}, fault[1])
                return
        if "/blob/" in path:
            digest = path.rpartition("/")[2]
            assert sha256(body).hexdigest() == digest
            hub.blobs[digest] = body
            self._reply({})
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._reply({"error": "Invalid token"}, 401)
            return
        self._answer(hub, path, body)

    do_GET = do_POST = do_PUT = do_HEAD = _handle  # noqa: N815

    def _answer(self, hub, path, body):
        if path == "/api/validate-yaml":
            self._reply({})
        elif path == "/api/repos/create":
            request = json.loads(body)
            hub.repository = f"{request['organization']}/{request['name']}"
            hub.is_private = request["visibility"] == "private"
            self._reply({"url": f"{hub.url}/datasets/{hub.repository}"})
        elif hub.repository is None or hub.repository not in path:
            self._reply({"error": "none"}, 404, X_Error_Code="RepoNotFound")
        elif "/preupload/" in path:
            files = [self._mode(hub, file["path"]) for file in json.loads(body)["files"]]
            self._reply({"files": files})
        elif path.endswith("/objects/batch"):
            objects = json.loads(body)["objects"]
            self._reply({"transfer": "basic", "objects": [self._action(hub, o) for o in objects]})
        elif "/commit/" in path:
            self._commit(hub, [json.loads(line) for line in body.splitlines()])
        elif "/tree/" in path:
            entries = [
                {"type": "file", "path": name, "size": len(data), "oid": "0" * 40}
                for name, data in hub.files.items()
            ]
            self._reply(entries)
        else:
            self._reply({"id": hub.repository, "sha": hub.head, "private": hub.is_private})

    def _mode(self, hub, path):
        mode = "regular" if path.endswith(REGULAR) else "lfs"
        return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": None}

    def _action(self, hub, item):
        if item["oid"] in hub.blobs:
            return item
        return {**item, "actions": {"upload": {"href": f"{hub.url}/blob/{item['oid']}"}}}

    def _commit(self, hub, lines):
        parent = lines[0]["value"].get("parentCommit")
        if parent not in (None, hub.head):
            self._reply({"error": "A commit has happened since."}, 412)
            return
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "deletedFile":
                del hub.files[value["path"]]
                continue
            content = value.get("content")
            data = hub.blobs[value["oid"]] if content is None else base64.b64decode(content)
            hub.files[value["path"]] = data
        hub.commits.append(sha256(str(lines).encode()).hexdigest()[:40])
        self._reply(
            {
                "commitUrl": f"{hub.url}/datasets/{hub.repository}/commit/{hub.head}",
                "commitOid": hub.head,
            }
        )


@contextmanager
def open_hub():
    """Serve a hub."""
    with Hub() as hub:
        Thread(target=hub.serve_forever, daemon=True).start()
        try:
            yield hub
        finally:
            hub.shutdown()
